// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <string>

#include <kvpane/invariants/checked_manager.h>

#include "invariants/expect_sound.h"
#include "invariants/operations.h"
#include "support/kv.h"
#include "support/tamper.h"

namespace kvpane::invariants {

// The event that nothing is known by this content any more.
inline CacheEvent removal(std::uint64_t content) {
    CacheEvent event;
    event.kind = CacheEvent::Kind::removed;
    event.content = content;
    return event;
}

// A checked Manager in mode `every`, and the hands to break its state.
struct Broken {
    CheckedManager checked;

    explicit Broken(const Config& config) : checked(config, CheckMode::every) {}

    void run(const Operation& operation) {
        BOOST_TEST_REQUIRE(!checked.apply(operation).error.has_value());
        expect_sound();
    }

    void expect_sound() const { invariants::expect_sound(checked.violation()); }

    // The violation is this one and its sentence says where.
    void expect(Invariant invariant, const std::string& what) {
        BOOST_TEST_REQUIRE(checked.violation().has_value());
        BOOST_TEST(number(checked.violation()->invariant) == number(invariant), checked.violation()->what);
        BOOST_TEST(checked.violation()->what.find(what) != std::string::npos, checked.violation()->what);
    }

    // The same after a full audit.
    void audit_expects(Invariant invariant, const std::string& what) {
        checked.audit();
        expect(invariant, what);
    }

    Manager& kv() { return Tamper::manager(checked); }
    SequenceHandle handle(Name name) const { return checked.handle(name).value(); }
    BlockTable& table(Name name, GroupId group = GroupId{0}) { return Tamper::table(kv(), handle(name), group); }
    BlockId block(Name name, std::uint32_t entry, GroupId group = GroupId{0}) { return table(name, group)[entry]; }
};

}  // namespace kvpane::invariants
