// SPDX-License-Identifier: Apache-2.0
// Journals: what is read is written the same, a changed or missing byte is noticed, and what was recorded is replayed
// without a difference.
#include <algorithm>
#include <optional>
#include <vector>

#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/checksum.h>
#include <kvpane/invariants/journal_reader.h>
#include <kvpane/invariants/journal_replay.h>
#include <kvpane/invariants/journal_writer.h>

#include "fuzz/journal_layout.h"
#include "fuzz/small.h"
#include "fuzz/target.h"

namespace kvpane::fuzz {

using namespace invariants;

namespace {

using Bytes = std::vector<std::byte>;

struct Read {
    JournalHeader header;
    std::vector<JournalEntry> entries;
    std::optional<JournalError> error;
    bool has_header = false;
};

Read read(Input bytes) {
    Read got;
    JournalReader reader(bytes);
    got.has_header = !reader.error();
    got.header = reader.header();
    while (const JournalEntry* entry = reader.next()) {
        require(entry->number == static_cast<std::int64_t>(got.entries.size()) + 1, "operation ",
                got.entries.size() + 1, " is given out as number ", entry->number);
        got.entries.push_back(*entry);
    }
    got.error = reader.error();
    if (got.error) {
        require(got.error->offset <= bytes.size(), "an error at byte ", got.error->offset, " of ", bytes.size(), ": ",
                got.error->what);
        require(!got.error->what.empty(), "an error without a sentence at byte ", got.error->offset);
    }
    return got;
}

// The first `count` operations, in one frame: equal for equal ones.
Bytes written(const Read& read, std::size_t count) {
    MemorySink sink;
    JournalWriter writer(sink, read.header);
    for (std::size_t i = 0; i < count; ++i) {
        writer.announce(read.entries[i].operation);
        if (read.entries[i].answer) {
            writer.conclude(*read.entries[i].answer);
        } else {
            writer.last_words();
        }
    }
    writer.flush();
    return sink.bytes();
}

Bytes written(const Read& read) { return written(read, read.entries.size()); }

// Numbers can be spelled longer than the writer does; what is written is the shortest, and stays as it is.
void require_written_the_same(const Read& original, std::size_t size) {
    const Bytes bytes = written(original);
    const Read again = read(bytes);
    require(!again.error, "what was written is refused: ", again.error ? again.error->what : "");
    require(again.entries.size() == original.entries.size(), original.entries.size(), " operations were written, ",
            again.entries.size(), " are read");
    require(written(again) == bytes, "what was written is read as something else");
    require(original.error || bytes.size() <= size, "a journal of ", size, " bytes is written in ", bytes.size());
    require(sealed(bytes) == bytes, "a sound journal is sealed to another one");
}

// `damaged` was `original`: it may have lost operations, but none may have become another, nor its Manager.
Read require_no_lie(Input damaged, const Read& original, std::string_view how) {
    const Read got = read(damaged);
    require(got.entries.size() <= original.entries.size(), how, " gives more operations");
    require(!got.has_header || written(got) == written(original, got.entries.size()), how, " gives other operations");
    return got;
}

// One byte changed, and a cut, at places that the bytes themselves decide.
void damage(const Bytes& whole, const Read& original) {
    const std::uint64_t drawn = checksum(whole);
    const std::size_t at = drawn % whole.size();
    Bytes changed = whole;
    changed[at] ^= static_cast<std::byte>(1 + (drawn >> 32U) % 255);
    require(require_no_lie(changed, original, "a changed byte").error.has_value(), "the changed byte ", at,
            " is not noticed");
    require_no_lie(Input(whole).first(at), original, "a cut");
}

bool is_quick(const Read& read) {
    constexpr Name few_names = 1000;
    const auto is_fine = [](const JournalEntry& entry) {
        const Operation& o = entry.operation;
        return o.sequence < few_names && o.child < few_names && o.tokens.size() <= most_small_tokens;
    };
    return is_small(read.header.config) && read.entries.size() <= most_small_operations &&
           std::ranges::all_of(read.entries, is_fine);
}

void require_sound(const std::optional<Violation>& violation) {
    require(!violation, "operation ", violation ? violation->operation : 0, ": invariant ",
            violation ? number(violation->invariant) : "", " broken: ", violation ? violation->what : "");
}

// Runs the operations anew, records them, and replays the record.
void run(const Read& read) {
    JournalHeader header = read.header;
    header.digests = true;
    MemorySink sink;
    CheckedManager recorded(header.config, CheckMode::every);
    JournalWriter writer(sink, header);
    recorded.keep(&writer);
    for (const JournalEntry& entry : read.entries) {
        recorded.apply(entry.operation);
        require_sound(recorded.violation());
    }
    writer.flush();
    JournalReader reader(sink.bytes());
    CheckedManager replayed(header.config, CheckMode::sampled);
    const JournalReplay report = replay(reader, replayed, 0);
    require_sound(report.violation);
    require(!reader.error(), "the record is refused: ", reader.error() ? reader.error()->what : "");
    require(!report.difference, "operation ", report.difference ? report.difference->operation : 0, ", ",
            report.difference ? report.difference->what : "");
    require(report.operations == recorded.operations() && report.digest == recorded.manager().digest(),
            "the replay ends in another state");
}

}  // namespace

void journals(Input input) {
    read(input);
    const Bytes bytes = sealed(input);
    const Read original = read(bytes);
    if (!original.has_header) {
        return;
    }
    require_written_the_same(original, bytes.size());
    damage(bytes, original);
    if (is_quick(original)) {
        run(original);
    }
}

}  // namespace kvpane::fuzz
