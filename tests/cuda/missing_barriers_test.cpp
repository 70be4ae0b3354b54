// SPDX-License-Identifier: Apache-2.0
// No barrier of the kernels can be left out without the emulator's noticing: the answer becomes another one under one
// order of threads or another.
#include <algorithm>
#include <array>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/cuda/ops_launch.cuh>

#include "cuda/emulated_attention.h"
#include "cuda/emulated_launch.h"
#include "emulator/emulator.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using emulator::BarrierProbe;
using testing::Answer;
using testing::AttentionCase;
using testing::by_emulator;

// The bits of all that the kernels with barriers give.
class Bits {
public:
    template <class T>
    void add(const std::vector<T>& values) {
        const auto* const first = reinterpret_cast<const std::byte*>(values.data());
        bytes_.insert(bytes_.end(), first, first + values.size() * sizeof(T));
    }

    friend bool operator==(const Bits&, const Bits&) = default;

private:
    std::vector<std::byte> bytes_;
};

Bits run_kernels(std::uint64_t order) {
    Bits bits;
    for (const std::vector<std::int32_t>& queries : {std::vector<std::int32_t>{}, std::vector<std::int32_t>{2, 40}}) {
        const AttentionCase made({.kv_heads = 1, .group = 2, .lengths = {16, 80}, .queries = queries}, testing::seed());
        const Answer answer = by_emulator(made.problem(), order);
        bits.add(answer.out);
        bits.add(answer.lse);
    }
    const AttentionCase made({.lengths = {80}}, testing::seed());
    const std::array blocks = {FilledBlock{BlockId{1}, 16}, FilledBlock{BlockId{2}, 16}, FilledBlock{BlockId{3}, 16}};
    std::vector<std::uint64_t> prints(blocks.size());
    testing::EmulatedLaunch launch(order);
    BOOST_REQUIRE(cuda::run_fingerprint_blocks(launch, made.store.view(), blocks, prints));
    bits.add(prints);
    return bits;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(barriers_of_the_kernels)

BOOST_AUTO_TEST_CASE(are_missed_each_when_it_is_left_out) {
    const BarrierProbe all;
    const Bits right = run_kernels(1);
    BOOST_TEST(all.reached().size() == 8U);  // one of decode, six of prefill, one of fingerprints
    for (const std::string& place : std::set(all.reached())) {
        const BarrierProbe without(place);
        constexpr std::array<std::uint64_t, 4> orders = {1, 2, 3, 4};
        BOOST_TEST_CONTEXT("without the barrier of " << place) {
            BOOST_TEST(std::ranges::any_of(orders, [&](std::uint64_t order) { return run_kernels(order) != right; }));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane
