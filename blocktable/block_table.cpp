// SPDX-License-Identifier: Apache-2.0
#include <kvpane/blocktable/block_table.h>

namespace kvpane {

void BoundRow::set(std::uint32_t entry, BlockId block) noexcept {
    ids[entry] = static_cast<std::int32_t>(to_index(block));
    if (changed_begin == changed_end) {
        changed_begin = entry;
        changed_end = entry + 1;
    } else {
        changed_begin = std::min(changed_begin, entry);
        changed_end = std::max(changed_end, entry + 1);
    }
}

bool BlockTable::holds_cells(const BlockShape& shape, Length begin, Length end) const noexcept {
    const Length behind_sinks = std::max(begin, shape.begin(sinks()));
    if (behind_sinks >= end) {
        return true;
    }
    return !run_is_empty() && behind_sinks >= std::max(shape.begin(first_), missing_below_);
}

void BlockTable::append(BlockId block) noexcept {
    const std::uint32_t entry = size();
    blocks_.push_back(block);
    if (entry < sink_blocks_) {
        first_ = entry + 1;
    }
    if (row_.ids != nullptr) [[unlikely]] {
        row_.set(entry, block);
    }
}

void BlockTable::append_hole() noexcept {
    blocks_.push_back(null_block);
    first_ = size();
}

void BlockTable::replace(std::uint32_t entry, BlockId block) noexcept {
    blocks_[entry] = block;
    if (row_.ids != nullptr) [[unlikely]] {
        row_.set(entry, block);
    }
}

void BlockTable::fill_tail_hole(BlockId block, Length position) noexcept {
    first_ = size() - 1;
    missing_below_ = position;
    replace(first_, block);
}

void BlockTable::drop_front(std::uint32_t to) noexcept {
    if (row_.ids != nullptr) [[unlikely]] {
        for (std::uint32_t entry = first_; entry < to; ++entry) {
            row_.set(entry, null_block);
        }
    }
    if (to > first_) {
        missing_below_ = 0;
    }
    first_ = to;
}

void BlockTable::shrink(const BlockShape& shape, Length length) noexcept {
    const std::uint32_t dropped_from = end_after(shape, length);
    const auto new_size = static_cast<std::uint32_t>(shape.blocks_for(length));
    if (row_.ids != nullptr) [[unlikely]] {
        for (std::uint32_t entry = dropped_from; entry < size(); ++entry) {
            row_.set(entry, null_block);
        }
    }
    if (dropped_from <= first_) {
        missing_below_ = 0;
        first_ = new_size;
    }
    blocks_.resize(new_size);
}

void BlockTable::assign_prefix(const BlockTable& parent, const BlockShape& shape, Length length) noexcept {
    const auto entries = static_cast<std::ptrdiff_t>(shape.blocks_for(length));
    blocks_.assign(parent.blocks_.begin(), parent.blocks_.begin() + entries);
    first_ = std::min(parent.first_, size());
    missing_below_ = parent.missing_below_;
    if (parent.end_after(shape, length) <= first_) {
        missing_below_ = 0;
        first_ = size();
    }
}

void BlockTable::clear() noexcept {
    blocks_.clear();
    first_ = 0;
    missing_below_ = 0;
    row_ = {};
}

void BlockTable::refresh_row() noexcept {
    for (std::uint32_t entry = 0; entry < row_.capacity; ++entry) {
        row_.set(entry, (*this)[entry]);
    }
}

void BlockTable::add_to(Digest& digest) const noexcept {
    digest.add((std::uint64_t{size()} << 32U) | first_);
    digest.add(static_cast<std::uint64_t>(missing_below_));
    for (const BlockId block : sink_part()) {
        digest.add(to_index(block));
    }
    for (const BlockId block : run_part()) {
        digest.add(to_index(block));
    }
}

}  // namespace kvpane
