// SPDX-License-Identifier: Apache-2.0
// Reports say where: sequence, position, cells, and what last happened to the block.
#include "invariants/breaking.h"

#include <cstdint>
#include <string>
#include <vector>

#include <kvpane/invariants/block_history.h>
#include <kvpane/invariants/inspector.h>
#include <kvpane/invariants/violation.h>

#include "support/cache.h"
#include "support/death.h"

namespace kvpane::invariants {

using testing::plain;
using Kind = BlockHistory::Kind;
using Lines = std::vector<std::string>;

namespace {

constexpr auto no_fault = [] {};
constexpr BlockId block{3};

}  // namespace

BOOST_AUTO_TEST_SUITE(reports)

BOOST_AUTO_TEST_CASE(a_block_history_keeps_the_last_touches_and_makes_one_of_writes_that_follow_each_other) {
    BlockHistory history(4);
    history.begin(1, Verb::admit);
    history.note(Kind::written, block, 7, 0, 0, 2);
    history.begin(2, Verb::append);
    history.note(Kind::written, block, 7, 0, 3, 3);
    history.note(Kind::written, block, 8, 0, 4, 4);  // by another sequence
    history.begin(3, Verb::append);
    history.note(Kind::written, block, 8, 0, 4, 4);  // the same cell again
    const auto touches = history.of(block);
    BOOST_TEST_REQUIRE(touches.size() == 3U);
    BOOST_TEST(touches[0].since == 1);
    BOOST_TEST(touches[0].operation == 2);
    BOOST_TEST(touches[0].first == 0U);
    BOOST_TEST(touches[0].last == 3U);
    BOOST_TEST(touches[1].sequence == 8U);
    BOOST_TEST(touches[2].since == 3);

    for (std::int64_t operation = 4; operation < 24; ++operation) {
        history.begin(operation, Verb::fork);
        history.note(Kind::enters, block, 1, 0, 0);
    }
    BOOST_TEST(history.of(block).size() == BlockHistory::kept);
    BOOST_TEST(history.of(block).front().operation == 24 - static_cast<std::int64_t>(BlockHistory::kept));
    BOOST_TEST(history.of(block).back().operation == 23);
}

BOOST_AUTO_TEST_CASE(a_block_history_passes_over_the_null_block_and_blocks_beyond_the_pool) {
    BlockHistory history(4);
    for (const BlockId nowhere : {null_block, BlockId{5}, BlockId{1'000'000}}) {
        history.note(Kind::enters, nowhere, 0, 0, 0);
        BOOST_TEST(history.of(nowhere).empty());
    }
    history.note(Kind::enters, BlockId{4}, 0, 0, 0);
    BOOST_TEST(history.of(BlockId{4}).size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_report_names_the_sequence_the_position_both_cells_and_who_touched_the_block) {
    Broken broken(plain(4, 8));
    broken.checked.spell({"a", "b"});
    broken.run(admit(0, {1, 2, 3}));
    broken.run(fork(0, 1));
    broken.run(append(1, {4}));
    Tamper::apply(broken.checked, append(1, {5}), no_fault, [&] {
        Tamper::shadow(broken.checked).write(Slot{6}, ShadowCell{2, 5, 9, 0, 0, 1});
    });
    broken.expect(Invariant::F1, "sequence a, group full, position 2");
    const Violation& found = *broken.checked.violation();
    BOOST_TEST(found.operation == 4);
    BOOST_TEST(found.sequence == "a");
    BOOST_TEST(found.group == "full");
    BOOST_TEST((found.position == 2));
    BOOST_TEST((found.block == BlockId{1}));
    BOOST_TEST_REQUIRE((found.expected.has_value() && found.found.has_value()));
    BOOST_TEST(found.expected->token == 3);
    BOOST_TEST(found.expected->writer == nobody);
    BOOST_TEST(found.found->token == 9);
    BOOST_TEST(found.found->writer == 1U);
    BOOST_TEST(
        found.block_history ==
            (Lines{"operation 1 (admit): enters the table of a in group full as logical block 0",
                   "operation 1 (admit): cells 0..2 written by a",
                   "operation 2 (fork): enters the table of b in group full as logical block 0",
                   "operation 3 (append): leaves the table of b in group full as logical block 0",
                   "operation 3 (append): 3 cells copied to block 2", "now: live, 1 reference, not in the index"}),
        boost::test_tools::per_element());
    const std::string text = text_of(found);
    BOOST_TEST(text.starts_with("VIOLATION F1 at operation 4: an operation on one sequence changes no other sequence's "
                                "cells\n  sequence a, group full, position 2"),
               text);
    BOOST_TEST(text.find("  what last happened to block 1:\n    operation 1 (admit): enters") != std::string::npos,
               text);
}

BOOST_AUTO_TEST_CASE(a_report_on_a_position_looks_up_its_block_and_one_on_a_counter_has_no_place) {
    Broken first(plain(4, 8));
    first.run(admit(0, {1, 2, 3, 4, 5}));
    Tamper::entry(first.table(0), 1) = null_block;
    first.audit_expects(Invariant::P2, "block 2 has 1 references");
    BOOST_TEST((first.checked.violation()->block == BlockId{2}));
    BOOST_TEST(first.checked.violation()->block_history.back() == "now: live, 1 reference, not in the index");

    Broken second(plain(4, 8));
    second.run(admit(0, {1, 2, 3}));
    Tamper::apply(second.checked, plan(4), no_fault, [&] { Tamper::pool(second.kv()).take(); });
    second.expect(Invariant::F2, "digest");
    BOOST_TEST(!second.checked.violation()->block.has_value());
    BOOST_TEST(second.checked.violation()->block_history.empty());
}

BOOST_AUTO_TEST_CASE(check_mode_tells_the_history_of_a_block_and_ends_the_process_with_all_of_it) {
    const auto break_it = [](const InspectorOptions& options) {
        Manager kv(plain(4, 8));
        Inspector inspector(kv, options);
        const std::vector<Token> tokens = {1, 2, 3};
        const SequenceHandle parent = kv.admit({.tokens = tokens}).value().sequence;
        const SequenceHandle child = kv.fork(parent).value();
        ++Tamper::refs(kv, BlockId{1});
        BOOST_TEST_REQUIRE(kv.release(child).has_value());
        return inspector.violation();
    };
    const auto found = break_it(InspectorOptions{.on_violation = [](const Violation&) {}});
    BOOST_TEST_REQUIRE(found.has_value());
    BOOST_TEST(number(found->invariant) == "P2");
    BOOST_TEST(
        found->block_history == (Lines{"operation 1 (admit): enters the table of #0 in group full as logical block 0",
                                       "operation 1 (admit): cells 0..2 written by #0",
                                       "operation 2 (fork): enters the table of #1 in group full as logical block 0",
                                       "operation 3 (release): leaves the table of #1 in group full as logical block 0",
                                       "now: live, 2 references, not in the index"}),
        boost::test_tools::per_element());
    const testing::Death death = testing::death_of([&] { break_it(InspectorOptions{}); });
    BOOST_TEST(death.aborted);
    BOOST_TEST(death.message.find("operation 2 (fork): enters the table of #1") != std::string::npos, death.message);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants
