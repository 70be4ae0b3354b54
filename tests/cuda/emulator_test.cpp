// SPDX-License-Identifier: Apache-2.0
// The emulator reports what a device would hang on, or answer at random.
#include "emulator/emulator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include <boost/test/unit_test.hpp>

namespace kvpane {

namespace {

using cuda::sync_block;
using cuda::thread_index;
using emulator::Fault;
using emulator::KernelFault;

constexpr unsigned two_warps = 64;

// Runs a kernel that is wrong, and says how that was reported.
template <class Kernel>
KernelFault fault_of(const Kernel& kernel, unsigned threads = two_warps) {
    try {
        emulator::run({.threads = threads}, kernel);
    } catch (const KernelFault& fault) {
        return fault;
    }
    BOOST_FAIL("nothing was reported");
    throw 0;
}

bool names(const KernelFault& fault, const std::string& text) {
    return std::string(fault.what()).find(text) != std::string::npos;
}

void exchange(unsigned mask, unsigned source, cuda::emulated::Where where = cuda::emulated::Where::current()) {
    int mine = 0;
    int theirs = 0;
    cuda::emulated::exchange(mask, source, &mine, &theirs, sizeof mine, where);
}

// Each thread tells its number to the next one, through shared memory.
std::vector<unsigned> neighbours(std::uint64_t seed, bool with_barrier) {
    std::vector<unsigned> out(two_warps);
    emulator::run({.threads = two_warps, .shared_bytes = two_warps * sizeof(unsigned), .seed = seed}, [&] {
        auto* const shared = reinterpret_cast<unsigned*>(cuda::shared_memory());
        const unsigned i = thread_index();
        shared[i] = i;
        if (with_barrier) {
            sync_block();
        }
        out[i] = shared[(i + 1) % two_warps];
    });
    return out;
}

constexpr unsigned tile_threads = 4 * cuda::warp_size;

void take_steps(int steps) {
    const float mine[1] = {};
    float theirs[1] = {};
    for (int i = 0; i < steps; ++i) {
        cuda::shuffle_xor(mine, theirs, 1);
    }
}

// Each warp reads the whole tile at its first step; twenty steps later it overwrites its part, as for the next tile.
// Gives the sums that the threads of eight blocks have read: one, if the barrier between is there.
std::set<unsigned> sums_of_tiles(std::uint64_t seed, bool with_barrier) {
    std::set<unsigned> sums;
    emulator::run({.grid = {8}, .threads = tile_threads, .shared_bytes = tile_threads * sizeof(unsigned), .seed = seed},
                  [&] {
                      auto* const tile = reinterpret_cast<unsigned*>(cuda::shared_memory());
                      tile[thread_index()] = thread_index();
                      sync_block();
                      take_steps(1);
                      sums.insert(std::accumulate(tile, tile + tile_threads, 0U));
                      take_steps(20);
                      if (with_barrier) {
                          sync_block();
                      }
                      tile[thread_index()] = 1000;
                  });
    return sums;
}

// Of 100 steps that each of four warps takes: how many the last one has before it when the first one has none.
int lead(std::uint64_t seed) {
    std::array<int, 4> taken{};
    int least = -1;
    emulator::run({.threads = tile_threads, .seed = seed}, [&] {
        for (int i = 0; i < 100; ++i) {
            take_steps(1);
            taken[thread_index() / cuda::warp_size] = i + 1;
        }
        least = least < 0 ? *std::ranges::min_element(taken) : least;
    });
    return 100 - least;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_emulator)

BOOST_AUTO_TEST_CASE(runs_every_thread_of_every_block_once) {
    std::vector<int> calls(2 * 3 * 4 * two_warps);
    emulator::run({.grid = {2, 3, 4}, .threads = two_warps}, [&] {
        const cuda::Index3 block = cuda::block_index();
        const cuda::Index3 grid = cuda::grid_size();
        ++calls[((block.z * grid.y + block.y) * grid.x + block.x) * cuda::thread_count() + thread_index()];
    });
    BOOST_TEST(calls == std::vector<int>(calls.size(), 1), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(gives_equal_results_for_every_order_where_barriers_are_right) {
    for (const std::uint64_t seed : {2U, 3U, 4U, 5U}) {
        BOOST_TEST(neighbours(seed, true) == neighbours(1, true), boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(gives_other_results_for_other_orders_where_a_barrier_is_missing) {
    std::set<std::vector<unsigned>> results;
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
        results.insert(neighbours(seed, false));
    }
    BOOST_TEST(results.size() > 1U);
    BOOST_TEST(results.count(neighbours(1, true)) == 0U);
}

BOOST_AUTO_TEST_CASE(lets_a_warp_run_far_ahead_in_some_blocks_and_all_advance_side_by_side_in_others) {
    std::set<int> leads;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        leads.insert(lead(seed));
    }
    BOOST_TEST(*leads.begin() < 30);
    BOOST_TEST(*leads.rbegin() == 100);
}

BOOST_AUTO_TEST_CASE(finds_a_tile_that_a_warp_far_ahead_overwrites_before_others_have_read_it) {
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
        BOOST_TEST(sums_of_tiles(seed, true) == std::set<unsigned>{127 * 128 / 2}, boost::test_tools::per_element());
        BOOST_TEST(sums_of_tiles(seed, false).size() > 1U);
    }
}

BOOST_AUTO_TEST_CASE(fills_shared_memory_with_poison_before_each_block) {
    emulator::run({.grid = {3}, .threads = 1, .shared_bytes = sizeof(float)}, [] {
        auto* const shared = reinterpret_cast<float*>(cuda::shared_memory());
        BOOST_TEST(std::isnan(*shared));
        *shared = 1;
    });
}

BOOST_AUTO_TEST_CASE(shuffles_and_counts_votes_within_a_warp) {
    emulator::run({.threads = two_warps, .seed = 9}, [] {
        const auto i = static_cast<float>(thread_index());
        const std::array<float, 2> mine = {i, -i};
        float values[2] = {mine[0], mine[1]};
        float others[2] = {};
        cuda::shuffle_xor(values, others, 5);
        const auto expected = static_cast<float>(thread_index() ^ 5U);
        BOOST_TEST(others[0] == expected);
        BOOST_TEST(others[1] == -expected);
        BOOST_TEST(cuda::ballot(thread_index() % 4 == 0) == 0x11111111U);
    });
}

BOOST_AUTO_TEST_CASE(reports_a_barrier_that_some_threads_never_reach) {
    const KernelFault fault = fault_of([] {
        if (thread_index() < 40) {
            sync_block();
        }
    });
    BOOST_CHECK(fault.fault() == Fault::divergent_barrier);
    BOOST_TEST(names(fault, "block (0,0,0), threads 0-39 at the barrier of emulator_test.cpp:"));
    BOOST_TEST(names(fault, "; 40-63 ended"));
}

BOOST_AUTO_TEST_CASE(reports_threads_that_wait_at_different_barriers) {
    const KernelFault fault = fault_of([] {
        if (thread_index() % 2 == 0) {
            sync_block();
        } else {
            sync_block();
        }
    });
    BOOST_CHECK(fault.fault() == Fault::divergent_barrier);
}

BOOST_AUTO_TEST_CASE(reports_a_deadlock_between_a_barrier_and_a_shuffle) {
    const KernelFault fault = fault_of([] {
        if (thread_index() == 7) {
            sync_block();
        }
        static_cast<void>(cuda::ballot(true));
        sync_block();
    });
    BOOST_CHECK(fault.fault() == Fault::deadlock);
    BOOST_TEST(names(fault, "7 at the barrier of"));
}

BOOST_AUTO_TEST_CASE(reports_a_shuffle_from_a_lane_that_has_ended) {
    const KernelFault fault = fault_of([] {
        if (thread_index() != 35) {
            static_cast<void>(cuda::ballot(true));
        }
    });
    BOOST_CHECK(fault.fault() == Fault::inactive_lane);
    BOOST_TEST(names(fault, "waits for lane 3, which has ended"));
}

BOOST_AUTO_TEST_CASE(reports_a_shuffle_in_a_warp_that_is_not_whole) {
    BOOST_CHECK(fault_of([] { static_cast<void>(cuda::ballot(true)); }, 20).fault() == Fault::inactive_lane);
}

BOOST_AUTO_TEST_CASE(reports_masks_without_the_lane_itself_or_its_source) {
    BOOST_CHECK(fault_of([] { exchange(0xfU, 0); }).fault() == Fault::bad_mask);
    BOOST_CHECK(fault_of([] { exchange(0x7fffffffU, 31); }).fault() == Fault::bad_mask);
}

BOOST_AUTO_TEST_CASE(reports_a_vector_load_from_an_address_that_is_not_aligned) {
    alignas(16) const std::array<std::uint32_t, 8> memory{};
    const KernelFault fault = fault_of([&] {
        std::uint32_t words[4];
        cuda::load_words(&memory[thread_index() == 3 ? 1 : 0], words);
    });
    BOOST_CHECK(fault.fault() == Fault::misaligned);
    BOOST_TEST(names(fault, "thread 3 of block (0,0,0)"));
}

BOOST_AUTO_TEST_CASE(runs_on_after_a_fault) {
    BOOST_CHECK(fault_of([] { exchange(0xfU, 0); }).fault() == Fault::bad_mask);
    BOOST_TEST(neighbours(1, true)[0] == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane
