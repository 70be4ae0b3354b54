// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/table_ops.h>

#include <algorithm>
#include <array>
#include <limits>

#include <kvpane/attention/seen_positions.h>
#include <kvpane/blocktable/block_shape.h>

namespace kvpane {

namespace {

Length queries_of(const SeenRule& rule, std::span<const Length> lengths, std::size_t i) noexcept {
    return rule.queries.empty() ? std::min<Length>(1, lengths[i]) : rule.queries[i];
}

payload_expected<void> find_wrong_ids(std::span<const std::int32_t> ids) noexcept {
    for (const std::int32_t id : ids) {
        if (id == 0) {
            return refuse(PayloadFault::hole, "tables");
        }
        if (id < 0) {
            return refuse(PayloadFault::out_of_range, "tables");
        }
    }
    return {};
}

// The entries of a row that are seen. REQUIRES that the row has them.
std::array<std::span<const std::int32_t>, 2> parts_of_row(const PaddedTables& tables, std::size_t i,
                                                          const SeenBlocks& seen) noexcept {
    const auto row = tables.ids.subspan(i * tables.width, static_cast<std::size_t>(seen.size));
    return {row.first(static_cast<std::size_t>(seen.sinks)), row.subspan(static_cast<std::size_t>(seen.run))};
}

// The entries of all sequences. REQUIRES find_wrong() finds nothing in what is asked before arrays are read.
payload_expected<std::int64_t> count_entries(const PaddedTables& tables, std::span<const Length> lengths,
                                             const SeenRule& rule) noexcept {
    const BlockShape shape(tables.block_size);
    std::int64_t entries = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (lengths[i] < 0) {
            return refuse(PayloadFault::out_of_range, "lengths");
        }
        const Length queries = queries_of(rule, lengths, i);
        if (queries < 0 || queries > lengths[i]) {
            return refuse(PayloadFault::out_of_range, "queries");
        }
        const SeenBlocks seen = seen_blocks(rule.visibility(), shape, lengths[i], queries);
        if (static_cast<std::size_t>(seen.size) > tables.width) {
            return refuse(PayloadFault::buffer_too_small, "tables");
        }
        for (const auto part : parts_of_row(tables, i, seen)) {
            if (const auto found = find_wrong_ids(part); !found) {
                return tl::unexpected(found.error());
            }
        }
        entries += seen.count();
    }
    if (entries > std::numeric_limits<std::int32_t>::max()) {
        return refuse(PayloadFault::bad_shape, "indices");
    }
    return entries;
}

// One row of a CSR, checked: its sinks' blocks come first, those of the run belong at `run`.
payload_expected<SeenBlocks> read_row(const CsrTables& csr, std::size_t i, std::size_t width) noexcept {
    const std::int32_t begin = csr.indptr[i];
    const std::int32_t end = csr.indptr[i + 1];
    if (begin < 0 || end < begin || static_cast<std::size_t>(end) > csr.indices.size()) {
        return refuse(PayloadFault::bad_shape, "indptr");
    }
    if (csr.first_position[i] < 0) {
        return refuse(PayloadFault::out_of_range, "first_position");
    }
    const BlockShape shape(csr.block_size);
    const Length entries = end - begin;
    const SeenBlocks seen = blocks_of_row(shape, csr.sinks, csr.first_position[i], entries);
    const bool are_all_there = seen.run == 0 || shape.blocks_for(csr.sinks) <= entries;
    // After a truncation the hole may be no more than the first cells of the block behind the sinks.
    const bool is_behind_a_hole =
        seen.sinks < seen.run || (seen.sinks == seen.run && shape.offset(csr.first_position[i]) != 0);
    if (!are_all_there || (seen.sinks > 0 && !is_behind_a_hole)) {
        return refuse(PayloadFault::bad_shape, "sinks");
    }
    if (static_cast<std::size_t>(seen.size > seen.run ? seen.size : seen.sinks) > width) {
        return refuse(PayloadFault::buffer_too_small, "out");
    }
    return seen;
}

}  // namespace

payload_expected<std::int64_t> tables_to_csr(const PaddedTables& tables, std::span<const Length> lengths,
                                             const SeenRule& rule, const CsrArrays& out) noexcept {
    if (const auto found = find_wrong(tables, lengths, rule, out); !found) {
        return tl::unexpected(found.error());
    }
    const auto entries = count_entries(tables, lengths, rule);
    if (!entries) {
        return entries;
    }
    if (out.indices.size() < static_cast<std::size_t>(*entries)) {
        return refuse(PayloadFault::buffer_too_small, "indices");
    }
    const std::size_t n = lengths.size();
    const BlockShape shape(tables.block_size);
    auto index = out.indices.begin();
    out.indptr[0] = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const SeenBlocks seen = seen_blocks(rule.visibility(), shape, lengths[i], queries_of(rule, lengths, i));
        for (const auto part : parts_of_row(tables, i, seen)) {
            index = std::ranges::copy(part, index).out;
        }
        out.indptr[i + 1] = static_cast<std::int32_t>(index - out.indices.begin());
        out.last_page_len[i] = seen.count() == 0 ? 0 : static_cast<std::int32_t>(shape.offset(lengths[i] - 1) + 1);
        out.first_position[i] = shape.begin(seen.run);
    }
    return entries;
}

payload_expected<void> csr_to_tables(const CsrTables& csr, std::size_t width, std::span<std::int32_t> out) noexcept {
    if (const auto asked = find_wrong(csr, width, out); !asked) {
        return asked;
    }
    const std::size_t n = csr.indptr.size() - 1;
    for (std::size_t i = 0; i < n; ++i) {
        if (const auto row = read_row(csr, i, width); !row) {
            return tl::unexpected(row.error());
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        const SeenBlocks seen = *read_row(csr, i, width);
        const auto row = out.subspan(i * width, width);
        std::ranges::fill(row, 0);
        for (Length entry = 0; entry < seen.count(); ++entry) {
            row[static_cast<std::size_t>(seen[entry])] = csr.indices[static_cast<std::size_t>(csr.indptr[i] + entry)];
        }
    }
    return {};
}

payload_expected<void> slots_of_positions(const PaddedTables& tables, std::span<const std::int32_t> indptr,
                                          std::span<const Length> positions, std::span<Slot> out) noexcept {
    if (const auto found = find_wrong(tables, indptr, positions, out); !found) {
        return found;
    }
    const std::size_t n = indptr.empty() ? positions.size() : indptr.size() - 1;
    if (!indptr.empty() && (indptr.front() != 0 || !std::ranges::is_sorted(indptr) ||
                            static_cast<std::size_t>(indptr.back()) != positions.size())) {
        return refuse(PayloadFault::bad_shape, "indptr");
    }
    const BlockShape shape(tables.block_size);
    // Calls visit(i, block id) for each position as long as it gives true.
    const auto for_each = [&](auto visit) {
        for (std::size_t sequence = 0; sequence < n; ++sequence) {
            const std::size_t begin = indptr.empty() ? sequence : static_cast<std::size_t>(indptr[sequence]);
            const std::size_t end = indptr.empty() ? sequence + 1 : static_cast<std::size_t>(indptr[sequence + 1]);
            const auto row = tables.ids.subspan(sequence * tables.width, tables.width);
            for (std::size_t i = begin; i < end; ++i) {
                if (!visit(i, row)) {
                    return;
                }
            }
        }
    };
    payload_expected<void> found;
    for_each([&](std::size_t i, std::span<const std::int32_t> row) {
        const auto entry = static_cast<std::size_t>(shape.index(std::max<Length>(0, positions[i])));
        found = positions[i] < 0      ? payload_expected<void>(refuse(PayloadFault::out_of_range, "positions"))
                : entry >= row.size() ? payload_expected<void>(refuse(PayloadFault::buffer_too_small, "tables"))
                                      : find_wrong_ids(row.subspan(entry, 1));
        return found.has_value();
    });
    if (!found) {
        return found;
    }
    for_each([&](std::size_t i, std::span<const std::int32_t> row) {
        const std::int32_t block = row[static_cast<std::size_t>(shape.index(positions[i]))];
        out[i] = shape.begin(block) + shape.offset(positions[i]);
        return true;
    });
    return {};
}

}  // namespace kvpane
