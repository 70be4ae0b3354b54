// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include <kvpane/blocktable/manager.h>
#include <kvpane/blocktable/observer.h>

namespace kvpane {

// A Manager has one observer; this is one that stands for several. Each sees what it wants to see, whatever the others
// want: a sample stays a sample beside a journal of everything.
//
//     kvpane::invariants::Recorder recorder(kv, sink);
//     kvpane::invariants::Inspector inspector(kv);
//     kvpane::Observers both(kv, {&recorder, &inspector});   // in this order, before and after each operation
//
class Observers final : public Observer {
public:
    // Attaches itself in the place of who is attached now. The observers must outlive it, and the Manager too; at its
    // end nobody is attached.
    Observers(Manager& manager, std::initializer_list<Observer*> observers);
    ~Observers() override;

    void before(const Manager& manager, const Call& call) override;
    std::uint32_t after(const Manager& manager, const Call& call, const CallResult& result) override;

private:
    struct Listener {
        Observer* observer;
        std::uint32_t unseen = 0;  // operations that it does not want to see
    };

    Manager& manager_;
    std::vector<Listener> listeners_;
};

}  // namespace kvpane
