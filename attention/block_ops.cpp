// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/block_ops.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <kvpane/allocator/scramble.h>
#include <kvpane/attention/cell_pieces.h>
#include <kvpane/attention/cell_rows.h>

namespace kvpane {

namespace {

bool holds(const CellStore& store, BlockId block) noexcept { return has_block(store.shape, to_index(block)); }

// The first cells of one block to another, bits as they are. The stores may be the same, and so may the blocks.
void copy_cells(const CellStore& from, BlockId source, const CellStore& to, BlockId destination,
                std::uint32_t cells) noexcept {
    const std::int64_t bytes = bytes_of(from.shape.dtype);
    for (const auto& [from_part, to_part] : {std::pair{from.k, to.k}, std::pair{from.v, to.v}}) {
        const std::byte* in = cell_address(from, from_part, to_index(source), 0);
        std::byte* out = cell_address(to, to_part, to_index(destination), 0);
        for_each_piece(from.shape, cells, from.strides, to.strides,
                       [&](std::int64_t read, std::int64_t written, std::size_t elements) {
                           std::memmove(out + written * bytes, in + read * bytes,
                                        elements * static_cast<std::size_t>(bytes));
                       });
    }
}

payload_expected<void> find_wrong_pair(const CellStore& from, const CellStore& to) noexcept {
    for (const CellStore* store : {&from, &to}) {
        if (const auto found = find_wrong(*store); !found) {
            return found;
        }
    }
    CellShape shape = to.shape;
    shape.blocks = from.shape.blocks;
    if (shape != from.shape) {
        return refuse(PayloadFault::bad_shape, "to");
    }
    if (from.k_scale != to.k_scale) {
        return refuse(PayloadFault::out_of_range, "k_scale");
    }
    if (from.v_scale != to.v_scale) {
        return refuse(PayloadFault::out_of_range, "v_scale");
    }
    const auto [k, v] = ranges_of(to);
    for (const MemoryRange& part : {k, v}) {  // those of one store may be interleaved
        if (const auto found = find_overlapping({{"to", part}}, ranges_of(from)); !found) {
            return found;
        }
    }
    return {};
}

// The terms of the sum that belong to one head of one cell.
KVPANE_WRAPS std::uint64_t fingerprint_of_head(const std::byte* elements, std::size_t words,
                                               std::uint64_t first_index) noexcept {
    static_assert(std::endian::native == std::endian::little);
    std::uint64_t sum = 0;
    for (std::size_t j = 0; j < words; ++j) {
        std::uint64_t word = 0;
        std::memcpy(&word, elements + j * sizeof word, sizeof word);
        sum += scramble(word ^ scramble(first_index + j));
    }
    return sum;
}

KVPANE_WRAPS std::uint64_t fingerprint_of(const CellStore& store, const FilledBlock& filled) noexcept {
    const CellShape& shape = store.shape;
    const std::size_t bytes = bytes_of(shape.dtype);
    const std::size_t words = shape.head_dim * bytes / sizeof(std::uint64_t);  // whole: head_dim is a multiple of 8
    std::uint64_t sum = 0;
    std::uint64_t index = 0;
    for (std::uint32_t cell = 0; cell < filled.cells; ++cell) {
        const std::byte* k = cell_address(store, store.k, to_index(filled.block), cell);
        const std::byte* v = cell_address(store, store.v, to_index(filled.block), cell);
        for (std::uint32_t head = 0; head < shape.kv_heads; ++head) {
            const std::int64_t offset = head * store.strides.head * static_cast<std::int64_t>(bytes);
            sum += fingerprint_of_head(k + offset, words, index);
            sum += fingerprint_of_head(v + offset, words, index + words);
            index += 2 * words;
        }
    }
    return sum;
}

}  // namespace

payload_expected<void> copy_blocks(const CellStore& store, GroupId group, std::span<const BlockCopy> copies) noexcept {
    if (const auto found = find_wrong(store); !found) {
        return found;
    }
    if (const auto found = find_wrong_places(store, "copies", copies); !found) {
        return found;
    }
    const auto is_bad = [&](const BlockCopy& copy) {
        return copy.group == group &&
               (copy.cells > store.shape.block_size || !holds(store, copy.source) || !holds(store, copy.destination));
    };
    if (std::ranges::any_of(copies, is_bad)) {
        return refuse(PayloadFault::out_of_range, "copies");
    }
    for (const BlockCopy& copy : copies) {
        if (copy.group == group) {
            copy_cells(store, copy.source, store, copy.destination, copy.cells);
        }
    }
    return {};
}

std::size_t copies_at_once(GroupId group, std::span<const BlockCopy> copies) noexcept {
    const auto builds_on = [&](const BlockCopy& later, const BlockCopy& earlier) {
        return earlier.group == group &&
               (later.source == earlier.destination || later.destination == earlier.destination ||
                later.destination == earlier.source);
    };
    std::size_t n = 0;
    while (n < copies.size() &&
           (copies[n].group != group || std::ranges::none_of(copies.first(n), [&](const BlockCopy& earlier) {
                return builds_on(copies[n], earlier);
            }))) {
        ++n;
    }
    return n;
}

payload_expected<void> swap_blocks(const CellStore& from, const CellStore& to,
                                   std::span<const BlockPair> pairs) noexcept {
    if (const auto found = find_wrong_pair(from, to); !found) {
        return found;
    }
    if (const auto found = find_wrong_places(to, "pairs", pairs); !found) {
        return found;
    }
    if (!std::ranges::all_of(
            pairs, [&](const BlockPair& pair) { return holds(from, pair.source) && holds(to, pair.destination); })) {
        return refuse(PayloadFault::out_of_range, "pairs");
    }
    for (const BlockPair& pair : pairs) {
        copy_cells(from, pair.source, to, pair.destination, from.shape.block_size);
    }
    return {};
}

payload_expected<void> find_wrong_fingerprints(const CellStore& store, std::span<const FilledBlock> blocks,
                                               std::span<std::uint64_t> out) noexcept {
    if (out.size() < blocks.size()) {
        return refuse(PayloadFault::buffer_too_small, "out");
    }
    const ArgumentMemory fingerprints = memory_of("out", out);
    return find_misaligned({memory_of("blocks", blocks), fingerprints}).and_then([&] {
        const auto [k, v] = ranges_of(store);
        return find_overlapping({fingerprints}, {k, v, range_of(blocks)});
    });
}

payload_expected<void> fingerprint_blocks(const CellStore& store, std::span<const FilledBlock> blocks,
                                          std::span<std::uint64_t> out) noexcept {
    if (const auto found = find_wrong(store); !found) {
        return found;
    }
    if (const auto found = find_wrong_fingerprints(store, blocks, out); !found) {
        return found;
    }
    const auto is_good = [&](const FilledBlock& filled) {
        return holds(store, filled.block) && filled.cells <= store.shape.block_size;
    };
    if (!std::ranges::all_of(blocks, is_good)) {
        return refuse(PayloadFault::out_of_range, "blocks");
    }
    std::ranges::transform(blocks, out.begin(),
                           [&](const FilledBlock& filled) { return fingerprint_of(store, filled); });
    return {};
}

}  // namespace kvpane
