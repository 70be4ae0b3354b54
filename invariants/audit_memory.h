// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/invariants/engine_log.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::invariants {

// What stands in one cell of the engine's memory, in the place of K and V. `chain` identifies the whole past.
struct AuditCell {
    std::uint64_t chain = 0;
    std::int64_t line = 0;  // of the event that wrote it; 0 = never written
    std::int32_t position = -1;
    Token token = -1;
    std::uint32_t scope = 0;
    std::uint32_t group = 0;
    Name writer = 0;
    bool is_given_up = false;  // it was written, and its block freed or allocated anew since

    bool is_there() const noexcept { return line != 0 && !is_given_up; }
    bool same_as(const AuditCell& other) const noexcept {
        return position == other.position && chain == other.chain && token == other.token && scope == other.scope &&
               group == other.group;
    }
};
static_assert(sizeof(AuditCell) == 40);

// A block: ids of different pools are different memory.
struct BlockKey {
    std::uint32_t pool = 0;
    std::uint32_t block = 0;

    friend bool operator==(const BlockKey&, const BlockKey&) = default;
};

// Something that happened to a block.
struct BlockTouch {
    enum class Kind : std::uint8_t { written, copied_here, copied_away, allocated, freed, held, left };

    Kind kind;
    std::int64_t line = 0;
    Name sequence = 0;        // written, held, left
    std::uint32_t group = 0;  // written, held, left
    std::uint32_t other = 0;  // the other block of a copy
    Length first = 0;         // written: the first position; held, left: the logical block
    Length offset = 0;        // written: the first offset
    Length cells = 0;         // written, copies
};

// The last exported table of this sequence and group has the block at this place.
struct Holder {
    Name sequence = 0;
    std::uint32_t group = 0;
    Length logical = 0;

    friend bool operator==(const Holder&, const Holder&) = default;
};

struct AuditedBlock {
    static constexpr std::size_t most_touches = 8;

    std::vector<AuditCell> cells;     // [block_size], or empty: none was ever written
    std::vector<BlockTouch> touches;  // the last ones, oldest first
    std::vector<Holder> holders;
    std::int64_t freed = 0;        // the line; 0 = it has been in use since
    bool has_allocations = false;  // the log tells when this block is taken

    // Writes of one event to neighbouring cells are one touch.
    void touch(const BlockTouch& what);
};

// The engine's memory as its log tells of it: blocks appear when something names them.
class AuditMemory {
public:
    explicit AuditMemory(Length block_size) : block_size_(block_size) {}

    // Null where nothing has named it. Pointers and references stay valid.
    const AuditedBlock* find(BlockKey key) const;
    AuditedBlock& at(BlockKey key) { return blocks_[key]; }
    const AuditCell& cell(BlockKey key, Length offset) const;

    // The block is in use then. REQUIRES offset < block_size.
    void write(AuditedBlock& block, Length offset, const AuditCell& cell);
    // Nobody may read these cells again; what they were is kept for messages.
    static void give_up(AuditedBlock& block);

    // Blocks that have cells, so need memory.
    std::int64_t shadowed_blocks() const noexcept { return shadowed_blocks_; }

private:
    struct Hash {
        std::size_t operator()(BlockKey key) const noexcept {
            return std::hash<std::uint64_t>{}((std::uint64_t{key.pool} << 32U) | key.block);
        }
    };

    Length block_size_;
    std::int64_t shadowed_blocks_ = 0;
    std::unordered_map<BlockKey, AuditedBlock, Hash> blocks_;
};

}  // namespace kvpane::invariants
