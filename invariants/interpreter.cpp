// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/interpreter.h>

#include <algorithm>

namespace kvpane::invariants {

namespace {

void read_block(BlockId block, Length block_begin, Length first, Length length, const ShadowCells& shadow,
                std::vector<HeldCell>& cells) {
    const Length end = std::min(length, block_begin + shadow.block_size());
    for (Length position = std::max(first, block_begin); position < end; ++position) {
        const Length offset = position - block_begin;
        cells.push_back({position, Slot{to_index(block)} * shadow.block_size() + offset, shadow.at(block, offset)});
    }
}

}  // namespace

std::vector<HeldCell> interpret(const TableView& table, const ShadowCells& shadow, Length length) {
    const Length block_size = shadow.block_size();
    std::vector<HeldCell> cells;
    cells.reserve(table.held() * shadow.block_size());
    Length begin = 0;
    for (const BlockId block : table.sinks) {
        read_block(block, begin, 0, length, shadow, cells);
        begin += block_size;
    }
    begin = Length{table.run_begin} * block_size;
    for (const BlockId block : table.run) {
        read_block(block, begin, table.first_resident, length, shadow, cells);
        begin += block_size;
    }
    return cells;
}

}  // namespace kvpane::invariants
