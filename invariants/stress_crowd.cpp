// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/stress_crowd.h>

#include <utility>

namespace kvpane::invariants {

void NameSet::insert(Name name) {
    if (!contains(name)) {
        where_[name] = size();
        names_.push_back(name);
    }
}

void NameSet::erase(Name name) noexcept {
    if (!contains(name)) {
        return;
    }
    const std::uint32_t hole = where_[name];
    names_[hole] = names_.back();
    where_[names_[hole]] = hole;
    names_.pop_back();
    where_[name] = nowhere;
}

void NameSet::shuffle_front(std::uint32_t count, Random& random) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint32_t other = i + static_cast<std::uint32_t>(random.below(size() - i));
        std::swap(names_[i], names_[other]);
        std::swap(where_[names_[i]], where_[names_[other]]);
    }
}

Crowd::Crowd(std::uint32_t most) : members_(most), ready_(most), drafting_(most), unfinished_(most) {
    unborn_.reserve(most);
    for (Name name = most; name > 0; --name) {
        unborn_.push_back(name - 1);
    }
}

Name Crowd::pick(Random& random) const noexcept {
    const auto i = static_cast<std::uint32_t>(random.below(size()));
    return i < ready_.size() ? ready_[i] : drafting_[i - ready_.size()];
}

void Crowd::born(Length length, Length prompt_left) {
    const Name name = unborn_.back();
    unborn_.pop_back();
    set(name, {length, 0, prompt_left});
}

void Crowd::ended(Name name) {
    ready_.erase(name);
    drafting_.erase(name);
    unfinished_.erase(name);
    unborn_.push_back(name);
}

void Crowd::set(Name name, const Member& member) {
    members_[name] = member;
    const bool drafting = member.reserved > 0;
    (drafting ? ready_ : drafting_).erase(name);
    (drafting ? drafting_ : ready_).insert(name);
    if (!drafting && member.prompt_left > 0) {
        unfinished_.insert(name);
    } else {
        unfinished_.erase(name);
    }
}

}  // namespace kvpane::invariants
