// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/memory_plan.h>

#include <algorithm>

#include <kvpane/attention/cell_store.h>
#include <kvpane/blocktable/config.h>

namespace kvpane {

namespace {

// A whole number that knows whether it has passed 63 bits.
class Checked {
public:
    constexpr Checked(std::int64_t value) noexcept : value_(value) {}

    constexpr Checked operator+(Checked other) const noexcept {
        Checked sum(0);
        sum.is_lost_ = __builtin_add_overflow(value_, other.value_, &sum.value_) || is_lost_ || other.is_lost_;
        return sum;
    }
    constexpr Checked operator*(Checked other) const noexcept {
        Checked product(0);
        product.is_lost_ = __builtin_mul_overflow(value_, other.value_, &product.value_) || is_lost_ || other.is_lost_;
        return product;
    }

    payload_expected<std::int64_t> or_refuse(const char* where) const noexcept {
        if (is_lost_) {
            return refuse(PayloadFault::bad_shape, where);
        }
        return value_;
    }

private:
    std::int64_t value_;
    bool is_lost_ = false;
};

// REQUIRES a >= 0, b > 0.
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) noexcept { return a / b + (a % b != 0 ? 1 : 0); }

payload_expected<void> find_wrong(const LayerGroup& group) noexcept {
    if (group.layers == 0) {
        return refuse(PayloadFault::bad_shape, "layers");
    }
    if (group.window < 0) {
        return refuse(PayloadFault::out_of_range, "window");
    }
    if (group.sinks < 0) {
        return refuse(PayloadFault::out_of_range, "sinks");
    }
    return {};
}

payload_expected<void> find_wrong(const MemoryModel& model) noexcept {
    if (model.groups.empty()) {
        return refuse(PayloadFault::bad_shape, "groups");
    }
    if (model.block_size == 0) {
        return refuse(PayloadFault::bad_shape, "block_size");
    }
    if (model.rewind_slack < 0) {
        return refuse(PayloadFault::out_of_range, "rewind_slack");
    }
    if (model.step_cells < 1) {
        return refuse(PayloadFault::out_of_range, "step_cells");
    }
    return {};
}

}  // namespace

payload_expected<std::int64_t> bytes_per_block(const LayerGroup& group, std::uint32_t block_size) noexcept {
    if (const auto found = find_wrong(group); !found) {
        return tl::unexpected(found.error());
    }
    const CellShape one_layer{.blocks = 1,
                              .block_size = block_size,
                              .kv_heads = group.kv_heads,
                              .head_dim = group.head_dim,
                              .dtype = group.dtype};
    if (const auto found = find_wrong(one_layer); !found) {
        return tl::unexpected(found.error());
    }
    // Beside its one block the store has the null block.
    return (Checked(static_cast<std::int64_t>(bytes_of(one_layer) / 2)) * group.layers).or_refuse("layers");
}

payload_expected<std::int64_t> bytes_per_block(const MemoryModel& model) noexcept {
    if (const auto found = find_wrong(model); !found) {
        return tl::unexpected(found.error());
    }
    Checked sum = 0;
    std::int64_t largest = 0;
    for (const LayerGroup& group : model.groups) {
        const auto bytes = bytes_per_block(group, model.block_size);
        if (!bytes) {
            return bytes;
        }
        sum = sum + *bytes;
        largest = std::max(largest, *bytes);
    }
    return model.memory == PoolMemory::shared ? largest : sum.or_refuse("groups");
}

payload_expected<std::int64_t> blocks_per_sequence(const MemoryModel& model, const LayerGroup& group,
                                                   Length length) noexcept {
    if (const auto found = find_wrong(model); !found) {
        return tl::unexpected(found.error());
    }
    if (const auto found = find_wrong(group); !found) {
        return tl::unexpected(found.error());
    }
    if (length < 0) {
        return refuse(PayloadFault::out_of_range, "length");
    }
    const std::int64_t all = divide_up(length, model.block_size);
    if (group.window == 0) {
        return all;
    }
    const auto cells = (Checked(group.window - 1) + model.step_cells + model.rewind_slack).or_refuse("rewind_slack");
    if (!cells) {
        return cells;
    }
    // Each of the two is at most 2^63 / block_size + 1, and `all` stands for a sum that is too large.
    const auto bound = (Checked(divide_up(*cells, model.block_size)) + 1 + divide_up(group.sinks, model.block_size))
                           .or_refuse("sinks");
    return bound ? std::min(all, *bound) : all;
}

payload_expected<std::int64_t> blocks_needed(const MemoryModel& model, std::int64_t sequences, Length length) noexcept {
    if (sequences < 0) {
        return refuse(PayloadFault::out_of_range, "sequences");
    }
    if (const auto found = find_wrong(model); !found) {
        return tl::unexpected(found.error());
    }
    Checked blocks = 0;
    for (const LayerGroup& group : model.groups) {
        const auto held = blocks_per_sequence(model, group, length);
        if (!held) {
            return held;
        }
        blocks = blocks + *held;
    }
    return (blocks * sequences).or_refuse("sequences");
}

payload_expected<std::int64_t> bytes_of_pool(const MemoryModel& model, std::int64_t blocks) noexcept {
    if (blocks < 0) {
        return refuse(PayloadFault::out_of_range, "blocks");
    }
    const auto bytes = bytes_per_block(model);
    return bytes ? ((Checked(blocks) + 1) * *bytes).or_refuse("blocks") : bytes;
}

payload_expected<std::int64_t> blocks_that_fit(const MemoryModel& model, std::int64_t bytes) noexcept {
    if (bytes < 0) {
        return refuse(PayloadFault::out_of_range, "bytes");
    }
    const auto each = bytes_per_block(model);
    if (!each) {
        return each;
    }
    return std::clamp<std::int64_t>(bytes / *each - 1, 0, most_blocks);
}

payload_expected<std::int64_t> sequences_that_fit(const MemoryModel& model, std::int64_t blocks,
                                                  Length length) noexcept {
    if (blocks < 0) {
        return refuse(PayloadFault::out_of_range, "blocks");
    }
    if (length < 1) {
        return refuse(PayloadFault::out_of_range, "length");
    }
    const auto each = blocks_needed(model, 1, length);
    return each ? blocks / *each : each;
}

}  // namespace kvpane
