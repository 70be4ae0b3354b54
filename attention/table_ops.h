// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/payload_error.h>
#include <kvpane/attention/visibility.h>
#include <kvpane/blocktable/exports.h>

// Block tables from one form to another, as attention kernels take them. Where the Manager is at hand its own exports
// (blocktable/exports.h) give the same; these start from tables alone, as a device has them. Everything is asked before
// anything is written, and nothing allocates.
//
// ERRORS of all: bad_shape (a block size of 0, spans that do not fit each other), out_of_range (a negative id,
// position, length or count), hole (a block that is needed and is not there), buffer_too_small (tables: a row that ends
// before its sequence does; an output), misaligned (an array that does not start at a multiple of its element),
// overlapping (an output and an input, or another output). What shows without reading an array is found first.
namespace kvpane {

// [n_seqs, width] block ids by logical block, 0 for holes and behind the end, as export_padded() gives them.
struct PaddedTables {
    std::span<const std::int32_t> ids;
    std::size_t width = 0;
    std::uint32_t block_size = 0;  // [cells]
};

// Which cells of a sequence its latest queries see, by the rule of attention.h.
struct SeenRule {
    Length window = 0;  // 0 = all
    Length sinks = 0;   // counted only beside a window
    // [n_seqs] queries of each sequence, at its last positions; empty: one each.
    std::span<const Length> queries = {};

    constexpr Visibility visibility() const noexcept { return {window, sinks}; }
};

// The blocks of which a query sees something, by sequence: those of the sinks first, as export_csr() writes them.
// Returns the entries of `indices` written. ERRORS also out_of_range (more queries than cells), bad_shape (entries
// beyond int32). COST O(entries).
payload_expected<std::int64_t> tables_to_csr(const PaddedTables& tables, std::span<const Length> lengths,
                                             const SeenRule& rule, const CsrArrays& out) noexcept;

// What tables_to_csr() asks, on the host and on a device, before it reads an array: all sizes but that of `indices`.
// COST O(1).
payload_expected<void> find_wrong(const PaddedTables& tables, std::span<const Length> lengths, const SeenRule& rule,
                                  const CsrArrays& out) noexcept;

// What tables_to_csr() and export_csr() wrote; last_page_len is not needed.
struct CsrTables {
    std::span<const std::int32_t> indptr;          // [n_seqs + 1]
    std::span<const std::int32_t> indices;         // [indptr[n_seqs]]
    std::span<const std::int64_t> first_position;  // [n_seqs]
    Length sinks = 0;
    std::uint32_t block_size = 0;  // [cells]
};

// What csr_to_tables() asks, on the host and on a device, before it reads an array. COST O(1).
payload_expected<void> find_wrong(const CsrTables& csr, std::size_t width, std::span<std::int32_t> out) noexcept;

// The tables as rows again: out [n_seqs, width]. COST O(n_seqs * width).
payload_expected<void> csr_to_tables(const CsrTables& csr, std::size_t width, std::span<std::int32_t> out) noexcept;

// The slots of positions: out [positions.size()]. Those of sequence i are positions[indptr[i] .. indptr[i + 1]);
// without indptr [n_seqs + 1] each sequence has one. COST O(positions).
payload_expected<void> slots_of_positions(const PaddedTables& tables, std::span<const std::int32_t> indptr,
                                          std::span<const Length> positions, std::span<Slot> out) noexcept;

// What slots_of_positions() asks, on the host and on a device, before it reads an array. COST O(1).
payload_expected<void> find_wrong(const PaddedTables& tables, std::span<const std::int32_t> indptr,
                                  std::span<const Length> positions, std::span<Slot> out) noexcept;

}  // namespace kvpane
