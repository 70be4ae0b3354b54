// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/checked_manager.h>
#include <kvpane/invariants/operation.h>

namespace kvpane::invariants {

// The least engine around a Manager: maps the names of the operations to handles and makes the calls. It judges nothing.
class Driver {
public:
    explicit Driver(const Config& config) : manager_(config) {}

    // COST that of the Manager's call; nothing is allocated in steady state.
    Outcome apply(const Operation& operation);

    // What the Manager's own plan says about an operation that takes blocks; nothing where the operation would be
    // refused before a plan is made, or takes no blocks.
    struct Foresight {
        std::optional<Error> error;
        Plan plan;
    };
    std::optional<Foresight> foresee(const Operation& operation);

    Manager& manager() noexcept { return manager_; }
    const Manager& manager() const noexcept { return manager_; }

    // Of a name that is not alive: its last handle, which is stale, so that the Manager has to refuse it. Of a name that
    // never lived: one whose slot serves another sequence by now, most often.
    SequenceHandle handle(Name name) const noexcept;
    bool is_alive(Name name) const noexcept { return name < named_.size() && named_[name].born != 0; }
    std::vector<Name> living() const;  // in order of creation

private:
    friend struct kvpane::Tamper;

    struct Named {
        SequenceHandle handle;
        std::uint64_t born = 0;  // counts creations from 1; 0 when not alive
    };

    Outcome run(const Operation& operation);
    Outcome admit(const Operation& operation);
    Outcome on_the_cache(const Operation& operation);
    Outcome fork(const Operation& operation);
    Outcome release(const Operation& operation);
    Outcome plan(const Operation& operation);
    Prompt prompt(const Operation& operation);
    std::span<const SequenceHandle> handles(const std::vector<Name>& names);
    std::span<const Reservation> reservations(const Operation& reserve);
    void call(Name name, SequenceHandle handle);

    Manager manager_;
    std::vector<Named> named_;  // by Name
    SequenceHandle stale_;  // of a name that was used again
    std::uint64_t created_ = 0;
    std::vector<SequenceHandle> handles_;      // of the current batch
    std::vector<Reservation> reservations_;
    std::vector<kvpane::ExternalContent> extra_;  // of the current prompt
};

}  // namespace kvpane::invariants
