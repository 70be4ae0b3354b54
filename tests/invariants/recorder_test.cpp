// SPDX-License-Identifier: Apache-2.0
// The journal of an engine's own Manager: all that it did comes back, and is done again to the same states.
#include <kvpane/invariants/recorder.h>

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include <kvpane/blocktable/observers.h>
#include <kvpane/invariants/file_sink.h>
#include <kvpane/invariants/inspector.h>
#include <kvpane/invariants/journal_replay.h>
#include <kvpane/invariants/last_words.h>
#include <kvpane/invariants/stress_generator.h>

#include "invariants/expect_sound.h"
#include "invariants/journals.h"
#include "invariants/operations.h"
#include "support/cache.h"
#include "support/death.h"
#include "support/seed.h"
#include "support/tamper.h"

namespace kvpane::invariants {

namespace {

using namespace kvpane::testing;
using kvpane::testing::admit;
using kvpane::testing::append;
using kvpane::testing::reserve;

constexpr Name no_name = journal_format::most_names - 1;
constexpr Length beyond_all = std::numeric_limits<Length>::max();

// An engine whose journal lies in memory.
struct Engine {
    explicit Engine(const Config& config) : kv(config), recorder(kv, sink, {.digests = true}) {}

    Bytes journal() {
        recorder.writer().flush();
        BOOST_TEST(recorder.ok());
        return sink.bytes();
    }

    MemorySink sink;
    Manager kv;
    Recorder recorder;
};

// A checked Manager that does what the journal says gives the same answers and goes through the same states.
void expect_same_again(const Bytes& journal, const Manager& engine, CheckMode mode = CheckMode::every) {
    JournalReader reader(journal);
    CheckedManager again(reader.header().config, mode);
    const JournalReplay replayed = replay(reader, again);
    expect_sound(replayed.violation);
    BOOST_TEST(!replayed.difference.has_value(), (replayed.difference ? replayed.difference->what : ""));
    BOOST_TEST(!reader.error().has_value());
    BOOST_TEST(replayed.digest == engine.digest());
}

// The last operation of the journal.
Operation last_of(const Bytes& journal) {
    const Read read = read_all(journal);
    BOOST_TEST_REQUIRE(!read.operations.empty());
    return read.operations.back();
}

// Wants to see one operation in `every`, and counts what it saw.
class Sampler final : public Observer {
public:
    explicit Sampler(std::uint32_t every) : every_(every) {}
    void before(const Manager&, const Call&) override { ++begun; }
    std::uint32_t after(const Manager&, const Call&, const CallResult&) override {
        ++ended;
        return every_ - 1;
    }

    int begun = 0;
    int ended = 0;

private:
    std::uint32_t every_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(a_recorder)

BOOST_AUTO_TEST_CASE(writes_down_every_call_with_all_its_arguments) {
    Config config = caching(4, 64);
    config.prefix_cache.most_pinned = 8;
    Engine engine(config);
    Manager& kv = engine.kv;
    const Tokens prompt = tokens(1, 9);
    const std::array<kvpane::ExternalContent, 1> picture{{{2, 3, "a picture with a long name"}}};
    const kvpane::Scope scope{.model = "m", .adapter = "a", .adapter_id = 5, .tenant = "t", .salt = "s"};
    const SequenceHandle a = must(kv.admit({.tokens = prompt,
                                            .compute = 6,
                                            .scope = scope,
                                            .extra = picture,
                                            .priority = -2,
                                            .priority_steps = 3}))
                                 .sequence;
    const SequenceHandle b = must(kv.fork(a, 5));
    const SequenceHandle c = must(kv.fork(a));
    const Reservation batch[] = {{b, 2}, {a, 7}};
    must(kv.reserve(batch));
    must(reserve(kv, c, 3));
    must(kv.commit(c, tokens(30, 31)));
    must(kv.cancel(a));
    must(kv.cancel(b));
    must(kv.append(a, tokens(20, 22)));
    const SequenceHandle two[] = {b, a};
    must(kv.append_batch(two, tokens(40, 41)));
    must(kv.truncate(c, 4));
    must(kv.step_begin(StepId{77}));
    must(kv.release(b, false));
    must(kv.step_end(StepId{77}));
    const Tokens beginning = tokens(1, 5);
    must(kv.pin({.tokens = beginning, .scope = scope, .extra = picture}));
    must(kv.unpin({.tokens = beginning, .scope = scope, .extra = picture}));
    const Length entries[] = {0};
    must(kv.uncache(a, entries));
    must(kv.evict(2));
    kv.reset_cache();

    const Scope said{"m", "t", "a", "s", 5};
    const std::vector<ExternalContent> behind{{2, 3, "a picture with a long name"}};
    Operation first = with(behind, in(said, admit(0, prompt, 6)));
    first.priority = -2;
    first.priority_steps = 3;
    Operation forgetting = release(1);
    forgetting.keep_cached = false;
    const std::vector<Operation> expected = {first,
                                             fork(0, 1, 5),
                                             fork(0, 2),
                                             reserve_batch({1, 0}, {2, 7}),
                                             invariants::reserve(2, 3),
                                             invariants::commit(2, tokens(30, 31)),
                                             cancel(0),
                                             cancel(1),
                                             invariants::append(0, tokens(20, 22)),
                                             append_batch({1, 0}, tokens(40, 41)),
                                             truncate(2, 4),
                                             step_begin(77),
                                             forgetting,
                                             step_end(77),
                                             with(behind, in(said, pin(beginning))),
                                             with(behind, in(said, unpin(beginning))),
                                             uncache(0, {0}),
                                             evict(2),
                                             reset_cache()};
    const Bytes journal = engine.journal();
    const Read read = read_all(journal);
    BOOST_TEST_REQUIRE(read.operations.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        BOOST_TEST((read.operations[i] == expected[i]), to_string(expected[i].verb) << ", number " << i + 1);
    }
    expect_same_again(journal, kv);
}

// The operations of a stress run with all that it provokes, as the calls of an engine.
BOOST_AUTO_TEST_CASE(lets_any_load_be_run_again_to_the_same_answers_and_states) {
    for (const Granularity granularity : {Granularity::block, Granularity::token}) {
        StressConfig config = every_kind(seed(), 2000);
        config.manager.prefix_cache.granularity = granularity;
        config.batched_percent = 50;
        CheckedManager engine(config.manager, CheckMode::off);
        MemorySink sink;
        Recorder recorder(Tamper::manager(engine), sink, {.digests = true});
        StressGenerator generator(config);
        StressReport report;
        for (std::int64_t step = 0; step < config.steps; ++step) {
            BOOST_TEST_REQUIRE(!generator.settle(engine.apply(generator.next()), report).has_value());
        }
        recorder.writer().flush();
        BOOST_TEST(recorder.writer().operations() > config.steps / 2);
        expect_same_again(sink.bytes(), engine.manager());
    }
}

BOOST_AUTO_TEST_CASE(knows_a_stale_handle_from_the_sequence_that_took_its_slot) {
    Config config = plain(4, 16);
    config.instance = 3;
    Engine engine(config);
    const SequenceHandle gone = admit(engine.kv, 3);
    must(engine.kv.release(gone));
    const SequenceHandle alive = admit(engine.kv, 3);
    BOOST_TEST_REQUIRE(alive.index == gone.index);
    SequenceHandle foreign = alive;
    foreign.instance = 4;
    for (const SequenceHandle stranger : {gone, foreign, SequenceHandle{}}) {
        BOOST_TEST((engine.kv.commit(stranger, {}).error() == Error::unknown_sequence));
        BOOST_TEST((engine.kv.release(stranger).error() == Error::unknown_sequence));
        BOOST_TEST((engine.kv.fork(stranger).error() == Error::unknown_sequence));
        BOOST_TEST((last_of(engine.journal()) == fork(no_name, no_name)));
        const Reservation batch[] = {{alive, 1}, {stranger, 1}};
        BOOST_TEST((engine.kv.reserve(batch).error() == Error::unknown_sequence));
        BOOST_TEST((last_of(engine.journal()) == reserve_batch({0, no_name}, {1, 1})));
    }
    expect_same_again(engine.journal(), engine.kv);
}

BOOST_AUTO_TEST_CASE(calls_the_child_of_a_failed_admission_or_fork_by_no_living_name) {
    Engine engine(plain(4, 4));
    const SequenceHandle a = admit(engine.kv, 8);
    const Tokens too_long = some_tokens(100);
    const Tokens long_now = some_tokens(12);
    BOOST_TEST((engine.kv.admit({.tokens = too_long}).error() == Error::never));
    BOOST_TEST((engine.kv.admit({.tokens = long_now}).error() == Error::later));
    BOOST_TEST((last_of(engine.journal()) == admit(no_name, long_now)));
    BOOST_TEST((engine.kv.fork(a, 9).error() == Error::invalid_argument));
    BOOST_TEST((last_of(engine.journal()) == fork(0, no_name, 9)));
    expect_same_again(engine.journal(), engine.kv);
}

BOOST_AUTO_TEST_CASE(keeps_numbers_that_no_journal_holds_as_the_largest) {
    Engine engine(caching(4, 16));
    const SequenceHandle a = admit_prompt(engine.kv, tokens(1, 5)).sequence;
    const Length entries[] = {beyond_all};
    BOOST_TEST((engine.kv.truncate(a, beyond_all).error() == Error::invalid_argument));
    BOOST_TEST((engine.kv.fork(a, beyond_all).error() == Error::invalid_argument));
    BOOST_TEST((engine.kv.uncache(a, entries).error() == Error::invalid_argument));
    BOOST_TEST((reserve(engine.kv, a, beyond_all).error() == Error::never));
    BOOST_TEST((engine.kv.reserve({}).error() == Error::invalid_argument));
    BOOST_TEST((last_of(engine.journal()) == reserve_batch({}, {})));
    must(engine.kv.release(a));
    must(engine.kv.evict(beyond_all));
    const Tokens prompt = tokens(1, 5);
    must(engine.kv.admit({.tokens = prompt, .compute = beyond_all}));
    expect_same_again(engine.journal(), engine.kv);
}

BOOST_AUTO_TEST_CASE(leaves_the_operation_in_which_the_process_died) {
    const auto path = std::filesystem::temp_directory_path() / ("recorder_test." + std::to_string(getpid()) + ".kvj");
    struct Trap final : Observer {
        void before(const Manager&, const Call& call) override {
            if (call.verb == Verb::truncate) {
                std::abort();
            }
        }
        std::uint32_t after(const Manager&, const Call&, const CallResult&) override { return 0; }
    };
    const Death death = death_of([&] {
        Manager kv(plain(4, 16));
        FileSink sink(path.string());
        Recorder recorder(kv, sink);
        Trap trap;
        Observers both(kv, {&recorder, &trap});
        const LastWords last_words(recorder.writer(), "see the journal\n");
        const SequenceHandle a = admit(kv, 5);
        must(kv.truncate(a, 2));
    });
    BOOST_TEST(death.aborted);
    BOOST_TEST(death.message.find("see the journal\n") != std::string::npos, death.message);
    std::ifstream file(path, std::ios::binary);
    Bytes bytes;
    for (char c = 0; file.get(c);) {
        bytes.push_back(static_cast<std::byte>(c));
    }
    std::filesystem::remove(path);
    const Read read = read_all(bytes);
    BOOST_TEST(!read.error.has_value());
    BOOST_TEST_REQUIRE(read.operations.size() == 2U);
    BOOST_TEST((read.operations[1] == truncate(0, 2)));
    BOOST_TEST(read.answers[0].has_value());
    BOOST_TEST(!read.answers[1].has_value());
}

BOOST_AUTO_TEST_CASE(stands_beside_an_inspector_that_samples) {
    Manager kv(plain(4, 1000));
    MemorySink sink;
    Recorder recorder(kv, sink);
    std::optional<Violation> said;
    Inspector inspector(kv, {CheckMode::sampled, [&](const Violation& found) { said = found; }, 0});
    {
        Observers both(kv, {&recorder, &inspector});
        const SequenceHandle a = admit(kv, 1);
        for (int i = 0; i < 1000; ++i) {
            append(kv, a, 1);
        }
    }
    append(kv, kv.living().front(), 1);  // nobody looks any more
    expect_sound(said);
    BOOST_TEST(recorder.writer().operations() == 1001);
    BOOST_TEST(inspector.operations() == 1024);  // 16 looks, and the 63 operations behind each that it leaves out
}

BOOST_AUTO_TEST_CASE(stands_beside_an_inspector_that_finds_what_is_broken) {
    Manager kv(plain(4, 16));
    MemorySink sink;
    Recorder recorder(kv, sink);
    std::optional<Violation> said;
    Inspector inspector(kv, {CheckMode::every, [&](const Violation& found) { said = found; }, 0});
    Observers both(kv, {&recorder, &inspector});
    const SequenceHandle a = admit(kv, 6);
    ++Tamper::refs(kv, BlockId{1});
    const SequenceHandle b = must(kv.fork(a));
    BOOST_TEST_REQUIRE(said.has_value());
    BOOST_TEST(said->operation == recorder.writer().operations());
    --Tamper::refs(kv, BlockId{1});
    must(kv.release(b));
    recorder.writer().flush();
    expect_same_again(sink.bytes(), kv);
}

BOOST_AUTO_TEST_CASE(refuses_a_manager_that_nobody_could_rebuild) {
    MemorySink sink;
    Manager used(plain(4, 16));
    must(used.release(admit(used, 3)));
    BOOST_CHECK_THROW(Recorder(used, sink), std::invalid_argument);
    const LruRanking own;
    Config config = caching(4, 16);
    config.prefix_cache.ranking = &own;
    Manager ranked(config);
    BOOST_CHECK_THROW(Recorder(ranked, sink), std::invalid_argument);
    BOOST_TEST(sink.bytes().empty());
}

BOOST_AUTO_TEST_CASE(lets_the_engine_go_on_when_its_sink_is_full) {
    struct Full final : JournalSink {
        bool write(std::span<const std::byte>) noexcept override { return false; }
    } full;
    Manager kv(plain(4, 16));
    const Recorder recorder(kv, full);
    BOOST_TEST(!recorder.ok());
    append(kv, admit(kv, 3), 1);
    BOOST_TEST(recorder.writer().operations() == 0);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(several_observers)

BOOST_AUTO_TEST_CASE(each_sees_what_it_wants_to_see) {
    Manager kv(plain(4, 16));
    Sampler third(3);
    Sampler fifth(5);
    Observers both(kv, {&third, &fifth});
    for (int i = 0; i < 31; ++i) {
        (void)kv.cancel({});
    }
    BOOST_TEST(third.begun == 11);
    BOOST_TEST(third.ended == 11);
    BOOST_TEST(fifth.begun == 7);
    BOOST_TEST(fifth.ended == 7);
}

BOOST_AUTO_TEST_CASE(none_of_whom_looks_cost_the_manager_nothing) {
    Manager kv(plain(4, 16));
    Observers nobody_at_all(kv, {});
    admit(kv, 3);
    BOOST_TEST(kv.sequences() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants
