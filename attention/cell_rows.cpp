// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cell_rows.h>

#include <limits>

namespace kvpane {

namespace {

CellRows as_read(const CellRowsOut& rows) noexcept { return {rows.k, rows.v, rows.dtype}; }

}  // namespace

payload_expected<void> find_wrong(const CellStore& store, std::size_t n, const CellRows& rows) noexcept {
    const std::size_t element = bytes_of(rows.dtype);
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(n, std::size_t{store.shape.kv_heads} * store.shape.head_dim * element, &bytes)) {
        return refuse(PayloadFault::bad_shape, "rows");
    }
    if (bytes > 0 && (rows.k == nullptr || rows.v == nullptr)) {
        return refuse(PayloadFault::bad_shape, "rows");
    }
    const auto [k, v] = memory_of(store.shape, n, rows);
    if (const auto found = find_misaligned({k, v}); !found) {
        return found;
    }
    for (const ArgumentMemory& part : {k, v}) {  // they may be one another's: they are read
        if (const auto found = find_overlapping({part}, ranges_of(store)); !found) {
            return found;
        }
    }
    return {};
}

payload_expected<void> find_wrong(const CellStore& store, std::size_t n, const CellRowsOut& rows) noexcept {
    return find_wrong(store, n, as_read(rows)).and_then([&] {
        return find_overlapping(memory_of(store.shape, n, as_read(rows)), {});
    });
}

std::array<ArgumentMemory, 2> memory_of(const CellShape& shape, std::size_t n, const CellRows& rows) noexcept {
    const std::size_t element = bytes_of(rows.dtype);
    const std::size_t bytes = n * shape.kv_heads * shape.head_dim * element;
    return {{{"rows", range_of(rows.k, bytes), element}, {"rows", range_of(rows.v, bytes), element}}};
}

payload_expected<void> find_wrong_extent(const CellStore& store, const CellRange& range) noexcept {
    if (range.first < 0 || range.count < 0 || range.first > std::numeric_limits<Length>::max() - range.count) {
        return refuse(PayloadFault::out_of_range, "range");
    }
    if (const auto found = find_misaligned({memory_of("table", range.table)}); !found) {
        return found;
    }
    const Length blocks = BlockShape(store.shape.block_size).blocks_for(range.first + range.count);
    if (range.count > 0 && static_cast<std::size_t>(blocks) > range.table.size()) {
        return refuse(PayloadFault::buffer_too_small, "table");
    }
    return {};
}

payload_expected<void> find_wrong(const CellStore& store, const CellRange& range) noexcept {
    if (const auto found = find_wrong_extent(store, range); !found || range.count == 0) {
        return found;
    }
    const BlockShape shape(store.shape.block_size);
    const auto begin = static_cast<std::size_t>(shape.index(range.first));
    const auto end = static_cast<std::size_t>(shape.blocks_for(range.first + range.count));
    for (const std::int32_t block : range.table.subspan(begin, end - begin)) {
        if (!has_block(store.shape, block)) {
            return refuse(block == 0 ? PayloadFault::hole : PayloadFault::out_of_range, "table");
        }
    }
    return {};
}

payload_expected<void> find_wrong_gather(const CellStore& store, const CellRange& range,
                                         const CellRowsOut& out) noexcept {
    const auto rows = memory_of(store.shape, static_cast<std::size_t>(range.count), as_read(out));
    return find_overlapping(rows, {range_of(range.table)});
}

}  // namespace kvpane
