// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <kvpane/blocktable/manager.h>
#include <kvpane/blocktable/observer.h>
#include <kvpane/invariants/journal_writer.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::invariants {

struct RecorderOptions {
    bool digests = false;    // the digest of the state behind each operation: COST O(pool + tables), each time
    std::uint64_t seed = 0;  // a number of the engine's own, for the header
};

// The journal of an engine: every operation of its Manager, with all arguments and what came of it, so that
// `kvpane replay`, `check`, `journal` and `shrink` can work on what the engine did.
//
//     kvpane::Manager kv(config);
//     kvpane::invariants::FileSink sink("engine.kvj");
//     kvpane::invariants::Recorder recorder(kv, sink);
//     kvpane::invariants::LastWords last_words(recorder.writer());   // optional: what a crash should leave
//
// An operation is announced before it runs and answered behind it. Beside an Inspector: see Observers.
//
// Sequences are called by the slot of their handle; a stale or foreign handle, and the child of an admission or a fork
// that failed, by a name that never lives. Numbers that no Manager can grant are written down as the largest that a
// journal holds: the answer is the same.
//
// Not in the journal is what a Manager does not report: probe(), plans and questions, which change nothing; bound rows,
// although an operation that would outgrow one is Error::never; assign(). With these two a replay comes out otherwise.
//
// COST about 17 ns an operation of a decode step, all in all. In steady state nothing is allocated, but for ids of
// external content that are longer than 15 characters.
class Recorder final : public Observer {
public:
    // Attaches itself, and writes the header. The sink and the Manager must outlive it.
    // ERRORS std::invalid_argument for a Manager that has worked already (nobody could repeat what it did), or whose
    // ranking is the engine's own (no file can hold it).
    Recorder(Manager& manager, JournalSink& sink, RecorderOptions options = {});
    ~Recorder() override;

    void before(const Manager& manager, const Call& call) override;
    std::uint32_t after(const Manager& manager, const Call& call, const CallResult& result) override;

    // False once the journal has ended before its engine: the sink refused bytes, memory is short, an operation is
    // larger than a frame may be, or more than journal_format::most_names - 1 sequences live. The engine goes on.
    bool ok() const noexcept { return !ended_ && writer_.ok(); }

    // To flush (what is recorded lies in memory until 64 KiB are full), and for last words.
    JournalWriter& writer() noexcept { return writer_; }
    const JournalWriter& writer() const noexcept { return writer_; }

private:
    [[gnu::noinline]] void announce(const Manager& manager, const Call& call);
    [[gnu::noinline]] std::uint32_t conclude(const Manager& manager, const Call& call, const CallResult& result);
    bool name_child(const Call& call, const CallResult& result);
    void describe(const Manager& manager, const Call& call);
    void describe(const Prompt& prompt);

    Manager& manager_;
    JournalWriter writer_;
    Operation operation_;  // the current one; its vectors keep their memory
    bool ended_ = false;
};

}  // namespace kvpane::invariants
