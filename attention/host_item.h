// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include <kvpane/attention/host_attention.h>
#include <kvpane/attention/host_kernels.h>
#include <kvpane/attention/host_workspace.h>

namespace kvpane {

// Positions [begin, end); none if they are the wrong way round.
struct Positions {
    Length begin = 0;
    Length end = 0;

    Length size() const noexcept { return end > begin ? end - begin : 0; }
};

// One item of work of host_attention(): the query rows of a row tile for one KV head, and a part of the cells that they
// see. What it computes depends on nothing but its number.
class HostItem {
public:
    // `scratch` [scratch_floats] is the thread's; `number` counts within the sequence. All of them must outlive it.
    HostItem(const AttentionProblem& problem, const HostOptions& options, const HostWorkspace& workspace,
             std::span<float> scratch, std::size_t sequence, std::size_t number) noexcept;

    // Writes the rows of the result, or of the part in the workspace.
    void run(const AttentionResult& result) noexcept;

private:
    // The addresses of the cells of one tile; behind the last one they repeat it, so that any tile can be fetched ahead.
    struct Tile {
        Positions positions;
        std::array<const void*, tile_cells> k{};
        std::array<const void*, tile_cells> v{};
    };

    void load_queries() noexcept;
    std::array<Positions, 2> cells_of_part() const noexcept;
    Tile next_tile(std::array<Positions, 2>& ranges) const noexcept;
    std::array<Positions, 2> seen_of_tile(std::size_t token, const Tile& tile) const noexcept;
    void attend(const Tile& tile, const Tile& next) const noexcept;
    void attend(const QueryTile& some, const Tile& tile, const Positions& positions, const Tile& next) const noexcept;
    QueryTile rows(std::size_t begin, std::size_t end) const noexcept;
    void finish(const AttentionResult& result) const noexcept;
    void write(const AttentionResult& result, std::size_t row, float factor, float lse) const noexcept;
    std::size_t state_of(std::size_t row) const noexcept;

    const AttentionProblem& problem_;
    const HostWorkspace& workspace_;
    HostKernels kernels_;
    std::size_t sequence_;
    std::size_t parts_ = 1;
    std::size_t part_ = 0;
    std::size_t kv_head_ = 0;
    std::size_t heads_ = 0;
    std::size_t first_row_ = 0;
    std::size_t tokens_ = 0;
    Length first_position_ = 0;
    Length chunk_ = 0;
    float* queries_ = nullptr;
    QueryTile tile_;
};

}  // namespace kvpane
