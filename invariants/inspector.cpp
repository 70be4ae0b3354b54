// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/inspector.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>
#include <utility>

#include <kvpane/allocator/promise.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

constexpr std::uint32_t not_looked_at = 63;  // operations between two looks of the sampled mode
constexpr std::int64_t clock_every = 256;    // operations between two looks at the clock: one costs about 25 ns

// A walk that took t is followed by so many t without one. Before the first one its time is guessed from the pool.
int rest_after_walk(CheckMode mode) { return mode == CheckMode::every ? 19 : 49; }

std::chrono::nanoseconds guessed_walk(CheckMode mode, std::int64_t blocks) {
    return std::chrono::nanoseconds(blocks * (mode == CheckMode::every ? 1000 : 50));
}

bool is_known(const Manager& manager, SequenceHandle handle) { return manager.is_alive(handle); }

}  // namespace

Inspector::Books::Books(const Config& config, std::uint32_t groups)
    : follower(config), mirror(config.blocks, groups, follower.history()) {}

Inspector::Inspector(Manager& manager, InspectorOptions options) : manager_(manager), options_(std::move(options)) {
    if (options_.mode == CheckMode::off) {
        return;
    }
    if (options_.mode == CheckMode::every) {
        if (manager.sequences() > 0 || manager.index_entries() > 0) {
            throw std::invalid_argument("the check mode `every` must be there before the first sequence");
        }
        books_.emplace(manager.config(), manager.groups());
    }
    next_walk_ = Clock::now() + rest_after_walk(options_.mode) * guessed_walk(options_.mode, manager.config().blocks);
    manager.attach(this);
}

Inspector::~Inspector() {
    if (options_.mode != CheckMode::off) {
        manager_.attach(nullptr);
    }
}

// Field by field: a copy of the whole would wait for the stores that have just made it.
void Inspector::count(const Manager& manager, Counts& counts) noexcept {
    const BlockPool& pool = manager.pool();
    counts.free = pool.free_blocks();
    counts.cached = pool.cached_blocks();
    counts.live = pool.live_blocks();
    counts.fenced = pool.fenced_blocks();
    counts.pinned = pool.pinned_blocks();
    counts.sequences = manager.sequences();
    counts.entries = manager.index_entries();
    counts.blocks_taken = manager.statistics().blocks_taken;
}

void Inspector::before(const Manager& manager, const Call& call) {
    if (!books_ || violation_) {
        return;
    }
    count(manager, before_);
    books_->follower.history().begin(operations_ + 1, call.verb);
    if (call.verb == Verb::release && is_known(manager, call.sequence)) {
        note(read_all(books_->follower.record(name_of(call.sequence))));
    }
}

std::uint32_t Inspector::after(const Manager& /*manager*/, const Call& call, const CallResult& result) {
    constexpr std::uint32_t nothing_more = std::numeric_limits<std::uint32_t>::max();
    ++operations_;
    if (violation_) {
        return nothing_more;
    }
    if (books_) {
        note(check(call, result));
    } else {
        look_at_shape(call, result);
    }
    if (!violation_ && walk_is_due()) {
        walk();
    }
    if (books_) {
        return 0;
    }
    operations_ += not_looked_at;
    return not_looked_at;
}

bool Inspector::walk_is_due() {
    if (operations_ < next_chance_) {
        return false;
    }
    next_chance_ = operations_ + (options_.walk_every > 0 ? options_.walk_every : clock_every);
    return options_.walk_every > 0 || Clock::now() >= next_walk_;
}

void Inspector::walk() {
    if (violation_ || options_.mode == CheckMode::off) {
        return;
    }
    const Clock::time_point begun = Clock::now();
    note(books_ ? walk_over_everything() : walk_over_structure());
    ++walks_;
    const Clock::time_point ended = Clock::now();
    next_walk_ = ended + rest_after_walk(options_.mode) * (ended - begun);
}

void Inspector::note(Found finding) {
    if (!finding) {
        return;
    }
    const ShadowCells no_cells(1, 1);
    const std::vector<std::string> no_spellings;
    violation_ =
        books_ ? report(std::move(*finding), operations_, books_->follower.scene(manager_), &books_->follower.history())
               : report(std::move(*finding), operations_, {manager_, no_cells, {}, no_spellings}, nullptr);
    if (!options_.on_violation) {
        std::fputs(text_of(*violation_).c_str(), stderr);
        broken_promise(std::string(number(violation_->invariant)).c_str(), violation_->what.c_str());
    }
    options_.on_violation(*violation_);
}

// --- sampled --------------------------------------------------------------------------------------------------------

void Inspector::look_at_shape(const Call& call, const CallResult& result) {
    const auto look = [&](SequenceHandle handle) {
        if (!violation_ && is_known(manager_, handle)) {
            note(find_wrong_shape(handle));
        }
    };
    look(call.sequence);
    look(result.sequence);
    std::ranges::for_each(call.batch, look, &Reservation::sequence);
    std::ranges::for_each(call.sequences, look);
}

// What the counts of a sequence alone say: everything that its next query sees has a block.
Found Inspector::find_wrong_shape(SequenceHandle handle) const {
    const Length length = manager_.length(handle).value();
    const Length cells = length + manager_.reserved(handle).value();
    for (std::uint32_t group = 0; group < manager_.groups(); ++group) {
        const TableView table = manager_.table(handle, GroupId{group}).value();
        const Site site{.sequence = name_of(handle), .group = group};
        const auto who = [&] {
            return text("sequence #", name_of(handle), ", group ", manager_.config().groups[group].name);
        };
        if (Length{table.size} * manager_.config().block_size < cells) {
            return Finding{Invariant::T1, text(who(), ": ", cells, " cells and a table of ", table.size, " blocks"),
                           site};
        }
        const Length seen = spec::need(length, manager_.config().groups[group].window);
        if (table.first_resident > seen) {
            return Finding{Invariant::T2,
                           text(who(), ": the next query sees position ", seen, ", the first resident one is ",
                                table.first_resident),
                           site};
        }
    }
    return std::nullopt;
}

Found Inspector::walk_over_structure() {
    const std::vector<SequenceHandle> handles = manager_.living();
    std::vector<Record> records(handles.size());
    std::vector<const Record*> living;
    for (std::size_t i = 0; i < handles.size(); ++i) {
        records[i].name = name_of(handles[i]);
        records[i].handle = handles[i];
        records[i].groups.resize(manager_.groups());
        living.push_back(&records[i]);
    }
    const ShadowCells no_cells(1, 1);
    const std::vector<std::string> no_spellings;
    const Scene scene{manager_, no_cells, living, no_spellings};
    for (const auto find : {find_P1, find_P2, find_P3, find_X3}) {
        if (auto finding = find(scene)) {
            return finding;
        }
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants
