// SPDX-License-Identifier: Apache-2.0
// Attention through the tables of a Manager that windows, forks and copies have shaped is attention over each sequence's
// own history.
#include <cstring>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/host_attention.h>
#include <kvpane/attention/reference_attention.h>
#include <kvpane/blocktable/exports.h>
#include <kvpane/blocktable/manager.h>

#include "attention/attention_case.h"
#include "support/seed.h"
#include "support/workloads.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::Lcg;

constexpr std::uint32_t kv_heads = 2;
constexpr std::uint32_t head_dim = 8;
constexpr std::size_t cell_floats = std::size_t{kv_heads} * head_dim;
constexpr GroupId groups[] = {GroupId{0}, GroupId{1}, GroupId{2}};

// K or V of a cell: what a token gives at a position.
std::vector<float> cell_of(Token token, Length position, bool is_v) {
    Lcg lcg(static_cast<std::uint64_t>(token) * 1000 + static_cast<std::uint64_t>(position) * 2 + (is_v ? 1 : 0));
    std::vector<float> cell(cell_floats);
    for (float& x : cell) {
        x = static_cast<float>(lcg.below(2001)) / 1000 - 1;
    }
    return cell;
}

void write_cell(const CellStore& store, Slot slot, Token token, Length position) {
    const std::size_t at = static_cast<std::size_t>(slot) * cell_floats;  // dense [blocks + 1, block_size, heads, dim]
    std::ranges::copy(cell_of(token, position, false), static_cast<float*>(store.k) + at);
    std::ranges::copy(cell_of(token, position, true), static_cast<float*>(store.v) + at);
}

Answer attend(const AttentionProblem& problem) {
    const Answer found = testing::by_host(problem, {.chunk = 16});
    const Answer expected = testing::by_reference(problem);
    BOOST_TEST(testing::norm_ratio(found.out, expected.out) < 1e-5);
    return found;
}

class Engine {
public:
    static constexpr std::uint32_t block_size = 4;
    static constexpr std::int64_t blocks = 200;

    Engine()
        : kv({.block_size = block_size,
              .blocks = blocks,
              .groups = {{"full"}, {.name = "swa", .window = 10}, {.name = "sinks", .window = 7, .sinks = 5}}}) {
        const CellShape shape{blocks, block_size, kv_heads, head_dim, DType::f32};
        for (std::size_t i = 0; i < std::size(groups); ++i) {
            stores.emplace_back(shape, CellOrder::nhd, false);
        }
    }

    void run(const Step& step, const std::vector<Token>& tokens, Length first) {
        for (const BlockCopy& copy : step.copies) {
            const CellStore& store = stores[to_index(copy.group)].view();
            for (void* memory : {store.k, store.v}) {
                const auto at = [&](BlockId block) {
                    return static_cast<float*>(memory) + std::size_t{to_index(block)} * block_size * cell_floats;
                };
                std::memcpy(at(copy.destination), at(copy.source), copy.cells * cell_floats * sizeof(float));
            }
        }
        for (const GroupId group : groups) {
            const auto slots = step.slots_of(group);
            for (std::size_t i = 0; i < slots.size(); ++i) {
                const std::size_t token = tokens.size() - slots.size() + i;
                write_cell(stores[to_index(group)].view(), slots[i], tokens[token], first + static_cast<Length>(token));
            }
        }
    }

    void admit(const std::vector<Token>& prompt) {
        const auto admitted = kv.admit({.tokens = prompt});
        BOOST_REQUIRE(admitted);
        run(admitted->step, prompt, 0);
        sequences.push_back(admitted->sequence);
        histories.push_back(prompt);
    }

    void fork(std::size_t parent) {
        sequences.push_back(*kv.fork(sequences[parent]));
        histories.push_back(std::vector<Token>(histories[parent]));
    }

    void append(std::size_t i, Token token) {
        const std::vector<Token> tokens = {token};
        const auto step = kv.append(sequences[i], tokens);
        BOOST_REQUIRE(step);
        run(*step, tokens, static_cast<Length>(histories[i].size()));
        histories[i].push_back(token);
    }

    // One query each, over the tables in use, and over tables that simply count through each history.
    void expect_that_tables_say_what_histories_say(const std::vector<float>& queries) {
        std::vector<Length> lengths;
        Length longest = 0;
        for (const auto& history : histories) {
            lengths.push_back(static_cast<Length>(history.size()));
            longest = std::max(longest, lengths.back());
        }
        const std::size_t width = static_cast<std::size_t>(longest) / block_size + 1;
        for (const GroupId group : groups) {
            std::vector<std::int32_t> tables(sequences.size() * width);
            BOOST_REQUIRE(export_padded(kv, sequences, group, width, tables));
            const GroupConfig& config = kv.config().groups[to_index(group)];
            AttentionProblem problem{.cells = stores[to_index(group)].view(),
                                     .rule = {.window = config.window, .sinks = config.sinks},
                                     .query_heads = 4,
                                     .tables = tables,
                                     .width = width,
                                     .lengths = lengths,
                                     .queries = {queries.data(), DType::f32}};
            const Answer paged = attend(problem);

            const auto all_blocks = static_cast<std::int64_t>(tables.size());
            HostCellStore plain({all_blocks, block_size, kv_heads, head_dim, DType::f32}, CellOrder::nhd, false);
            for (std::size_t i = 0; i < histories.size(); ++i) {
                for (std::size_t block = 0; block < width; ++block) {
                    tables[i * width + block] = static_cast<std::int32_t>(i * width + block + 1);
                }
                for (std::size_t p = 0; p < histories[i].size(); ++p) {
                    const auto slot = static_cast<Slot>((i * width + 1) * block_size + p);
                    write_cell(plain.view(), slot, histories[i][p], static_cast<Length>(p));
                }
            }
            problem.cells = plain.view();
            const Answer straight = attend(problem);
            BOOST_TEST(paged.out == straight.out, boost::test_tools::per_element());
            BOOST_TEST(paged.lse == straight.lse, boost::test_tools::per_element());
        }
    }

    Manager kv;
    std::vector<HostCellStore> stores;  // by group
    std::vector<SequenceHandle> sequences;
    std::vector<std::vector<Token>> histories;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(attention_through_a_manager)

BOOST_AUTO_TEST_CASE(sees_each_sequences_own_history_whatever_windows_and_forks_did) {
    Lcg lcg(testing::seed());
    const auto token = [&] { return static_cast<Token>(lcg.below(50)); };
    Engine engine;
    engine.admit({1, 2, 3, 4, 5, 6, 7});
    engine.admit({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});  // its first block is a hit
    engine.admit({9});
    for (int round = 0; round < 30; ++round) {
        if (round % 10 == 3) {
            engine.fork(lcg.below(engine.sequences.size()));
        }
        for (std::size_t i = 0; i < engine.sequences.size(); ++i) {
            if (lcg.below(4) > 0) {
                engine.append(i, token());
            }
        }
        std::vector<float> queries(engine.sequences.size() * 4 * head_dim);
        for (float& x : queries) {
            x = static_cast<float>(lcg.below(2001)) / 500 - 2;
        }
        engine.expect_that_tables_say_what_histories_say(queries);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane
