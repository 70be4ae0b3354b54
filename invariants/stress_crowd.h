// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/invariants/operation.h>
#include <kvpane/invariants/random.h>

namespace kvpane::invariants {

// A set of names that gives a random one in O(1), and the same one for the same history.
class NameSet {
public:
    explicit NameSet(std::uint32_t most) : where_(most, nowhere) { names_.reserve(most); }

    bool empty() const noexcept { return names_.empty(); }
    std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(names_.size()); }
    bool contains(Name name) const noexcept { return where_[name] != nowhere; }
    Name operator[](std::uint32_t i) const noexcept { return names_[i]; }

    void insert(Name name);
    void erase(Name name) noexcept;  // does nothing when it is not in

    // REQUIRES not empty.
    Name pick(Random& random) const noexcept { return names_[random.below(names_.size())]; }

    // Brings `count` random names, in random order, to the front. REQUIRES count <= size(). COST O(count).
    void shuffle_front(std::uint32_t count, Random& random) noexcept;

private:
    static constexpr std::uint32_t nowhere = 0xffffffffU;

    std::vector<Name> names_;
    std::vector<std::uint32_t> where_;  // [most] index into names_
};

// What the stress generator must remember of the sequences to draw operations that make sense: little enough to be
// kept while checks are off. Every member is O(1).
class Crowd {
public:
    struct Member {
        Length length = 0;
        Length reserved = 0;
        Length prompt_left = 0;  // [tokens] of a prompt that is fed in chunks, still to come
    };

    // Names are 0..most-1; `most` itself never lives.
    explicit Crowd(std::uint32_t most);

    std::uint32_t size() const noexcept { return ready_.size() + drafting_.size(); }
    bool full() const noexcept { return unborn_.empty(); }
    Name stranger() const noexcept { return static_cast<Name>(members_.size()); }
    Name next_name() const noexcept { return unborn_.back(); }  // REQUIRES !full()
    const Member& operator[](Name name) const noexcept { return members_[name]; }
    bool contains(Name name) const noexcept { return ready_.contains(name) || drafting_.contains(name); }

    NameSet& ready() noexcept { return ready_; }  // nothing reserved
    const NameSet& ready() const noexcept { return ready_; }
    const NameSet& drafting() const noexcept { return drafting_; }      // some cells reserved
    const NameSet& unfinished() const noexcept { return unfinished_; }  // nothing reserved, some of the prompt left
    Name pick(Random& random) const noexcept;                           // of all. REQUIRES size() > 0

    void born(Length length, Length prompt_left);  // as next_name()
    void ended(Name name);
    void set(Name name, const Member& member);  // REQUIRES it lives

private:
    std::vector<Member> members_;  // [most]
    std::vector<Name> unborn_;     // a stack: names are used again, last ended first
    NameSet ready_;
    NameSet drafting_;
    NameSet unfinished_;
};

}  // namespace kvpane::invariants
