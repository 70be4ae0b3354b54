// SPDX-License-Identifier: Apache-2.0
// A prefix that sequences share, read once for all of them.
#include <algorithm>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/cascade.h>

#include "attention/attention_case.h"
#include "attention/cascade_case.h"
#include "attention/expect_agreement.h"
#include "attention/stores.h"
#include "support/seed.h"

namespace kvpane {

namespace {

using testing::Answer;
using testing::AttentionCase;
using testing::by_cascade;
using testing::by_host;
using testing::by_reference;
using testing::expect_same;

}  // namespace

BOOST_AUTO_TEST_SUITE(cascades)

BOOST_AUTO_TEST_CASE(a_cascade_reads_what_sequences_share_once_and_gives_what_one_pass_gives) {
    for (const testing::CascadeSizes& sizes : testing::cascades()) {
        const testing::CascadeCase whole(sizes, testing::seed());
        BOOST_TEST_CONTEXT(describe(sizes.attention) << ", first prefix " << sizes.prefixes[0]) {
            expect_same(by_cascade(whole.problem(), whole.shared(), {.chunk = 16}), by_reference(whole.problem()));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_cascade_refuses_what_is_not_shared) {
    const AttentionCase whole({.block_size = 8, .lengths = {50, 45}}, testing::seed());
    Answer answer = by_host(whole.problem(), {});
    const AttentionResult result{{answer.out.data(), DType::f32}, answer.lse};
    testing::Workspace workspace(1U << 20U);
    const auto fault = [&](const AttentionProblem& problem, const std::vector<std::int32_t>& indptr,
                           const std::vector<Length>& lengths, std::size_t bytes = 1U << 20U) {
        const auto solved = cascade_attention(problem, {indptr, lengths}, {}, workspace.span(bytes), result);
        return solved ? PayloadError{} : solved.error();
    };
    const PayloadError shared{PayloadFault::bad_shape, "shared"};
    BOOST_CHECK(fault(whole.problem(), {0, 2}, {8}) == shared);  // their tables differ
    BOOST_CHECK(fault(whole.problem(), {0, 1}, {8}) == shared);
    BOOST_CHECK(fault(whole.problem(), {0, 1, 1, 2}, {8, 0, 8}) == shared);
    BOOST_CHECK(fault(whole.problem(), {0, 1, 2}, {8}) == shared);
    BOOST_CHECK(fault(whole.problem(), {}, {}) == shared);
    BOOST_CHECK(fault(whole.problem(), {0, 1, 2}, {8, 46}) == shared);
    BOOST_CHECK(fault(whole.problem(), {0, 1, 2}, {-1, 8}) == shared);
    const std::vector<std::int32_t> indptr = {0, 1, 2};
    std::vector<Length> lengths = {8, 8};
    const auto fault_of = [&](const SharedPrefixes& prefixes, const AttentionResult& into) {
        const auto solved = cascade_attention(whole.problem(), prefixes, {}, workspace.span(1U << 20U), into);
        return solved ? PayloadError{} : solved.error();
    };
    const AttentionResult over_lengths{result.out, testing::at_address<float>(lengths.data(), answer.lse.size())};
    BOOST_CHECK(fault_of({indptr, lengths}, over_lengths) == (PayloadError{PayloadFault::overlapping, "shared"}));
    BOOST_CHECK(fault_of({testing::shifted(std::span(indptr)), lengths}, result) ==
                (PayloadError{PayloadFault::misaligned, "shared"}));
    AttentionProblem windowed = whole.problem();
    windowed.rule.window = 1000;
    BOOST_CHECK(fault(windowed, {0, 1, 2}, {8, 8}) == (PayloadError{PayloadFault::bad_shape, "window"}));
    BOOST_CHECK(fault(whole.problem(), {0, 1, 2}, {8, 8}, 64).fault == PayloadFault::workspace_too_small);
}

// The second group has no queries: nobody else looks at its row of the tables.
BOOST_AUTO_TEST_CASE(a_cascade_asks_for_the_prefix_of_a_group_without_queries_too) {
    const AttentionCase whole({.block_size = 8, .lengths = {8, 400}, .queries = {1, 0}}, testing::seed());
    Answer answer = by_reference(whole.problem());
    testing::Workspace workspace(1U << 20U);
    const auto fault = [&](const AttentionProblem& problem, Length prefix) {
        const std::vector<std::int32_t> indptr = {0, 1, 2};
        const std::vector<Length> lengths = {8, prefix};
        const auto solved = cascade_attention(problem, {indptr, lengths}, {}, workspace.span(1U << 20U),
                                              {{answer.out.data(), DType::f32}, answer.lse});
        return solved ? PayloadError{PayloadFault::cuda_error, "none"} : solved.error();
    };
    BOOST_CHECK(fault(whole.problem(), 400).where == std::string("none"));
    BOOST_CHECK(fault(whole.problem(), 401) == (PayloadError{PayloadFault::bad_shape, "shared"}));
    AttentionProblem narrow = whole.problem();
    const std::vector<std::int32_t> one_block_each = {whole.tables[0], whole.tables[whole.width]};
    narrow.tables = one_block_each;
    narrow.width = 1;
    BOOST_CHECK(fault(narrow, 8).where == std::string("none"));
    BOOST_CHECK(fault(narrow, 9) == (PayloadError{PayloadFault::buffer_too_small, "tables"}));
    BOOST_CHECK(fault(narrow, 400) == (PayloadError{PayloadFault::buffer_too_small, "tables"}));
    expect_same(answer, by_reference(whole.problem()));
}

// Neither sequences without rows nor no sequences at all make a prefix wrong.
BOOST_AUTO_TEST_CASE(a_cascade_without_queries_is_no_work) {
    const AttentionCase idle({.block_size = 8, .lengths = {50, 45}, .queries = {0, 0}}, testing::seed());
    BOOST_TEST(by_cascade(idle.problem(), {std::vector<std::int32_t>{0, 1, 2}, std::vector<Length>{40, 8}}, {})
                   .lse.empty());
    const AttentionCase empty({.lengths = {}}, testing::seed());
    BOOST_TEST(by_cascade(empty.problem(), {std::vector<std::int32_t>{0}, std::vector<Length>{}}, {}).lse.empty());
}

BOOST_AUTO_TEST_CASE(no_workspace_is_sized_for_a_cascade_that_is_refused_for_its_shape) {
    const AttentionCase whole({.block_size = 8, .lengths = {50, 45}}, testing::seed());
    const auto bytes = [](const AttentionProblem& problem, const std::vector<std::int32_t>& indptr,
                          const HostOptions& options = {}) {
        const std::vector<Length> lengths = {8, 8};
        return cascade_workspace_bytes(problem, {indptr, lengths}, options);
    };
    AttentionProblem one_head = whole.problem();
    one_head.query_heads = 1;
    BOOST_TEST(bytes(whole.problem(), {0, 1, 2}) > 0U);
    BOOST_TEST(bytes(one_head, {0, 1, 2}) == 0U);
    BOOST_TEST(bytes({}, {0, 1, 2}) == 0U);
    BOOST_TEST(bytes(whole.problem(), {}) == 0U);
    BOOST_TEST(bytes(whole.problem(), {0, 1, 3}) == 0U);
    BOOST_TEST(bytes(whole.problem(), {0, 1, 2}, {.threads = 0}) == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane
