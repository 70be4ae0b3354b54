// SPDX-License-Identifier: Apache-2.0
// Scenario files: what arrives, and what is refused where.
#include <boost/test/unit_test.hpp>

#include <kvpane/cli/scenario_file.h>

#include "cli/program.h"

using namespace kvpane;
using namespace kvpane::invariants;
using cli::parse_scenario;
using testing::refusal_of;

namespace {

const std::string header = "title = \"t\"\n[pool]\nblock_size = 4\nblocks = 16\n";  // four lines
const std::string admit_a = "[[step]]\nop = \"admit\"\nseq = \"a\"\ntokens = \"0..3\"\n";
const std::string two_groups = "[[group]]\nname = \"full\"\n[[group]]\nname = \"swa\"\nwindow = 8\n";

Scenario parse(const std::string& rest) { return parse_scenario("s.toml", header + rest); }
std::string refused(const std::string& rest) {
    return refusal_of([&] { parse(rest); });
}

// One step behind the admit of "a".
ScenarioStep step(const std::string& lines) { return parse(admit_a + "[[step]]\n" + lines).steps.at(1); }
Operation operation(const std::string& lines) { return step(lines).operation; }
// What is said about it: its first line is line 10.
std::string refused_step(const std::string& lines) { return refused(admit_a + "[[step]]\n" + lines); }

std::vector<Token> tokens(const std::string& value) { return operation("op = \"probe\"\ntokens = " + value).tokens; }
std::string refused_tokens(const std::string& value) { return refused_step("op = \"probe\"\ntokens = " + value); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

using Tokens = std::vector<Token>;

}  // namespace

BOOST_AUTO_TEST_SUITE(scenario_file)

BOOST_AUTO_TEST_CASE(the_header_becomes_the_configuration) {
    const Scenario scenario = parse(two_groups + admit_a);
    BOOST_TEST(scenario.file == "s.toml");
    BOOST_TEST(scenario.title == "t");
    BOOST_TEST(scenario.config.block_size == 4U);
    BOOST_TEST(scenario.config.groups.size() == 2U);
    BOOST_REQUIRE(scenario.steps.size() == 1U);
    BOOST_TEST(scenario.steps[0].line == 10);
    BOOST_TEST(scenario.names == std::vector<std::string>{"a"}, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(token_lists_are_arrays_ranges_and_repetitions) {
    BOOST_TEST(tokens("[3, 1, 2147483647]") == (Tokens{3, 1, 2147483647}), boost::test_tools::per_element());
    BOOST_TEST(tokens("\"0..2, 20, 5..5\"") == (Tokens{0, 1, 2, 20, 5}), boost::test_tools::per_element());
    BOOST_TEST(tokens("\"7x3,8\"") == (Tokens{7, 7, 7, 8}), boost::test_tools::per_element());
    BOOST_TEST(tokens("\"\"").empty());
    BOOST_TEST(tokens("[]").empty());
    BOOST_TEST(tokens("\"2147483646..2147483647\"") == (Tokens{2147483646, 2147483647}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(token_lists_that_are_none_are_refused) {
    const std::string what = "in 'tokens' in step 2 (probe) ";
    BOOST_TEST(refused_tokens("[1, -1]").starts_with("s.toml:11:14: an entry of 'tokens' in step 2 (probe) must be "));
    BOOST_TEST(refused_tokens("[2147483648]").starts_with("s.toml:11:11: "));
    BOOST_TEST(refused_tokens("[1.0]").starts_with("s.toml:11:11: "));
    BOOST_TEST(
        refused_tokens("5").starts_with("s.toml:11:10: 'tokens' in step 2 (probe) must be an array of token ids"));
    BOOST_TEST(refused_tokens("\"-1\"") == "s.toml:11:10: '-1' " + what + "is beyond the token ids 0..2147483647");
    BOOST_TEST(refused_tokens("\"2147483648\"").ends_with("is beyond the token ids 0..2147483647"));
    BOOST_TEST(refused_tokens("\"0..99999999999999999999\"").ends_with("is beyond the token ids 0..2147483647"));
    BOOST_TEST(refused_tokens("\"5..1\"") == "s.toml:11:10: '5..1' " + what + "runs backwards: a range goes up");
    BOOST_TEST(refused_tokens("\"7x0\"").ends_with("'7x0' " + what + "repeats a token less than once"));
    for (const char* bad : {"\"a\"", "\"1 2\"", "\"1,,2\"", "\"1,\"", "\"..\"", "\"1..\"", "\"x\"", "\"0x10x\""}) {
        BOOST_TEST(contains(refused_tokens(bad), "is no token list"), bad << ": " << refused_tokens(bad));
    }
}

BOOST_AUTO_TEST_CASE(lists_that_would_fill_the_memory_are_refused) {
    BOOST_TEST(refused_tokens("\"0..2147483647\"").ends_with("makes a list of more than 16777216 tokens"));
    BOOST_TEST(refused_tokens("\"7x9999999999\"").ends_with("makes a list of more than 16777216 tokens"));
    BOOST_TEST(refused_tokens("\"0..16777215, 1\"").ends_with("makes a list of more than 16777216 tokens"));
    BOOST_TEST(refused_step("op = \"check\"\nrepeat = 1000000000000000\n") ==
               "s.toml:11:10: 'repeat' in step 2 (check) must be 1..1000000, got 1000000000000000");
    std::string steps;
    for (int i = 0; i < 5; ++i) {
        steps += "[[step]]\nop = \"probe\"\ntokens = \"7x16777216\"\n";
    }
    BOOST_TEST(refused(steps) == "s.toml:17:1: the steps up to here hold more than 67108864 tokens");
}

BOOST_AUTO_TEST_CASE(the_arguments_of_each_op_arrive) {
    const Operation admit = operation(
        "op = \"admit\"\nseq = \"b\"\ntokens = [1]\ncompute = 0\npriority = -2\n"
        "scope = { model = \"m\", tenant = \"t\", lora = \"l\", salt = \"s\", lora_id = 3 }\n"
        "extra = [ { at = 1, count = 2, id = \"image\" } ]\n");
    BOOST_TEST((admit.verb == Verb::admit));
    BOOST_TEST(admit.sequence == 1U);
    BOOST_TEST((admit.compute == Length{0}));
    BOOST_TEST(admit.priority == -2);
    BOOST_TEST((admit.scope == Scope{"m", "t", "l", "s", 3}));
    BOOST_TEST((admit.extra == std::vector<ExternalContent>{{1, 2, "image"}}));

    BOOST_TEST(operation("op = \"plan\"\ncount = 9\nchunk = 4\n").count == 9);
    BOOST_TEST(operation("op = \"plan\"\ncount = 9\nchunk = 4\n").chunk == 4);
    BOOST_TEST(operation("op = \"plan\"\ntokens = \"0..4\"\n").tokens.size() == 5U);
    BOOST_TEST(operation("op = \"reserve\"\nseq = \"a\"\ncount = 3\n").count == 3);
    const Operation batch = operation("op = \"reserve\"\nseqs = [\"a\"]\ncounts = [3]\n");
    BOOST_TEST(batch.is_batch);
    BOOST_TEST((batch.sequences == std::vector<Name>{0}));
    BOOST_TEST((batch.counts == std::vector<Length>{3}));
    BOOST_TEST((operation("op = \"cancel\"\nseq = \"a\"\n").verb == Verb::cancel));
    BOOST_TEST(operation("op = \"append_batch\"\nseqs = [\"a\"]\ntokens = [7]\n").sequences.size() == 1U);
    const Operation fork = operation("op = \"fork\"\nseq = \"a\"\nas = \"b\"\nat = 2\n");
    BOOST_TEST(fork.child == 1U);
    BOOST_TEST((fork.at == Length{2}));
    BOOST_TEST(operation("op = \"truncate\"\nseq = \"a\"\nlength = -1\n").length == -1);
    BOOST_TEST(!operation("op = \"release\"\nseq = \"a\"\nkeep_cached = false\n").keep_cached);
    BOOST_TEST(operation("op = \"step_begin\"\nid = 5\n").step == 5U);
    BOOST_TEST(operation("op = \"evict\"\nblocks = 2\n").count == 2);
    BOOST_TEST(operation("op = \"uncache\"\nseq = \"a\"\nblocks = [0, 1]\n").blocks.size() == 2U);
    BOOST_TEST(operation("op = \"check\"\n").sequences.empty());
}

BOOST_AUTO_TEST_CASE(arguments_of_another_op_are_unknown_keys) {
    BOOST_TEST(refused_step("op = \"append\"\nseq = \"a\"\ntokens = [1]\nas = \"b\"\n") ==
               "s.toml:13:1: unknown key 'as' in step 2 (append)");
    BOOST_TEST(refused_step("op = \"release\"\nseq = \"a\"\nkeep_cache = true\n") ==
               "s.toml:12:1: unknown key 'keep_cache' in step 2 (release); did you mean 'keep_cached'?");
    BOOST_TEST(refused_step("op = \"reset_cache\"\nseq = \"a\"\n") ==
               "s.toml:11:1: unknown key 'seq' in step 2 (reset_cache)");
    BOOST_TEST(refused_step("op = \"plan\"\ntokens = [1]\ncount = 1\n") ==
               "s.toml:12:9: 'tokens' and 'count' exclude each other in step 2 (plan)");
    BOOST_TEST(refused_step("op = \"probe\"\ntokens = [1]\nscope = { lora = 1 }\n") ==
               "s.toml:12:18: 'lora' in scope must be a string, not an integer");
}

BOOST_AUTO_TEST_CASE(unknown_and_unsupported_ops_are_refused) {
    BOOST_TEST(refused_step("op = \"appnd\"\n") == "s.toml:10:6: unknown op 'appnd' in step 2; did you mean 'append'?");
    BOOST_TEST(refused_step("seq = \"a\"\n") == "s.toml:9:1: 'op' is missing in step 2");
    for (const std::string op : {"suspend", "resume"}) {
        BOOST_TEST(refused_step("op = \"" + op + "\"\nseq = \"a\"\n") ==
                   "s.toml:10:6: op '" + op + "' is not supported: there is no second tier to move a sequence to");
    }
}

BOOST_AUTO_TEST_CASE(names_that_no_step_creates_are_refused) {
    BOOST_TEST(refused_step("op = \"release\"\nseq = \"b\"\n") ==
               "s.toml:11:7: unknown sequence 'b' in step 2 (release): no step up to here creates it");
    BOOST_TEST(
        refused_step("op = \"check\"\nseqs = [\"a\", \"b\"]\n").starts_with("s.toml:11:14: unknown sequence 'b'"));
    BOOST_TEST(refused_step("op = \"fork\"\nseq = \"b\"\nas = \"b\"\n").starts_with("s.toml:11:7: unknown sequence"));
    BOOST_TEST(refused_step("op = \"check\"\nexpect.seq.b.length = 1\n").starts_with("s.toml:11:12: unknown sequence"));
    BOOST_TEST(refused_step("op = \"check\"\nexpect.seq.a.shares.b = 1\n")
                   .starts_with("s.toml:11:21: unknown sequence 'b' in expect.seq.a.shares"));
    BOOST_TEST(refused_step("op = \"fork\"\nseq = \"a\"\nas = \"\"\n") ==
               "s.toml:12:6: 'as' in step 2 (fork) must not be empty");
    BOOST_TEST(contains(refused("[[step]]\nop = \"admit\"\nseq = \"first\"\ntokens = [1]\n"
                                "[[step]]\nop = \"cancel\"\nseq = \"frist\"\n"),
                        "did you mean 'first'?"));
}

BOOST_AUTO_TEST_CASE(a_name_may_be_used_after_its_sequence_has_ended) {
    BOOST_TEST(refused(admit_a + "[[step]]\nop = \"release\"\nseq = \"a\"\n[[step]]\nop = \"cancel\"\nseq = \"a\"\n"
                                 "expect.error = \"unknown_sequence\"\n")
                   .empty());
}

BOOST_AUTO_TEST_CASE(expectations_arrive_dotted_and_inline) {
    const Expectation dotted = step("op = \"check\"\nexpect.pool.free = 3\nexpect.pool.live = 4\n").expect;
    const Expectation inlined = step("op = \"check\"\nexpect = { pool = { free = 3, live = 4 } }\n").expect;
    BOOST_TEST((dotted.pool_free == 3 && dotted.pool_live == 4 && !dotted.pool_cached));
    BOOST_TEST((inlined.pool_free == 3 && inlined.pool_live == 4 && !inlined.pool_cached));

    const Expectation all =
        step(
            "op = \"check\"\nexpect.copies = 1\nexpect.copied_cells = 2\nexpect.free_queue = [3, 4]\n"
            "expect.index_entries = 5\nexpect.events = { stored = 6, removed = 7, cleared = 8 }\n"
            "expect.pool = { cached = 9, fenced = 10, pinned = 11 }\n"
            "expect.stats = { queried_tokens = 12, hit_tokens = 13, evicted_blocks = 14, preempted = 15 }\n")
            .expect;
    BOOST_TEST((all.copies == 1 && all.copied_cells == 2 && all.index_entries == 5));
    BOOST_TEST((all.free_queue == Ints{3, 4}));
    BOOST_TEST((all.events_stored == 6 && all.events_removed == 7 && all.events_cleared == 8));
    BOOST_TEST((all.pool_cached == 9 && all.pool_fenced == 10 && all.pool_pinned == 11));
    BOOST_TEST((all.queried_tokens == 12 && all.hit_tokens == 13 && all.evicted_blocks == 14 && all.preempted == 15));

    const Expectation plan =
        step("op = \"plan\"\ncount = 1\nexpect.verdict = \"later\"\nexpect.blocks_needed = 2\n").expect;
    BOOST_TEST((plan.verdict == Verdict::later && plan.blocks_needed == 2));
    const Expectation error = step("op = \"cancel\"\nseq = \"a\"\nexpect.error = \"window_evicted\"\n").expect;
    BOOST_TEST((error.error == Error::window_evicted));
}

BOOST_AUTO_TEST_CASE(expectations_of_a_sequence_arrive) {
    const Expectation expect =
        step(
            "op = \"check\"\nexpect.seq.a = { length = 1, reserved = 2, first_resident = 3, blocks = 4, "
            "window = \"5..6\", positions = [7], table = [0, 8], refs = [9], shares.a = 10 }\n"
            "expect.slots = [16, 17]\nexpect.csr.indptr = [0, 1]\nexpect.csr.first_position = [3]\n")
            .expect;
    BOOST_REQUIRE(expect.sequences.size() == 1U);
    const SequenceExpectation& sequence = expect.sequences[0];
    BOOST_TEST((sequence.sequence == 0U && sequence.length == 1 && sequence.reserved == 2));
    BOOST_REQUIRE(sequence.groups.size() == 1U);
    const GroupExpectation& group = sequence.groups[0];
    BOOST_TEST((group.first_resident == 3 && group.blocks == 4));
    BOOST_TEST((group.window == Ints{5, 6} && group.positions == Ints{7}));
    BOOST_TEST((group.table == Ints{0, 8} && group.refs == Ints{9}));
    BOOST_REQUIRE(group.shares.size() == 1U);
    BOOST_TEST((group.shares[0] == std::pair<Name, std::int64_t>{0, 10}));
    BOOST_REQUIRE((expect.slots.size() == 1U && expect.csr.size() == 1U));
    BOOST_TEST((expect.slots[0] == Ints{16, 17}));
    BOOST_TEST((expect.csr[0].indptr == Ints{0, 1} && !expect.csr[0].indices));
    BOOST_TEST((expect.csr[0].first_position == Ints{3}));
}

BOOST_AUTO_TEST_CASE(one_group_may_be_named_or_not) {
    const Expectation named = step("op = \"check\"\nexpect.seq.a.group.full.blocks = 4\n").expect;
    BOOST_TEST((named.sequences.at(0).groups.at(0).blocks == 4));
}

BOOST_AUTO_TEST_CASE(several_groups_are_always_named) {
    const auto with = [](const std::string& expect) {
        return parse(two_groups + admit_a + expect + "\n").steps[0].expect;
    };
    const auto refused_with = [](const std::string& expect) { return refused(two_groups + admit_a + expect + "\n"); };

    BOOST_TEST((with("expect.seq.a.group.swa.blocks = 4").sequences.at(0).groups.at(1).blocks == 4));
    BOOST_TEST((with("expect.csr.group.swa.indptr = [0]").csr.at(1).indptr == Ints{0}));
    BOOST_TEST((with("expect.slots.group.full = [5]").slots.at(0) == Ints{5}));

    BOOST_TEST(refused_with("expect.seq.a.blocks = 4") ==
               "s.toml:14:14: 'blocks' of a group goes under expect.seq.a.group.NAME.blocks");
    BOOST_TEST(refused_with("expect.csr.indptr = [0]") ==
               "s.toml:14:12: 'indptr' of a group goes under expect.csr.group.NAME.indptr");
    BOOST_TEST(refused_with("expect.slots = [0]") ==
               "s.toml:14:16: 'slots' in expect (of several groups) must be a table, not an array");
    BOOST_TEST(refused_with("expect.seq.a.group.sva.blocks = 4") ==
               "s.toml:14:20: unknown group 'sva' in expect.seq.a.group; did you mean 'swa'?");
}

BOOST_AUTO_TEST_CASE(expectations_that_cannot_be_compared_are_refused) {
    BOOST_TEST(refused_step("op = \"check\"\nexpect.pool.fre = 1\n") ==
               "s.toml:11:13: unknown key 'fre' in expect.pool; did you mean 'free'?");
    BOOST_TEST(refused_step("op = \"check\"\nexpect.pol.free = 1\n") ==
               "s.toml:11:8: unknown key 'pol' in expect; did you mean 'pool'?");
    BOOST_TEST(refused_step("op = \"check\"\nexpect.seq.a.blcoks = 1\n") ==
               "s.toml:11:14: unknown key 'blcoks' in expect.seq.a; did you mean 'blocks'?");
    BOOST_TEST(refused_step("op = \"check\"\nexpect.pool.free = -1\n") ==
               "s.toml:11:20: 'free' in expect.pool must be at least 0, got -1");
    BOOST_TEST(
        refused_step("op = \"check\"\nexpect.error = \"nver\"\n").ends_with("not 'nver'; did you mean 'never'?"));
    BOOST_TEST(refused_step("op = \"plan\"\ncount = 1\nexpect.verdict = \"latr\"\n")
                   .ends_with("must be 'ok', 'later' or 'never', not 'latr'; did you mean 'later'?"));
    BOOST_TEST(refused_step("op = \"check\"\nexpect.verdict = \"ok\"\n") ==
               "s.toml:11:18: 'verdict' in expect is an answer of plan only");
    BOOST_TEST(refused_step("op = \"check\"\nexpect.cached_tokens = 0\n") ==
               "s.toml:11:24: 'cached_tokens' in expect is an answer of admit and probe only");
}

BOOST_AUTO_TEST_CASE(files_that_are_no_scenarios_are_refused) {
    const auto file = [](const std::string& text) { return refusal_of([&] { parse_scenario("s.toml", text); }); };
    BOOST_TEST(file("") == "s.toml:1:1: 'title' is missing in the file");
    BOOST_TEST(file("title = 1\n") == "s.toml:1:9: 'title' in the file must be a string, not an integer");
    BOOST_TEST(file("title = \"t\"\n") == "s.toml:1:1: 'pool' is missing in the file");
    BOOST_TEST(file(header) == "s.toml:1:1: 'step' is missing in the file");
    BOOST_TEST(file(header + "[[stepp]]\n") == "s.toml:5:3: unknown key 'stepp' in the file; did you mean 'step'?");
    BOOST_TEST(file("colour = 1\n" + header + admit_a) == "s.toml:1:1: unknown key 'colour' in the file");
    BOOST_TEST(file(header + "[manager]\nmax_lenght = 5\n" + admit_a) ==
               "s.toml:6:1: unknown key 'max_lenght' in [manager]; did you mean 'max_length'?");
    BOOST_TEST(file(header + admit_a.substr(0, admit_a.size() - 3)).starts_with("s.toml:8:"));
}

BOOST_AUTO_TEST_SUITE_END()
