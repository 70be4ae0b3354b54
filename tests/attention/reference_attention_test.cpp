// SPDX-License-Identifier: Apache-2.0
// The reference, by arithmetic that fits in a line.
#include <cmath>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "attention/attention_case.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::AttentionCase;
using testing::AttentionSizes;
using testing::by_reference;

constexpr float infinite = std::numeric_limits<float>::infinity();

// One head of 8 elements; the queries of position p are all `query`, and a cell's K and V are numbers.
struct Tiny {
    explicit Tiny(const AttentionSizes& wanted, float query) : problem(with_one_head(wanted), 1) {
        for (std::size_t i = 0; i < problem.queries.size() / sizeof(float); ++i) {
            reinterpret_cast<float*>(problem.queries.data())[i] = query;
        }
        problem.rule.scale = 1.0F / 8;  // the dot product of 8 equal numbers becomes their product
    }

    static AttentionSizes with_one_head(AttentionSizes sizes) {
        sizes.block_size = 2;
        sizes.kv_heads = 1;
        sizes.group = 1;
        sizes.head_dim = 8;
        return sizes;
    }

    AttentionCase problem;
};

constexpr double small = 1e-6;

}  // namespace

BOOST_AUTO_TEST_SUITE(the_reference)

BOOST_AUTO_TEST_CASE(takes_the_mean_of_v_where_all_logits_are_equal) {
    Tiny tiny({.lengths = {5}}, 1);
    for (Length p = 0; p < 5; ++p) {
        tiny.problem.fill(0, p, 0.75F, static_cast<float>(p));
    }
    const Answer answer = by_reference(tiny.problem.problem());
    BOOST_TEST(answer.out == std::vector<float>(8, 2.0F));
    BOOST_TEST(answer.lse[0] == 0.75 + std::log(5.0), boost::test_tools::tolerance(small));
}

BOOST_AUTO_TEST_CASE(weighs_by_the_exponential_of_the_logit) {
    Tiny tiny({.lengths = {2}}, 2);
    tiny.problem.fill(0, 0, 0, 10);
    tiny.problem.fill(0, 1, std::log(3.0F) / 2, 20);  // logits 0 and ln 3: weights 1/4 and 3/4
    const Answer answer = by_reference(tiny.problem.problem());
    BOOST_TEST(answer.out[3] == 17.5, boost::test_tools::tolerance(small));
    BOOST_TEST(answer.lse[0] == std::log(4.0), boost::test_tools::tolerance(small));
}

BOOST_AUTO_TEST_CASE(with_a_window_of_one_sees_the_query_itself_and_nothing_else) {
    Tiny tiny({.window = 1, .lengths = {5}, .queries = {5}}, 1);
    for (Length p = 0; p < 5; ++p) {
        tiny.problem.fill(0, p, 1, static_cast<float>(p));
    }
    const Answer answer = by_reference(tiny.problem.problem());
    for (std::size_t p = 0; p < 5; ++p) {
        BOOST_TEST(answer.out[8 * p] == static_cast<float>(p));
        BOOST_TEST(answer.lse[p] == 1.0F);
    }
}

BOOST_AUTO_TEST_CASE(counts_sinks_beside_the_window_and_a_position_once) {
    Tiny tiny({.window = 2, .sinks = 2, .lengths = {5}, .queries = {5}}, 0);
    for (Length p = 0; p < 5; ++p) {
        tiny.problem.fill(0, p, 1, static_cast<float>(1 << p));
    }
    // 0; 0 1; 0 1 2 (the sink 1 lies in the window, too); 0 1 2 3; 0 1 3 4
    const std::vector<float> means = {1, 1.5F, 7.0F / 3, 15.0F / 4, 27.0F / 4};
    const Answer answer = by_reference(tiny.problem.problem());
    for (std::size_t p = 0; p < 5; ++p) {
        BOOST_TEST(answer.out[8 * p] == means[p], boost::test_tools::tolerance(1e-6F));
    }
}

BOOST_AUTO_TEST_CASE(lets_a_sink_logit_take_weight_but_give_nothing) {
    Tiny tiny({.sink_logits = true, .lengths = {1}}, 0);
    tiny.problem.fill(0, 0, 1, 6);
    tiny.problem.sink_logits = {std::log(2.0F)};  // beside a logit of 0: weights 2/3 and 1/3
    BOOST_TEST(by_reference(tiny.problem.problem()).out[0] == 2.0F, boost::test_tools::tolerance(1e-6F));
    BOOST_TEST(by_reference(tiny.problem.problem()).lse[0] == std::log(3.0), boost::test_tools::tolerance(small));
    tiny.problem.sink_logits = {1000};
    BOOST_TEST(by_reference(tiny.problem.problem()).out[0] == 0.0F);
    BOOST_TEST(by_reference(tiny.problem.problem()).lse[0] == 1000.0F);
    tiny.problem.sink_logits = {-infinite};
    BOOST_TEST(by_reference(tiny.problem.problem()).out[0] == 6.0F);
}

BOOST_AUTO_TEST_CASE(caps_logits_softly) {
    Tiny tiny({.soft_cap = 2, .lengths = {2}}, 1);
    tiny.problem.fill(0, 0, 1e6F, 1);  // capped to 2
    tiny.problem.fill(0, 1, 0, 0);
    const double e2 = std::exp(2.0);
    BOOST_TEST(by_reference(tiny.problem.problem()).out[0] == e2 / (1 + e2), boost::test_tools::tolerance(small));
    tiny.problem.fill(0, 0, 2, 1);  // 2 tanh(1)
    const double e = std::exp(2 * std::tanh(1.0));
    BOOST_TEST(by_reference(tiny.problem.problem()).out[0] == e / (1 + e), boost::test_tools::tolerance(small));
}

BOOST_AUTO_TEST_CASE(gives_zero_and_minus_infinity_where_nothing_is_seen) {
    Tiny tiny({.lengths = {0}}, 1);
    const Answer answer = by_reference(tiny.problem.problem());
    BOOST_TEST(answer.out == std::vector<float>(8, 0.0F));
    BOOST_TEST(answer.lse == std::vector<float>(1, -infinite));
}

BOOST_AUTO_TEST_CASE(multiplies_what_is_stored_by_its_scale) {
    Tiny tiny({.cells = DType::e4m3, .lengths = {2}}, 1);  // scales 0.25 and 0.5
    tiny.problem.fill(0, 0, 0, 0);
    tiny.problem.fill(0, 1, 4, 3);  // a logit of 1, a value of 1.5
    const double e = std::exp(1.0);
    BOOST_TEST(by_reference(tiny.problem.problem()).out[0] == 1.5 * e / (1 + e), boost::test_tools::tolerance(small));
}

BOOST_AUTO_TEST_CASE(shares_a_kv_head_among_neighbouring_query_heads) {
    AttentionCase problem({.block_size = 2, .kv_heads = 2, .group = 2, .head_dim = 8, .lengths = {1}}, 1);
    auto* v = static_cast<float*>(problem.store.view().v) + problem.tables[0] * problem.store.view().strides.block;
    for (std::size_t d = 0; d < 16; ++d) {
        v[d] = d < 8 ? 1 : 2;
    }
    const Answer answer = by_reference(problem.problem());
    BOOST_TEST(answer.out[0] == 1.0F);
    BOOST_TEST(answer.out[8] == 1.0F);
    BOOST_TEST(answer.out[16] == 2.0F);
    BOOST_TEST(answer.out[24] == 2.0F);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane
