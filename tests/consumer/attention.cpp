// SPDX-License-Identifier: Apache-2.0
// An engine that has kvpane keep its payload, too: a query that sees one cell gets that cell's V.
#include <array>
#include <cstddef>
#include <cstdint>

#include <kvpane/attention/cell_ops.h>
#include <kvpane/attention/host_attention.h>

int main() {
    const kvpane::HostCellStore store({.blocks = 1, .block_size = 4, .kv_heads = 1, .head_dim = 8},
                                      kvpane::CellOrder::nhd, false);
    const std::array<float, 8> k = {1, 1, 1, 1, 1, 1, 1, 1}, v = {1, 2, 3, 4, 5, 6, 7, 8};
    const kvpane::Slot slot = 4;  // the first cell of block 1
    if (!kvpane::write_slots(store.view(), {&slot, 1}, {k.data(), v.data()})) {
        return 1;
    }
    const std::int32_t table = 1;
    const kvpane::Length length = 1;
    const kvpane::AttentionProblem problem{.cells = store.view(),
                                           .query_heads = 1,
                                           .tables = {&table, 1},
                                           .width = 1,
                                           .lengths = {&length, 1},
                                           .queries = {k.data()}};
    std::array<float, 8> out{};
    alignas(64) std::array<std::byte, 16384> workspace;
    return kvpane::host_attention(problem, {}, workspace, {{out.data()}, {}}) && out == v ? 0 : 1;
}
