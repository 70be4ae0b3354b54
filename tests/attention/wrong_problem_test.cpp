// SPDX-License-Identifier: Apache-2.0
// Every way to ask for what cannot be: each path says the same, names the argument and writes nothing.
#include <functional>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <kvpane/attention/reference_attention.h>

#include "attention/attention_case.h"
#include "attention/stores.h"

namespace kvpane {

namespace {

using testing::AttentionCase;

// A prefill of two sequences of 20 and 9 cells, whose arguments can be spoilt one by one.
struct Arguments {
    Arguments() : whole({.block_size = 8, .sink_logits = true, .lengths = {20, 9}, .queries = {3, 2}}, 7) {
        problem = whole.problem();
        out.resize(whole.states() * 64, untouched);
        lse.resize(whole.states(), untouched);
        result = {{out.data(), DType::f32}, lse};
    }

    static constexpr float untouched = 123;

    AttentionCase whole;
    AttentionProblem problem;
    std::vector<float> out;
    std::vector<float> lse;
    AttentionResult result;
};

using Spoil = std::function<void(Arguments&)>;

void expect_refusal(PayloadFault fault, const char* where, const Spoil& spoil) {
    BOOST_TEST_CONTEXT(to_string(fault) << " " << where) {
        Arguments arguments;
        spoil(arguments);
        const PayloadError expected{fault, where};
        const auto found = find_wrong(arguments.problem, arguments.result);
        BOOST_REQUIRE(!found);
        BOOST_TEST(to_string(found.error().fault) == to_string(fault));
        BOOST_TEST(std::string(found.error().where) == where);
        const auto by_reference = reference_attention(arguments.problem, arguments.result);
        BOOST_CHECK(!by_reference && by_reference.error() == expected);
        testing::Workspace workspace(1U << 20U);
        const auto by_host = host_attention(arguments.problem, {}, workspace.span(1U << 20U), arguments.result);
        BOOST_CHECK(!by_host && by_host.error() == expected);
        BOOST_TEST(arguments.out == std::vector<float>(arguments.out.size(), Arguments::untouched));
        BOOST_TEST(arguments.lse == std::vector<float>(arguments.lse.size(), Arguments::untouched));
    }
}

constexpr float infinite = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

}  // namespace

BOOST_AUTO_TEST_SUITE(wrong_problems)

BOOST_AUTO_TEST_CASE(nothing_is_wrong_with_what_the_others_spoil) {
    const Arguments arguments;
    BOOST_CHECK(find_wrong(arguments.problem, arguments.result));
}

BOOST_AUTO_TEST_CASE(stores_that_are_none) {
    expect_refusal(PayloadFault::head_dim_out_of_range, "head_dim",
                   [](Arguments& a) { a.problem.cells.shape.head_dim = 63; });
    expect_refusal(PayloadFault::bad_shape, "k", [](Arguments& a) { a.problem.cells.k = nullptr; });
    expect_refusal(PayloadFault::out_of_range, "k_scale", [](Arguments& a) { a.problem.cells.k_scale = 2; });
}

BOOST_AUTO_TEST_CASE(heads_that_do_not_divide) {
    expect_refusal(PayloadFault::heads_do_not_divide, "query_heads", [](Arguments& a) { a.problem.query_heads = 7; });
    expect_refusal(PayloadFault::heads_do_not_divide, "query_heads", [](Arguments& a) { a.problem.query_heads = 0; });
}

BOOST_AUTO_TEST_CASE(spans_that_do_not_fit) {
    const auto refuse = [](const char* where, const Spoil& spoil) {
        expect_refusal(PayloadFault::bad_shape, where, spoil);
    };
    static const std::vector<Length> three = {1, 2, 3};
    static const std::vector<Length> negative = {20, -1};
    static const std::vector<std::int32_t> from_one = {1, 3, 5}, falling = {0, 3, 2}, more_than_cells = {0, 3, 13};
    refuse("tables", [](Arguments& a) { a.problem.width = 2; });
    refuse("tables", [](Arguments& a) { a.problem.width = std::numeric_limits<std::size_t>::max() / 2 + 2; });
    refuse("query_indptr", [](Arguments& a) { a.problem.query_indptr = a.problem.query_indptr.first(2); });
    refuse("query_indptr", [](Arguments& a) { a.problem.query_indptr = from_one; });
    refuse("query_indptr", [](Arguments& a) { a.problem.query_indptr = falling; });
    refuse("query_indptr", [](Arguments& a) { a.problem.query_indptr = more_than_cells; });
    refuse("begin", [](Arguments& a) { a.problem.begin = three; });
    refuse("end", [](Arguments& a) { a.problem.end = three; });
    refuse("lengths", [](Arguments& a) { a.problem.lengths = negative; });
    refuse("sink_logits", [](Arguments& a) { a.problem.rule.sink_logits = a.problem.rule.sink_logits.first(7); });
    refuse("queries", [](Arguments& a) { a.problem.queries.data = nullptr; });
    refuse("out", [](Arguments& a) { a.result.out.data = nullptr; });
}

BOOST_AUTO_TEST_CASE(rules_that_are_none) {
    expect_refusal(PayloadFault::bad_shape, "window", [](Arguments& a) { a.problem.rule.window = -1; });
    expect_refusal(PayloadFault::bad_shape, "sinks", [](Arguments& a) { a.problem.rule.sinks = -1; });
    expect_refusal(PayloadFault::bad_shape, "soft_cap", [](Arguments& a) { a.problem.rule.soft_cap = -1; });
    for (const float bad : {infinite, -infinite, nan}) {
        expect_refusal(PayloadFault::out_of_range, "scale", [&](Arguments& a) { a.problem.rule.scale = bad; });
    }
    for (const float bad : {infinite, nan}) {
        expect_refusal(PayloadFault::out_of_range, "soft_cap", [&](Arguments& a) { a.problem.rule.soft_cap = bad; });
        expect_refusal(PayloadFault::out_of_range, "sink_logits", [&](Arguments& a) { a.whole.sink_logits[3] = bad; });
    }
}

BOOST_AUTO_TEST_CASE(rows_that_no_path_can_read_or_write) {
    expect_refusal(PayloadFault::unsupported_dtype, "queries",
                   [](Arguments& a) { a.problem.queries.dtype = DType::e4m3; });
    expect_refusal(PayloadFault::unsupported_dtype, "out", [](Arguments& a) { a.result.out.dtype = DType::e5m2; });
    expect_refusal(PayloadFault::misaligned, "queries",
                   [](Arguments& a) { a.problem.queries.data = static_cast<const char*>(a.problem.queries.data) + 2; });
    expect_refusal(PayloadFault::misaligned, "out",
                   [](Arguments& a) { a.result.out.data = static_cast<char*>(a.result.out.data) + 1; });
    expect_refusal(PayloadFault::misaligned, "lse",
                   [](Arguments& a) { a.result.lse = testing::shifted(a.result.lse); });
    expect_refusal(PayloadFault::buffer_too_small, "lse", [](Arguments& a) { a.result.lse = a.result.lse.first(39); });
}

BOOST_AUTO_TEST_CASE(arrays_that_start_within_an_element) {
    const auto refuse = [](const char* where, auto array_of) {
        expect_refusal(PayloadFault::misaligned, where, [&](Arguments& a) {
            auto& array = a.problem.*array_of;
            array = testing::shifted(array);
        });
    };
    refuse("tables", &AttentionProblem::tables);
    refuse("lengths", &AttentionProblem::lengths);
    refuse("query_indptr", &AttentionProblem::query_indptr);
    static const std::vector<Length> bounds = {0, 0};
    const auto odd = testing::shifted(std::span(bounds));
    expect_refusal(PayloadFault::misaligned, "begin", [&](Arguments& a) { a.problem.begin = odd; });
    expect_refusal(PayloadFault::misaligned, "end", [&](Arguments& a) { a.problem.end = odd; });
    expect_refusal(PayloadFault::misaligned, "sink_logits",
                   [](Arguments& a) { a.problem.rule.sink_logits = testing::shifted(a.problem.rule.sink_logits); });
}

BOOST_AUTO_TEST_CASE(outputs_that_share_memory) {
    expect_refusal(PayloadFault::overlapping, "out", [](Arguments& a) { a.result.out.data = a.whole.queries.data(); });
    expect_refusal(PayloadFault::overlapping, "out", [](Arguments& a) { a.result.out.data = a.problem.cells.v; });
    expect_refusal(PayloadFault::overlapping, "lse", [](Arguments& a) {
        a.result.lse = {static_cast<float*>(a.problem.cells.k) + 5, a.result.lse.size()};
    });
    expect_refusal(PayloadFault::overlapping, "lse", [](Arguments& a) {
        a.result.lse = testing::at_address<float>(a.whole.tables.data(), a.result.lse.size());
    });
    expect_refusal(PayloadFault::overlapping, "lse", [](Arguments& a) {
        a.result.lse = {a.out.data() + a.out.size() - 1, a.result.lse.size()};
    });
}

BOOST_AUTO_TEST_CASE(tables_that_lack_what_is_seen) {
    expect_refusal(PayloadFault::hole, "tables", [](Arguments& a) { a.whole.tables[1] = 0; });
    expect_refusal(PayloadFault::out_of_range, "tables", [](Arguments& a) { a.whole.tables[2] = -1; });
    expect_refusal(PayloadFault::out_of_range, "tables", [](Arguments& a) { a.whole.tables[3] = 1000; });
    static const std::vector<Length> longer = {25, 9};
    expect_refusal(PayloadFault::buffer_too_small, "tables", [](Arguments& a) { a.problem.lengths = longer; });
}

BOOST_AUTO_TEST_CASE(what_is_not_seen_may_be_anything) {
    Arguments arguments;
    static const std::vector<Length> begin = {16, 0}, end = {1000, 8};
    arguments.problem.begin = begin;
    arguments.problem.end = end;
    arguments.whole.tables = {0, -5, arguments.whole.tables[2], arguments.whole.tables[3], 1000, 0};
    arguments.problem.tables = arguments.whole.tables;
    BOOST_CHECK(find_wrong(arguments.problem, arguments.result));
}

BOOST_AUTO_TEST_CASE(workspaces_that_do_not_do) {
    Arguments arguments;
    const HostOptions options{.threads = 2, .chunk = 8};
    const std::size_t bytes = host_workspace_bytes(arguments.problem, options);
    testing::Workspace workspace(bytes + 64);
    const auto fault = [&](std::span<std::byte> memory, const HostOptions& with) {
        const auto solved = host_attention(arguments.problem, with, memory, arguments.result);
        return solved ? PayloadError{PayloadFault::cuda_error, "none"} : solved.error();
    };
    BOOST_CHECK(fault(workspace.span(bytes - 1), options) ==
                (PayloadError{PayloadFault::workspace_too_small, "workspace"}));
    BOOST_CHECK(fault({}, options) == (PayloadError{PayloadFault::workspace_too_small, "workspace"}));
    BOOST_CHECK(fault(workspace.span(bytes + 4).subspan(4), options) ==
                (PayloadError{PayloadFault::misaligned, "workspace"}));
    BOOST_CHECK(fault(workspace.span(bytes), {.threads = 0}) == (PayloadError{PayloadFault::bad_shape, "threads"}));
    BOOST_CHECK(fault(workspace.span(bytes), {.chunk = -1}) == (PayloadError{PayloadFault::bad_shape, "chunk"}));
    arguments.result.lse = {reinterpret_cast<float*>(workspace.span(bytes).data()), arguments.lse.size()};
    BOOST_CHECK(fault(workspace.span(bytes), options) == (PayloadError{PayloadFault::overlapping, "workspace"}));
    arguments.result.lse = {};
    BOOST_CHECK(fault(workspace.span(bytes), options).where == std::string("none"));
}

BOOST_AUTO_TEST_CASE(no_workspace_is_sized_for_what_is_refused_for_its_shape) {
    const auto bytes = [](const Spoil& spoil, const HostOptions& options = {}) {
        Arguments arguments;
        spoil(arguments);
        return host_workspace_bytes(arguments.problem, options);
    };
    static const std::vector<Length> negative = {20, -1};
    static const std::vector<std::int32_t> more_than_cells = {0, 3, 13};
    const Spoil nothing = [](Arguments&) {};
    BOOST_TEST(bytes(nothing) > 0U);
    BOOST_TEST(bytes([](Arguments& a) { a.problem = {}; }) == 0U);
    BOOST_TEST(bytes([](Arguments& a) { a.problem.query_heads = 1; }) == 0U);  // of two KV heads
    BOOST_TEST(bytes([](Arguments& a) { a.problem.cells.shape.kv_heads = 0; }) == 0U);
    BOOST_TEST(bytes([](Arguments& a) { a.problem.query_indptr = a.problem.query_indptr.first(1); }) == 0U);
    BOOST_TEST(bytes([](Arguments& a) { a.problem.query_indptr = more_than_cells; }) == 0U);
    BOOST_TEST(bytes([](Arguments& a) { a.problem.lengths = negative; }) == 0U);
    BOOST_TEST(bytes([](Arguments& a) { a.problem.end = std::span(negative).first(1); }) == 0U);
    BOOST_TEST(bytes(nothing, {.threads = 0}) == 0U);
    BOOST_TEST(bytes(nothing, {.chunk = -1}) == 0U);
}

BOOST_AUTO_TEST_CASE(a_problem_without_sequences_is_no_work) {
    AttentionCase empty({.lengths = {}}, 1);
    AttentionProblem problem = empty.problem();
    problem.queries.data = nullptr;
    BOOST_CHECK(reference_attention(problem, {}));
    testing::Workspace workspace(1U << 16U);
    BOOST_CHECK(host_attention(problem, {.threads = 3}, workspace.span(1U << 16U), {}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane
