// SPDX-License-Identifier: Apache-2.0
#include "emulator/fiber.h"

#include <cstdint>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__)
#    define KVPANE_ASAN 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define KVPANE_ASAN 1
#    endif
#endif
#ifdef KVPANE_ASAN
#    include <sanitizer/asan_interface.h>
#    include <sanitizer/common_interface_defs.h>
#else
#    define __sanitizer_start_switch_fiber(fake_stack, bottom, bytes) static_cast<void>(fake_stack)
#    define __sanitizer_finish_switch_fiber(fake_stack, bottom, bytes) static_cast<void>(fake_stack)
#    define __asan_unpoison_memory_region(memory, bytes) static_cast<void>(memory)
#endif

namespace kvpane::emulator {

Fiber::Fiber() : stack_(std::make_unique_for_overwrite<std::byte[]>(stack_bytes)) {}

void Fiber::start(Entry entry, void* argument) {
    entry_ = entry;
    argument_ = argument;
    fake_stack_ = nullptr;
    __asan_unpoison_memory_region(stack_.get(), stack_bytes);  // of a fiber that was left in the middle
    if (getcontext(&context_) != 0) {
        std::abort();
    }
    context_.uc_stack.ss_sp = stack_.get();
    context_.uc_stack.ss_size = stack_bytes;
    context_.uc_link = nullptr;
    // makecontext passes ints only.
    const auto self = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&context_, reinterpret_cast<void (*)()>(enter), 2, static_cast<unsigned>(self),
                static_cast<unsigned>(self >> 32U));
}

void Fiber::enter(unsigned low, unsigned high) {
    auto* const self = reinterpret_cast<Fiber*>(std::uintptr_t{high} << 32U | low);
    __sanitizer_finish_switch_fiber(nullptr, &self->resumer_stack_, &self->resumer_bytes_);
    self->entry_(self->argument_);
    self->leave(true);
}

void Fiber::resume() {
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, stack_.get(), stack_bytes);
    swapcontext(&resumer_, &context_);
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
}

void Fiber::pause() { leave(false); }

void Fiber::leave(bool for_good) {
    __sanitizer_start_switch_fiber(for_good ? nullptr : &fake_stack_, resumer_stack_, resumer_bytes_);
    swapcontext(&context_, &resumer_);
    __sanitizer_finish_switch_fiber(fake_stack_, &resumer_stack_, &resumer_bytes_);
}

}  // namespace kvpane::emulator
