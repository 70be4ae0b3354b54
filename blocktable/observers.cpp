// SPDX-License-Identifier: Apache-2.0
#include <kvpane/blocktable/observers.h>

#include <algorithm>
#include <limits>

namespace kvpane {

Observers::Observers(Manager& manager, std::initializer_list<Observer*> observers) : manager_(manager) {
    for (Observer* observer : observers) {
        listeners_.push_back({observer});
    }
    manager_.attach(this);
}

Observers::~Observers() { manager_.attach(nullptr); }

void Observers::before(const Manager& manager, const Call& call) {
    for (const Listener& listener : listeners_) {
        if (listener.unseen == 0) {
            listener.observer->before(manager, call);
        }
    }
}

// Who did not want to see this operation has one less to leave out; what nobody wants to see is left out for all.
std::uint32_t Observers::after(const Manager& manager, const Call& call, const CallResult& result) {
    std::uint32_t nobody_sees = std::numeric_limits<std::uint32_t>::max();
    for (Listener& listener : listeners_) {
        listener.unseen = listener.unseen > 0 ? listener.unseen - 1 : listener.observer->after(manager, call, result);
        nobody_sees = std::min(nobody_sees, listener.unseen);
    }
    for (Listener& listener : listeners_) {
        listener.unseen -= nobody_sees;
    }
    return nobody_sees;
}

}  // namespace kvpane
