// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/audit_memory.h>

namespace kvpane::invariants {

void AuditedBlock::touch(const BlockTouch& what) {
    if (what.kind == BlockTouch::Kind::written && !touches.empty()) {
        BlockTouch& last = touches.back();
        const bool goes_on = last.kind == what.kind && last.line == what.line &&
                             last.first + last.cells == what.first && last.offset + last.cells == what.offset;
        if (goes_on) {
            last.cells += what.cells;
            return;
        }
    }
    if (touches.size() == most_touches) {
        touches.erase(touches.begin());
    }
    touches.push_back(what);
}

const AuditedBlock* AuditMemory::find(BlockKey key) const {
    const auto block = blocks_.find(key);
    return block == blocks_.end() ? nullptr : &block->second;
}

const AuditCell& AuditMemory::cell(BlockKey key, Length offset) const {
    static constexpr AuditCell never_written;
    const AuditedBlock* block = find(key);
    return block == nullptr || block->cells.empty() ? never_written : block->cells[static_cast<std::size_t>(offset)];
}

void AuditMemory::write(AuditedBlock& block, Length offset, const AuditCell& cell) {
    if (block.cells.empty()) {
        block.cells.resize(static_cast<std::size_t>(block_size_));
        ++shadowed_blocks_;
    }
    block.cells[static_cast<std::size_t>(offset)] = cell;
    block.freed = 0;
}

void AuditMemory::give_up(AuditedBlock& block) {
    for (AuditCell& cell : block.cells) {
        cell.is_given_up = cell.line != 0;
    }
}

}  // namespace kvpane::invariants
