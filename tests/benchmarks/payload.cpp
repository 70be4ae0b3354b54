// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <kvpane/attention/block_ops.h>
#include <kvpane/attention/cell_compare.h>
#include <kvpane/attention/cell_ops.h>
#include <kvpane/attention/cell_store.h>

#include "benchmarks/floors.h"
#include "benchmarks/workload_list.h"

// Payload: copies and gathers of blocks that lie at random, 64 KB of K and 64 KB of V each. The floor is a memcpy of as
// many pieces of 64 KB between places that lie at random in as much memory.
namespace kvpane::bench {

namespace {

constexpr CellShape shape{.blocks = 1024, .block_size = 16, .kv_heads = 8, .head_dim = 128, .dtype = DType::f32};
constexpr std::uint32_t moved = 512;         // blocks in one round
constexpr std::uint32_t pieces = 2 * moved;  // of K and of V
constexpr std::size_t piece_bytes = 16 * 8 * 128 * 4;
constexpr GroupId group{0};

struct Layout {
    const char* name;
    CellOrder order;
    bool interleaved;
};
constexpr Layout layouts[] = {
    {"NHD", CellOrder::nhd, false}, {"NHD interleaved", CellOrder::nhd, true}, {"HND", CellOrder::hnd, false}};

// A store in which no two blocks are alike.
HostCellStore filled(const Layout& layout) {
    HostCellStore store(shape, layout.order, layout.interleaved);
    auto* memory = static_cast<std::byte*>(store.view().k);
    for (std::size_t i = 0; i < bytes_of(shape); ++i) {
        memory[i] = static_cast<std::byte>(i * 2654435761U >> 13U);
    }
    return store;
}

void must(const payload_expected<void>& result) {
    if (!result) {
        throw std::runtime_error(std::string(to_string(result.error().fault)) + ": " + result.error().where);
    }
}

std::uint64_t sum_of_fingerprints(const CellStore& store, const std::vector<FilledBlock>& blocks) {
    std::vector<std::uint64_t> prints(blocks.size());
    must(fingerprint_blocks(store, blocks, prints));
    std::uint64_t hash = 0;
    for (const std::uint64_t print : prints) {
        hash = hash << 1U ^ hash >> 63U ^ print;
    }
    return hash;
}

// Memory for dense rows of K and V of `blocks` blocks, aligned like a store: what memcpy makes of an odd address is not
// what is measured here.
HostCellStore rows_of(std::int64_t blocks) {
    CellShape rows = shape;
    rows.blocks = blocks - 1;  // the store has a null block, too
    return {rows, CellOrder::nhd, false};
}

// The floor: pieces from the first half of the places in memory to the second, or to one after the other.
class Floor {
public:
    Sample copy() {
        return move(memory_, [&](std::uint32_t i) { return ids_[pieces + i]; });
    }
    Sample gather() {
        return move(out_, [](std::uint32_t i) { return i; });
    }

private:
    static std::byte* piece(const HostCellStore& memory, std::size_t i) {
        return static_cast<std::byte*>(memory.view().k) + i * piece_bytes;
    }

    template <class Place>
    Sample move(const HostCellStore& to, Place place) {
        return {time([&] {
                    for (std::uint32_t i = 0; i < pieces; ++i) {
                        std::memcpy(piece(to, place(i)), piece(memory_, ids_[i]), piece_bytes);
                    }
                    keep(to.view().k);
                }),
                pieces};
    }

    std::vector<std::uint32_t> ids_ = shuffled_ids(2 * pieces);
    HostCellStore memory_ = filled(layouts[0]);
    HostCellStore out_ = rows_of(moved);
};

}  // namespace

void block_copies(Bench& bench) {
    // The first half of the ids are sources, the second destinations.
    const std::vector<std::uint32_t> ids = shuffled_ids(shape.blocks);
    const std::vector<std::uint32_t> sources(ids.begin(), ids.begin() + moved);
    const std::vector<std::uint32_t> destinations(ids.begin() + moved, ids.end());
    std::vector<BlockCopy> copies;
    std::vector<FilledBlock> read;
    std::vector<FilledBlock> written;
    for (std::size_t i = 0; i < moved; ++i) {
        copies.push_back({group, BlockId{sources[i]}, BlockId{destinations[i]}, shape.block_size});
        read.push_back({BlockId{sources[i]}, shape.block_size});
        written.push_back({BlockId{destinations[i]}, shape.block_size});
    }
    Floor floor;
    for (const Layout& layout : layouts) {
        const HostCellStore store = filled(layout);
        bench.measure(
            {.workload = "copy", .variant = layout.name, .unit = "64 KB", .goal = 1.11},
            [&] {
                Sample sample{time([&] {
                                  must(copy_blocks(store.view(), group, copies));
                                  keep(store.view().k);
                              }),
                              pieces};
                sample.checks = {
                    {"copied", sum_of_fingerprints(store.view(), written), sum_of_fingerprints(store.view(), read)}};
                return sample;
            },
            [&] { return floor.copy(); });
    }
}

void gathers(Bench& bench) {
    const std::vector<std::uint32_t> ids = shuffled_ids(shape.blocks);
    const std::vector<std::int32_t> table(ids.begin(), ids.begin() + moved);
    const CellRange range{table, 0, Length{moved} * shape.block_size};
    Floor floor;
    const HostCellStore memory = rows_of(moved);
    const CellRowsOut rows{memory.view().k, memory.view().v, shape.dtype};
    for (const Layout& layout : layouts) {
        const HostCellStore store = filled(layout);
        bench.measure(
            {.workload = "gather", .variant = layout.name, .unit = "64 KB", .goal = 1.11},
            [&] {
                Sample sample{time([&] {
                                  must(gather_cells(store.view(), range, rows));
                                  keep(rows.k);
                              }),
                              pieces};
                CellMismatch mismatch;
                must(compare_cells(store.view(), range, {rows.k, rows.v, rows.dtype}, std::nullopt, &mismatch));
                sample.checks = {{"equal", mismatch.position == CellMismatch::none, 1}};
                return sample;
            },
            [&] { return floor.gather(); });
    }
}

}  // namespace kvpane::bench
