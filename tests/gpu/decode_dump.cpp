// SPDX-License-Identifier: Apache-2.0
#include "gpu/decode_dump.h"

#include <fstream>
#include <numeric>
#include <utility>
#include <vector>

#include <kvpane/attention/cell_ops.h>
#include <kvpane/attention/elements.h>

#include "attention/agreement.h"
#include "attention/attention_case.h"

namespace kvpane::gpu {

namespace {

using nlohmann::ordered_json;
using testing::require;

void write(const std::filesystem::path& file, std::span<const std::byte> bytes) {
    std::ofstream out;
    out.exceptions(std::ios::failbit | std::ios::badbit);
    out.open(file, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    out.close();
}

std::vector<std::byte> read(const std::filesystem::path& file) {
    std::vector<std::byte> bytes(std::filesystem::file_size(file));
    std::ifstream in;
    in.exceptions(std::ios::failbit | std::ios::badbit);
    in.open(file, std::ios::binary);
    in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    return bytes;
}

std::vector<float> widened(const std::vector<std::byte>& f16) {
    std::vector<float> values(f16.size() / bytes_of(DType::f16));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = read_element(f16.data(), DType::f16, i);
    }
    return values;
}

}  // namespace

DecodeDump::DecodeDump(std::filesystem::path folder, const CellShape& shape, std::size_t n_seqs, Length length,
                       std::size_t copies)
    : folder_(std::move(folder)),
      about_({{"n_seqs", n_seqs},
              {"length", length},
              {"kv_heads", shape.kv_heads},
              {"head_dim", shape.head_dim},
              {"copies", copies},
              {"tolerance", testing::tolerance(DType::f16)},
              {"decodes", ordered_json::array()}}) {
    std::filesystem::create_directories(folder_);
}

void DecodeDump::add_cells(std::span<const std::byte> k, std::span<const std::byte> v) const {
    write(folder_ / "k", k);
    write(folder_ / "v", v);
}

void DecodeDump::add_decode(std::uint32_t group, std::span<const std::byte> queries, std::span<const std::byte> out,
                            double microseconds) {
    write(folder_ / ("queries_" + std::to_string(group)), queries);
    write(folder_ / ("out_" + std::to_string(group)), out);
    about_["decodes"].push_back({{"group", group}, {"microseconds", microseconds}});
    const std::string text = about_.dump(2) + "\n";
    write(folder_ / "decode.json", std::as_bytes(std::span(text)));
}

void check_dump(Checks& checks, const std::filesystem::path& folder) {
    const auto about = ordered_json::parse(std::ifstream(folder / "decode.json"));
    const auto n_seqs = about["n_seqs"].get<std::size_t>();
    const auto length = about["length"].get<Length>();
    // A sequence is one block.
    const CellShape shape{.blocks = static_cast<std::int64_t>(n_seqs),
                          .block_size = static_cast<std::uint32_t>(length),
                          .kv_heads = about["kv_heads"],
                          .head_dim = about["head_dim"],
                          .dtype = DType::f16};
    const HostCellStore store(shape, CellOrder::nhd, false);
    std::vector<std::int32_t> tables(n_seqs);
    std::iota(tables.begin(), tables.end(), 1);
    std::vector<Slot> slots(n_seqs * static_cast<std::size_t>(length));
    std::iota(slots.begin(), slots.end(), Slot{shape.block_size});
    const std::vector<std::byte> k = read(folder / "k");
    const std::vector<std::byte> v = read(folder / "v");
    require(write_slots(store.view(), slots, {k.data(), v.data(), DType::f16}));
    const std::vector<Length> lengths(n_seqs, length);

    for (const ordered_json& decode : about["decodes"]) {
        const auto group = decode["group"].get<std::uint32_t>();
        const std::vector<std::byte> queries = read(folder / ("queries_" + std::to_string(group)));
        checks.add("decode of the dump, G " + std::to_string(group), [&]() -> Outcome {
            const AttentionProblem problem{.cells = store.view(),
                                           .rule = {},
                                           .query_heads = shape.kv_heads * group,
                                           .tables = tables,
                                           .width = 1,
                                           .lengths = lengths,
                                           .queries = {queries.data(), DType::f16}};
            const std::vector<float> found = widened(read(folder / ("out_" + std::to_string(group))));
            const double error = testing::norm_ratio(found, testing::by_host(problem, {}).out);
            return {error < about["tolerance"].get<double>(), error};
        });
    }
}

}  // namespace kvpane::gpu
