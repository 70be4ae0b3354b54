// SPDX-License-Identifier: Apache-2.0
// A journal gives back what went in, and whatever happens to its bytes is said, not read.
#include "invariants/journals.h"

#include <boost/test/unit_test.hpp>

#include <limits>

#include <kvpane/invariants/checksum.h>
#include <kvpane/invariants/random.h>
#include <kvpane/invariants/text.h>

#include "invariants/operations.h"
#include "support/seed.h"

namespace kvpane::invariants {

namespace {

using namespace journal_format;
using Kind = JournalError::Kind;

JournalHeader small_header() { return {testing::plain(4, 16), CheckMode::every, false, 0, 0}; }

Bytes journal_with(const std::vector<Operation>& operations, std::size_t flush_every = 1) {
    MemorySink sink;
    JournalWriter writer(sink, small_header());
    std::size_t recorded = 0;
    for (const Operation& operation : operations) {
        writer.record(operation, {});
        if (++recorded % flush_every == 0) {
            writer.flush();
        }
    }
    writer.flush();
    return sink.bytes();
}

std::size_t header_bytes() { return journal_with({}).size(); }

// The error of a reader that is at its end, as "kind at offset: what".
std::string error_of(const Bytes& bytes) {
    const Read read = read_all(bytes);
    return read.error ? text(int{static_cast<std::uint8_t>(read.error->kind)}, " at ", read.error->offset, ": ",
                             read.error->what)
                      : "none";
}

std::string expected(Kind kind, std::size_t offset, const std::string& what) {
    return text(int{static_cast<std::uint8_t>(kind)}, " at ", offset, ": ", what);
}

void set(Bytes& bytes, std::size_t at, std::uint64_t value, std::size_t width) {
    JournalEncoder(bytes.data() + at).fixed(value, width);
}

// The header with other bytes in it and the right checksum all the same.
Bytes header_with(std::size_t at, std::uint64_t value, std::size_t width) {
    Bytes bytes = journal_with({});
    set(bytes, at, value, width);
    const std::size_t end = bytes.size() - checksum_bytes;
    set(bytes, end, checksum({bytes.data(), end}), checksum_bytes);
    return bytes;
}

// A journal with one frame of exactly this payload, checksum and all.
Bytes journal_of_payload(const std::vector<int>& payload, std::uint32_t operations, std::uint64_t first = 1) {
    Bytes bytes = journal_with({});
    const std::size_t salt_end = bytes.size() - checksum_bytes;
    const std::uint64_t salt = checksum({bytes.data(), salt_end});
    Bytes frame(frame_head_bytes);
    set(frame, 0, frame_mark, 4);
    set(frame, 4, payload.size(), 4);
    set(frame, 8, first, 8);
    set(frame, 16, operations, 4);
    for (const int byte : payload) {
        frame.push_back(static_cast<std::byte>(byte));
    }
    const std::uint64_t sum = checksum(frame, salt);
    frame.resize(frame.size() + checksum_bytes);
    set(frame, frame.size() - checksum_bytes, sum, checksum_bytes);
    bytes.insert(bytes.end(), frame.begin(), frame.end());
    return bytes;
}

// One of each, with all that its verb can have.
std::vector<Operation> one_of_each() {
    Scope scope = scope_of("tenant", "salt", -3);
    scope.model = "model";
    scope.lora = std::string("with \0 and \xff", 12);
    Operation full = with({{1, 2, "image"}, {5, 1, ""}}, in(scope, admit(3, {1, 2, 3, 4, 5, 6, 7}, 4)));
    full.priority = std::numeric_limits<std::int64_t>::min();
    full.priority_steps = std::numeric_limits<std::uint64_t>::max();
    Operation forgetting = release(5);
    forgetting.keep_cached = false;
    Operation looking = check();
    looking.sequences = {1, most_names - 1};
    Operation planning = in(scope, plan({9, 8}, 2));
    planning.count = 0;
    return {full,
            admit(0, {}),
            admit(1, {std::numeric_limits<Token>::max(), 0, -1, std::numeric_limits<Token>::min()}),
            probe({1}),
            planning,
            plan(largest_length, std::numeric_limits<Length>::min()),
            reserve(2, -1),
            reserve_batch({3, most_names - 1, 0}, {1, 700, -1}),
            reserve_batch({}, {}),
            reserve_batch({1}, {}),
            commit(2, {300, 70000}),
            cancel(2),
            append(most_names - 1, {5}),
            append_batch({4, 1, 2}, {7, 8, 9}),
            fork(1, 2),
            fork(1, 2, 0),
            truncate(2, 128),
            release(4),
            forgetting,
            step_begin(std::numeric_limits<std::uint64_t>::max()),
            step_end(0),
            evict(3),
            uncache(1, {0, -1, 5000}),
            pin({1, 2}),
            unpin({1, 2}),
            reset_cache(),
            looking};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_journal)

BOOST_AUTO_TEST_CASE(gives_back_the_header_that_went_in) {
    JournalHeader header;
    header.config = testing::windowed(32, 1000, 77, 5);
    header.config.groups.push_back({"a group with a longer name", 0, 0});
    header.config.watermark = 3;
    header.config.max_length = 500;
    header.config.rewind_slack = 9;
    header.config.window_release = WindowRelease::reserve;
    header.config.instance = 12;
    header.config.int32_slots = true;
    header.config.prefix_cache = {true, Granularity::token, EvictionPolicy::lfu, nullptr, true, 44, 99};
    header.check = CheckMode::sampled;
    header.digests = true;
    header.source_digest = 0xfedcba9876543210U;
    header.seed = std::numeric_limits<std::uint64_t>::max();
    MemorySink sink;
    JournalWriter(sink, header).flush();
    const JournalReader reader(sink.bytes());
    BOOST_TEST_REQUIRE(!reader.error().has_value());
    const JournalHeader& read = reader.header();
    BOOST_TEST(read.config.block_size == 32U);
    BOOST_TEST(read.config.blocks == 1000);
    BOOST_TEST(read.config.watermark == 3);
    BOOST_TEST(read.config.max_length == 500);
    BOOST_TEST(read.config.rewind_slack == 9);
    BOOST_TEST((read.config.window_release == WindowRelease::reserve));
    BOOST_TEST(read.config.instance == 12U);
    BOOST_TEST(read.config.int32_slots);
    BOOST_TEST(read.config.prefix_cache.enabled);
    BOOST_TEST((read.config.prefix_cache.granularity == Granularity::token));
    BOOST_TEST((read.config.prefix_cache.policy == EvictionPolicy::lfu));
    BOOST_TEST(read.config.prefix_cache.constant_hash);
    BOOST_TEST(read.config.prefix_cache.most_pinned == 44);
    BOOST_TEST(read.config.prefix_cache.kept_events == 99U);
    BOOST_TEST_REQUIRE(read.config.groups.size() == 2U);
    BOOST_TEST(read.config.groups[0].window == 77);
    BOOST_TEST(read.config.groups[0].sinks == 5);
    BOOST_TEST(read.config.groups[1].name == "a group with a longer name");
    BOOST_TEST((read.check == CheckMode::sampled));
    BOOST_TEST(read.digests);
    BOOST_TEST(read.source_digest == header.source_digest);
    BOOST_TEST(read.seed == header.seed);
}

BOOST_AUTO_TEST_CASE(gives_back_every_kind_of_operation_with_all_its_fields) {
    const std::vector<Operation> operations = one_of_each();
    for (const std::size_t flush_every : {1U, 5U, 1000U}) {
        const Read read = read_all(journal_with(operations, flush_every));
        BOOST_TEST(!read.error.has_value());
        BOOST_TEST_REQUIRE(read.operations.size() == operations.size());
        for (std::size_t i = 0; i < operations.size(); ++i) {
            BOOST_TEST((read.operations[i] == operations[i]), to_string(operations[i].verb) << ", number " << i);
        }
    }
}

BOOST_AUTO_TEST_CASE(gives_back_every_kind_of_answer) {
    std::vector<Answer> answers(4);
    answers[1] = {Error::busy, 0, 0, std::nullopt, std::nullopt};
    answers[2] = {std::nullopt, 12, 3, std::nullopt, 0x0123456789abcdefU};
    answers[3] = {std::nullopt, 0, 0, Plan{Verdict::never, 1'000'000, 2}, 0};
    MemorySink sink;
    JournalWriter writer(sink, small_header());
    for (const Answer& answer : answers) {
        writer.record(check(), answer);
    }
    writer.flush();
    const Read read = read_all(sink.bytes());
    BOOST_TEST_REQUIRE(read.answers.size() == answers.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
        BOOST_TEST((read.answers[i] == answers[i]));
    }
}

BOOST_AUTO_TEST_CASE(holds_an_operation_larger_than_a_frame) {
    const Operation large = admit(0, Tokens(300'000, 123'456));
    const Read read = read_all(journal_with({check(), large, check()}, 1000));
    BOOST_TEST(!read.error.has_value());
    BOOST_TEST_REQUIRE(read.operations.size() == 3U);
    BOOST_TEST((read.operations[1] == large));
}

BOOST_AUTO_TEST_CASE(is_written_in_frames_of_64_KiB_without_being_told) {
    MemorySink sink;
    JournalWriter writer(sink, small_header());
    const std::size_t header = sink.bytes().size();
    std::int64_t operations = 0;
    while (sink.bytes().size() == header) {
        writer.record(append(3, {70'000}), {});
        ++operations;
    }
    BOOST_TEST(sink.bytes().size() > header + usual_frame_bytes);
    BOOST_TEST(sink.bytes().size() < header + usual_frame_bytes + 100);
    BOOST_TEST(read_all(sink.bytes()).operations.size() == static_cast<std::size_t>(operations));
    BOOST_TEST(writer.bytes_written() == sink.bytes().size());
}

BOOST_AUTO_TEST_CASE(cut_at_any_byte_gives_the_operations_of_the_whole_frames_and_says_where_it_ends) {
    const std::vector<Operation> operations = one_of_each();
    const Bytes whole = journal_with(operations, 3);
    const std::size_t header = header_bytes();
    std::vector<std::size_t> frame_ends = {header};
    for (std::size_t done = 3; done <= operations.size(); done += 3) {
        frame_ends.push_back(
            journal_with({operations.begin(), operations.begin() + static_cast<std::ptrdiff_t>(done)}, 3).size());
    }
    BOOST_TEST_REQUIRE(frame_ends.back() == whole.size());
    for (std::size_t length = 0; length < whole.size(); ++length) {
        const Read read = read_all({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)});
        std::size_t frames = 0;
        while (frames + 1 < frame_ends.size() && frame_ends[frames + 1] <= length) {
            ++frames;
        }
        BOOST_TEST_CONTEXT("cut at byte " << length) {
            BOOST_TEST(read.operations.size() == frames * 3);
            const bool at_an_end = length == frame_ends[frames];
            BOOST_TEST(read.error.has_value() == !at_an_end);
            if (read.error) {
                BOOST_TEST((read.error->kind == Kind::cut_off));
                BOOST_TEST(read.error->offset == (length < header ? 0 : frame_ends[frames]));
                BOOST_TEST(read.error->what.ends_with(text(length - read.error->offset, " are there")));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(says_what_a_cut_journal_misses) {
    Bytes bytes = journal_with({check()});
    const std::size_t header = header_bytes();
    bytes.resize(header + 30);
    BOOST_TEST(error_of(bytes) ==
               expected(Kind::cut_off, header, "the last frame is cut off: it has 31 bytes, 30 are there"));
    bytes.resize(header + 27);
    BOOST_TEST(error_of(bytes) ==
               expected(Kind::cut_off, header, "the last frame is cut off: it has at least 28 bytes, 27 are there"));
    bytes.resize(header - 1);
    BOOST_TEST(error_of(bytes) ==
               expected(Kind::cut_off, 0,
                        text("the header is cut off: it has ", header, " bytes, ", header - 1, " are there")));
    BOOST_TEST(error_of({}) ==
               expected(Kind::cut_off, 0, "the header is cut off: it begins with 16 bytes, 0 are there"));
}

BOOST_AUTO_TEST_CASE(with_a_changed_byte_is_refused_from_that_frame_on) {
    const std::uint64_t seed = testing::seed();
    BOOST_TEST_MESSAGE("seed " << seed);
    const Bytes sound = journal_of(every_kind(seed, 400), true);
    const Read original = read_all(sound);
    BOOST_TEST_REQUIRE(!original.error.has_value());
    Random random(seed);
    for (int round = 0; round < 1000; ++round) {
        Bytes bytes = sound;
        // Half of them in the first 100 bytes: header and the head of the first frame are small.
        const std::size_t at = random.below(round % 2 == 0 ? bytes.size() : 100);
        const auto change = static_cast<std::byte>(1 + random.below(255));
        bytes[at] ^= change;
        const Read read = read_all(bytes);
        BOOST_TEST_CONTEXT("seed " << seed << ", byte " << at << " xor " << static_cast<int>(change)) {
            BOOST_TEST_REQUIRE(read.error.has_value());
            BOOST_TEST(read.error->offset <= at);
            BOOST_TEST_REQUIRE(read.operations.size() <= original.operations.size());
            for (std::size_t i = 0; i < read.operations.size(); ++i) {
                BOOST_TEST_REQUIRE((read.operations[i] == original.operations[i]));
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_journal_or_of_another_version) {
    Bytes bytes = journal_with({check()});
    bytes[2] = std::byte{'?'};
    BOOST_TEST(error_of(bytes) ==
               expected(Kind::not_a_journal, 2, "this is no journal: byte 2 of the start is another"));
    BOOST_TEST(error_of(header_with(8, 2, 4)) ==
               expected(Kind::other_version, 8, "a journal of version 2; this program reads version 1"));
    BOOST_TEST(error_of(header_with(12, 0xffffffffU, 4)) ==
               expected(Kind::out_of_range, 12, "a header of 4294967295 bytes; it has 1048576 at most"));
    bytes = journal_with({check()});
    bytes[header_bytes() - 1] ^= std::byte{1};
    BOOST_TEST(error_of(bytes) ==
               expected(Kind::wrong_checksum, 0, "the checksum of the header is wrong: some byte of it has changed"));
}

BOOST_AUTO_TEST_CASE(refuses_a_manager_that_no_configuration_makes) {
    // block_size is the first number of the body, blocks the second, the switches the sixth, the groups the tenth.
    BOOST_TEST(error_of(header_with(16, 0, 1)) ==
               expected(Kind::out_of_range, 16, "the header: block_size must be 1..1048576, got 0"));
    BOOST_TEST(
        error_of(header_with(21, own_ranking, 1)) ==
        expected(Kind::out_of_range, 21, "the header: the manager used a ranking of its own, which no journal holds"));
    BOOST_TEST(error_of(header_with(21, 0x80, 1)) ==
               expected(Kind::out_of_range, 21, "the header: the manager has switches that are not known: 128"));
}

BOOST_AUTO_TEST_CASE(refuses_frames_that_are_out_of_order) {
    const std::vector<Operation> operations = {check(), reset_cache(), check()};
    const Bytes whole = journal_with(operations);
    const std::size_t header = header_bytes();
    const auto at = [&](std::size_t offset) { return whole.begin() + static_cast<std::ptrdiff_t>(offset); };
    const std::size_t first_end = header + 20 + 3 + 8;  // a check has 3 bytes with its answer, a reset 2
    const std::size_t second_end = first_end + 20 + 2 + 8;

    Bytes missing(whole.begin(), at(first_end));
    missing.insert(missing.end(), at(second_end), whole.end());
    BOOST_TEST(error_of(missing) ==
               expected(Kind::out_of_order, first_end + 8, "the frame begins with operation 3, expected 2"));
    Bytes twice(whole.begin(), at(first_end));
    twice.insert(twice.end(), at(header), at(first_end));
    BOOST_TEST(error_of(twice) ==
               expected(Kind::out_of_order, first_end + 8, "the frame begins with operation 1, expected 2"));
    BOOST_TEST(read_all(twice).operations.size() == 1U);

    // A frame of another journal has another salt.
    JournalHeader other = small_header();
    other.seed = 1;
    MemorySink sink;
    JournalWriter(sink, other).flush();
    Bytes foreign = sink.bytes();
    foreign.insert(foreign.end(), at(header), at(first_end));
    BOOST_TEST(error_of(foreign) ==
               expected(Kind::wrong_checksum, sink.bytes().size(),
                        "the checksum of the frame of 31 bytes is wrong: some byte of it has changed, or it is of "
                        "another journal"));
    Bytes trailing = journal_with({});
    trailing.resize(header + 100, std::byte{0});
    BOOST_TEST(error_of(trailing) ==
               expected(Kind::wrong_checksum, header, "no frame begins here: some byte has changed"));
}

BOOST_AUTO_TEST_CASE(refuses_operations_out_of_range_before_it_makes_room_for_them) {
    const std::size_t payload = header_bytes() + frame_head_bytes;
    const auto refuses = [&](const std::vector<int>& bytes, std::size_t at, const std::string& what) {
        BOOST_TEST(error_of(journal_of_payload(bytes, 1)) == expected(Kind::out_of_range, payload + at, what));
    };
    refuses({20, 0}, 0, "operation 1: there is no operation 20");
    // append: a name beyond the most, a list longer than what follows, a token beyond 32 bits
    refuses({6, 0x80, 0x80, 0x40, 0, 0}, 1, "operation 1: the sequence is 1048576, at most 1048575 makes sense");
    refuses({6, 0, 0xff, 0xff, 0xff, 0xff, 0x7f, 1}, 2,
            "operation 1: the number of tokens is 34359738367, but only 1 bytes follow");
    refuses({6, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x1f, 0}, 3,
            "operation 1: a token is 8589934591, at most 4294967295 makes sense");
    refuses({9, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0}, 2,
            "operation 1: the length is no number of 64 bits");
    refuses({9, 0, 0x82, 0x80, 0xb4, 0xcc, 0xd4, 0xdf, 0xc6, 0x03, 0x00}, 2,
            "operation 1: the length is 1000000000000001, at most 1000000000000000 makes sense");
    refuses({3, 0}, 2, "operation 1: ends within the count");
    refuses({1, 0, 0x20, 0}, 2, "operation 1: a prompt has parts that are not known: 32");
    refuses({17, 0x81}, 1, "operation 1: an answer is none, and still holds something: 129");
    refuses({17, 0x20, 3, 0, 0}, 2, "operation 1: a verdict is 3, at most 2 makes sense");
    refuses({17, 0, 17, 0}, 2, "the frame has 2 bytes more than its operations");
    BOOST_TEST(error_of(journal_of_payload({17, 0}, 2)) ==
               expected(Kind::out_of_range, payload + 2, "operation 2: ends within an operation"));
    BOOST_TEST(error_of(journal_of_payload({}, 0)) ==
               expected(Kind::out_of_range, header_bytes() + 16, "a frame without operations"));
}

BOOST_AUTO_TEST_CASE(keeps_the_operation_in_which_the_process_died) {
    MemorySink sink;
    JournalWriter writer(sink, small_header());
    writer.record(check(), {});
    writer.announce(append(1, {5}));
    writer.last_words();
    writer.last_words();
    const Read read = read_all(sink.bytes());
    BOOST_TEST(!read.error.has_value());
    BOOST_TEST_REQUIRE(read.operations.size() == 2U);
    BOOST_TEST(read.answers[0].has_value());
    BOOST_TEST(!read.answers[1].has_value());
    BOOST_TEST((read.operations[1] == append(1, {5})));
    const std::size_t payload = header_bytes() + frame_head_bytes;
    BOOST_TEST(error_of(journal_of_payload({17, 0x80, 17, 0}, 2)) ==
               expected(Kind::out_of_order, payload + 2, "operation 1 never ended, and another follows"));
}

BOOST_AUTO_TEST_CASE(may_be_flushed_within_an_operation) {
    MemorySink sink;
    JournalWriter writer(sink, small_header());
    const std::vector<Operation> operations = {append(1, {5}), admit(1, {1, 2, 3, 4, 5, 6, 7, 8, 9}), reset_cache()};
    for (const Operation& operation : operations) {
        writer.announce(operation);
        writer.flush();
        writer.conclude({});
    }
    writer.flush();
    const Read read = read_all(sink.bytes());
    BOOST_TEST(!read.error.has_value());
    BOOST_TEST_REQUIRE(read.operations.size() == operations.size());
    for (std::size_t i = 0; i < operations.size(); ++i) {
        BOOST_TEST((read.operations[i] == operations[i]));
    }
}

BOOST_AUTO_TEST_CASE(ends_where_its_sink_refuses) {
    struct Full : JournalSink {
        bool write(std::span<const std::byte>) noexcept override { return ++calls < 2; }
        int calls = 0;
    } sink;
    JournalWriter writer(sink, small_header());
    BOOST_TEST(writer.ok());
    for (int i = 0; i < 3; ++i) {
        writer.record(check(), {});
        writer.flush();
    }
    BOOST_TEST(!writer.ok());
    BOOST_TEST(sink.calls == 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants
