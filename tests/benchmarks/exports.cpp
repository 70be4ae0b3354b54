// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <vector>

#include <kvpane/blocktable/exports.h>

#include "benchmarks/decoding.h"
#include "benchmarks/workload_list.h"
#include "support/workloads.h"

// Workload W6x: tables of 256 x 128 blocks as attention kernels take them. The floor is a memcpy of the output.
namespace kvpane::bench {

namespace {

using testing::Fnv;
using testing::granted;
using Int32s = std::vector<std::int32_t>;

constexpr std::size_t sequences = 256;
constexpr std::size_t blocks_each = 128;
constexpr std::size_t entries = sequences * blocks_each;
constexpr std::size_t repetitions = 16;
constexpr GroupId group{0};
const Decoding::Shape shape{sequences, Length{blocks_each}, 65'536};

Fnv hash_of(const Int32s& ids) {
    Fnv hash;
    std::ranges::for_each(ids, [&](std::int32_t id) { hash.add(static_cast<std::uint32_t>(id)); });
    return hash;
}

std::uint64_t hash_of_tables(const Decoding& decoding) {
    Fnv hash;
    for (const SequenceHandle sequence : decoding.sequences()) {
        hash.add(testing::table_of(decoding.kv, sequence));
    }
    return hash.value();
}

// Both exports write every entry of every table.
template <class Export>
void measure_whole(Bench& bench, const char* variant, const Decoding& decoding, Int32s& out, Export write) {
    const auto repeated = [](auto work) {
        const double spent = time([&] {
            for (std::size_t i = 0; i < repetitions; ++i) {
                work();
            }
        });
        return Sample{spent, static_cast<double>(repetitions * entries)};
    };
    const Int32s source(out.size(), 1);
    Int32s copy(out.size());
    bench.measure(
        {.workload = "W6x", .variant = variant, .unit = "entry", .goal = 2},
        [&] {
            std::ranges::fill(out, 0);
            Sample sample = repeated(write);
            sample.checks = {{"entries", hash_of(out).value(), hash_of_tables(decoding)}};
            return sample;
        },
        [&] {
            return repeated([&] {
                std::memcpy(copy.data(), source.data(), out.size() * sizeof(std::int32_t));
                keep(copy.data());
            });
        });
}

// A table as the engine binds it: room for some steps behind the first 128 entries.
class Rows {
public:
    static constexpr std::size_t width = blocks_each + 16;

    explicit Rows(Decoding& decoding) : decoding_(decoding), memory_(sequences * width), upload_(sequences) {
        for (std::size_t i = 0; i < sequences; ++i) {
            const auto row = std::span(memory_).subspan(i * width, width);
            granted(decoding_.kv.bind_row(decoding_.sequences()[i], group, row));
        }
    }

    // One step, which gives each sequence a block; then the changed entries of all rows are copied.
    Sample run() {
        take();  // what the last rewind changed
        decoding_.step();
        Sample sample{time([&] { take(); }), sequences};
        Fnv expected;
        for (const SequenceHandle sequence : decoding_.sequences()) {
            expected.add(to_index(granted(decoding_.kv.table(sequence, group))[blocks_each]));
        }
        sample.checks = {{"changed", hash_of(upload_).value(), expected.value()}};
        decoding_.rewind();
        return sample;
    }

    Sample copy() {
        return {time([&] {
                    for (std::size_t i = 0; i < sequences; ++i) {
                        std::memcpy(&upload_[i], &memory_[i * width + blocks_each], sizeof(std::int32_t));
                    }
                    keep(upload_.data());
                }),
                sequences};
    }

private:
    void take() {
        for (std::size_t i = 0; i < sequences; ++i) {
            const RowChange change = granted(decoding_.kv.take_row_change(decoding_.sequences()[i], group));
            if (change.begin < change.end) {
                upload_[i] = memory_[i * width + change.begin];
            }
        }
    }

    Decoding& decoding_;
    Int32s memory_;  // [sequences, width]
    Int32s upload_;  // [sequences]
};

}  // namespace

void exports(Bench& bench) {
    Decoding decoding(shape);
    Int32s indices(entries);
    Int32s indptr(sequences + 1);
    Int32s last_page_len(sequences);
    std::vector<std::int64_t> first_position(sequences);
    measure_whole(bench, "CSR", decoding, indices, [&] {
        const CsrArrays out{indptr, indices, last_page_len, first_position};
        granted(export_csr(decoding.kv, decoding.sequences(), group, out));
    });
    Int32s padded(entries);
    measure_whole(bench, "padded", decoding, padded,
                  [&] { granted(export_padded(decoding.kv, decoding.sequences(), group, blocks_each, padded)); });

    Rows rows(decoding);
    bench.measure(
        {.workload = "W6x", .variant = "bound rows", .unit = "row", .goal = 2}, [&] { return rows.run(); },
        [&] { return rows.copy(); });
}

}  // namespace kvpane::bench
