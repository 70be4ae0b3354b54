// SPDX-License-Identifier: Apache-2.0
// What callers of a cascade on a device are told.
#include <kvpane/attention/cuda/device_cascade.h>

#include <functional>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "attention/cascade_case.h"
#include "attention/stores.h"
#include "cuda/bounds_of.h"
#include "cuda/expect_refusal.h"

namespace kvpane {

namespace {

using testing::at_address;
using testing::expect;
using testing::shifted;

// A cascade, its outputs and its workspace, sound until a test spoils it.
struct CascadeCall {
    CascadeCall()
        : made({{.block_size = 8, .lengths = {9, 9, 3}}, {0, 2, 3}, {8, 0}}, 1),
          problem(made.problem()),
          shared(made.shared()),
          bounds(testing::bounds_of(problem, shared)),
          workspace(device_cascade_workspace_bytes(problem, shared, bounds) / sizeof(Length)),
          out(made.made.states() * problem.cells.shape.head_dim),
          lse(made.made.states()),
          result({{out.data(), DType::f32}, lse}) {}

    payload_expected<void> operator()() {
        return device_cascade_attention(problem, shared, bounds, std::as_writable_bytes(std::span(workspace)), result,
                                        nullptr);
    }

    testing::CascadeCase made;
    AttentionProblem problem;
    SharedPrefixes shared;
    CascadeBounds bounds;
    std::vector<Length> workspace;
    std::vector<float> out;
    std::vector<float> lse;
    AttentionResult result;
};

// What a call that was sound says to one thing that is not.
payload_expected<void> spoiled(const std::function<void(CascadeCall&)>& spoil) {
    CascadeCall call;
    spoil(call);
    return call();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_cascade_on_a_device)

BOOST_AUTO_TEST_CASE(says_where_there_is_none, *boost::unit_test::precondition(testing::has_no_device)) {
    BOOST_TEST(to_string(CascadeCall()().error().fault) == "no_device");
}

BOOST_AUTO_TEST_CASE(refuses_a_problem_as_attention_does_and_groups_as_the_host_does) {
    using C = CascadeCall;
    expect(spoiled([](C& c) { c.problem.query_heads = 3; }), PayloadFault::heads_do_not_divide, "query_heads");
    expect(spoiled([](C& c) { c.bounds.problem.rows = 1; }), PayloadFault::bad_shape, "bounds");
    expect(spoiled([](C& c) { c.result.out.data = c.problem.cells.v; }), PayloadFault::overlapping, "out");
    expect(spoiled([](C& c) { c.problem.rule.window = 100; }), PayloadFault::bad_shape, "window");
    expect(spoiled([](C& c) { c.problem.begin = c.problem.lengths; }), PayloadFault::bad_shape, "begin");
    expect(spoiled([](C& c) { c.problem.end = c.problem.lengths; }), PayloadFault::bad_shape, "end");
    expect(spoiled([](C& c) { c.shared.indptr = c.shared.indptr.first(2); }), PayloadFault::bad_shape, "shared");
    expect(spoiled([](C& c) { c.shared = {}; }), PayloadFault::bad_shape, "shared");
    const std::vector<std::int32_t> more = {0, 1, 2, 3, 3};
    const std::vector<Length> prefixes(4);
    expect(spoiled([&](C& c) { c.shared = {more, prefixes}; }), PayloadFault::bad_shape, "shared");
    expect(spoiled([](C& c) { c.bounds.most_group_rows = 1; }), PayloadFault::bad_shape, "bounds");
    expect(spoiled([](C& c) { c.bounds.most_group_rows = std::size_t{1} << 31U; }), PayloadFault::bad_shape, "bounds");
}

BOOST_AUTO_TEST_CASE(refuses_memory_that_is_shared_or_misaligned_or_too_small) {
    using C = CascadeCall;
    expect(spoiled([](C& c) { c.shared.indptr = shifted(c.shared.indptr); }), PayloadFault::misaligned, "shared");
    expect(spoiled([](C& c) { c.shared.lengths = shifted(c.shared.lengths); }), PayloadFault::misaligned, "shared");
    expect(spoiled([](C& c) { c.shared.lengths = at_address<const Length>(c.workspace.data(), 2); }),
           PayloadFault::overlapping, "shared");
    expect(spoiled([](C& c) { c.shared.indptr = at_address<const std::int32_t>(c.lse.data(), 3); }),
           PayloadFault::overlapping, "shared");
    expect(spoiled([](C& c) { c.problem.lengths = at_address<const Length>(c.workspace.data(), 3); }),
           PayloadFault::overlapping, "workspace");
    expect(spoiled([](C& c) { c.workspace.pop_back(); }), PayloadFault::workspace_too_small, "workspace");
    CascadeCall call;
    const auto workspace = std::as_writable_bytes(std::span(call.workspace)).subspan(sizeof(float));
    expect(device_cascade_attention(call.problem, call.shared, call.bounds, workspace, call.result, nullptr),
           PayloadFault::misaligned, "workspace");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane
