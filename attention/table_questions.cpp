// SPDX-License-Identifier: Apache-2.0
// What the operations on tables ask before they read an array: all that a caller of a device's can be told.
#include <kvpane/attention/argument_memory.h>
#include <kvpane/attention/table_ops.h>

namespace kvpane {

namespace {

using Found = payload_expected<void>;

// Whether there are `n_seqs` rows.
Found find_wrong_rows(const PaddedTables& tables, std::size_t n_seqs) noexcept {
    if (tables.block_size == 0) {
        return refuse(PayloadFault::bad_shape, "block_size");
    }
    // Division, since a caller's width times n_seqs may overflow.
    if (n_seqs > 0 && tables.ids.size() / n_seqs < tables.width) {
        return refuse(PayloadFault::bad_shape, "tables");
    }
    return {};
}

Found find_wrong_rule(const SeenRule& rule, std::size_t n_seqs) noexcept {
    if (!rule.queries.empty() && rule.queries.size() != n_seqs) {
        return refuse(PayloadFault::bad_shape, "queries");
    }
    if (rule.window < 0) {
        return refuse(PayloadFault::out_of_range, "window");
    }
    if (rule.sinks < 0) {
        return refuse(PayloadFault::out_of_range, "sinks");
    }
    return {};
}

Found find_wrong_sizes(const CsrArrays& out, std::size_t n_seqs) noexcept {
    if (out.indptr.size() < n_seqs + 1) {
        return refuse(PayloadFault::buffer_too_small, "indptr");
    }
    if (out.last_page_len.size() < n_seqs) {
        return refuse(PayloadFault::buffer_too_small, "last_page_len");
    }
    if (out.first_position.size() < n_seqs) {
        return refuse(PayloadFault::buffer_too_small, "first_position");
    }
    return {};
}

}  // namespace

Found find_wrong(const PaddedTables& tables, std::span<const Length> lengths, const SeenRule& rule,
                 const CsrArrays& out) noexcept {
    return find_wrong_rows(tables, lengths.size())
        .and_then([&] { return find_wrong_rule(rule, lengths.size()); })
        .and_then([&] { return find_wrong_sizes(out, lengths.size()); })
        .and_then([&] {
            return find_misaligned({memory_of("tables", tables.ids), memory_of("lengths", lengths),
                                    memory_of("queries", rule.queries), memory_of("indptr", out.indptr),
                                    memory_of("indices", out.indices), memory_of("last_page_len", out.last_page_len),
                                    memory_of("first_position", out.first_position)});
        })
        .and_then([&] {
            return find_overlapping({memory_of("out", out.indptr), memory_of("out", out.indices),
                                     memory_of("out", out.last_page_len), memory_of("out", out.first_position)},
                                    {range_of(tables.ids), range_of(lengths), range_of(rule.queries)});
        });
}

Found find_wrong(const CsrTables& csr, std::size_t width, std::span<std::int32_t> out) noexcept {
    if (csr.block_size == 0) {
        return refuse(PayloadFault::bad_shape, "block_size");
    }
    if (csr.indptr.empty()) {
        return refuse(PayloadFault::bad_shape, "indptr");
    }
    const std::size_t n = csr.indptr.size() - 1;
    if (csr.first_position.size() < n) {
        return refuse(PayloadFault::bad_shape, "first_position");
    }
    if (csr.sinks < 0) {
        return refuse(PayloadFault::out_of_range, "sinks");
    }
    if (n > 0 && out.size() / n < width) {
        return refuse(PayloadFault::buffer_too_small, "out");
    }
    return find_misaligned({memory_of("indptr", csr.indptr), memory_of("indices", csr.indices),
                            memory_of("first_position", csr.first_position), memory_of("out", out)})
        .and_then([&] {
            return find_overlapping({memory_of("out", out)},
                                    {range_of(csr.indptr), range_of(csr.indices), range_of(csr.first_position)});
        });
}

Found find_wrong(const PaddedTables& tables, std::span<const std::int32_t> indptr, std::span<const Length> positions,
                 std::span<Slot> out) noexcept {
    const std::size_t n_seqs = indptr.empty() ? positions.size() : indptr.size() - 1;
    if (const auto found = find_wrong_rows(tables, n_seqs); !found) {
        return found;
    }
    if (n_seqs == 0 && !positions.empty()) {
        return refuse(PayloadFault::bad_shape, "indptr");
    }
    if (out.size() < positions.size()) {
        return refuse(PayloadFault::buffer_too_small, "out");
    }
    return find_misaligned({memory_of("tables", tables.ids), memory_of("indptr", indptr),
                            memory_of("positions", positions), memory_of("out", out)})
        .and_then([&] {
            return find_overlapping({memory_of("out", out)},
                                    {range_of(tables.ids), range_of(indptr), range_of(positions)});
        });
}

}  // namespace kvpane
