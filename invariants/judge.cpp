// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/judge.h>

#include <algorithm>
#include <utility>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

std::string spelled(const std::optional<Error>& error) {
    return error ? std::string(to_string(*error)) : std::string("success");
}

bool is_touched(const Operation& operation, Name name) {
    return operation.sequence == name || (operation.verb == Verb::fork && operation.child == name) ||
           std::ranges::find(operation.sequences, name) != operation.sequences.end();
}

// Prompts beyond it are admitted without looking for their longest hit: that costs the square of their length.
constexpr Length longest_searched = 2048;

// Whether the operation, where it succeeds, leaves a state that will behave in another way.
bool always_changes(const Operation& operation) {
    switch (operation.verb) {
        case Verb::commit: return !operation.tokens.empty();
        case Verb::admit:
        case Verb::reserve:
        case Verb::append:
        case Verb::append_batch:
        case Verb::fork:
        case Verb::release:
        case Verb::step_begin:
        case Verb::step_end: return true;
        default: return false;
    }
}

bool changes_nothing(Verb verb) { return verb == Verb::plan || verb == Verb::probe || verb == Verb::check; }

}  // namespace

Judge::Judge(const Config& config, bool has_twin, const std::optional<PayloadOptions>& payload)
    : follower_(config), mirror_(config.blocks, static_cast<std::uint32_t>(config.groups.size()), follower_.history()),
      twin_(has_twin ? std::make_unique<Driver>(config) : nullptr) {
    if (payload) {
        follower_.play_on(std::make_unique<Payload>(config, *payload));
    }
}

void Judge::before(const Operation& operation, std::int64_t number, Driver& driver, Depth depth) {
    longest_hit_.reset();
    follower_.history().begin(number, operation.verb);
    if (depth == Depth::follow) {
        return;
    }
    digest_before_ = depth == Depth::all ? driver.manager().digest() : 0;
    taken_before_ = driver.manager().statistics().blocks_taken;
    foresight_ = driver.foresee(operation);
    const bool asks = operation.verb == Verb::admit || operation.verb == Verb::probe || operation.verb == Verb::plan;
    const auto length = static_cast<Length>(operation.tokens.size());
    if (asks && depth == Depth::all && length > 0 && length <= longest_searched) {
        longest_hit_ = longest_hit(scene(driver.manager()),
                                   chains_of(follower_.number_of(operation.scope), operation.tokens, operation.extra),
                                   length - 1, follower_.rules());
    }
    forecast_ = forecast(operation, known(), driver.manager(), follower_.rules(), longest_hit_);
    if (twin_ != nullptr) {
        fences_.before(driver.manager().pool());
        queue_.before(driver.manager(), driver.handle(operation.sequence));
        note_hits(operation, driver);
    }
}

Found Judge::after(const Operation& operation, const Outcome& outcome, const Driver& driver, Depth depth) {
    if (auto finding = find_X2(operation, outcome)) {
        return finding;  // first: a wrong hit also takes other blocks than it should
    }
    if (depth != Depth::follow) {
        if (auto finding = find_A1(operation, outcome, driver.manager())) {
            return finding;
        }
    }
    if (depth == Depth::all) {
        if (auto finding = find_F2(operation, outcome, driver.manager())) {
            return finding;
        }
        if (auto finding = find_blind_digest(operation, outcome, driver.manager())) {
            return finding;
        }
    }
    Found fence = twin_ != nullptr ? find_wrong_fence(operation, outcome, driver.manager().pool()) : std::nullopt;
    Found order = twin_ != nullptr ? find_wrong_order(operation, outcome, driver) : std::nullopt;
    if (!outcome.error) {
        if (auto finding = find_forgotten_hit(operation, driver.manager())) {
            return finding;
        }
        look_at_tables(operation, driver);
        if (auto finding = follow(operation, outcome, driver)) {
            return finding;
        }
    }
    Found finding;
    if (depth == Depth::all) {
        finding = audit(driver, &operation);
    } else if (depth == Depth::touched) {
        finding = audit_touched(operation, driver.manager());
    }
    if (!finding) {
        finding = fence ? fence : order ? order : find_wrong_event_order(operation, outcome, driver);
    }
    if (finding) {
        return finding;
    }
    return twin_ != nullptr ? find_A2(operation, outcome, driver) : std::nullopt;
}

// What a successful operation does to tables.
void Judge::look_at_tables(const Operation& operation, const Driver& driver) {
    const auto look = [&](Name name) {
        for (std::uint32_t group = 0; group < follower_.rules().size() && driver.is_alive(name); ++group) {
            mirror_.update(name, group, driver.manager().table(driver.handle(name), GroupId{group}).value());
        }
    };
    switch (operation.verb) {
        case Verb::admit:
        case Verb::reserve:
        case Verb::commit:
        case Verb::cancel:
        case Verb::append:
        case Verb::append_batch:
        case Verb::truncate:
            look(operation.sequence);
            std::ranges::for_each(operation.sequences, look);
            break;
        case Verb::fork: look(operation.child); break;
        case Verb::release: mirror_.end(operation.sequence); break;
        default: break;
    }
    mirror_.clear_changed();
}

// What a successful operation does to shadow cells and histories.
Found Judge::follow(const Operation& operation, const Outcome& outcome, const Driver& driver) {
    if (auto finding = follower_.copied(outcome.step.copies)) {
        return finding;
    }
    const Name name = operation.sequence;
    const Step& step = outcome.step;
    switch (operation.verb) {
        case Verb::admit:
            return follower_.admitted(name, driver.handle(name), operation.scope, operation.tokens, operation.extra,
                                      outcome.cached_tokens, step);
        case Verb::reserve:
            return operation.is_batch ? follow_batch(operation, step)
                                      : follower_.handed_out(name, step, 0, operation.count);
        case Verb::commit: follower_.committed(name, operation.tokens); return std::nullopt;
        case Verb::cancel:
            if (follower_.record(name).reserved() > 0) {
                follower_.shortened(name, follower_.record(name).length(), driver.manager());
            }
            return std::nullopt;
        case Verb::append:
            if (auto finding = follower_.handed_out(name, step, 0, static_cast<Length>(operation.tokens.size()))) {
                return finding;
            }
            follower_.committed(name, operation.tokens);
            return std::nullopt;
        case Verb::append_batch:
            for (std::size_t i = 0; i < operation.sequences.size(); ++i) {
                if (auto finding = follower_.handed_out(operation.sequences[i], step, static_cast<Length>(i), 1)) {
                    return finding;
                }
            }
            for (std::size_t i = 0; i < operation.sequences.size(); ++i) {
                follower_.committed(operation.sequences[i], {&operation.tokens[i], 1});
            }
            return std::nullopt;
        case Verb::fork:
            follower_.forked(name, operation.child, driver.handle(operation.child), operation.at);
            return std::nullopt;
        case Verb::truncate: follower_.shortened(name, operation.length, driver.manager()); return std::nullopt;
        case Verb::release: follower_.released(name); return std::nullopt;
        case Verb::uncache: follower_.withdrawn(name, operation.blocks, driver.manager()); return std::nullopt;
        case Verb::step_begin: open_steps_.insert(operation.step); return std::nullopt;
        case Verb::step_end: open_steps_.erase(operation.step); return std::nullopt;
        default: return std::nullopt;
    }
}

Found Judge::follow_batch(const Operation& reserve, const Step& step) {
    Length first = 0;
    for (std::size_t i = 0; i < reserve.sequences.size(); ++i) {
        if (auto finding = follower_.handed_out(reserve.sequences[i], step, first, reserve.counts[i])) {
            return finding;
        }
        first += reserve.counts[i];
    }
    return std::nullopt;
}

std::optional<Error> Judge::due() const {
    if (forecast_.is_silent) {
        return std::nullopt;
    }
    if (!forecast_.refusals.empty()) {
        return *forecast_.refusals.begin();
    }
    return forecast_.is_too_long ? Error::never : forecast_.lack;
}

// P1: what is given up while device steps are open stays fenced until all of them have ended, and nothing else does.
Found Judge::find_wrong_fence(const Operation& operation, const Outcome& outcome, const BlockPool& pool) {
    for (const Slot slot : outcome.step.slots) {
        if (follower_.shadow().covers(slot)) {
            fences_.took(BlockId{static_cast<std::uint32_t>(slot / follower_.shadow().block_size())});
        }
    }
    const bool ends = operation.verb == Verb::step_end && !outcome.error;
    fences_.after(pool, open_steps_, ends ? std::optional(operation.step) : std::nullopt,
                  operation.verb == Verb::admit && outcome.cached_tokens > 0);
    if (auto what = fences_.wrong_block(pool)) {
        return Finding{Invariant::P1, std::move(*what)};
    }
    return std::nullopt;
}

// P3: the queue gives and takes in the order that the contract says.
Found Judge::find_wrong_order(const Operation& operation, const Outcome& outcome, const Driver& driver) {
    if (outcome.error) {
        return std::nullopt;  // then F2 looks
    }
    if (auto what = queue_.wrong_order(driver.manager(), operation, outcome, driver.handle(operation.sequence))) {
        return Finding{Invariant::P3, std::move(*what)};
    }
    return std::nullopt;
}

// X2: a hit is the longest prefix that reads back as the request's own tokens, and leaves one token to compute.
Found Judge::find_X2(const Operation& operation, const Outcome& outcome) const {
    if (outcome.error || operation.verb == Verb::plan || !longest_hit_ || outcome.cached_tokens == *longest_hit_) {
        return std::nullopt;
    }
    return Finding{Invariant::X2,
                   text(label(operation.sequence), ": the longest cached prefix has ", *longest_hit_, " tokens, ",
                        outcome.cached_tokens, " were hit"),
                   {.sequence = operation.sequence}};
}

// X1 and X3.
Found Judge::audit_index(const Manager& manager) {
    const Scene seen = scene(manager);
    if (auto finding = find_X1(seen, [&](const Scope& scope) { return follower_.number_of(scope); })) {
        return finding;
    }
    if (auto finding = find_X3(seen)) {
        return finding;
    }
    auto finding = events_.read(seen);
    return finding ? finding : events_.compare(seen);
}

void Judge::note_hits(const Operation& operation, const Driver& driver) {
    hits_.clear();
    if (operation.verb != Verb::release || !driver.is_alive(operation.sequence)) {
        return;
    }
    const Manager& manager = driver.manager();
    const Length hits = follower_.record(operation.sequence).own_from / manager.config().block_size;
    for (std::uint32_t group = 0; group < manager.groups(); ++group) {
        const TableView table = *manager.table(driver.handle(operation.sequence), GroupId{group});
        for (std::uint32_t entry = 0; entry < std::min(hits, Length{table.size}); ++entry) {
            if (manager.pool().content(table[entry]) != no_content) {
                hits_.push_back(table[entry]);
            }
        }
    }
}

// X3: a sequence that ends takes nothing out of the index that it did not fill itself.
Found Judge::find_forgotten_hit(const Operation& operation, const Manager& manager) const {
    for (const BlockId block : hits_) {
        if (manager.pool().content(block) == no_content) {
            return Finding{Invariant::X3,
                           text("block ", to_index(block), " was hit by ", label(operation.sequence),
                                ", and leaves the index with it"),
                           {.sequence = operation.sequence, .block = block}};
        }
    }
    return std::nullopt;
}

// X3: a batch commits in its order, so what its sequences complete is stored in that order.
Found Judge::find_wrong_event_order(const Operation& operation, const Outcome& outcome, const Driver& driver) {
    const Manager& manager = driver.manager();
    const PrefixIndex* index = manager.index();
    if (index == nullptr || operation.verb != Verb::append_batch || outcome.error) {
        return std::nullopt;
    }
    using Key = std::pair<std::uint64_t, GroupId>;
    std::vector<Key> due;
    for (const Name name : operation.sequences) {
        const SequenceHandle handle = driver.handle(name);
        const Length length = manager.length(handle).value();
        for (std::uint32_t group = 0; group < manager.groups() && length % manager.config().block_size == 0; ++group) {
            const TableView table = *manager.table(handle, GroupId{group});
            const ContentId content = manager.pool().content(table[table.size - std::size_t{1}]);
            if (content != no_content) {
                due.emplace_back(index->tree().serial(content), GroupId{group});
            }
        }
    }
    const CacheEvents& events = index->events();
    const auto emitted = static_cast<std::uint64_t>(outcome.events.stored + outcome.events.removed);
    auto latest = due.begin();
    for (std::uint64_t number = std::max(events.first(), events.next() - emitted); number < events.next(); ++number) {
        const CacheEvent event = events.read(number);
        const auto at = std::ranges::find(due, Key(event.content, event.group));
        if (event.kind != CacheEvent::Kind::stored || at == due.end()) {
            continue;  // a window has dropped its block already
        }
        if (at < latest) {
            return Finding{Invariant::X3, text("event ", number,
                                               " is about a sequence that stands in the batch before "
                                               "that of the event before it")};
        }
        latest = at;
    }
    return std::nullopt;
}

// F2: a failed operation changes nothing. Nor does one that only asks.
Found Judge::find_F2(const Operation& operation, const Outcome& outcome, const Manager& manager) const {
    if (!outcome.error && !changes_nothing(operation.verb)) {
        return std::nullopt;
    }
    const std::uint64_t digest = manager.digest();
    if (digest == digest_before_) {
        return std::nullopt;
    }
    return Finding{Invariant::F2, text("the operation ended with ", spelled(outcome.error),
                                       " and the digest went from ", digest_before_, " to ", digest)};
}

// A2, F2: both rest on the digest, so it must tell states apart.
Found Judge::find_blind_digest(const Operation& operation, const Outcome& outcome, const Manager& manager) const {
    if (outcome.error || !always_changes(operation) || manager.digest() != digest_before_) {
        return std::nullopt;
    }
    return Finding{Invariant::A2,
                   text("the operation changed the state, and the digest is ", digest_before_, " still")};
}

// A1: what an operation takes is what its plan said, and what the contract says.
Found Judge::find_A1(const Operation& operation, const Outcome& outcome, const Manager& manager) const {
    const auto differs = [&](std::string what) {
        return Finding{Invariant::A1, text(label(operation.sequence), ": ", what), {.sequence = operation.sequence}};
    };
    const auto taken = static_cast<std::int64_t>(manager.statistics().blocks_taken - taken_before_);
    if (taken != outcome.step.blocks_taken) {
        return differs(text("the step names ", outcome.step.blocks_taken, " blocks, the statistics count ", taken));
    }
    if (foresight_ && foresight_->error != outcome.error) {
        return differs(
            text("the plan said ", spelled(foresight_->error), ", the operation ended with ", spelled(outcome.error)));
    }
    const auto copies = static_cast<std::int64_t>(outcome.step.copies.size());
    if (foresight_ && !outcome.error &&
        (taken != foresight_->plan.blocks_needed || copies != foresight_->plan.copies)) {
        return differs(text("the plan said ", foresight_->plan.blocks_needed, " blocks and ", foresight_->plan.copies,
                            " copies, the operation took ", taken, " and ", copies));
    }
    const std::int64_t idle = manager.pool().idle_blocks();
    if (operation.verb == Verb::admit && !outcome.error && manager.sequences() > 1 &&
        idle < manager.config().watermark) {
        return differs(text("it was admitted, and of the ", manager.config().watermark, " blocks of the watermark ",
                            idle, " are left"));
    }
    const bool is_counted = forecast_.taking && !forecast_.is_too_long;
    if (foresight_ && is_counted && foresight_->plan.blocks_needed != forecast_.taking->blocks) {
        return differs(text("the plan said ", foresight_->plan.blocks_needed, " blocks, ", forecast_.taking->blocks,
                            " are needed"));
    }
    if (auto what = contradiction(forecast_, outcome, manager.config().blocks)) {
        return differs(*what);
    }
    return std::nullopt;
}

// A2: equal call sequences give equal results and equal states.
Found Judge::find_A2(const Operation& operation, const Outcome& outcome, const Driver& driver) {
    const Outcome other = twin_->apply(operation);
    const auto differs = [](const char* what) {
        return Finding{Invariant::A2, text("a second Manager that received the same calls gives other ", what)};
    };
    if (other.error != outcome.error || other.cached_tokens != outcome.cached_tokens ||
        other.plan.has_value() != outcome.plan.has_value()) {
        return differs("results");
    }
    if (!std::ranges::equal(other.step.slots, outcome.step.slots) ||
        !std::ranges::equal(other.step.copies, outcome.step.copies)) {
        return differs("slots or copies");
    }
    if (twin_->handle(operation.sequence) != driver.handle(operation.sequence) ||
        twin_->handle(operation.child) != driver.handle(operation.child)) {
        return differs("handles");
    }
    if (twin_->manager().digest() != driver.manager().digest()) {
        return differs("tables or pool");
    }
    return std::nullopt;
}

// Tables first: a wrong one also leads to the wrong payload.
Found Judge::read_back(const Scene& look, const Record& record) const {
    Found finding = audit_sequence(look, record);
    return finding || follower_.payload() == nullptr ? finding : follower_.payload()->compare(look, record);
}

Found Judge::audit_touched(const Operation& operation, const Manager& manager) const {
    const Scene look = scene(manager);
    for (const Record* record : follower_.living()) {
        if (is_touched(operation, record->name)) {
            if (auto finding = read_back(look, *record)) {
                return finding;
            }
        }
    }
    return std::nullopt;
}

Found Judge::audit(const Driver& driver, const Operation* last) {
    const Manager& manager = driver.manager();
    follower_.poison_idle_blocks(manager.pool());
    const Scene look = scene(manager);
    for (const Record* record : follower_.living()) {
        if (driver.handle(record->name) != record->handle || !manager.is_alive(record->handle)) {
            return Finding{
                Invariant::T1, text(look.label(record->name), ": its handle is stale"), {.sequence = record->name}};
        }
    }
    if (auto finding = audit_whole(look)) {
        return finding;
    }
    for (const Record* record : follower_.living()) {
        if (auto finding = read_back(look, *record)) {
            const bool is_cell = finding->invariant == Invariant::T3 || finding->invariant == Invariant::T4;
            if (is_cell && last != nullptr && !is_touched(*last, record->name)) {
                return Finding{Invariant::F1,
                               text(finding->what, " (the operation worked on ", look.label(last->sequence), ")"),
                               finding->site};
            }
            return finding;
        }
    }
    auto finding = find_wrong_exports(look);
    return finding ? finding : audit_index(manager);
}

CheckedManager::WindowContents Judge::window(Name name, GroupId group, const Manager& manager) const {
    const Record& record = follower_.record(name);
    const spec::Rule& rule = follower_.rules().at(to_index(group));
    const Length length = manager.length(record.handle).value();
    CheckedManager::WindowContents contents;
    for (const HeldCell& held : interpret(manager.table(record.handle, group).value(), follower_.shadow(), length)) {
        if (spec::visible(length, rule.window, 0).has(held.position)) {
            contents.tokens.push_back(held.cell.token);
            contents.positions.push_back(held.position);
        }
    }
    return contents;
}

}  // namespace kvpane::invariants
