// SPDX-License-Identifier: Apache-2.0
// Managers that are not ours: the sound one is left alone, each mistake is found where it first shows.
#include <kvpane/invariants/table_audit.h>

#include <boost/test/unit_test.hpp>

#include <map>
#include <set>

#include "support/paged_engine.h"
#include "support/seed.h"

namespace kvpane::invariants {

namespace {

using namespace engine_log;
using testing::Bug;

struct Judged {
    std::optional<Refusal> refusal;
    std::optional<AuditFinding> finding;
    AuditCounts counts;

    std::string number() const { return finding ? std::string(invariants::number(finding->invariant)) : "sound"; }
};

// Lines are numbered as in a file: the header is line 1.
Judged judge(const Header& header, const std::vector<Event>& events) {
    TableAudit audit(header);
    Judged judged;
    std::int64_t line = 1;
    for (const Event& event : events) {
        ++line;
        judged.refusal = audit.refusal(event);
        if (judged.refusal) {
            break;
        }
        judged.finding = audit.follow(event, line);
        judged.counts = audit.counts();
        if (judged.finding) {
            break;
        }
    }
    return judged;
}

const Header plain{.block_size = 4, .blocks = 16, .null_block = 0};

std::string refused(const std::vector<Event>& events, const Header& header = plain) {
    const Judged judged = judge(header, events);
    return judged.refusal ? judged.refusal->field + ": " + judged.refusal->sentence : "not refused";
}

// Six tokens of a in the blocks 1 and 2.
std::vector<Event> six_of_a() {
    return {Start{"a", {10, 11, 12, 13, 14, 15}}, Write{"a", 0, 0, {10, 11, 12, 13, 14, 15}, {4, 5, 6, 7, 8, 9}},
            Table{.sequence = "a", .blocks = {1, 2}, .length = 6}};
}

Judged judge_behind_six(const std::vector<Event>& more, const Header& header = plain) {
    std::vector<Event> events = six_of_a();
    events.insert(events.end(), more.begin(), more.end());
    return judge(header, events);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(table_audit)

BOOST_AUTO_TEST_CASE(a_sound_manager_is_never_blamed) {
    for (const Length window : {0, 1, 4, 5, 6}) {
        for (std::uint64_t run = 0; run < 60; ++run) {
            const testing::PagedEngine engine = testing::run_engine(Bug::none, window, testing::seed() + run, 200);
            const Judged judged = judge(engine.header, engine.log);
            BOOST_TEST_CONTEXT("seed " << testing::seed() + run << " window " << window) {
                BOOST_TEST(!judged.refusal, (judged.refusal ? judged.refusal->sentence : ""));
                BOOST_TEST(!judged.finding, (judged.finding ? judged.finding->what : ""));
                BOOST_TEST(judged.counts.tables > 100);
                BOOST_REQUIRE(!judged.finding);
            }
        }
    }
}

// Which invariants a mistake may be caught by, whatever shows first.
BOOST_AUTO_TEST_CASE(each_mistake_of_a_manager_is_found) {
    const std::map<Bug, std::set<std::string>> expected = {
        {Bug::evicts_one_cell_early, {"T2"}},
        {Bug::base_while_not_full, {"T1", "T2"}},
        {Bug::position_is_resident_index, {"T4"}},
        {Bug::base_is_forgotten, {"T1", "T4"}},
        {Bug::ring_order, {"T3", "T4"}},
        {Bug::position_is_stale_after_cut, {"T4"}},
        {Bug::tail_is_written_without_copy, {"T5", "T3", "X2"}},
        {Bug::copy_is_one_cell_short, {"T3", "T2", "X2"}},
        {Bug::freed_twice, {"P3", "P1", "T1", "T5"}},
        {Bug::freed_while_shared, {"T1", "T2", "T5", "P1", "P3"}},
        {Bug::hash_is_stale, {"X2", "T1"}},
        {Bug::hash_is_stale_after_overwrite, {"X2"}},
        {Bug::hash_ignores_the_past, {"X2", "T1"}},
        {Bug::hash_ignores_the_tenant, {"X2"}},
        {Bug::hit_ignores_the_window, {"T2"}},
    };
    for (const auto& [bug, name] : testing::bugs) {
        std::map<std::string, int> found;
        for (std::uint64_t run = 0; run < 40; ++run) {
            const testing::PagedEngine engine = testing::run_engine(bug, 5, testing::seed() + run, 300);
            const Judged judged = judge(engine.header, engine.log);
            BOOST_TEST_CONTEXT(name << " seed " << testing::seed() + run) {
                BOOST_TEST(!judged.refusal, (judged.refusal ? judged.refusal->sentence : ""));
                ++found[judged.number()];
                if (judged.finding) {
                    BOOST_TEST(expected.at(bug).contains(judged.number()), judged.number() + judged.finding->what);
                    BOOST_TEST(judged.finding->line == judged.counts.events + 1);
                    BOOST_TEST(
                        (judged.finding->found.has_value() || judged.number()[0] == 'P' || judged.number() == "T1"));
                    BOOST_TEST(judged.finding->block_history.size() <= AuditedBlock::most_touches);
                }
            }
        }
        std::string counts;
        for (const auto& [number, count] : found) {
            counts += " " + number + ":" + std::to_string(count);
        }
        BOOST_TEST_MESSAGE(name << counts);
        BOOST_TEST(found["sound"] < 40, name << " was never found");
    }
}

// --- where it is found, and how it is said ---------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(a_missed_copy_is_found_by_the_write_that_does_harm) {
    const Judged judged = judge_behind_six(
        {Fork{"a", "b", std::nullopt}, Append{"a", {20}}, Append{"b", {30}}, Write{"a", 0, 6, {20}, {10}},
         Table{.sequence = "a", .blocks = {1, 2}, .length = 7}, Write{"b", 0, 6, {30}, {10}}});
    BOOST_REQUIRE(judged.finding);
    const AuditFinding& finding = *judged.finding;
    BOOST_TEST(judged.number() == "T5");
    BOOST_TEST(finding.line == 10);
    BOOST_TEST(finding.sequence == "a");
    BOOST_TEST(finding.position.value() == 6);
    BOOST_TEST(finding.block.value() == 2);
    BOOST_TEST(finding.what == "block 2, offset 2 is overwritten, and the table of a has its position 6 there");
    BOOST_TEST(describe(*finding.expected) == "token 20 at position 6");
    BOOST_TEST(describe(*finding.found) == "token 30 at position 6, written by b at line 10");
    const std::vector<std::string> history = {
        "line 3: written by a: positions 4..5 at offsets 0..1", "line 4: enters the table of a as logical block 1",
        "line 8: written by a: position 6 at offset 2", "line 10: written by b: position 6 at offset 2"};
    BOOST_TEST(finding.block_history == history, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_write_that_nobody_needs_or_that_changes_nothing_is_no_finding) {
    // b writes what a has there already; then behind what a has.
    BOOST_TEST(judge_behind_six({Fork{"a", "b", std::nullopt}, Write{"b", 0, 5, {15}, {9}}, Append{"b", {30}},
                                 Write{"b", 0, 6, {30}, {10}}, Table{.sequence = "b", .blocks = {1, 2}, .length = 7}})
                   .number() == "sound");
    // What was cut off is not needed any more, whatever the last table said.
    BOOST_TEST(judge_behind_six({Fork{"a", "b", 4}, Truncate{"a", 4}, Append{"b", {30}}, Write{"b", 0, 4, {30}, {8}}})
                   .number() == "sound");
}

BOOST_AUTO_TEST_CASE(equal_tokens_at_equal_positions_behind_another_past_do_not_pass) {
    const Judged judged = judge_behind_six({Start{"b", {9, 11, 12, 13, 14, 15, 16}, 4},
                                            Write{"b", 0, 0, {9, 11, 12, 13, 14, 15}, {12, 13, 14, 15, 16, 17}},
                                            Table{.sequence = "b", .blocks = {3, 2}, .length = 6}});
    BOOST_TEST(judged.number() == "T3");
    BOOST_TEST(judged.finding->position.value() == 4);
    BOOST_TEST(describe(*judged.finding->found) ==
               "token 14 at position 4, written by a at line 3, behind other tokens");
}

BOOST_AUTO_TEST_CASE(the_cell_of_another_tenant_does_not_pass) {
    Scope scope;
    scope.tenant = "t";
    const Judged judged = judge_behind_six(
        {Start{"b", {10, 11, 12, 13, 14, 15}, 4, scope}, Table{.sequence = "b", .blocks = {1}, .length = 4}});
    BOOST_TEST(judged.number() == "X2");
    BOOST_TEST(judged.finding->what ==
               "the next query of b, at position 4, sees position 0, one of the 4 cached "
               "tokens that it began with, in block 1, offset 0");
    BOOST_TEST(describe(*judged.finding->found) ==
               "token 10 at position 0, written by a at line 3, in the scope {} instead of {tenant = t}");
}

BOOST_AUTO_TEST_CASE(a_hit_is_blamed_until_a_table_has_shown_it) {
    const std::vector<Event> hit = {Start{"b", {10, 11, 12, 13, 7}, 4},
                                    Table{.sequence = "b", .blocks = {1}, .length = 4}, Free{0, {1}},
                                    Table{.sequence = "b", .blocks = {1}, .length = 4}};
    const Judged judged = judge_behind_six(hit);
    BOOST_TEST(judged.number() == "T2");
    BOOST_TEST(judged.finding->line == 8);
    BOOST_TEST(describe(*judged.finding->found) ==
               "token 10 at position 0, written by a at line 3, and given up since");
}

BOOST_AUTO_TEST_CASE(holes_and_missing_blocks_are_told_apart) {
    const auto table = [](std::vector<Block> blocks, Length first, Length reserved) {
        const Judged judged = judge_behind_six(
            {Table{.sequence = "a", .first = first, .blocks = std::move(blocks), .length = 6, .reserved = reserved}});
        return judged.number() + (judged.finding ? ": " + judged.finding->what : "");
    };
    BOOST_TEST(table({1, 2}, 0, 2) == "sound");
    BOOST_TEST(table({0, 2}, 0, 0) ==
               "T2: the next query of a, at position 6, sees position 0, and the table has a hole at logical block 0");
    BOOST_TEST(table({2}, 1, 0) ==
               "T2: the next query of a, at position 6, sees position 0, and the table has a hole at logical block 0");
    BOOST_TEST(table({1}, 0, 0) ==
               "T1: the next query of a, at position 6, sees position 4, and the table has only 1 "
               "blocks from logical block 0");
    BOOST_TEST(table({1, 2}, 0, 3) ==
               "T1: the next query of a, at position 6, will be written at position 8, and the "
               "table has only 2 blocks from logical block 0");
    BOOST_TEST(table({1, 2, 1}, 0, 3) == "T1: the table of a has block 1 as logical block 0 and as 2");
    BOOST_TEST(table({1, 2, 1}, 0, 0) == "sound");  // nobody reads the third
}

BOOST_AUTO_TEST_CASE(a_window_and_sinks_are_read_and_nothing_between) {
    const Header header{
        .block_size = 2, .blocks = 16, .null_block = -1, .groups = {{.name = "swa", .window = 3, .sinks = 1}}};
    const auto table = [&](std::vector<Block> blocks, std::optional<Length> query) {
        return judge(header, {Start{"a", {0, 1, 2, 3, 4, 5, 6, 7}},
                              Write{"a", 0, 0, {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}},
                              Table{.sequence = "a", .blocks = std::move(blocks), .length = 8, .query = query}});
    };
    // The query at 8 sees 0 and 6, 7; the one at 7 saw 5, too.
    BOOST_TEST(table({0, -1, -1, 3}, std::nullopt).number() == "sound");
    BOOST_TEST(table({0, -1, -1, 3}, std::nullopt).counts.cells == 3);
    BOOST_TEST(table({0, -1, -1, 3}, 7).number() == "T2");
    BOOST_TEST(table({0, -1, 2, 3}, 7).number() == "sound");
    BOOST_TEST(table({-1, -1, -1, 3}, std::nullopt).finding->position.value() == 0);
}

BOOST_AUTO_TEST_CASE(a_table_that_counts_more_than_the_history_is_a_finding) {
    const Judged judged = judge_behind_six({Truncate{"a", 5}, Table{.sequence = "a", .blocks = {1, 2}, .length = 6}});
    BOOST_TEST(judged.number() == "T3");
    BOOST_TEST(judged.finding->what == "the table of a counts 6 tokens, and its history has 5");
    BOOST_TEST(describe(*judged.finding->expected) == "no token: the history ends before it");
}

BOOST_AUTO_TEST_CASE(drafts_become_history_when_they_are_appended_and_only_then) {
    const std::vector<Event> drafts = {Write{"a", 0, 6, {20, 21, 22}, {10, 11, 12}}, Append{"a", {20, 99}}};
    std::vector<Event> rewritten = drafts;
    rewritten.push_back(Write{"a", 0, 7, {99}, {11}});
    const Table table{.sequence = "a", .blocks = {1, 2, 3}, .length = 8};
    std::vector<Event> kept = drafts;
    kept.emplace_back(table);
    rewritten.emplace_back(table);
    BOOST_TEST(judge_behind_six(rewritten).number() == "sound");
    const Judged judged = judge_behind_six(kept);
    BOOST_TEST(judged.number() == "T3");
    BOOST_TEST(judged.finding->position.value() == 7);
    BOOST_TEST(describe(*judged.finding->found) == "token 21 at position 7, written by a at line 5");
}

BOOST_AUTO_TEST_CASE(a_cell_whose_past_nobody_knows_never_passes) {
    const Judged judged =
        judge_behind_six({Write{"a", 0, 8, {22}, {12}}, Append{"a", {20, 21, 22}}, Write{"a", 0, 6, {20, 21}, {10, 11}},
                          Table{.sequence = "a", .blocks = {1, 2, 3}, .length = 9}});
    BOOST_TEST(judged.number() == "T3");
    BOOST_TEST(judged.finding->position.value() == 8);
}

BOOST_AUTO_TEST_CASE(blocks_that_are_needed_are_not_allocated_and_none_is_freed_twice) {
    BOOST_TEST(judge_behind_six({Alloc{0, {2}}}).number() == "P1");
    BOOST_TEST(judge_behind_six({End{"a"}, Alloc{0, {2}}}).number() == "sound");
    BOOST_TEST(judge_behind_six({End{"a"}, Free{0, {2}}, Free{0, {2}}}).number() == "sound");  // who knows
    const Judged judged = judge_behind_six({End{"a"}, Alloc{0, {2}}, Free{0, {2}}, Free{0, {2}}});
    BOOST_TEST(judged.number() == "P3");
    BOOST_TEST(judged.finding->what ==
               "block 2 is freed, and was freed at line 7 already: the next two allocations get the same block");
    BOOST_TEST(judge_behind_six({End{"a"}, Alloc{0, {2}}, Free{0, {2}}, Alloc{0, {2}}, Free{0, {2}}}).number() ==
               "sound");
}

BOOST_AUTO_TEST_CASE(groups_share_ids_unless_their_pools_differ) {
    for (const std::uint32_t pool : {0U, 1U}) {
        const Header header{.block_size = 2,
                            .blocks = 4,
                            .null_block = -1,
                            .groups = {{.name = "full"}, {.name = "swa", .window = 2, .pool = pool}}};
        const Judged judged =
            judge(header, {Start{"a", {5, 6}}, Write{"a", 0, 0, {5, 6}, {0, 1}}, Write{"a", 1, 0, {5, 6}, {0, 1}},
                           Table{.sequence = "a", .group = 1, .blocks = {0}, .length = 2},
                           Table{.sequence = "a", .group = 0, .blocks = {0}, .length = 2}});
        BOOST_TEST(judged.number() == (pool == 0 ? "T3" : "sound"));
        if (judged.finding) {
            BOOST_TEST(describe(*judged.finding->found) ==
                       "token 5 at position 0, written by a at line 4, for group swa");
        }
    }
}

BOOST_AUTO_TEST_CASE(padding_is_written_nowhere) {
    BOOST_TEST(judge(plain, {Start{"a", {1, 2, 3}}, Write{"a", 0, 0, {1, 2, 3}, {-1, 5, 6}},
                             Table{.sequence = "a", .blocks = {1}, .length = 1}})
                   .number() == "T3");
}

// --- logs that cannot be ---------------------------------------------------------------------------------------------

BOOST_AUTO_TEST_CASE(events_that_cannot_follow_are_refused_with_the_field) {
    const Event start = Start{"a", {1, 2}};
    BOOST_TEST(refused({Append{"a", {1}}}) == "sequence: no sequence a is alive");
    BOOST_TEST(refused({start, start}) == "sequence: sequence a is alive since line 2: end it first");
    BOOST_TEST(refused({start, End{"a"}, End{"a"}}) == "sequence: no sequence a is alive");
    BOOST_TEST(refused({Start{"a", {1}, 2}}) == "cached: 'cached' must be 0..1, got 2");
    BOOST_TEST(refused({Start{"a", {-1}}}) == "tokens: a token must be 0..2147483647, got -1");
    BOOST_TEST(refused({Fork{"a", "b", 1}}) == "parent: no sequence a is alive");
    BOOST_TEST(refused({start, Fork{"a", "a", 1}}) == "child: sequence a is alive since line 2: end it first");
    BOOST_TEST(refused({start, Fork{"a", "b", 3}}) == "at: 'at' must be 0..2, got 3");
    BOOST_TEST(refused({start, Truncate{"a", 3}}) == "length: 'length' must be 0..2, got 3");
    BOOST_TEST(refused({start, Write{"a", 0, 0, {1, 2}, {4}}}) ==
               "slots: 'slots' must hold one entry for each of the 2 tokens, got 1");
    BOOST_TEST(refused({start, Write{"a", 0, 0, {1}, {64}}}) == "slots: a slot must be -1..63, got 64");
    BOOST_TEST(refused({start, Write{"a", 1, 0, {1}, {4}}}) == "group: there are 1 groups, got number 1");
    BOOST_TEST(refused({start, Write{"a", 0, longest_sequence, {1}, {4}}}) ==
               "tokens: a sequence has at most 2147483647 tokens");
    BOOST_TEST(refused({Copy{0, 1, 16, 1}}) == "to: 'to' must be 0..15, got 16");
    BOOST_TEST(refused({Copy{0, 0, 1, 1}}) == "from: 'from' is 0, the null block");
    BOOST_TEST(refused({Copy{0, 1, 2, 5}}) == "cells: 'cells' must be 0..4, got 5");
    BOOST_TEST(refused({Free{0, {1, 16}}}) == "blocks: a block must be 0..15, got 16");
    BOOST_TEST(refused({Alloc{0, {0}}}) == "blocks: 0 is the null block, which nobody owns");
    BOOST_TEST(refused({start, Table{.sequence = "a", .blocks = {-1}}}) == "blocks: a block must be 0..15, got -1");
    BOOST_TEST(refused({start, Table{.sequence = "a", .blocks = std::vector<Block>(17, 1)}}) ==
               "blocks: a table holds at most 16 blocks: the pool");
    BOOST_TEST(refused({start, Table{.sequence = "a", .blocks = std::vector<Block>(170, 0)}}) == "not refused");
}

BOOST_AUTO_TEST_CASE(more_cells_than_can_be_shadowed_are_refused) {
    const Header huge{.block_size = largest_block_size};
    std::vector<Event> events = {Start{"a", {1}}};
    for (Block block = 0; block < 2; ++block) {
        events.push_back(Write{"a", 0, 0, {1}, {block * largest_block_size}});
    }
    BOOST_TEST(refused(events, huge) == "not refused");
    Write wide{"a", 0, 0, std::vector<Token>(1100, 1), {}};
    for (Block block = 0; block < 1100; ++block) {
        wide.slots.push_back(block * largest_block_size);
    }
    events.emplace_back(wide);
    BOOST_TEST(refused(events, huge) ==
               "slots: the blocks written so far have more than 67108864 cells, which is all "
               "that can be shadowed");
}

BOOST_AUTO_TEST_CASE(more_tokens_than_can_be_kept_are_refused) {
    const Length each = 1000;
    TableAudit audit(plain, 4 * each);
    audit.follow(Start{"a", std::vector<Token>(static_cast<std::size_t>(each), 1)}, 2);
    const auto fork = [&](const char* child, Length at) { return Fork{"a", child, at}; };
    for (const char* child : {"b", "c", "d"}) {
        audit.follow(fork(child, child[0] == 'd' ? each - 1 : each), 3);
    }
    BOOST_TEST(!audit.refusal(Append{"a", {1}}));
    BOOST_TEST(audit.refusal(fork("e", 2))->sentence ==
               "the living sequences have more than 4000 tokens, which is all that can be kept");
    audit.follow(Truncate{"b", 1}, 4);
    BOOST_TEST(!audit.refusal(fork("e", 2)));
    audit.follow(End{"d"}, 5);
    BOOST_TEST(!audit.refusal(fork("e", each)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants
