// SPDX-License-Identifier: Apache-2.0
// A journal is run again: the same comes out, and what does not is named.
#include "invariants/journals.h"

#include <boost/test/unit_test.hpp>

#include <kvpane/invariants/journal_replay.h>

#include "invariants/expect_sound.h"
#include "invariants/operations.h"
#include "support/seed.h"

namespace kvpane::invariants {

namespace {

JournalHeader small_header() { return {testing::plain(4, 16), CheckMode::every, false, 0, 0}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(a_replay)

BOOST_AUTO_TEST_CASE(of_a_stress_run_comes_out_the_same_in_every_mode) {
    const StressConfig config = every_kind(testing::seed(), 500);
    const Bytes bytes = journal_of(config, true);
    std::optional<std::uint64_t> digest;
    for (const CheckMode mode : {CheckMode::off, CheckMode::sampled, CheckMode::every, CheckMode::every}) {
        JournalReader reader(bytes);
        CheckedManager kv(reader.header().config, mode);
        const JournalReplay report = replay(reader, kv);
        expect_sound(report.violation);
        BOOST_TEST(!report.difference.has_value());
        BOOST_TEST(!reader.error().has_value());
        BOOST_TEST(report.operations >= 500);
        BOOST_TEST(digest.value_or(report.digest) == report.digest);
        digest = report.digest;
    }
}

BOOST_AUTO_TEST_CASE(stops_where_it_is_told_to) {
    const Bytes bytes = journal_of(every_kind(testing::seed(), 100), true);
    JournalReader reader(bytes);
    CheckedManager kv(reader.header().config, CheckMode::sampled);
    BOOST_TEST(replay(reader, kv, 42).operations == 42);
}

BOOST_AUTO_TEST_CASE(names_the_first_operation_that_comes_out_otherwise) {
    struct Case {
        Answer recorded;
        std::string what;
    };
    const std::vector<Case> cases = {{{Error::later, 0, 0, {}, {}}, "append: recorded error later, got success"},
                                     {{{}, 4, 1, {}, {}}, "append: recorded cached tokens 4, got 0"},
                                     {{{}, 0, 2, {}, {}}, "append: recorded blocks taken 2, got 1"},
                                     {{{}, 0, 1, Plan{Verdict::ok, 1, 0}, {}},
                                      "append: recorded the plan ok with 1 blocks and 0 copies, got no plan"}};
    for (const Case& one : cases) {
        MemorySink sink;
        JournalWriter writer(sink, small_header());
        writer.record(admit(0, {1, 2, 3, 4}), {{}, 0, 1, {}, {}});
        writer.record(append(0, {5}), one.recorded);
        writer.record(release(0), {});
        writer.flush();
        JournalReader reader(sink.bytes());
        CheckedManager kv(reader.header().config, CheckMode::every);
        const JournalReplay report = replay(reader, kv);
        BOOST_TEST_REQUIRE(report.difference.has_value());
        BOOST_TEST(report.difference->operation == 2);
        BOOST_TEST(report.difference->what == one.what);
        BOOST_TEST(report.operations == 2);
    }
}

BOOST_AUTO_TEST_CASE(compares_the_digests_that_were_recorded) {
    MemorySink sink;
    JournalHeader header = small_header();
    header.digests = true;
    JournalWriter writer(sink, header);
    Answer answer;
    answer.digest = 1;
    writer.record(check(), answer);
    writer.flush();
    JournalReader reader(sink.bytes());
    CheckedManager kv(reader.header().config, CheckMode::off);
    const JournalReplay report = replay(reader, kv);
    BOOST_TEST_REQUIRE(report.difference.has_value());
    BOOST_TEST(report.difference->what.starts_with("check: recorded the state digest 0x0000000000000001, got 0x"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants
