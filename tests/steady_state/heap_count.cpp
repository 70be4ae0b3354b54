// SPDX-License-Identifier: Apache-2.0
#include "steady_state/heap_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::uint64_t> calls{0};
std::atomic<std::uint64_t> until_failure{0};

void fail_if_due() {
    if (until_failure > 0 && --until_failure == 0) {
        throw std::bad_alloc{};
    }
}

void* counted_new(std::size_t size) {
    ++calls;
    fail_if_due();
    if (void* memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc{};
}

void* counted_new(std::size_t size, std::align_val_t alignment) {
    ++calls;
    fail_if_due();
    const auto align = static_cast<std::size_t>(alignment);
    if (void* memory = std::aligned_alloc(align, (size + align - 1) / align * align)) {
        return memory;
    }
    throw std::bad_alloc{};
}

void counted_delete(void* memory) noexcept {
    if (memory != nullptr) {
        ++calls;
        std::free(memory);
    }
}

}  // namespace

// The array and nothrow forms of the standard library call these.
void* operator new(std::size_t size) { return counted_new(size); }
void* operator new(std::size_t size, std::align_val_t alignment) { return counted_new(size, alignment); }
void operator delete(void* memory) noexcept { counted_delete(memory); }
void operator delete(void* memory, std::size_t) noexcept { counted_delete(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { counted_delete(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { counted_delete(memory); }

std::uint64_t kvpane::testing::heap_calls() { return calls.load(); }

std::uint64_t kvpane::testing::fail_allocation(std::uint64_t n) { return until_failure.exchange(n); }
