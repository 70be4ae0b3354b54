// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/article.h>

#include <algorithm>
#include <stdexcept>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants::article {

namespace {

constexpr std::uint32_t block_size = 4;
constexpr std::int64_t blocks = 32;  // the largest store and its query take 9

struct Answer {
    Length cut = 0;
    std::optional<std::int64_t> chosen_entry;
    Length copied_cells = 0;
    PagedDecoder::Pass pass;
};

// The newest entry of the store that holds every block of the hit.
std::optional<std::int64_t> entry_of(const PagedDecoder::Found& found, const Manager& manager,
                                     std::span<const SequenceHandle> store) {
    const auto holds_all = [&](SequenceHandle entry) {
        const TableView table = *manager.table(entry, GroupId{0});
        for (std::size_t i = 0; i < found.blocks.size(); ++i) {
            if (found.blocks[i] != null_block && found.blocks[i] != table[i]) {
                return false;
            }
        }
        return true;
    };
    for (std::size_t entry = store.size(); found.cut > 0 && entry-- > 0;) {
        if (holds_all(store[entry])) {
            return static_cast<std::int64_t>(entry);
        }
    }
    return std::nullopt;
}

// Asks a new store. `stale_position`: where tokens behind a hit are said to stand; nothing = where they do.
Answer ask(const Data& data, const Case& wanted, Released released, std::optional<Length> stale_position, Fault fault) {
    const Model model{&data.weights.at(wanted.seed), wanted.window};
    PagedDecoder decoder(store_config(model.window), fault);
    std::vector<SequenceHandle> store;
    for (const Remembered& entry : data.store) {
        store.push_back(remember(decoder, model, entry, released));
    }
    const Length copied_before = decoder.copied_cells();
    const auto found = decoder.admit(wanted.tokens, {.tenant = wanted.scope});
    const auto chosen_entry = entry_of(found, decoder.manager(), store);
    const auto rest = std::span(wanted.tokens).subspan(static_cast<std::size_t>(found.cut));
    const auto position = found.cut > 0 ? stale_position : std::nullopt;
    PagedDecoder::Pass pass = decoder.run(model, found.sequence, rest, position);
    return {found.cut, chosen_entry, decoder.copied_cells() - copied_before, std::move(pass)};
}

// NaN where the sizes differ: the cut is wrong then, and nothing can be compared.
double difference(std::span<const Row> a, std::span<const Row> b) {
    return a.size() == b.size() ? largest_difference(a, b) : std::nan("");
}

}  // namespace

Config store_config(Length window) {
    return {.block_size = block_size,
            .blocks = blocks,
            .prefix_cache = {.granularity = Granularity::token},
            .groups = {{.name = window == 0 ? "full" : "window", .window = window}}};
}

SequenceHandle remember(PagedDecoder& decoder, const Model& model, const Remembered& entry, Released released) {
    const SequenceHandle sequence = decoder.start(model, entry.tokens, {.tenant = entry.scope}).found.sequence;
    if (released == Released::gone && !decoder.manager().evict(decoder.manager().pool().cached_blocks())) {
        throw std::logic_error("idle blocks cannot be evicted");
    }
    return sequence;
}

TableRow table_row(const Data& data, const Case& wanted, Fault fault) {
    Effort fresh_effort;
    const Rows all = recompute(data.weights.at(wanted.seed), wanted.window, wanted.tokens, 0, fresh_effort);
    const Answer right = ask(data, wanted, Released::gone, std::nullopt, fault);
    const auto stored_length = static_cast<Length>(data.store.front().tokens.size());
    const Answer control = ask(data, wanted, Released::gone, stored_length, fault);
    const auto fresh = std::span(all).last(right.pass.rows.size());

    TableRow row{.wanted = &wanted,
                 .cut = right.cut,
                 .chosen_entry = right.chosen_entry,
                 .projected_rows = right.pass.effort.projected_rows,
                 .fresh_projected_rows = fresh_effort.projected_rows,
                 .copied_cells = right.copied_cells,
                 .error = largest_difference(fresh, right.pass.rows),
                 .control_error = largest_difference(fresh, control.pass.rows),
                 .checks = {}};
    const double tolerance = data.tolerance;
    constexpr std::int64_t none = -1;
    row.checks = {exactly("cut", wanted.cut, row.cut),
                  exactly("entry of the store", wanted.chosen_entry.value_or(none), row.chosen_entry.value_or(none)),
                  exactly("projected rows", wanted.projected_rows, row.projected_rows),
                  exactly("projected rows of the recompute", wanted.fresh_projected_rows, row.fresh_projected_rows),
                  {"error of the right path", 0, row.error, 0},
                  {"error of the control", wanted.control_error.value_or(0), row.control_error, tolerance},
                  {"error of the control elsewhere", wanted.other_control_error, row.control_error, tolerance},
                  {"distance of the recompute to its published rows", 0, difference(fresh, wanted.fresh), tolerance},
                  {"distance of the control to its published rows", 0,
                   difference(control.pass.rows, wanted.control.value_or(wanted.fresh)), tolerance}};
    return row;
}

Section window_edits_while_cached(const Data& data, Fault fault) {
    constexpr Length cut = 4;  // positions 1..3 are what the query at 4 sees with a window of 4
    Section section{"window-edit while the released blocks are still cached", {}};
    for (const Case& wanted : data.cases) {
        if (wanted.condition != "window-edit") {
            continue;
        }
        Effort effort;
        const Rows all = recompute(data.weights.at(wanted.seed), wanted.window, wanted.tokens, 0, effort);
        const Answer found = ask(data, wanted, Released::cached, std::nullopt, fault);
        const std::string seed = text("seed ", wanted.seed, ": ");
        constexpr std::int64_t rows_of_a_token = 3 * layers;
        section.checks.push_back(exactly(seed + "cut", cut, found.cut));
        section.checks.push_back(exactly(seed + "projected rows",
                                         rows_of_a_token * (static_cast<Length>(wanted.tokens.size()) - cut),
                                         found.pass.effort.projected_rows));
        section.checks.push_back(
            {seed + "error", 0, largest_difference(std::span(all).last(found.pass.rows.size()), found.pass.rows), 0});
    }
    return section;
}

}  // namespace kvpane::invariants::article
