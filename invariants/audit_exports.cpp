// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <vector>

#include <kvpane/blocktable/exports.h>
#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

using Row = std::vector<std::int32_t>;

Found found(Site site, std::string what) { return Finding{Invariant::T1, std::move(what), std::move(site)}; }

Site in(const Record& record, std::uint32_t group) { return {.sequence = record.name, .group = group}; }

TableView table_of(const Scene& scene, const Record& record, std::uint32_t group) {
    return *scene.manager.table(record.handle, GroupId{group});
}

// The padded row and the slots of one sequence are its table, entry by entry and position by position.
Found find_wrong_row(const Scene& scene, const Record& record, std::uint32_t group) {
    const TableView table = table_of(scene, record, group);
    const spec::Holding& holding = record.groups[group].holding;
    Row row(table.size + std::size_t{1}, -1);
    if (!export_padded(scene.manager, {&record.handle, 1}, GroupId{group}, row.size(), row)) {
        return found(in(record, group), text(scene.label(record, group), ": its padded row was refused"));
    }
    for (std::size_t entry = 0; entry < row.size(); ++entry) {
        if (row[entry] != static_cast<std::int32_t>(to_index(table[entry]))) {
            return found({.sequence = record.name, .group = group, .block = table[entry]},
                         text(scene.label(record, group), ", logical block ", entry, ": the padded row says ",
                              row[entry], ", the table ", to_index(table[entry])));
        }
    }
    const Length first = holding.first_resident();
    std::vector<Slot> slots(static_cast<std::size_t>(std::max<Length>(0, holding.end - first)));
    if (!export_slots(scene.manager, record.handle, GroupId{group}, first, slots)) {
        return found(in(record, group), text(scene.label(record, group), ": the slots of its positions were refused"));
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const Length position = first + static_cast<Length>(i);
        const Length block_size = holding.rule.block_size;
        const Slot due =
            Slot{to_index(table[static_cast<std::size_t>(position / block_size)])} * block_size + position % block_size;
        if (slots[i] != due) {
            return found({.sequence = record.name, .group = group, .position = position},
                         text(scene.label(record, group), ", position ", position, ": slot ", slots[i],
                              " was exported, the table says ", due));
        }
    }
    return std::nullopt;
}

// What the page arrays say of one sequence.
Found find_wrong_pages(const Scene& scene, const Record& record, std::uint32_t group,
                       std::span<const std::int32_t> pages, std::int32_t last_page_len, Length first_position) {
    const TableView table = table_of(scene, record, group);
    const spec::Holding& holding = record.groups[group].holding;
    Row due;
    for (std::uint32_t entry = 0; entry < table.size; ++entry) {
        if (table[entry] != null_block) {
            due.push_back(static_cast<std::int32_t>(to_index(table[entry])));
        }
    }
    if (!std::ranges::equal(pages, due)) {
        return found(in(record, group),
                     text(scene.label(record, group), ": ", pages.size(), " pages were exported, of the ", due.size(),
                          " held blocks not all in their order"));
    }
    const Length block_size = holding.rule.block_size;
    const Length last_block = (holding.end - 1) / block_size;
    const bool ends_at_the_tail = !due.empty() && holding.has_block(last_block);
    const Length cells = due.empty() ? 0 : ends_at_the_tail ? holding.end - last_block * block_size : block_size;
    if (last_page_len != cells || first_position != holding.first_resident()) {
        return found(in(record, group),
                     text(scene.label(record, group), ": the last page has ", cells, " cells and the run begins at ",
                          holding.first_resident(), ", ", last_page_len, " and ", first_position, " were exported"));
    }
    return std::nullopt;
}

}  // namespace

Found find_wrong_exports(const Scene& scene) {
    const std::size_t n = scene.living.size();
    std::vector<SequenceHandle> handles;
    for (const Record* record : scene.living) {
        handles.push_back(record->handle);
    }
    for (std::uint32_t group = 0; group < scene.manager.groups(); ++group) {
        Row indptr(n + 1);
        Row last_page_len(n);
        std::vector<std::int64_t> first_position(n);
        Row indices(static_cast<std::size_t>(csr_entries(scene.manager, handles, GroupId{group}).value_or(0)));
        if (!export_csr(scene.manager, handles, GroupId{group}, {indptr, indices, last_page_len, first_position})) {
            return found({}, text("the page arrays of ", n, " sequences were refused"));
        }
        for (std::size_t i = 0; i < n; ++i) {
            const Record& record = *scene.living[i];
            const auto begin = static_cast<std::size_t>(indptr[i]);
            const auto end = static_cast<std::size_t>(indptr[i + 1]);
            if (begin > end || end > indices.size()) {
                return found(in(record, group), text(scene.label(record, group), ": its pages are ", begin, " to ", end,
                                                     " of ", indices.size()));
            }
            auto finding = find_wrong_pages(scene, record, group, std::span(indices).subspan(begin, end - begin),
                                            last_page_len[i], first_position[i]);
            finding = finding ? finding : find_wrong_row(scene, record, group);
            if (finding) {
                return finding;
            }
        }
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants
