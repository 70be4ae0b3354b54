// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <memory>

namespace kvpane::emulator {

// A function with a stack of its own, which runs until it says pause(). AddressSanitizer is told of each change.
class Fiber {
public:
    using Entry = void (*)(void* argument);

    Fiber();
    Fiber(const Fiber&) = delete;
    Fiber& operator=(const Fiber&) = delete;

    // Prepares it to run entry(argument) from the start, whatever it was in the middle of.
    void start(Entry entry, void* argument);

    // Runs it until it pauses or ends. Called by whoever is not a fiber.
    void resume();

    // Goes back to resume(). Called by the fiber.
    void pause();

private:
    static constexpr std::size_t stack_bytes = 128 * 1024;

    static void enter(unsigned low, unsigned high);
    void leave(bool for_good);

    std::unique_ptr<std::byte[]> stack_;
    ucontext_t context_{};
    ucontext_t resumer_{};
    Entry entry_ = nullptr;
    void* argument_ = nullptr;
    void* fake_stack_ = nullptr;  // AddressSanitizer's, of the fiber while it pauses
    const void* resumer_stack_ = nullptr;
    std::size_t resumer_bytes_ = 0;
};

}  // namespace kvpane::emulator
