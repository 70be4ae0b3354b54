// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cell_rows.h>

#include <limits>

#include <kvpane/attention/cell_pieces.h>
#include <kvpane/attention/memory_range.h>

namespace kvpane {

payload_expected<void> find_wrong(const CellStore& store, std::size_t n, const CellRows& rows) noexcept {
    const std::size_t element = bytes_of(rows.dtype);
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(n, std::size_t{store.shape.kv_heads} * store.shape.head_dim * element, &bytes)) {
        return refuse(PayloadFault::bad_shape, "rows");
    }
    for (const void* part : {rows.k, rows.v}) {
        if (bytes == 0) {
            break;
        }
        if (part == nullptr) {
            return refuse(PayloadFault::bad_shape, "rows");
        }
        if (reinterpret_cast<std::uintptr_t>(part) % element != 0) {
            return refuse(PayloadFault::misaligned, "rows");
        }
        if (overlap(store, range_of(part, bytes))) {
            return refuse(PayloadFault::overlapping, "rows");
        }
    }
    return {};
}

payload_expected<void> find_wrong(const CellStore& store, std::size_t n, const CellRowsOut& rows) noexcept {
    if (const auto found = find_wrong(store, n, CellRows{rows.k, rows.v, rows.dtype}); !found) {
        return found;
    }
    const std::size_t bytes = n * store.shape.kv_heads * store.shape.head_dim * bytes_of(rows.dtype);
    if (overlap(range_of(rows.k, bytes), range_of(rows.v, bytes))) {
        return refuse(PayloadFault::overlapping, "rows");
    }
    return {};
}

payload_expected<void> find_wrong(const CellStore& store, const CellRange& range) noexcept {
    if (range.first < 0 || range.count < 0 || range.first > std::numeric_limits<Length>::max() - range.count) {
        return refuse(PayloadFault::out_of_range, "range");
    }
    if (range.count == 0) {
        return {};
    }
    const BlockShape shape(store.shape.block_size);
    const auto begin = static_cast<std::size_t>(shape.index(range.first));
    const auto end = static_cast<std::size_t>(shape.blocks_for(range.first + range.count));
    if (end > range.table.size()) {
        return refuse(PayloadFault::buffer_too_small, "table");
    }
    for (const std::int32_t block : range.table.subspan(begin, end - begin)) {
        if (!has_block(store.shape, block)) {
            return refuse(block == 0 ? PayloadFault::hole : PayloadFault::out_of_range, "table");
        }
    }
    return {};
}

}  // namespace kvpane
