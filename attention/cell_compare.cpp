// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cell_compare.h>

#include <array>
#include <cmath>
#include <cstring>

#include <kvpane/attention/cell_pieces.h>
#include <kvpane/attention/element_copy.h>
#include <kvpane/attention/elements.h>

namespace kvpane {

namespace {

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
        : dim_(store.shape.head_dim), dtype_(expected), bytes_(bytes_of(expected)), copy_(copy), tolerance_(tolerance) {
    }

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
    alignas(float) std::array<std::byte, largest_head_dim * sizeof(float)> buffer_{};
};

}  // namespace

payload_expected<void> find_wrong_answer(const CellStore& store, const CellRange& range, const CellRows& expected,
                                         std::initializer_list<ArgumentMemory> outputs) noexcept {
    const auto [k, v] = ranges_of(store);
    const auto rows = memory_of(store.shape, static_cast<std::size_t>(range.count), expected);
    return find_misaligned(outputs).and_then(
        [&, inputs = std::array{k, v, range_of(range.table), rows[0].range, rows[1].range}] {
            return find_overlapping(outputs, inputs);
        });
}

payload_expected<void> compare_cells(const CellStore& store, const CellRange& range, const CellRows& expected,
                                     std::optional<float> tolerance, CellMismatch* out) noexcept {
    if (const auto found = find_wrong(store, range, expected); !found) {
        return found;
    }
    const ElementCopy copy = copy_out_of_store(store.shape.dtype, expected.dtype);
    if (copy == nullptr) {
        return refuse(PayloadFault::unsupported_dtype, "expected");
    }
    if (tolerance && !(std::isfinite(*tolerance) && *tolerance >= 0)) {
        return refuse(PayloadFault::out_of_range, "tolerance");
    }
    if (out == nullptr) {
        return refuse(PayloadFault::bad_shape, "out");
    }
    if (const auto found = find_wrong_answer(store, range, expected, {memory_of("out", std::span(out, 1))}); !found) {
        return found;
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
