// SPDX-License-Identifier: Apache-2.0
#include "attention/agreement.h"

#include "attention/stores.h"

namespace kvpane::testing {

namespace {

// Calls visit(sizes) with each block size, group and head size.
template <class Visit>
void for_each_size(Length longest, Visit visit) {
    for (const std::uint32_t block_size : {1U, 8U, 16U, 32U, 64U}) {
        for (const std::uint32_t group : {1U, 4U, 8U}) {
            for (const std::uint32_t head_dim : {64U, 128U, 256U}) {
                const Length b = block_size;
                visit(AttentionSizes{.block_size = block_size,
                                     .group = group,
                                     .head_dim = head_dim,
                                     .lengths = {0, 1, b - 1, b, b + 1, longest}});
            }
        }
    }
}

}  // namespace

std::vector<AttentionSizes> sizes_in_turn(Length longest, std::size_t every_nth) {
    std::vector<AttentionSizes> out;
    std::size_t turn = 0;
    for_each_size(longest, [&](AttentionSizes sizes) {
        ++turn;
        sizes.kv_heads = 1 + static_cast<std::uint32_t>(turn % 2);
        sizes.cells = dtypes[turn % dtypes.size()];
        sizes.rows = dtypes[turn / 5 % 3];
        sizes.order = turn % 4 < 2 ? CellOrder::nhd : CellOrder::hnd;
        sizes.interleaved = turn % 3 == 0;
        sizes.window = windows[turn % windows.size()].window;
        sizes.sinks = windows[turn % windows.size()].sinks;
        sizes.soft_cap = turn % 7 == 0 ? 5.0F : 0.0F;
        sizes.sink_logits = turn % 5 == 0;
        if (turn % every_nth == 0) {
            out.push_back(std::move(sizes));
        }
    });
    return out;
}

std::vector<AttentionSizes> all_sizes(Length longest) {
    std::vector<AttentionSizes> out;
    for_each_size(longest, [&](AttentionSizes sizes) {
        for (const DType cells : dtypes) {
            for (const WindowAndSinks& seen : windows) {
                sizes.cells = cells;
                sizes.rows = bytes_of(cells) == 1 ? DType::f32 : cells;
                sizes.window = seen.window;
                sizes.sinks = seen.sinks;
                out.push_back(sizes);
            }
        }
    });
    return out;
}

std::vector<AttentionSizes> prefills() {
    std::vector<AttentionSizes> out;
    for (const WindowAndSinks& seen : windows) {
        for (const std::uint32_t group : {1U, 3U, 8U}) {
            out.push_back({.block_size = 8,
                           .group = group,
                           .head_dim = 40,
                           .cells = group == 3 ? DType::f16 : DType::f32,
                           .window = seen.window,
                           .sinks = seen.sinks,
                           .sink_logits = group == 3,
                           .lengths = {1, 9, 90, 70},
                           .queries = {1, 9, 21, 0}});
        }
    }
    return out;
}

std::vector<AttentionSizes> caps_and_sink_logits() {
    std::vector<AttentionSizes> out;
    for (const DType cells : dtypes) {
        for (const float soft_cap : {0.0F, 0.5F, 30.0F}) {
            out.push_back({.cells = cells, .soft_cap = soft_cap, .sink_logits = true, .lengths = {0, 1, 45, 130}});
        }
    }
    return out;
}

}  // namespace kvpane::testing
