// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include <kvpane/attention/cuda/device_ops.h>
#include <kvpane/attention/cuda/launch_shape.h>
#include <kvpane/attention/cuda/kernels/inspect.cuh>
#include <kvpane/attention/cuda/kernels/move.cuh>
#include <kvpane/attention/cuda/kernels/tables.cuh>

// Which kernels an operation of device_ops.h needs; `launch(kernel, shape, arguments)` as in attention_launch.cuh.
namespace kvpane::cuda {

// A grid of cell_threads that covers every piece of `cells` cells.
inline LaunchShape shape_for_cells(const CellShape& shape, Length cells) {
    return {{blocks_for(static_cast<std::size_t>(cells) * pieces_of_cell(shape), cell_threads)}, cell_threads};
}

inline LaunchShape shape_for_tables(std::size_t threads) {
    return {{blocks_for(threads, table_threads)}, table_threads};
}

template <bool into_store, class Launch>
payload_expected<void> launch_move(Launch& launch, const RowsArgs& args) {
    return launch(move_cells<into_store>, shape_for_cells(args.store.shape, args.places.count), args);
}

// Rows that a kernel only reads; it takes one kind of arguments for both directions.
inline RowsArgs rows_args(const CellStore& store, const CellPlaces& places, const CellRows& rows) {
    return {store, places, const_cast<void*>(rows.k), const_cast<void*>(rows.v), rows.dtype};
}

inline CellPlaces places_of(const CellRange& range) {
    return {.table = range.table.data(), .first = range.first, .count = range.count};
}

template <class Launch>
payload_expected<void> run_write_slots(Launch& launch, const CellStore& store, std::span<const Slot> slots,
                                       const CellRows& rows) {
    const CellPlaces places{.slots = slots.data(), .count = static_cast<Length>(slots.size())};
    return launch_move<true>(launch, rows_args(store, places, rows));
}

template <class Launch>
payload_expected<void> run_gather_cells(Launch& launch, const CellStore& store, const CellRange& range,
                                        const CellRowsOut& out) {
    return launch_move<false>(launch, RowsArgs{store, places_of(range), out.k, out.v, out.dtype});
}

template <class Launch>
payload_expected<void> run_scatter_cells(Launch& launch, const CellStore& store, const CellRange& range,
                                         const CellRows& rows) {
    return launch_move<true>(launch, rows_args(store, places_of(range), rows));
}

template <class Launch>
payload_expected<void> run_copies(Launch& launch, const CopyArgs& args) {
    return launch(copy_cells, shape_for_cells(args.from.shape, Length{args.n} * args.from.shape.block_size), args);
}

template <class Launch>
payload_expected<void> run_copy_blocks(Launch& launch, const CellStore& store, GroupId group,
                                       std::span<const BlockCopy> copies) {
    return run_copies(launch, CopyArgs{.from = store,
                                       .to = store,
                                       .copies = copies.data(),
                                       .group = group,
                                       .n = static_cast<std::uint32_t>(copies.size())});
}

template <class Launch>
payload_expected<void> run_swap_blocks(Launch& launch, const CellStore& from, const CellStore& to,
                                       std::span<const BlockPair> pairs) {
    return run_copies(
        launch, CopyArgs{.from = from, .to = to, .pairs = pairs.data(), .n = static_cast<std::uint32_t>(pairs.size())});
}

template <class Launch>
payload_expected<void> run_fingerprint_blocks(Launch& launch, const CellStore& store,
                                              std::span<const FilledBlock> blocks, std::span<std::uint64_t> out) {
    return launch(fingerprint_cells,
                  LaunchShape{{static_cast<unsigned>(blocks.size())}, cell_threads, fingerprint_shared_bytes()},
                  FingerprintArgs{store, blocks.data(), out.data()});
}

template <class Launch>
payload_expected<void> run_compare_cells(Launch& launch, const CellStore& store, const CellRange& range,
                                         const CellRows& expected, std::optional<float> tolerance,
                                         std::uint64_t* scratch, CellMismatch* out) {
    const CompareArgs args{.cells = rows_args(store, places_of(range), expected),
                           .is_exact = !tolerance.has_value(),
                           .tolerance = tolerance.value_or(0),
                           .least = reinterpret_cast<unsigned long long*>(scratch),
                           .out = out};
    return launch.fill(scratch, 0xff, sizeof *scratch)
        .and_then([&] { return launch(find_difference, shape_for_cells(store.shape, range.count), args); })
        .and_then([&] {
            return launch(describe_difference, LaunchShape{{1}, 1}, args);
        });
}

template <class Launch>
payload_expected<void> run_tables_to_csr(Launch& launch, const PaddedTables& tables, std::span<const Length> lengths,
                                         const SeenRule& rule, const CsrArrays& out, std::span<std::byte> workspace) {
    const CsrArgs args{.tables = tables.ids.data(),
                       .width = tables.width,
                       .room = room_of(tables.width, tables.block_size),
                       .n_seqs = static_cast<std::uint32_t>(lengths.size()),
                       .shape = BlockShape(tables.block_size),
                       .lengths = lengths.data(),
                       .queries = rule.queries.empty() ? nullptr : rule.queries.data(),
                       .rule = rule.visibility(),
                       .indptr = out.indptr.data(),
                       .indices = out.indices.data(),
                       .n_indices = out.indices.size(),
                       .last_page_len = out.last_page_len.data(),
                       .first_position = out.first_position.data()};
    return launch(count_blocks, shape_for_tables(lengths.size() + 1), args)
        .and_then([&] { return launch.running_sum(args.indptr + 1, lengths.size(), workspace); })
        .and_then([&] {
            return launch(fill_csr, LaunchShape{{args.n_seqs}, table_threads}, args);
        });
}

template <class Launch>
payload_expected<void> run_csr_to_tables(Launch& launch, const CsrTables& csr, std::size_t width,
                                         std::span<std::int32_t> out) {
    const PaddedArgs args{.indptr = csr.indptr.data(),
                          .indices = csr.indices.data(),
                          .n_indices = csr.indices.size(),
                          .first_position = csr.first_position.data(),
                          .sinks = csr.sinks,
                          .shape = BlockShape(csr.block_size),
                          .n_seqs = static_cast<std::uint32_t>(csr.indptr.size() - 1),
                          .width = width,
                          .tables = out.data()};
    return launch(fill_padded, shape_for_tables(args.n_seqs * width), args);
}

template <class Launch>
payload_expected<void> run_slots_of_positions(Launch& launch, const PaddedTables& tables,
                                              std::span<const std::int32_t> indptr, std::span<const Length> positions,
                                              std::span<Slot> out) {
    const SlotArgs args{.tables = tables.ids.data(),
                        .width = tables.width,
                        .shape = BlockShape(tables.block_size),
                        .indptr = indptr.empty() ? nullptr : indptr.data(),
                        .n_seqs = static_cast<std::uint32_t>(indptr.empty() ? positions.size() : indptr.size() - 1),
                        .positions = positions.data(),
                        .n = positions.size(),
                        .slots = out.data()};
    return launch(map_slots, shape_for_tables(positions.size()), args);
}

}  // namespace kvpane::cuda
