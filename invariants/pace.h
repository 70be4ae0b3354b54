// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace kvpane::invariants {

// The time since a run began, and when it is time to tell somebody how far it is. Nothing is ever decided by it.
class Pace {
public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - begun_).count(); }

    // True about every 50 ms.
    bool due() {
        const auto now = Clock::now();
        if (now - told_ < std::chrono::milliseconds(50)) {
            return false;
        }
        told_ = now;
        return true;
    }

private:
    using Clock = std::chrono::steady_clock;

    Clock::time_point begun_ = Clock::now();
    Clock::time_point told_ = begun_;
};

}  // namespace kvpane::invariants
