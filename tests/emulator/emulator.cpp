// SPDX-License-Identifier: Apache-2.0
#include "emulator/emulator.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <numeric>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "emulator/fiber.h"
#include "emulator/thread_order.h"

namespace kvpane::emulator {

namespace {

using cuda::warp_size;
using cuda::emulated::Place;
using cuda::emulated::Where;

enum class State : std::uint8_t { ready, at_barrier, in_exchange, ended };

// What a lane brings to a shuffle.
struct Exchange {
    unsigned mask = 0;
    unsigned source = 0;
    const void* mine = nullptr;
    void* theirs = nullptr;
    std::size_t bytes = 0;
};

bool is_same(const Where& a, const Where& b) { return a.line == b.line && std::strcmp(a.file, b.file) == 0; }

std::string text_of(const Where& where) {
    const std::string file = where.file;
    return file.substr(file.rfind('/') + 1) + ":" + std::to_string(where.line);
}

std::string text_of(const cuda::Index3& index) {
    return std::to_string(index.x) + "," + std::to_string(index.y) + "," + std::to_string(index.z);
}

struct Thread {
    Place place;
    State state = State::ready;
    Where where;
    Exchange exchange;
};

class Block {
public:
    Block(const Launch& launch, const std::function<void()>& kernel, std::deque<Fiber>& fibers, std::mt19937_64& random)
        : launch_(launch), kernel_(kernel), fibers_(fibers), order_(random) {
        while (fibers_.size() < launch.threads) {
            fibers_.emplace_back();
        }
    }

    void run(const cuda::Index3& index);

    const Place& place() const { return threads_[running_].place; }
    void wait_for_block(const Where& where) { wait(State::at_barrier, where); }
    void take_part(const Exchange& exchange, const Where& where);
    void refuse(Fault fault, const std::string& what, const Where& where);

private:
    static void enter(void* block) { static_cast<Block*>(block)->run_thread(); }
    void run_thread();
    void wait(State state, const Where& where);
    bool release_barrier();
    void finish_exchange();
    unsigned lanes_of(unsigned warp, const Thread& like) const;
    [[noreturn]] void explain_standstill() const;
    std::string waiting() const;
    std::string name() const { return "block (" + text_of(threads_[0].place.block) + ")"; }

    const Launch& launch_;
    const std::function<void()>& kernel_;
    std::deque<Fiber>& fibers_;
    std::vector<Thread> threads_;
    ThreadOrder order_;
    unsigned running_ = 0;
    std::exception_ptr failure_;
};

// The emulator runs one block at a time in each thread of the host.
thread_local Block* current = nullptr;
thread_local BarrierProbe* probe = nullptr;

void Block::run(const cuda::Index3& index) {
    const auto shared = std::make_unique_for_overwrite<std::byte[]>(launch_.shared_bytes);
    std::fill_n(shared.get(), launch_.shared_bytes, std::byte{0xff});
    threads_.assign(launch_.threads, {});
    order_.start(launch_.threads);
    for (unsigned i = 0; i < launch_.threads; ++i) {
        threads_[i].place = {launch_.grid, index, launch_.threads, i, shared.get()};
        fibers_[i].start(enter, this);
    }
    do {
        while (const std::optional<unsigned> next = order_.take()) {
            running_ = *next;
            fibers_[running_].resume();
            if (failure_) {
                std::rethrow_exception(failure_);
            }
        }
    } while (release_barrier());
}

void Block::run_thread() {
    try {
        kernel_();
    } catch (...) {
        failure_ = std::current_exception();
    }
    threads_[running_].state = State::ended;
}

void Block::wait(State state, const Where& where) {
    Thread& thread = threads_[running_];
    thread.state = state;
    thread.where = where;
    fibers_[running_].pause();
}

// Called when nobody can go on: true if all may, now.
bool Block::release_barrier() {
    if (std::ranges::all_of(threads_, [](const Thread& thread) { return thread.state == State::ended; })) {
        return false;
    }
    const bool all_are_here = std::ranges::all_of(threads_, [&](const Thread& thread) {
        return thread.state == State::at_barrier && is_same(thread.where, threads_[0].where);
    });
    if (!all_are_here) {
        explain_standstill();
    }
    for (unsigned i = 0; i < launch_.threads; ++i) {
        threads_[i].state = State::ready;
        order_.add(i);
    }
    return true;
}

void Block::take_part(const Exchange& exchange, const Where& where) {
    const unsigned lane = running_ % warp_size;
    if ((exchange.mask >> lane & 1U) == 0 || exchange.source >= warp_size ||
        (exchange.mask >> exchange.source & 1U) == 0) {
        refuse(Fault::bad_mask, "a mask without the lane itself, or without the lane that it reads", where);
    }
    threads_[running_].exchange = exchange;
    threads_[running_].state = State::in_exchange;
    threads_[running_].where = where;
    finish_exchange();
    fibers_[running_].pause();
}

// The lanes that wait in the same exchange as `like`.
unsigned Block::lanes_of(unsigned warp, const Thread& like) const {
    unsigned lanes = 0;
    for (unsigned lane = 0; lane < warp_size && warp * warp_size + lane < launch_.threads; ++lane) {
        const Thread& thread = threads_[warp * warp_size + lane];
        const bool is_here = thread.state == State::in_exchange && is_same(thread.where, like.where) &&
                             thread.exchange.mask == like.exchange.mask && thread.exchange.bytes == like.exchange.bytes;
        lanes |= static_cast<unsigned>(is_here) << lane;
    }
    return lanes;
}

// If the running thread was the last of its exchange.
void Block::finish_exchange() {
    const unsigned warp = running_ / warp_size;
    const unsigned mask = threads_[running_].exchange.mask;
    if ((lanes_of(warp, threads_[running_]) & mask) != mask) {
        return;
    }
    for (unsigned lane = 0; lane < warp_size; ++lane) {
        if ((mask >> lane & 1U) != 0) {
            Thread& thread = threads_[warp * warp_size + lane];
            const Thread& source = threads_[warp * warp_size + thread.exchange.source];
            std::memcpy(thread.exchange.theirs, source.exchange.mine, thread.exchange.bytes);
            thread.state = State::ready;
            order_.add(warp * warp_size + lane);
        }
    }
}

void Block::refuse(Fault fault, const std::string& what, const Where& where) {
    throw KernelFault(fault, what + ": thread " + std::to_string(running_) + " of " + name() + " at " + text_of(where));
}

// Where the threads are, those next to each other at the same place in one.
std::string Block::waiting() const {
    std::string text;
    for (unsigned first = 0; first < launch_.threads;) {
        const Thread& thread = threads_[first];
        unsigned behind = first + 1;
        while (behind < launch_.threads && threads_[behind].state == thread.state &&
               (thread.state == State::ended || is_same(threads_[behind].where, thread.where))) {
            ++behind;
        }
        const std::string what = thread.state == State::ended        ? " ended"
                                 : thread.state == State::at_barrier ? " at the barrier of " + text_of(thread.where)
                                                                     : " in the exchange of " + text_of(thread.where);
        text += (text.empty() ? "" : "; ") + std::to_string(first) +
                (behind - first > 1 ? "-" + std::to_string(behind - 1) : "") + what;
        first = behind;
    }
    return text;
}

void Block::explain_standstill() const {
    bool is_exchange = false;
    for (unsigned i = 0; i < launch_.threads; ++i) {
        if (threads_[i].state != State::in_exchange) {
            continue;
        }
        is_exchange = true;
        for (unsigned lane = 0; lane < warp_size; ++lane) {
            const unsigned other = i / warp_size * warp_size + lane;
            const bool is_asked = (threads_[i].exchange.mask >> lane & 1U) != 0;
            if (is_asked && (other >= launch_.threads || threads_[other].state == State::ended)) {
                throw KernelFault(Fault::inactive_lane, "thread " + std::to_string(i) + " waits for lane " +
                                                            std::to_string(lane) + ", which has ended: " + name() +
                                                            ", threads " + waiting());
            }
        }
    }
    throw KernelFault(is_exchange ? Fault::deadlock : Fault::divergent_barrier, name() + ", threads " + waiting());
}

}  // namespace

void run(const Launch& launch, const std::function<void()>& kernel) {
    static thread_local std::deque<Fiber> fibers;
    std::mt19937_64 random(launch.seed);
    Block block(launch, kernel, fibers, random);
    struct Restore {
        Block* before;
        ~Restore() { current = before; }
    } const restore{current};
    current = &block;

    // Blocks come in any order, too.
    std::vector<std::uint64_t> order(std::size_t{launch.grid.x} * launch.grid.y * launch.grid.z);
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::shuffle(order, random);
    for (const std::uint64_t i : order) {
        block.run({static_cast<unsigned>(i % launch.grid.x), static_cast<unsigned>(i / launch.grid.x % launch.grid.y),
                   static_cast<unsigned>(i / launch.grid.x / launch.grid.y)});
    }
}

BarrierProbe::BarrierProbe(std::string left_out) : left_out_(std::move(left_out)), before_(probe) { probe = this; }

BarrierProbe::~BarrierProbe() { probe = before_; }

bool BarrierProbe::leaves_out(const Where& where) {
    const std::string place = text_of(where);
    reached_.insert(place);
    return place == left_out_;
}

}  // namespace kvpane::emulator

namespace kvpane::cuda::emulated {

const Place& place() { return emulator::current->place(); }

void wait_for_block(const Where& where) {
    if (emulator::probe == nullptr || !emulator::probe->leaves_out(where)) {
        emulator::current->wait_for_block(where);
    }
}

void exchange(unsigned mask, unsigned source, const void* mine, void* theirs, std::size_t bytes, const Where& where) {
    emulator::current->take_part({mask, source, mine, theirs, bytes}, where);
}

void must_be_aligned(const void* address, std::size_t alignment, const Where& where) {
    if (reinterpret_cast<std::uintptr_t>(address) % alignment != 0) {
        emulator::current->refuse(emulator::Fault::misaligned,
                                  "an address that is no multiple of " + std::to_string(alignment), where);
    }
}

}  // namespace kvpane::cuda::emulated
