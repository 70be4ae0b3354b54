// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/allocator/scramble.h>
#include <kvpane/attention/block_ops.h>
#include <kvpane/attention/cell_compare.h>
#include <kvpane/attention/cell_ops.h>
#include <kvpane/blocktable/exports.h>
#include <kvpane/blocktable/manager.h>
#include <kvpane/blocktable/window.h>

#include "attention/stores.h"
#include "support/seed.h"

// A small engine: a real Manager decides where cells go, the payload operations carry them there.
namespace kvpane {

namespace {

using testing::Lcg;
using testing::Rows;
using testing::Tokens;

constexpr std::size_t groups = 2;
constexpr std::array<Length, groups> windows = {0, 5};
constexpr std::array<Length, groups> sinks = {0, 2};
constexpr CellShape shape{.blocks = 40, .block_size = 3, .kv_heads = 2, .head_dim = 8};

// What a token at a position leaves behind: whole numbers that every dtype holds.
float value_of(std::size_t group, Length position, Token token, std::size_t element) {
    const auto place = static_cast<std::uint64_t>(position) << 32U | static_cast<std::uint64_t>(token);
    return static_cast<float>(scramble(scramble(place) ^ (element * groups + group)) % 15) - 7;
}

class Engine {
public:
    Engine(Lcg& lcg, const testing::Layout& layout, DType dtype)
        : lcg_(lcg), kv_({.block_size = shape.block_size,
                          .blocks = shape.blocks,
                          .prefix_cache = {.granularity = lcg.below(2) == 0 ? Granularity::token : Granularity::block},
                          .groups = {{.name = "full"}, {.name = "swa", .window = windows[1], .sinks = sinks[1]}}}),
          stores_{{HostCellStore(testing::with(shape, dtype), layout.order, layout.interleaved),
                   HostCellStore(testing::with(shape, DType::f32), layout.order, !layout.interleaved)}} {
        // Cells that nobody wrote are full of noise.
        for (const HostCellStore& store : stores_) {
            testing::fill(store.view(), lcg_);
        }
    }

    void step() {
        const std::uint64_t kind = lcg_.below(10);
        if (live_.empty() || (kind < 2 && live_.size() < 4)) {
            admit();
        } else if (kind < 6) {
            append(pick());
        } else if (kind < 8) {
            fork(pick());
        } else if (kind < 9) {
            truncate(pick());
        } else {
            release(pick());
        }
        std::ranges::for_each(live_, [&](const Sequence& sequence) { check(sequence); });
    }

    std::size_t copies() const { return copies_; }
    Length hits() const { return hits_; }

private:
    struct Sequence {
        SequenceHandle handle;
        Tokens tokens;
        Length length() const { return static_cast<Length>(tokens.size()); }
    };

    std::size_t pick() { return lcg_.below(live_.size()); }

    Tokens draw(std::uint64_t most) {
        Tokens tokens(1 + lcg_.below(most));
        std::ranges::generate(tokens, [&] { return static_cast<Token>(lcg_.below(2)); });
        return tokens;
    }

    void admit() {
        const Tokens prompt = draw(20);
        const auto admission = kv_.admit({.tokens = prompt});
        if (!admission) {
            return release(pick());
        }
        live_.push_back({admission->sequence, prompt});
        hits_ += admission->cached_tokens;
        run(admission->step, live_.back(), admission->cached_tokens);
    }

    void append(std::size_t i) {
        const Tokens tokens = draw(4);
        const auto step = kv_.append(live_[i].handle, tokens);
        if (!step) {
            return release(i);
        }
        const Length before = live_[i].length();
        live_[i].tokens.insert(live_[i].tokens.end(), tokens.begin(), tokens.end());
        run(*step, live_[i], before);
    }

    void fork(std::size_t i) {
        if (live_.size() < 6) {
            live_.push_back({testing::granted(kv_.fork(live_[i].handle)), live_[i].tokens});
        }
    }

    void truncate(std::size_t i) {
        const auto length = static_cast<Length>(lcg_.below(live_[i].tokens.size() + 1));
        if (kv_.truncate(live_[i].handle, length)) {
            live_[i].tokens.resize(static_cast<std::size_t>(length));
        }
    }

    void release(std::size_t i) {
        testing::granted(kv_.release(live_[i].handle));
        live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(i));
    }

    static Rows rows_of(const Sequence& sequence, std::size_t group, Length first, Length count) {
        Rows rows(shape, static_cast<std::size_t>(count), DType::f32);
        for (std::size_t i = 0; i < rows.k.size(); ++i) {
            const Length position = first + static_cast<Length>(i / rows.row);
            const Token token = sequence.tokens[static_cast<std::size_t>(position)];
            rows.k[i] = value_of(group, position, token, 2 * (i % rows.row));
            rows.v[i] = value_of(group, position, token, 2 * (i % rows.row) + 1);
        }
        return rows;
    }

    // The copies first, then what the model computed for the new cells.
    void run(const Step& step, const Sequence& sequence, Length first) {
        copies_ += step.copies.size();
        for (std::uint32_t group = 0; group < groups; ++group) {
            const CellStore& store = stores_[group].view();
            BOOST_TEST(copies_at_once(GroupId{group}, step.copies) == step.copies.size());
            BOOST_REQUIRE(copy_blocks(store, GroupId{group}, step.copies));
            const Rows rows = rows_of(sequence, group, first, sequence.length() - first);
            BOOST_REQUIRE(write_slots(store, step.slots_of(GroupId{group}), rows.in()));
        }
    }

    void check(const Sequence& sequence) {
        for (std::uint32_t group = 0; group < groups; ++group) {
            const Length n = sequence.length();
            std::vector<std::int32_t> table(static_cast<std::size_t>(n) + 1);
            testing::granted(export_padded(kv_, {&sequence.handle, 1}, GroupId{group}, table.size(), table));
            const Length first = need(n, windows[group]);  // what the next query sees; a truncation keeps no more
            check(sequence, group, {table, first, n - first});
            check(sequence, group, {table, 0, std::min(sinks[group], n)});
        }
    }

    void check(const Sequence& sequence, std::size_t group, const CellRange& range) {
        const Rows expected = rows_of(sequence, group, range.first, range.count);
        Rows taken(shape, static_cast<std::size_t>(range.count), DType::f32);
        BOOST_REQUIRE(gather_cells(stores_[group].view(), range, taken.out()));
        BOOST_REQUIRE((taken == expected));
        CellMismatch mismatch;
        BOOST_REQUIRE(compare_cells(stores_[group].view(), range, expected.in(), std::nullopt, &mismatch));
        BOOST_REQUIRE(mismatch.position == CellMismatch::none);
    }

    Lcg& lcg_;
    Manager kv_;
    std::array<HostCellStore, groups> stores_;
    std::vector<Sequence> live_;
    std::size_t copies_ = 0;
    Length hits_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(payload_engine)

BOOST_AUTO_TEST_CASE(what_was_written_reads_back_through_windows_forks_copies_and_hits) {
    Lcg lcg(testing::seed());
    std::size_t copies = 0;
    Length hits = 0;
    for (const testing::Layout& layout : testing::layouts) {
        for (const DType dtype : testing::dtypes) {
            BOOST_TEST_CONTEXT(testing::name_of(layout, dtype)) {
                Engine engine(lcg, layout, dtype);
                for (int i = 0; i < 200; ++i) {
                    engine.step();
                }
                copies += engine.copies();
                hits += engine.hits();
            }
        }
    }
    BOOST_TEST(copies > 100U);
    BOOST_TEST(hits > 20);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane
