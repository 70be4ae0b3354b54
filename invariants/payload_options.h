// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <kvpane/attention/cell_store.h>
#include <kvpane/blocktable/config.h>

namespace kvpane::invariants {

// How the real cells of a checked run are stored: the same in every group (payload.h). Small by default: where a cell
// is, and not how much it holds, is what goes wrong.
struct PayloadOptions {
    static constexpr std::size_t most_bytes = std::size_t{1} << 30U;  // of all groups: they are touched at once

    CellOrder order = CellOrder::nhd;
    bool interleaved = false;
    DType dtype = DType::bf16;
    std::uint32_t kv_heads = 2;
    std::uint32_t head_dim = 8;  // a multiple of 8, at most largest_head_dim

    friend bool operator==(const PayloadOptions&, const PayloadOptions&) = default;
};

// The sizes of the cells of one group.
CellShape shape_of(const Config& config, const PayloadOptions& options) noexcept;

// Why a payload cannot be made, in one sentence. REQUIRES validate(config) finds nothing.
std::optional<std::string> find_wrong(const Config& config, const PayloadOptions& options);

}  // namespace kvpane::invariants
