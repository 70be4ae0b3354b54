// SPDX-License-Identifier: Apache-2.0
// Journals as a user of the program meets them: written, run again, printed, damaged.
#include <boost/test/unit_test.hpp>

#include <csignal>

#include <nlohmann/json.hpp>

#include <kvpane/allocator/promise.h>
#include <kvpane/cli/journal_file.h>
#include <kvpane/invariants/text.h>

#include "cli/program.h"
#include "invariants/journals.h"
#include "invariants/operations.h"
#include "support/death.h"
#include "support/seed.h"

namespace kvpane::cli {

using namespace invariants;
using testing::death_of;
using testing::Folder;
using testing::lines_of;
using testing::Ran;
using testing::run_kvpane;
using testing::text_of;

namespace {

const std::string config =
    "[run]\nseed = 3\nsteps = 200\n[pool]\nblock_size = 4\nblocks = 64\n"
    "[[group]]\nname = \"full\"\n[[group]]\nname = \"swa\"\nwindow = 6\n"
    "[workload]\nmost_sequences = 4\nlongest = 60\n[workload.mix]\nadmit = 20\nappend = 60\nfork = 10\nrelease = 10\n"
    "[workload.prompt]\ndistribution = \"uniform\"\nmin = 1\nmax = 20\n"
    "[workload.chunk]\ndistribution = \"edges\"\nmin = 1\nmax = 9\n";

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string row(const std::string& out, const std::string& name) {
    for (const std::string& line : lines_of(out)) {
        if (line.starts_with(name + " ")) {
            return line.substr(line.find_first_not_of(' ', name.size()));
        }
    }
    return {};
}

// A recorded stress run.
std::string record(const Folder& folder, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"stress", folder.write("c.toml", config), "--journal",
                                          folder.path("run.kvj")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Ran ran = run_kvpane(arguments);
    BOOST_TEST_REQUIRE(ran.code == 0, ran.err);
    BOOST_TEST(contains(row(ran.out, "journal"), "run.kvj (" + row(ran.out, "operations") + " operations, "));
    return folder.path("run.kvj");
}

// A journal of these operations and answers on a small Manager.
std::string write_journal(const Folder& folder, const std::vector<std::pair<Operation, Answer>>& entries) {
    FileSink sink(folder.path("made.kvj"));
    JournalWriter writer(sink, {testing::plain(4, 16), CheckMode::every, false, 0, 0});
    for (const auto& [operation, answer] : entries) {
        writer.record(operation, answer);
        writer.flush();
    }
    return folder.path("made.kvj");
}

Answer taking(std::int64_t blocks) {
    Answer answer;
    answer.blocks_taken = blocks;
    return answer;
}

void refuses(const std::vector<std::string>& arguments, const std::string& message) {
    const Ran ran = run_kvpane(arguments);
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(ran.err == message + "\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(journal_program)

BOOST_AUTO_TEST_CASE(a_recorded_run_comes_out_the_same_again) {
    const Folder folder;
    const std::string journal = record(folder, {"--digests"});
    const std::string cells = folder.write("p.toml", config + "[payload]\nlayout = \"hnd\"\ndtype = \"e5m2\"\n");
    std::string digest;
    for (const std::vector<std::string>& arguments : {std::vector<std::string>{"replay", journal},
                                                      {"check", journal},
                                                      {"check", journal, "--payload"},
                                                      {"check", journal, "--payload-of", cells},
                                                      {"replay", journal, "--check", "off"}}) {
        const Ran ran = run_kvpane(arguments);
        BOOST_TEST(ran.code == 0);
        BOOST_TEST(ran.err.empty());
        BOOST_TEST(std::stoll(row(ran.out, "operations")) >= 200);
        BOOST_TEST(row(ran.out, "differences") == "0");
        BOOST_TEST(row(ran.out, "violations") == "0");
        BOOST_TEST((row(ran.out, "checks done") != "0") == (arguments.back() != "off"));
        BOOST_TEST((digest.empty() || digest == row(ran.out, "state digest")));
        digest = row(ran.out, "state digest");
    }
}

#ifdef KVPANE_WITH_ORACLE
BOOST_AUTO_TEST_CASE(a_recorded_run_is_compared_with_the_proven_machine) {
    const Folder folder;
    const std::string journal = record(folder);
    const Ran ran = run_kvpane({"replay", journal, "--against", "oracle"});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(ran.err.empty());
    BOOST_TEST(std::stoll(row(ran.out, "operations")) >= 200);
    BOOST_TEST(row(ran.out, "differences") == "0");
    const Ran early = run_kvpane({"replay", journal, "--against", "oracle", "--until", "7"});
    BOOST_TEST(row(early.out, "operations") == "7");
}
#else
BOOST_AUTO_TEST_CASE(a_program_without_the_oracle_says_so) {
    refuses({"replay", "j", "--against", "oracle"},
            "kvpane: --against oracle: this kvpane was built without the oracle; configure with -DKVPANE_ORACLE=ON");
}
#endif

BOOST_AUTO_TEST_CASE(real_cells_are_taken_from_a_configuration_that_has_some) {
    const Folder folder;
    const std::string journal = record(folder);
    const std::string none = folder.path("c.toml");
    for (std::vector<std::string> command : {std::vector<std::string>{"check", journal},
                                             {"shrink", journal, "-o", folder.path("case.toml")},
                                             {"scenario", folder.path("case.toml")}}) {
        command.insert(command.end(), {"--payload-of", none});
        refuses(command, none + ":1:1: [payload] is missing, or switched off");
        command.push_back("--payload");
        refuses(command, "kvpane: " + command.front() + ": --payload excludes --payload-of");
    }
}

BOOST_AUTO_TEST_CASE(recording_changes_nothing_and_equal_runs_write_equal_journals) {
    const Folder folder;
    const std::string first = text_of(record(folder));
    BOOST_TEST(text_of(record(folder)) == first);
    const Ran plain = run_kvpane({"stress", folder.path("c.toml")});
    const Ran recorded = run_kvpane({"stress", folder.path("c.toml"), "--journal", folder.path("again.kvj")});
    BOOST_TEST(row(plain.out, "state digest") == row(recorded.out, "state digest"));
    BOOST_TEST(text_of(folder.path("again.kvj")) == first);
}

BOOST_AUTO_TEST_CASE(the_operations_are_printed_as_json_lines) {
    const Folder folder;
    const std::string journal = record(folder, {"--digests"});
    const Ran ran = run_kvpane({"journal", journal});
    BOOST_TEST(ran.code == 0);
    const std::vector<std::string> lines = lines_of(ran.out);
    BOOST_TEST(lines.size() >= 200U);
    std::int64_t number = 0;
    for (const std::string& line : lines) {
        const auto json = nlohmann::json::parse(line);
        BOOST_TEST_REQUIRE(json["n"] == ++number);
        BOOST_TEST_REQUIRE(json["op"].is_string());
        BOOST_TEST_REQUIRE(json["answer"]["digest"].get<std::string>().size() == 18U);
    }

    Operation full = invariants::in(invariants::scope_of("acme \xff", "", 2), admit(0, {1, 2}, 1));
    full.extra = {{0, 1, "image"}};
    full.priority = 3;
    Answer refused;
    refused.error = Error::busy;
    const Ran made = run_kvpane({"journal", write_journal(folder, {{full, taking(1)}, {append(0, {5}), refused}})});
    const std::vector<std::string> two = lines_of(made.out);
    BOOST_TEST_REQUIRE(two.size() == 2U);
    BOOST_TEST(two[0] ==
               "{\"n\":1,\"op\":\"admit\",\"seq\":0,\"tokens\":[1,2],\"scope\":{\"tenant\":\"acme \xef\xbf\xbd\","
               "\"lora_id\":2},\"extra\":[{\"at\":0,\"count\":1,\"id\":\"image\"}],\"compute\":1,\"priority\":3,"
               "\"answer\":{\"error\":null,\"cached_tokens\":0,\"blocks_taken\":1}}");
    BOOST_TEST(
        two[1] ==
        "{\"n\":2,\"op\":\"append\",\"seq\":0,\"tokens\":[5],\"answer\":{\"error\":\"busy\",\"blocks_taken\":0}}");
}

BOOST_AUTO_TEST_CASE(a_sequence_is_shown_at_any_operation) {
    const Folder folder;
    const std::string journal = write_journal(
        folder,
        {{admit(0, {7, 8, 9, 10, 11}), taking(2)}, {fork(0, 1), {}}, {release(0), {}}, {append(1, {5}), taking(1)}});
    const Ran early = run_kvpane({"replay", journal, "--until", "2", "--dump", "0"});
    BOOST_TEST(early.code == 0);
    BOOST_TEST(contains(early.out,
                        "sequence 0 behind operation 2: length 5, reserved 0\n"
                        "  group full\n"
                        "    first resident 0\n"
                        "    table          [1, 2]\n"
                        "    references     [2, 2]\n"
                        "    window         7..11 at positions 0..4\n"));
    const Ran gone = run_kvpane({"replay", journal, "--until", "3", "--dump", "0"});
    BOOST_TEST(contains(gone.out, "sequence 0 is not alive behind operation 3; alive are [1]\n"));
    const Ran unread = run_kvpane({"replay", journal, "--until", "2", "--dump", "1", "--check", "off"});
    BOOST_TEST(contains(unread.out, "window         is read back only with --check sampled or every\n"));
}

BOOST_AUTO_TEST_CASE(the_first_difference_ends_a_replay_with_exit_code_1) {
    const Folder folder;
    const std::string journal =
        write_journal(folder, {{admit(0, {1, 2, 3, 4, 5}), taking(2)}, {append(0, {5}), taking(1)}, {release(0), {}}});
    const Ran ran = run_kvpane({"replay", journal});
    BOOST_TEST(ran.code == 1);
    BOOST_TEST(contains(ran.out, "DIFFERENCE at operation 2: append: recorded blocks taken 1, got 0\n"));
    BOOST_TEST(row(ran.out, "operations") == "2");
    BOOST_TEST(row(ran.out, "differences") == "1");
}

BOOST_AUTO_TEST_CASE(a_journal_that_is_cut_off_is_used_up_to_there) {
    const Folder folder;
    const std::string whole = text_of(write_journal(folder, {{admit(0, {1}), taking(1)}, {append(0, {5}), {}}}));
    const std::string cut = folder.write("cut.kvj", whole.substr(0, whole.size() - 1));
    const Ran ran = run_kvpane({"check", cut});
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(row(ran.out, "operations") == "1");
    const std::size_t last = whole.size() - 33;  // head and checksum around 5 bytes
    BOOST_TEST(ran.err == text(cut, ": byte ", last,
                               ": the last frame is cut off: it has 33 bytes, 32 are there; the 1 "
                               "operations before it are used\n"));
    BOOST_TEST(run_kvpane({"journal", cut}).code == 2);
}

BOOST_AUTO_TEST_CASE(a_damaged_journal_is_bad_input_behind_what_is_sound) {
    const Folder folder;
    std::string bytes = text_of(write_journal(folder, {{admit(0, {1}), taking(1)}, {append(0, {5}), {}}}));
    const std::size_t last = bytes.size() - 33;
    bytes[last + 22] ^= 1;
    const std::string damaged = folder.write("damaged.kvj", bytes);
    const Ran ran = run_kvpane({"replay", damaged});
    BOOST_TEST(ran.code == 2);
    BOOST_TEST(row(ran.out, "operations") == "1");
    BOOST_TEST(ran.err ==
               text(damaged, ": byte ", last,
                    ": the checksum of the frame of 33 bytes is wrong: some byte of it has changed, or it is "
                    "of another journal; the 1 operations before it are used\n"));
    const Ran printed = run_kvpane({"journal", damaged});
    BOOST_TEST(printed.code == 2);
    BOOST_TEST(lines_of(printed.out).size() == 1U);
}

BOOST_AUTO_TEST_CASE(what_is_no_journal_is_refused_with_the_byte) {
    const Folder folder;
    const std::string text_file = folder.write("c.toml", config);
    for (const char* command : {"replay", "check", "journal"}) {
        refuses({command, text_file}, text_file + ": byte 0: this is no journal: byte 0 of the start is another");
    }
    refuses({"shrink", text_file, "-o", folder.path("case.toml")},
            text_file + ": byte 0: this is no journal: byte 0 of the start is another");
    const std::string missing = folder.path("missing.kvj");
    refuses({"replay", missing}, missing + ": byte 0: cannot be opened: No such file or directory");
    refuses({"replay", folder.path("")}, folder.path("") + ": byte 0: cannot be read: Is a directory");

    FileSink sink(folder.path("huge.kvj"));
    Config huge = testing::plain(16, 1'000'000'000);
    JournalWriter(sink, {huge, CheckMode::off, false, 0, 0}).flush();
    refuses({"replay", folder.path("huge.kvj")},
            folder.path("huge.kvj") +
                ": byte 16: the manager has 1000000000 blocks of 16 cells and keeps 4096 events; "
                "a run holds at most 16777216 blocks, 134217728 cells, and tokens of events");
}

BOOST_AUTO_TEST_CASE(command_lines_that_make_no_sense_are_refused) {
    const Folder folder;
    const std::string file = folder.write("c.toml", config);
    refuses({"stress", file, "--digests"}, "kvpane: --digests goes with --journal");
    refuses({"stress", file, "--journal", folder.path("")},
            "kvpane: --journal " + folder.path("") + ": cannot be written: Is a directory");
    refuses({"stress", file, "--journal", "/dev/null"}, "kvpane: --journal /dev/null: is not a regular file");
    refuses({"stress", file, "--journal", file},
            "kvpane: --journal " + file + ": holds something else than a journal: it would be lost");
    BOOST_TEST(text_of(file) == config);
    refuses({"replay"}, "kvpane: replay: journal is required");
    refuses({"replay", "j", "--until", "0"}, "kvpane: --until must be a whole number 1..1000000000000, got '0'");
    refuses({"replay", "j", "--dump", "-1"}, "kvpane: --dump must be a whole number 0..1048575, got '-1'");
    refuses({"replay", "j", "--against", "time"}, "kvpane: --against must be oracle, got 'time'");
    refuses({"replay", "j", "--against", "oracle", "--dump", "1"}, "kvpane: --against goes without --dump and --check");
    refuses({"shrink", "j"}, "kvpane: shrink: --output is required");
    refuses({"check", "j", "--check", "off"}, "kvpane: check: unexpected argument '--check'; did you mean '--help'?");
}

BOOST_AUTO_TEST_CASE(a_sound_journal_has_nothing_to_shrink) {
    const Folder folder;
    const std::string journal = write_journal(folder, {{admit(0, {1}), taking(1)}});
    refuses({"shrink", journal, "-o", folder.path("case.toml")},
            "kvpane: " + journal + " has nothing to shrink: its 1 operations break no invariant");
    BOOST_TEST(folder.names().size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_journal_is_shrunk_on_real_cells_where_these_are_sound_and_fit) {
    const Folder folder;
    const std::string journal = record(folder);
    const std::string scenario = folder.path("case.toml");
    const std::string cells = folder.write("p.toml", config + "[payload]\nlayout = \"hnd\"\ndtype = \"e5m2\"\n");
    for (const std::vector<std::string>& payload :
         {std::vector<std::string>{"--payload"}, {"--payload-of", cells}}) {
        std::vector<std::string> command = {"shrink", journal, "-o", scenario};
        command.insert(command.end(), payload.begin(), payload.end());
        const Ran ran = run_kvpane(command);
        BOOST_TEST(ran.code == 2);
        BOOST_TEST(contains(ran.err, journal + " has nothing to shrink: its "), ran.err);
    }
    FileSink sink(folder.path("large.kvj"));
    JournalWriter(sink, {testing::plain(8, 2'100'000), CheckMode::off, false, 0, 0}).flush();
    refuses({"shrink", folder.path("large.kvj"), "-o", scenario, "--payload"},
            folder.path("large.kvj") + ":1:1: the payload takes 1075200512 bytes for each group, more than 1 GiB in all: "
                                       "use fewer blocks, smaller cells, or no payload");
}

BOOST_AUTO_TEST_CASE(a_process_that_breaks_a_promise_leaves_the_operation_that_did_it) {
    const Folder folder;
    const std::string path = folder.path("dying.kvj");
    const auto died = death_of([&] {
        JournalRecording recording(path, {testing::plain(4, 16), CheckMode::off, false, 0, 0});
        recording.writer().record(admit(0, {1, 2}), taking(1));
        recording.writer().announce(append(0, {3}));
        broken_promise("P1", "for the test");
    });
    BOOST_TEST(died.aborted);
    BOOST_TEST(died.message.ends_with("\nreplay                  kvpane check " + path + "\n"));
    const JournalFile file(path);
    JournalReader reader = file.reader();
    BOOST_TEST_REQUIRE(reader.next() != nullptr);
    const JournalEntry* last = reader.next();
    BOOST_TEST_REQUIRE(last != nullptr);
    BOOST_TEST((last->operation == append(0, {3})));
    BOOST_TEST(!last->answer.has_value());
    BOOST_TEST(reader.next() == nullptr);
    BOOST_TEST(!reader.error().has_value());
    const Ran ran = run_kvpane({"replay", path});
    BOOST_TEST(ran.code == 0);
    BOOST_TEST(contains(ran.out, "the recorded process ended within operation 2; this one did not\n"));
    BOOST_TEST(contains(run_kvpane({"journal", path}).out, "\"tokens\":[3],\"answer\":null}\n"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::cli
