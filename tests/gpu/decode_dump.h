// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include <nlohmann/json.hpp>

#include <kvpane/attention/attention.h>

#include "gpu/gpu_check.h"

namespace kvpane::gpu {

// A decode in files, for whoever computes it by other means (attention/cuda/torch_decode.py). All numbers are f16:
//   k, v               [n_seqs, length, kv_heads, head_dim] as gather_cells gives them
//   queries_G, out_G   [n_seqs, kv_heads * G, head_dim] of G query heads for each KV head
//   decode.json        {"n_seqs", "length", "kv_heads", "head_dim", "copies", "tolerance", "decodes": [{"group",
//                      "microseconds"}]}: what was timed has `copies` times as many sequences; the tolerance is that of
//                      the norm ratio
class DecodeDump {
public:
    // Makes the folder. Throws std::filesystem::filesystem_error, as add() std::ios_base::failure.
    DecodeDump(std::filesystem::path folder, const CellShape& shape, std::size_t n_seqs, Length length,
               std::size_t copies);

    void add_cells(std::span<const std::byte> k, std::span<const std::byte> v) const;
    void add_decode(std::uint32_t group, std::span<const std::byte> queries, std::span<const std::byte> out,
                    double microseconds);

private:
    std::filesystem::path folder_;
    nlohmann::ordered_json about_;
};

// Reads a dump back: its `out` is what the host computes from the rest.
void check_dump(Checks& checks, const std::filesystem::path& folder);

}  // namespace kvpane::gpu
