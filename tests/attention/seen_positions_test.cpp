// SPDX-License-Identifier: Apache-2.0
// Who sees what, and that nobody else has any influence.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/elements.h>
#include <kvpane/attention/seen_positions.h>

#include "attention/attention_case.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::AttentionCase;
using testing::by_host;

bool contains(const SeenPositions& seen, Length q) {
    return (q >= seen.sink_begin && q < seen.sink_end) || (q >= seen.run_begin && q < seen.run_end);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(seen_positions)

BOOST_AUTO_TEST_CASE(are_those_of_the_sentence_in_the_contract) {
    constexpr Length most = 9;
    for (Length window = 0; window <= most; ++window) {
        for (Length sinks = 0; sinks <= most; ++sinks) {
            const Visibility rule{.window = window, .sinks = sinks};
            for (Length p = -1; p < most; ++p) {
                for (Length begin = -1; begin <= most; begin += 2) {
                    for (Length end = -1; end <= most; ++end) {
                        const SeenPositions seen = seen_by_query(rule, p, begin, end);
                        bool is_right = seen.sink_begin <= seen.sink_end && seen.run_begin <= seen.run_end &&
                                        (seen.sink_end <= seen.run_begin || seen.run_begin == seen.run_end);
                        for (Length q = 0; q <= most; ++q) {
                            const bool by_rule = q <= p && (window == 0 || q > p - window || q < sinks);
                            is_right = is_right && contains(seen, q) == (by_rule && q >= begin && q < end);
                            is_right = is_right && sees(rule, p, q) == by_rule;
                        }
                        BOOST_TEST(is_right, "window " << window << ", sinks " << sinks << ", position " << p << ", ["
                                                       << begin << ", " << end << ")");
                    }
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(of_several_queries_are_those_of_any_of_them) {
    for (const Length window : {0, 1, 4}) {
        for (const Length sinks : {0, 2, 6}) {
            const Visibility rule{.window = window, .sinks = sinks};
            for (Length first = 0; first < 12; ++first) {
                for (Length last = first; last < 12; ++last) {
                    const SeenPositions all = seen_by_queries(rule, first, last, 1, 11);
                    for (Length q = 0; q < 12; ++q) {
                        bool by_any = false;
                        for (Length p = first; p <= last; ++p) {
                            by_any = by_any || contains(seen_by_query(rule, p, 1, 11), q);
                        }
                        BOOST_TEST(contains(all, q) == by_any);
                    }
                }
            }
        }
    }
}

// Behind a NaN that only later queries see, the earlier ones of the same tile stay as they were.
BOOST_AUTO_TEST_CASE(are_all_that_a_row_of_a_prefill_depends_on) {
    constexpr Length length = 40;
    constexpr std::size_t row = 2 * 64;  // elements, of both heads
    for (const HostPath path : {HostPath::portable, HostPath::avx2}) {
        for (const Length window : {Length{0}, Length{6}}) {
            AttentionCase problem(
                {.kv_heads = 1, .group = 2, .window = window, .lengths = {length}, .queries = {length}},
                testing::seed());
            const Answer before = by_host(problem.problem(), {.path = path});
            constexpr Length poisoned = 21;
            const float nan = std::numeric_limits<float>::quiet_NaN();
            problem.fill(0, poisoned, nan, nan);
            const Answer after = by_host(problem.problem(), {.path = path});
            for (Length p = 0; p < length; ++p) {
                const auto first = static_cast<std::ptrdiff_t>(row) * p;
                const bool is_same =
                    std::equal(before.out.begin() + first, before.out.begin() + first + row, after.out.begin() + first);
                const bool sees_it = poisoned <= p && (window == 0 || poisoned > p - window);
                BOOST_TEST(is_same == !sees_it);
                BOOST_TEST(std::isnan(after.out[static_cast<std::size_t>(first)]) == sees_it);
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(give_v_itself_where_there_is_one_whatever_its_bits) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::e4m3, DType::e5m2}) {
        const std::size_t patterns = std::size_t{1} << (8 * bytes_of(dtype));
        constexpr std::size_t head_dim = 256;
        AttentionCase problem({.block_size = 1,
                               .kv_heads = 1,
                               .group = 1,
                               .head_dim = head_dim,
                               .cells = dtype,
                               .lengths = std::vector<Length>(patterns / head_dim, 1)},
                              testing::seed());
        if (bytes_of(dtype) == 1) {
            problem.store.set_scales(1, 1);
        }
        const CellStore& cells = problem.store.view();
        for (std::size_t i = 0; i < patterns; ++i) {
            const auto at = static_cast<std::size_t>(problem.tables[i / head_dim]) * head_dim + i % head_dim;
            if (bytes_of(dtype) == 1) {
                static_cast<std::uint8_t*>(cells.v)[at] = static_cast<std::uint8_t>(i);
            } else {
                static_cast<std::uint16_t*>(cells.v)[at] = static_cast<std::uint16_t>(i);
            }
        }
        for (const HostPath path : {HostPath::portable, HostPath::avx2}) {
            const Answer answer = by_host(problem.problem(), {.path = path});
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < patterns; ++i) {
                const auto at = static_cast<std::size_t>(problem.tables[i / head_dim]) * head_dim + i % head_dim;
                const float expected = read_element(cells.v, dtype, at);
                wrong += answer.out[i] == expected || (std::isnan(answer.out[i]) && std::isnan(expected)) ? 0U : 1U;
            }
            BOOST_TEST(wrong == 0U, to_string(dtype) << ", path " << static_cast<int>(path));
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane
