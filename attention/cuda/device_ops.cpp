// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cuda/device_ops.h>

#include <cmath>
#include <limits>

#include <kvpane/attention/argument_memory.h>
#include <kvpane/attention/cuda/on_device.h>
#include <kvpane/attention/cuda/piece_layout.h>
#include <kvpane/attention/element_copy.h>

namespace kvpane {

namespace {

using Found = payload_expected<void>;

// What the host's functions ask of rows, and how the kernels want them to lie.
template <class Rows>
Found find_wrong_rows(const CellStore& store, std::size_t n, const Rows& rows, ElementCopy way) noexcept {
    return find_wrong_on_device(store)
        .and_then([&]() -> Found { return way == nullptr ? refuse(PayloadFault::unsupported_dtype, "rows") : Found{}; })
        .and_then([&] { return find_wrong(store, n, rows); })
        .and_then([&]() -> Found {
            const bool is_aligned = is_device_aligned(rows.k, rows.dtype) && is_device_aligned(rows.v, rows.dtype);
            return is_aligned ? Found{} : refuse(PayloadFault::misaligned, "rows");
        });
}

// The same of a range; its table is not read.
template <class Rows>
Found find_wrong_cells(const CellStore& store, const CellRange& range, const Rows& rows, ElementCopy way) noexcept {
    return find_wrong(store).and_then([&] { return find_wrong_extent(store, range); }).and_then([&] {
        return find_wrong_rows(store, static_cast<std::size_t>(range.count), rows, way);
    });
}

Found find_wrong_count(std::size_t n, const char* where) noexcept {
    return n <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())
               ? Found{}
               : refuse(PayloadFault::bad_shape, where);
}

}  // namespace

payload_expected<void> device_write_slots(const CellStore& store, std::span<const Slot> slots, const CellRows& rows,
                                          void* stream) noexcept {
    return find_wrong_rows(store, slots.size(), rows, copy_into_store(rows.dtype, store.shape.dtype))
        .and_then([&] { return find_wrong_places(store, "slots", slots); })
        .and_then([&] { return on_device::write_slots(store, slots, rows, stream); });
}

payload_expected<void> device_gather_cells(const CellStore& store, const CellRange& range, const CellRowsOut& out,
                                           void* stream) noexcept {
    return find_wrong_cells(store, range, out, copy_out_of_store(store.shape.dtype, out.dtype))
        .and_then([&] { return find_wrong_gather(store, range, out); })
        .and_then([&] { return on_device::gather_cells(store, range, out, stream); });
}

payload_expected<void> device_scatter_cells(const CellStore& store, const CellRange& range, const CellRows& rows,
                                            void* stream) noexcept {
    return find_wrong_cells(store, range, rows, copy_into_store(rows.dtype, store.shape.dtype))
        .and_then([&] { return find_wrong_places(store, "table", range.table); })
        .and_then([&] { return on_device::scatter_cells(store, range, rows, stream); });
}

payload_expected<void> device_copy_blocks(const CellStore& store, GroupId group, std::span<const BlockCopy> copies,
                                          void* stream) noexcept {
    return find_wrong_on_device(store)
        .and_then([&] { return find_wrong_count(copies.size(), "copies"); })
        .and_then([&] { return find_wrong_places(store, "copies", copies); })
        .and_then([&] { return on_device::copy_blocks(store, group, copies, stream); });
}

payload_expected<void> device_swap_blocks(const CellStore& from, const CellStore& to, std::span<const BlockPair> pairs,
                                          void* stream) noexcept {
    // Of no pairs the host's function asks everything but the ids.
    return swap_blocks(from, to, {})
        .and_then([&] { return find_wrong_on_device(from); })
        .and_then([&] { return find_wrong_on_device(to); })
        .and_then([&] { return find_wrong_count(pairs.size(), "pairs"); })
        .and_then([&] { return find_wrong_places(to, "pairs", pairs); })
        .and_then([&] { return on_device::swap_blocks(from, to, pairs, stream); });
}

payload_expected<void> device_fingerprint_blocks(const CellStore& store, std::span<const FilledBlock> blocks,
                                                 std::span<std::uint64_t> out, void* stream) noexcept {
    return find_wrong_on_device(store)
        .and_then([&] { return find_wrong_count(blocks.size(), "blocks"); })
        .and_then([&] { return find_wrong_fingerprints(store, blocks, out); })
        .and_then([&] { return on_device::fingerprint_blocks(store, blocks, out, stream); });
}

payload_expected<void> device_compare_cells(const CellStore& store, const CellRange& range, const CellRows& expected,
                                            std::optional<float> tolerance, std::uint64_t* scratch, CellMismatch* out,
                                            void* stream) noexcept {
    return find_wrong_cells(store, range, expected, copy_out_of_store(store.shape.dtype, expected.dtype))
        .and_then([&]() -> Found {
            if (tolerance && !(std::isfinite(*tolerance) && *tolerance >= 0)) {
                return refuse(PayloadFault::out_of_range, "tolerance");
            }
            if (scratch == nullptr) {
                return refuse(PayloadFault::bad_shape, "scratch");
            }
            if (out == nullptr) {
                return refuse(PayloadFault::bad_shape, "out");
            }
            return find_wrong_answer(
                store, range, expected,
                {memory_of("scratch", std::span(scratch, 1)), memory_of("out", std::span(out, 1))});
        })
        .and_then([&] { return on_device::compare_cells(store, range, expected, tolerance, scratch, out, stream); });
}

payload_expected<std::size_t> csr_workspace_bytes(std::size_t n_seqs) noexcept {
    return find_wrong_count(n_seqs, "n_seqs").and_then([&] { return on_device::running_sum_bytes(n_seqs); });
}

payload_expected<void> device_tables_to_csr(const PaddedTables& tables, std::span<const Length> lengths,
                                            const SeenRule& rule, const CsrArrays& out, std::span<std::byte> workspace,
                                            void* stream) noexcept {
    return find_wrong(tables, lengths, rule, out)
        .and_then([&] {
            return find_overlapping(
                {memory_of("workspace", workspace)},
                {range_of(tables.ids), range_of(lengths), range_of(rule.queries), range_of(out.indptr),
                 range_of(out.indices), range_of(out.last_page_len), range_of(out.first_position)});
        })
        .and_then([&] { return csr_workspace_bytes(lengths.size()); })
        .and_then([&](std::size_t bytes) -> Found {
            if (workspace.size() < bytes) {
                return refuse(PayloadFault::workspace_too_small, "workspace");
            }
            return on_device::tables_to_csr(tables, lengths, rule, out, workspace, stream);
        });
}

payload_expected<void> device_csr_to_tables(const CsrTables& csr, std::size_t width, std::span<std::int32_t> out,
                                            void* stream) noexcept {
    return find_wrong(csr, width, out).and_then([&] { return find_wrong_count(out.size(), "out"); }).and_then([&] {
        return on_device::csr_to_tables(csr, width, out, stream);
    });
}

payload_expected<void> device_slots_of_positions(const PaddedTables& tables, std::span<const std::int32_t> indptr,
                                                 std::span<const Length> positions, std::span<Slot> out,
                                                 void* stream) noexcept {
    const std::size_t n_seqs = indptr.empty() ? positions.size() : indptr.size() - 1;
    return find_wrong(tables, indptr, positions, out)
        .and_then([&] { return find_wrong_count(n_seqs, "tables"); })
        .and_then([&] { return on_device::slots_of_positions(tables, indptr, positions, out, stream); });
}

}  // namespace kvpane
