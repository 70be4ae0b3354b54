// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "attention/attention_case.h"

// The problems on which every path of attention has to agree with the reference, and how closely: the host's paths
// (agreement_test.cpp), the emulated kernels (tests/cuda), the kernels on a device (tests/gpu).
namespace kvpane::testing {

// |found - expected| / |expected| over all outputs: what rounding the rows to their dtype costs, and some more.
constexpr double tolerance(DType rows) { return rows == DType::f32 ? 1e-5 : rows == DType::f16 ? 2e-3 : 1e-2; }
inline constexpr double lse_tolerance = 1e-5;

struct WindowAndSinks {
    Length window = 0;
    Length sinks = 0;
};
// None; no multiple of a block; smaller than one; the query alone; each with sinks or without, which fill no block or
// more than one.
inline constexpr std::array<WindowAndSinks, 6> windows = {{{0, 0}, {37, 0}, {5, 0}, {37, 3}, {1, 1}, {100, 70}}};

// Each block size with each group and head size, every n-th of these 45 problems. Dtypes, layouts, windows, caps and
// sink logits take turns. Of lengths 0, 1, block_size - 1, block_size, block_size + 1 and `longest`, one query each.
std::vector<AttentionSizes> sizes_in_turn(Length longest, std::size_t every_nth = 1);

// Each block size with each group, head size, dtype and window: 1350 problems of the same lengths.
std::vector<AttentionSizes> all_sizes(Length longest);

// Several queries a sequence, under every window.
std::vector<AttentionSizes> prefills();

// Every dtype of cells with sink logits, and with soft caps that hardly bend or bend everything.
std::vector<AttentionSizes> caps_and_sink_logits();

}  // namespace kvpane::testing
