// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/paged_decoder.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <kvpane/blocktable/exports.h>
#include <kvpane/invariants/spec.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::article {

namespace {

constexpr GroupId only_group{0};

template <class T>
T must(expected<T> result, const char* what) {
    if (!result) {
        throw std::logic_error(text("cannot ", what, ": ", to_string(result.error())));
    }
    if constexpr (!std::is_void_v<T>) {
        return *std::move(result);
    }
}

// A sequence's table as a kernel gets it.
struct ExportedTable {
    ExportedTable(const Manager& manager, SequenceHandle sequence)
        : block_size(manager.config().block_size),
          blocks(static_cast<std::size_t>(must(csr_entries(manager, {&sequence, 1}, only_group), "export"))) {
        std::array<std::int32_t, 2> indptr{};
        std::int32_t last_page_len = 0;
        std::int64_t first_position = 0;
        must(export_csr(manager, {&sequence, 1}, only_group,
                        {indptr, blocks, {&last_page_len, 1}, {&first_position, 1}}),
             "export");
        first_page = static_cast<std::size_t>(first_position) / block_size;
    }

    std::size_t slot(Length position) const {
        const auto p = static_cast<std::size_t>(position);
        return static_cast<std::size_t>(blocks.at(p / block_size - first_page)) * block_size + p % block_size;
    }

    std::size_t block_size;
    std::vector<std::int32_t> blocks;  // held, from first_page on
    std::size_t first_page = 0;
};

}  // namespace

// The memory of one pass: rows go to its slots, queries read through its table.
class PagedDecoder::BlockMemory : public RowMemory {
public:
    BlockMemory(PagedDecoder& decoder, SequenceHandle sequence, std::span<const Slot> slots, Length window)
        : decoder_(decoder), slots_(slots), table_(decoder.manager_, sequence),
          first_(must(decoder.manager_.length(sequence), "ask")), window_(window) {}

    void write(std::size_t layer, std::span<const KeyValue> rows) override {
        must(write_cells(decoder_.cells(layer), slots_, std::as_bytes(rows)), "write");
    }

    void look(std::size_t layer, std::size_t index, std::vector<Seen>& seen) const override {
        const std::vector<KeyValue>& payload = decoder_.payload_[layer];
        const Length query = first_ + static_cast<Length>(index);
        for (Length row = spec::need(query, window_); row <= query; ++row) {
            const std::size_t off = decoder_.fault_ == Fault::next_slot ? 1 : 0;
            seen.push_back({&payload[(table_.slot(row) + off) % payload.size()]});
        }
    }

private:
    PagedDecoder& decoder_;
    std::span<const Slot> slots_;  // [tokens]
    ExportedTable table_;
    Length first_;  // the logical position of the pass's first token
    Length window_;
};

PagedDecoder::PagedDecoder(const Config& config, Fault fault) : manager_(config), fault_(fault) {
    if (config.groups.size() != 1) {
        throw std::logic_error("all layers of the decoder share one group");
    }
    for (std::vector<KeyValue>& payload : payload_) {
        payload.resize(static_cast<std::size_t>(config.blocks + 1) * config.block_size);
    }
}

HostCells PagedDecoder::cells(std::size_t layer) {
    return {std::as_writable_bytes(std::span(payload_[layer])), manager_.config().block_size, sizeof(KeyValue)};
}

void PagedDecoder::run_ordered(std::span<const BlockCopy> copies) {
    for (const BlockCopy& copy : copies) {
        copied_cells_ += copy.cells;
    }
    for (std::size_t layer = 0; layer < layers && fault_ != Fault::missed_copy; ++layer) {
        must(run_copies(cells(layer), only_group, copies), "copy");
    }
}

Step PagedDecoder::reserve(SequenceHandle sequence, std::size_t cells) {
    const Reservation reservation{.sequence = sequence, .cells = static_cast<Length>(cells)};
    const Step step = must(manager_.reserve({&reservation, 1}), "reserve");
    run_ordered(step.copies);
    return step;
}

PagedDecoder::Found PagedDecoder::admit(std::span<const Token> prompt, const Scope& scope) {
    // Nothing is committed yet: a window must not slide before the queries have been answered.
    const Admission admission = must(manager_.admit({.tokens = prompt, .compute = 0, .scope = scope}), "admit");
    run_ordered(admission.step.copies);
    Found found{.sequence = admission.sequence, .cut = admission.cached_tokens, .blocks = {}};
    const TableView table = must(manager_.table(found.sequence, only_group), "ask");
    for (std::size_t i = 0; i < table.size; ++i) {
        found.blocks.push_back(table[i]);
    }
    for (const BlockCopy& copy : admission.step.copies) {
        std::ranges::replace(found.blocks, copy.destination, copy.source);
    }
    return found;
}

PagedDecoder::Pass PagedDecoder::run(const Model& model, SequenceHandle sequence, std::span<const Token> tokens,
                                     std::optional<Length> position) {
    const Length length = must(manager_.length(sequence), "ask");
    const Step step = reserve(sequence, tokens.size());
    BlockMemory memory(*this, sequence, step.slots_of(only_group), model.window);
    Pass pass;
    pass.rows =
        forward(*model.weights, tokens, positions_from(position.value_or(length), tokens.size()), memory, pass.effort);
    must(manager_.commit(sequence, tokens), "commit");
    return pass;
}

PagedDecoder::Started PagedDecoder::start(const Model& model, std::span<const Token> prompt, const Scope& scope) {
    const Found found = admit(prompt, scope);
    return {found, run(model, found.sequence, prompt.subspan(static_cast<std::size_t>(found.cut)))};
}

void PagedDecoder::plant(SequenceHandle sequence, std::span<const Token> tokens, const PlacedRows& rows) {
    const Step step = reserve(sequence, tokens.size());
    for (std::size_t layer = 0; layer < layers; ++layer) {
        must(write_cells(cells(layer), step.slots_of(only_group), std::as_bytes(std::span(rows.rows[layer]))), "write");
    }
    must(manager_.commit(sequence, tokens), "commit");
}

PlacedRows PagedDecoder::gather(SequenceHandle sequence, Length first, std::size_t count) {
    const TableView table = must(manager_.table(sequence, only_group), "ask");
    PlacedRows gathered{.positions = positions_from(first, count), .rows = {}};
    for (std::size_t layer = 0; layer < layers; ++layer) {
        gathered.rows[layer].resize(count);
        must(gather_cells(cells(layer), table, first, std::as_writable_bytes(std::span(gathered.rows[layer]))),
             "gather");
    }
    return gathered;
}

std::size_t PagedDecoder::held_bytes(SequenceHandle sequence) const {
    const std::size_t blocks = must(manager_.table(sequence, only_group), "ask").held();
    return blocks * manager_.config().block_size * layers * sizeof(KeyValue);
}

}  // namespace kvpane::invariants::article
