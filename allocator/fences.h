// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <kvpane/allocator/digest.h>
#include <kvpane/allocator/error.h>
#include <kvpane/allocator/ids.h>

namespace kvpane {

// Which device steps are open, and since when.
//
// Steps may end in any order. Each begin gets the next epoch; a block given up now carries the latest epoch, and may be
// taken again once every step with an epoch up to that one has ended: exactly the steps that were open at that moment,
// since a step that begins later has a later epoch.
class Fences {
public:
    Fences() { open_.reserve(64); }

    // ERRORS invalid_argument: a step of this id is open.
    expected<void> begin(StepId step);

    // ERRORS invalid_argument: no step of this id is open.
    expected<void> end(StepId step) noexcept;

    bool any_open() const noexcept { return !open_.empty(); }

    // The epoch that a block given up now has to wait for. Grows with every begin.
    std::uint64_t current_epoch() const noexcept { return epoch_; }

    // Whether every step that was open at `epoch` has ended. COST O(1).
    bool passed(std::uint64_t epoch) const noexcept { return open_.empty() || open_.front().epoch > epoch; }

    // How many of the open steps were open at `epoch` already: the first ones of the list.
    std::size_t open_at(std::uint64_t epoch) const noexcept {
        return static_cast<std::size_t>(
            std::ranges::count_if(open_, [epoch](const Open& step) { return step.epoch <= epoch; }));
    }

    void add_to(Digest& digest) const noexcept;

private:
    friend struct Tamper;

    struct Open {
        StepId step;
        std::uint64_t epoch;
    };

    std::vector<Open> open_;  // by epoch, oldest first; a handful: one for each step that an engine overlaps
    std::uint64_t epoch_ = 0;
};

}  // namespace kvpane
