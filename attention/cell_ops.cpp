// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cell_ops.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include <kvpane/attention/cell_pieces.h>
#include <kvpane/attention/element_copy.h>
#include <kvpane/attention/elements.h>
#include <kvpane/attention/memory_range.h>
#include <kvpane/blocktable/block_shape.h>

namespace kvpane {

namespace {

// The rows of n cells, beside a store of which find_wrong finds nothing.
payload_expected<void> find_wrong_rows(const CellStore& store, std::size_t n, const CellRows& rows) noexcept {
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

// Rows that are written must not overlap each other, either.
payload_expected<void> find_wrong_rows(const CellStore& store, std::size_t n, const CellRowsOut& rows) noexcept {
    if (const auto found = find_wrong_rows(store, n, CellRows{rows.k, rows.v, rows.dtype}); !found) {
        return found;
    }
    const std::size_t bytes = n * store.shape.kv_heads * store.shape.head_dim * bytes_of(rows.dtype);
    if (overlap(range_of(rows.k, bytes), range_of(rows.v, bytes))) {
        return refuse(PayloadFault::overlapping, "rows");
    }
    return {};
}

payload_expected<void> find_wrong_range(const CellStore& store, const CellRange& range) noexcept {
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
        if (block == 0) {
            return refuse(PayloadFault::hole, "table");
        }
        if (block < 0 || block > store.shape.blocks) {
            return refuse(PayloadFault::out_of_range, "table");
        }
    }
    return {};
}

// What scatter, gather and compare ask alike.
template <class Rows>
payload_expected<void> find_wrong(const CellStore& store, const CellRange& range, const Rows& rows,
                                  ElementCopy copy) noexcept {
    if (const auto found = find_wrong(store); !found) {
        return found;
    }
    if (copy == nullptr) {
        return refuse(PayloadFault::unsupported_dtype, "rows");
    }
    if (const auto found = find_wrong_range(store, range); !found) {
        return found;
    }
    return find_wrong_rows(store, static_cast<std::size_t>(range.count), rows);
}

// Calls visit(block, cell, cells, row) for the cells of the range in each block; `row` is that of the first of them.
template <class Visit>
void for_each_block(const CellRange& range, std::uint32_t block_size, Visit visit) {
    const BlockShape shape(block_size);
    for (Length row = 0; row < range.count;) {
        const Length position = range.first + row;
        const Length cell = shape.offset(position);
        const Length cells = std::min(shape.size() - cell, range.count - row);
        visit(range.table[static_cast<std::size_t>(shape.index(position))], cell, static_cast<std::uint32_t>(cells),
              row);
        row += cells;
    }
}

std::byte* at(void* rows, std::int64_t offset) noexcept { return static_cast<std::byte*>(rows) + offset; }
const std::byte* at(const void* rows, std::int64_t offset) noexcept {
    return static_cast<const std::byte*>(rows) + offset;
}

// Calls move(stored, rows, elements, scale) with addresses for the elements of `cells` cells of a block, K then V, and
// their places in the rows from `row` on.
template <class Rows, class Move>
void for_each_pair(const CellStore& store, const Rows& rows, std::int64_t block, std::int64_t cell, std::uint32_t cells,
                   std::int64_t row, Move move) {
    const CellStrides dense = row_strides(store.shape);
    const std::int64_t stored_bytes = bytes_of(store.shape.dtype);
    const std::int64_t row_bytes = bytes_of(rows.dtype);
    const auto part = [&](void* stored_part, auto* rows_part, float scale) {
        std::byte* stored = cell_address(store, stored_part, block, cell);
        auto* given = at(rows_part, row * dense.cell * row_bytes);
        for_each_piece(store.shape, cells, store.strides, dense,
                       [&](std::int64_t in_store, std::int64_t in_rows, std::size_t elements) {
                           move(stored + in_store * stored_bytes, given + in_rows * row_bytes, elements, scale);
                       });
    };
    part(store.k, rows.k, store.k_scale);
    part(store.v, rows.v, store.v_scale);
}

// One head of one cell, in K or V: [head_dim] as stored and as expected.
struct HeadPair {
    const std::byte* stored;
    const std::byte* expected;
    float scale;
};

// The first element that differs, or head_dim. `buffer` receives what is stored, in the dtype of what is expected.
class HeadCompare {
public:
    HeadCompare(const CellStore& store, DType expected, ElementCopy copy, std::optional<float> tolerance) noexcept
        : dim_(store.shape.head_dim), dtype_(expected), bytes_(bytes_of(expected)), copy_(copy), tolerance_(tolerance) {}

    std::uint32_t first_difference(const HeadPair& head) noexcept {
        copy_(buffer_.data(), head.stored, dim_, head.scale);
        if (std::memcmp(buffer_.data(), head.expected, dim_ * bytes_) == 0) {
            return dim_;
        }
        std::uint32_t d = 0;
        while (d < dim_ && are_equal(head, d)) {
            ++d;
        }
        return d;
    }

    // REQUIRES first_difference(head) was asked last.
    float found(const HeadPair& head, std::uint32_t d) const noexcept { return value(buffer_.data(), head, d); }
    float expected(const HeadPair& head, std::uint32_t d) const noexcept { return value(head.expected, head, d); }

private:
    bool are_equal(const HeadPair& head, std::uint32_t d) const noexcept {
        if (std::memcmp(&buffer_[d * bytes_], head.expected + d * bytes_, bytes_) == 0) {
            return true;
        }
        const float a = found(head, d);
        const float b = expected(head, d);
        return tolerance_ && (std::abs(a - b) <= *tolerance_ || (std::isnan(a) && std::isnan(b)));
    }

    // Rows of fp8 are bits of the store, under its scale.
    float value(const std::byte* elements, const HeadPair& head, std::uint32_t d) const noexcept {
        return read_element(elements, dtype_, d) * (bytes_ == 1 ? head.scale : 1);
    }

    std::uint32_t dim_;
    DType dtype_;
    std::uint32_t bytes_;
    ElementCopy copy_;
    std::optional<float> tolerance_;
    std::array<std::byte, largest_head_dim * sizeof(float)> buffer_{};
};

}  // namespace

payload_expected<void> write_slots(const CellStore& store, std::span<const Slot> slots, const CellRows& rows) noexcept {
    if (const auto found = find_wrong(store); !found) {
        return found;
    }
    const ElementCopy copy = copy_into_store(rows.dtype, store.shape.dtype);
    if (copy == nullptr) {
        return refuse(PayloadFault::unsupported_dtype, "rows");
    }
    const BlockShape shape(store.shape.block_size);
    const Slot begin = shape.begin(1);
    const Slot end = shape.begin(store.shape.blocks + 1);
    if (std::ranges::any_of(slots, [=](Slot slot) { return slot != no_slot && (slot < begin || slot >= end); })) {
        return refuse(PayloadFault::out_of_range, "slots");
    }
    if (const auto found = find_wrong_rows(store, slots.size(), rows); !found) {
        return found;
    }
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i] != no_slot) {
            for_each_pair(store, rows, shape.index(slots[i]), shape.offset(slots[i]), 1, static_cast<std::int64_t>(i),
                          [=](std::byte* stored, const std::byte* row, std::size_t elements, float scale) {
                              copy(stored, row, elements, scale);
                          });
        }
    }
    return {};
}

payload_expected<void> gather_cells(const CellStore& store, const CellRange& range, const CellRowsOut& out) noexcept {
    const ElementCopy copy = copy_out_of_store(store.shape.dtype, out.dtype);
    if (const auto found = find_wrong(store, range, out, copy); !found) {
        return found;
    }
    for_each_block(range, store.shape.block_size,
                   [&](std::int64_t block, std::int64_t cell, std::uint32_t cells, std::int64_t row) {
                       for_each_pair(store, out, block, cell, cells, row,
                                     [=](const std::byte* stored, std::byte* taken, std::size_t elements, float scale) {
                                         copy(taken, stored, elements, scale);
                                     });
                   });
    return {};
}

payload_expected<void> scatter_cells(const CellStore& store, const CellRange& range, const CellRows& rows) noexcept {
    const ElementCopy copy = copy_into_store(rows.dtype, store.shape.dtype);
    if (const auto found = find_wrong(store, range, rows, copy); !found) {
        return found;
    }
    for_each_block(range, store.shape.block_size,
                   [&](std::int64_t block, std::int64_t cell, std::uint32_t cells, std::int64_t row) {
                       for_each_pair(store, rows, block, cell, cells, row,
                                     [=](std::byte* stored, const std::byte* given, std::size_t elements, float scale) {
                                         copy(stored, given, elements, scale);
                                     });
                   });
    return {};
}

payload_expected<void> compare_cells(const CellStore& store, const CellRange& range, const CellRows& expected,
                                     std::optional<float> tolerance, CellMismatch* out) noexcept {
    const ElementCopy copy = copy_out_of_store(store.shape.dtype, expected.dtype);
    if (const auto found = find_wrong(store, range, expected, copy); !found) {
        return found;
    }
    if (tolerance && !(std::isfinite(*tolerance) && *tolerance >= 0)) {
        return refuse(PayloadFault::out_of_range, "tolerance");
    }
    if (out == nullptr) {
        return refuse(PayloadFault::bad_shape, "out");
    }
    const BlockShape shape(store.shape.block_size);
    const std::int64_t head_bytes = std::int64_t{store.shape.head_dim} * bytes_of(expected.dtype);
    HeadCompare compare(store, expected.dtype, copy, tolerance);
    *out = {};
    for (Length row = 0; row < range.count; ++row) {
        const Length position = range.first + row;
        const std::int32_t block = range.table[static_cast<std::size_t>(shape.index(position))];
        for (const bool in_v : {false, true}) {
            const std::byte* cell = cell_address(store, in_v ? store.v : store.k, block, shape.offset(position));
            for (std::uint32_t h = 0; h < store.shape.kv_heads; ++h) {
                const HeadPair head{cell + h * store.strides.head * bytes_of(store.shape.dtype),
                                    at(in_v ? expected.v : expected.k, (row * store.shape.kv_heads + h) * head_bytes),
                                    in_v ? store.v_scale : store.k_scale};
                const std::uint32_t d = compare.first_difference(head);
                if (d < store.shape.head_dim) {
                    *out = {position, in_v, h, d, compare.found(head, d), compare.expected(head, d)};
                    return {};
                }
            }
        }
    }
    return {};
}

}  // namespace kvpane
