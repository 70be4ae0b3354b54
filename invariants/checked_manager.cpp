// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/checked_manager.h>

#include <stdexcept>

#include <kvpane/invariants/driver.h>
#include <kvpane/invariants/journal.h>
#include <kvpane/invariants/journal_writer.h>
#include <kvpane/invariants/judge.h>

namespace kvpane::invariants {

CheckedManager::CheckedManager(const Config& config, CheckMode mode, Sampling sampling,
                               const std::optional<PayloadOptions>& payload)
    : driver_(std::make_unique<Driver>(config)),
      judge_(mode == CheckMode::off ? nullptr : std::make_unique<Judge>(config, mode == CheckMode::every, payload)),
      mode_(mode), sampling_(sampling) {}

CheckedManager::~CheckedManager() = default;

Outcome CheckedManager::apply(const Operation& operation, bool check_now) {
    ++operations_;
    if (journal_ != nullptr) {
        journal_->announce(operation);
    }
    const Depth depth = depth_now(check_now);
    prepare(operation, depth);
    Outcome outcome = driver_->apply(operation);
    if (journal_ != nullptr) {
        write_down(outcome);
    }
    conclude(operation, outcome, depth);
    return outcome;
}

void CheckedManager::write_down(const Outcome& outcome) noexcept {
    const auto digest = journal_->wants_digests() ? std::optional(driver_->manager().digest()) : std::nullopt;
    journal_->conclude(answer_of(outcome, digest));
}

void CheckedManager::prepare(const Operation& operation, Depth depth) {
    if (is_judging()) {
        judge_->before(operation, operations_, *driver_, depth);
    }
}

void CheckedManager::conclude(const Operation& operation, const Outcome& outcome, Depth depth) {
    if (is_judging()) {
        checks_ += depth == Depth::follow ? 0 : 1;
        note(judge_->after(operation, outcome, *driver_, depth));
        if (violation_) {
            violation_->due = judge_->due();
        }
    }
}

void CheckedManager::audit() {
    if (is_judging()) {
        ++checks_;
        note(judge_->audit(*driver_));
    }
}

Depth CheckedManager::depth_now(bool check_now) const noexcept {
    const auto is_due = [&](std::int64_t every) { return every > 0 && operations_ % every == 0; };
    if (mode_ == CheckMode::every || check_now || is_due(sampling_.all_every)) {
        return Depth::all;
    }
    return is_due(sampling_.touched_every) ? Depth::touched : Depth::follow;
}

void CheckedManager::note(Found finding) {
    if (finding) {
        violation_ = judge_->report(std::move(*finding), operations_, driver_->manager());
    }
}

const Manager& CheckedManager::manager() const noexcept { return driver_->manager(); }

std::optional<SequenceHandle> CheckedManager::handle(Name name) const {
    return driver_->is_alive(name) ? std::optional(driver_->handle(name)) : std::nullopt;
}

std::vector<Name> CheckedManager::living() const { return driver_->living(); }

CheckedManager::WindowContents CheckedManager::window(Name name, GroupId group) const {
    if (judge_ == nullptr || !driver_->is_alive(name)) {
        throw std::logic_error("window() needs a living sequence and a mode other than off");
    }
    return judge_->window(name, group, driver_->manager());
}

void CheckedManager::spell(std::vector<std::string> spellings) {
    if (judge_ != nullptr) {
        judge_->spell(std::move(spellings));
    }
}

}  // namespace kvpane::invariants
