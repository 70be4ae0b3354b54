// SPDX-License-Identifier: Apache-2.0
// What the check mode `every` looks at: the cells, the references and the shapes that an operation touched.
#include <algorithm>

#include <kvpane/invariants/inspector.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

Found Inspector::check(const Call& call, const CallResult& result) {
    if (result.error) {
        Counts now;
        count(manager_, now);
        return now == before_ ? std::nullopt
                              : Found(Finding{Invariant::F2, text("the operation ended with ", to_string(*result.error),
                                                                  " and the pool counts something else than before")});
    }
    const auto taken = static_cast<std::int64_t>(manager_.statistics().blocks_taken - before_.blocks_taken);
    if (taken != result.step->blocks_taken) {
        return Finding{Invariant::A1,
                       text("the step names ", result.step->blocks_taken, " blocks, the statistics count ", taken)};
    }
    books_->mirror.clear_changed();
    if (auto finding = books_->follower.copied(result.step->copies)) {
        return finding;
    }
    auto finding = follow(call, result);
    return finding ? finding : find_wrong_refs();
}

Found Inspector::follow(const Call& call, const CallResult& result) {
    Follower& follower = books_->follower;
    const Name name = name_of(call.sequence);
    const Step& step = *result.step;
    switch (call.verb) {
        case Verb::admit: {
            if (result.count >= static_cast<Length>(call.prompt->tokens.size())) {
                return Finding{Invariant::X2,
                               text("all ", result.count, " tokens of a prompt were hit"),
                               {.sequence = name_of(result.sequence)}};
            }
            if (auto finding = follower.admitted(name_of(result.sequence), result.sequence, owned(call.prompt->scope),
                                                 call.prompt->tokens, owned(call.prompt->extra), result.count, step)) {
                return finding;
            }
            books_->read_at.resize(std::max<std::size_t>(books_->read_at.size(), name_of(result.sequence) + 1));
            books_->read_at[name_of(result.sequence)] = 0;
            if (auto finding = touched(result.sequence, {})) {
                return finding;
            }
            return result.count > 0 ? read_all(follower.record(name_of(result.sequence))) : std::nullopt;
        }
        case Verb::reserve: return reserved(call.batch, step);
        case Verb::commit: follower.committed(name, call.tokens); return touched(call.sequence, {});
        case Verb::cancel:
            if (follower.record(name).reserved() > 0) {
                follower.shortened(name, follower.record(name).length(), manager_);
            }
            return touched(call.sequence, {});
        case Verb::append: {
            const Reservation all{call.sequence, static_cast<Length>(call.tokens.size())};
            return appended({&all, 1}, call.tokens, step);
        }
        case Verb::append_batch: {
            batch_.clear();
            std::ranges::for_each(call.sequences, [&](SequenceHandle sequence) { batch_.push_back({sequence, 1}); });
            return appended(batch_, call.tokens, step);
        }
        case Verb::fork:
            follower.forked(name, name_of(result.sequence), result.sequence, call.at);
            books_->read_at.resize(std::max<std::size_t>(books_->read_at.size(), name_of(result.sequence) + 1));
            books_->read_at[name_of(result.sequence)] = 0;
            return touched(result.sequence, {});
        case Verb::truncate: follower.shortened(name, call.count, manager_); return touched(call.sequence, {});
        case Verb::release:
            follower.released(name);
            books_->mirror.end(name);
            return std::nullopt;
        case Verb::uncache: follower.withdrawn(name, call.entries, manager_); return std::nullopt;
        default: return std::nullopt;
    }
}

Found Inspector::handed_out(std::span<const Reservation> batch, const Step& step) {
    Length first = 0;
    for (const Reservation& reservation : batch) {
        const Name name = name_of(reservation.sequence);
        if (auto finding = books_->follower.handed_out(name, step, first, reservation.cells)) {
            return finding;
        }
        first += reservation.cells;
    }
    return std::nullopt;
}

Found Inspector::reserved(std::span<const Reservation> batch, const Step& step) {
    if (auto finding = handed_out(batch, step)) {
        return finding;
    }
    return touched(batch, step);
}

// Each sequence commits as many tokens as it reserved cells, in order.
Found Inspector::appended(std::span<const Reservation> batch, std::span<const Token> tokens, const Step& step) {
    if (auto finding = handed_out(batch, step)) {
        return finding;
    }
    Length first = 0;
    for (const Reservation& reservation : batch) {
        books_->follower.committed(
            name_of(reservation.sequence),
            tokens.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(reservation.cells)));
        first += reservation.cells;
    }
    return touched(batch, step);
}

// Who holds a block is known when all tables of the batch have been seen: only then the cells are looked at. A batch of
// one, which is what most are, is looked at in one go.
Found Inspector::touched(std::span<const Reservation> batch, const Step& step) {
    if (batch.size() == 1) {
        return touched(batch.front().sequence, {&step, 0, batch.front().cells});
    }
    for (const Reservation& reservation : batch) {
        if (auto finding = touched(reservation.sequence, {})) {
            return finding;
        }
    }
    Length first = 0;
    for (const Reservation& reservation : batch) {
        const Record& record = books_->follower.record(name_of(reservation.sequence));
        if (auto finding = find_wrong_slot(record, {&step, first, reservation.cells})) {
            return finding;
        }
        first += reservation.cells;
    }
    return std::nullopt;
}

// The sequence's tables have the shape that its history demands, and the cells that it got lie where they must; now and
// then it is read back.
// What table() gives is used where it lies: to move it would wait for the stores that have just made it.
Found Inspector::touched(SequenceHandle handle, const Cells& got) {
    const Record& record = books_->follower.record(name_of(handle));
    for (std::uint32_t group = 0; group < record.groups.size(); ++group) {
        const auto table = manager_.table(handle, GroupId{group});
        if (!table) {
            return Finding{Invariant::T1,
                           text(books_->follower.label(record.name), ": its handle is stale"),
                           {.sequence = record.name}};
        }
        books_->mirror.update(name_of(handle), group, *table);
        if (auto finding = find_wrong_blocks(record, group, *table)) {
            return finding;
        }
    }
    // Behind the tables of all groups: what the window of one gives up another one may take in the same step.
    if (auto finding = find_wrong_slot(record, got)) {
        return finding;
    }
    return read_if_due(record);
}

// This is asked twice a token: where nothing was released nothing is divided.
Found Inspector::find_wrong_blocks(const Record& record, std::uint32_t group, const TableView& table) const {
    const spec::Holding& holding = record.groups[group].holding;
    const Length block_size = holding.rule.block_size;
    const Length size = table.size;
    const Length sinks =
        holding.rule.sinks == 0 ? 0 : std::min(size, spec::blocks_for(holding.rule.sinks, holding.rule));
    if ((size - 1) * block_size >= holding.end || holding.end > size * block_size || std::ssize(table.sinks) != sinks) {
        return Finding{Invariant::T1,
                       text(books_->follower.scene(manager_).label(record, group), ": expected ",
                            spec::blocks_for(holding.end, holding.rule), " logical blocks, ", sinks,
                            " of sinks, found ", size, " and ", table.sinks.size()),
                       {.sequence = record.name, .group = group}};
    }
    const Length begin = holding.low >= holding.end ? size : holding.low == 0 ? 0 : holding.low / block_size;
    if (Length{table.run_begin} != std::max(sinks, begin)) {
        return Finding{Invariant::T2,
                       text(books_->follower.scene(manager_).label(record, group), ": expected the blocks from ",
                            std::max(sinks, begin), " on, found those from ", table.run_begin),
                       {.sequence = record.name, .group = group}};
    }
    return std::nullopt;
}

// P2 of the blocks that gained or lost a holder. What became idle and can be hit by nobody is poison from here on.
Found Inspector::find_wrong_refs() {
    const BlockPool& pool = manager_.pool();
    for (const BlockId block : books_->mirror.changed()) {
        if (pool.refs(block) != books_->mirror.refs(block)) {
            return Finding{Invariant::P2,
                           text("block ", to_index(block), " has ", pool.refs(block), " references and stands in ",
                                books_->mirror.refs(block), " tables"),
                           {.block = block}};
        }
        books_->follower.poison_if_idle(block, pool);
    }
    return std::nullopt;
}

// T5: the cells that were handed out are the last ones of the sequence, at their places in the table, in blocks that
// nobody else holds; and that nobody can hit as long as they are not committed. A window may have dropped some already.
Found Inspector::find_wrong_slot(const Record& record, const Cells& got) const {
    for (std::uint32_t group = 0; got.count > 0 && group < record.groups.size(); ++group) {
        const auto table = manager_.table(record.handle, GroupId{group});
        const std::span<const Slot> slots =
            got.step->slots_of(GroupId{group})
                .subspan(static_cast<std::size_t>(got.first), static_cast<std::size_t>(got.count));
        if (auto finding = find_wrong_slot(record, group, *table, slots)) {
            return finding;
        }
    }
    return std::nullopt;
}

Found Inspector::find_wrong_slot(const Record& record, std::uint32_t group, const TableView& table,
                                 std::span<const Slot> slots) const {
    const Length block_size = manager_.config().block_size;
    const bool is_committed = record.reserved() == 0;
    const Length first = record.length() + record.reserved() - std::ssize(slots);
    Length entry = first / block_size;
    Length offset = first - entry * block_size;
    BlockId looked_at = null_block;
    for (std::size_t i = 0; i < slots.size(); ++i) {
        const BlockId block = table[static_cast<std::size_t>(entry)];
        const bool is_right = slots[i] == Slot{to_index(block)} * block_size + offset || block == null_block;
        if (!is_right || (block != looked_at && !is_private(block, is_committed))) {
            const Length position = first + static_cast<Length>(i);
            return Finding{Invariant::T5,
                           text(books_->follower.scene(manager_).label(record, group), ", position ", position,
                                ": slot ", slots[i], " was handed out, the table has block ", to_index(block),
                                " there, held ", books_->mirror.refs(block), " times"),
                           {.sequence = record.name, .group = group, .position = position, .block = block}};
        }
        looked_at = block;
        if (++offset == block_size) {
            offset = 0;
            ++entry;
        }
    }
    return std::nullopt;
}

bool Inspector::is_private(BlockId block, bool may_be_indexed) const {
    return block == null_block || (books_->mirror.refs(block) == 1 && manager_.pool().holders(block) == 1 &&
                                   (may_be_indexed || manager_.pool().content(block) == no_content));
}

// --- reading back ---------------------------------------------------------------------------------------------------

// Once more when the length has doubled: every cell is read back about once for each token that is added.
Found Inspector::read_if_due(const Record& record) {
    constexpr Length shortest = 64;
    const Length read = books_->read_at[record.name];
    return record.length() >= 2 * std::max(read, shortest) ? read_all(record) : std::nullopt;
}

Found Inspector::read_all(const Record& record) {
    books_->read_at[record.name] = record.length();
    return audit_sequence(books_->follower.scene(manager_), record);
}

Found Inspector::walk_over_everything() {
    Follower& follower = books_->follower;
    follower.poison_idle_blocks(manager_.pool());
    const Scene scene = follower.scene(manager_);
    if (auto finding = audit_whole(scene)) {
        return finding;
    }
    for (const Record* record : follower.living()) {
        if (auto finding = read_all(*record)) {
            return finding;
        }
    }
    if (auto finding = find_X1(scene, [&](const Scope& scope) { return follower.number_of(scope); })) {
        return finding;
    }
    if (auto finding = find_X3(scene)) {
        return finding;
    }
    if (auto finding = books_->events.read(scene)) {
        return finding;
    }
    if (auto finding = books_->events.compare(scene)) {
        return finding;
    }
    return books_->mirror.compare(scene);
}

}  // namespace kvpane::invariants
