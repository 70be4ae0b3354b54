// SPDX-License-Identifier: Apache-2.0
// The article's decoder by itself, with weights of our own; its published numbers are in tests/cli/article_test.cpp.
#include <kvpane/invariants/paged_decoder.h>

#include <cmath>
#include <numeric>
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include <kvpane/invariants/article.h>
#include <kvpane/invariants/random.h>

namespace kvpane::invariants::article {

namespace {

// Small and irregular; the same on every machine.
const Weights& some_weights() {
    static const Weights weights = [] {
        Random random(5);
        std::array<double, weight_count> values{};
        for (double& value : values) {
            value = static_cast<double>(random.between(-1000, 1000)) / 2000;
        }
        return make_weights(values);
    }();
    return weights;
}

std::vector<Token> counted(Token first, std::size_t count) {
    std::vector<Token> tokens(count);
    std::iota(tokens.begin(), tokens.end(), first);
    return tokens;
}

Rows recomputed(const Model& model, std::span<const Token> tokens) {
    Effort ignored;
    return recompute(*model.weights, model.window, tokens, 0, ignored);
}

double error_of(const Model& model, std::span<const Token> tokens, const Rows& found) {
    return largest_difference(std::span<const Row>(recomputed(model, tokens)).last(found.size()), found);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decoder)

BOOST_AUTO_TEST_CASE(weights_are_read_in_the_order_in_which_they_are_stored) {
    std::array<double, weight_count> values{};
    std::iota(values.begin(), values.end(), 0.0);
    const Weights weights = make_weights(values);
    BOOST_TEST(weights.embedding[1][2] == 18);
    BOOST_TEST(weights.layer[0].query[0][0] == 512);
    BOOST_TEST(weights.layer[0].value[15][15] == 512 + 3 * 256 - 1);
    BOOST_TEST(weights.layer[1].key[1][0] == 512 + 4 * 256 + 16);
}

BOOST_AUTO_TEST_CASE(a_position_is_coded_as_sines_and_cosines_of_falling_frequency) {
    const Weights zero{};
    const Row first = input_row(zero, 0, 0);
    BOOST_TEST(first[0] == 0);
    BOOST_TEST(first[15] == 1);
    const Row row = input_row(zero, 3, 7);
    BOOST_TEST(row[0] == std::sin(7.0));
    BOOST_TEST(row[9] == std::cos(0.07), boost::test_tools::tolerance(1e-15));
}

BOOST_AUTO_TEST_CASE(a_query_alone_gets_its_own_value) {
    Weights weights = some_weights();
    const Rows out = recomputed({&weights, 0}, counted(4, 1));
    BOOST_TEST(out.size() == 1U);
    // With one row the softmax is 1 whatever the queries and keys are.
    weights.layer[0].query[3][3] += 1;
    weights.layer[1].key[2][5] -= 1;
    BOOST_TEST(largest_difference(out, recomputed({&weights, 0}, counted(4, 1))) == 0);
    weights.layer[1].value[2][5] -= 1;
    BOOST_TEST(largest_difference(out, recomputed({&weights, 0}, counted(4, 1))) > 0.001);
}

BOOST_AUTO_TEST_CASE(no_row_changes_with_what_comes_after_it) {
    const Model model{&some_weights(), 0};
    const std::vector<Token> tokens = counted(1, 9);
    const Rows all = recomputed(model, tokens);
    for (std::size_t n = 1; n < tokens.size(); ++n) {
        BOOST_TEST(largest_difference(std::span(all).first(n), recomputed(model, std::span(tokens).first(n))) == 0);
    }
}

BOOST_AUTO_TEST_CASE(an_effort_counts_six_rows_a_token_and_every_score) {
    Effort effort;
    recompute(some_weights(), 2, counted(1, 5), 0, effort);
    BOOST_TEST((effort == Effort{.projected_rows = 30, .score_elements = 50}));
}

BOOST_AUTO_TEST_CASE(a_query_that_may_see_nothing_is_an_error) {
    const std::vector<Token> tokens = {1};
    const std::vector<Length> positions = {0};
    PlainMemory memory({}, positions, [](Length, Length) { return false; });
    Effort effort;
    BOOST_CHECK_THROW(forward(some_weights(), tokens, positions, memory, effort), std::logic_error);
}

BOOST_AUTO_TEST_CASE(a_difference_that_is_no_number_is_not_lost) {
    Rows a(2);
    const Rows b(2);
    a[0][3] = std::nan("");
    a[1][3] = 1;
    BOOST_TEST(std::isnan(largest_difference(a, b)));
    const Check check{.name = "difference", .expected = 0, .found = largest_difference(a, b), .tolerance = 1};
    BOOST_TEST(!check.holds());
    BOOST_CHECK_THROW(largest_difference(a, Rows(1)), std::logic_error);
}

BOOST_AUTO_TEST_CASE(rows_in_blocks_give_the_bits_of_a_recompute_however_the_tokens_are_cut_into_passes) {
    const std::vector<Token> tokens = counted(1, 19);
    for (const Length window : {0, 1, 2, 3, 4, 5, 7}) {
        for (const std::uint32_t block_size : {1U, 3U, 4U}) {
            for (const std::size_t chunk : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::size_t{19}}) {
                BOOST_TEST_CONTEXT("window " << window << ", blocks of " << block_size << ", passes of " << chunk) {
                    const Model model{&some_weights(), window};
                    Config config = store_config(window);
                    config.block_size = block_size;
                    PagedDecoder decoder(config);
                    const SequenceHandle sequence = decoder.admit(tokens).sequence;
                    Rows rows;
                    for (std::size_t at = 0; at < tokens.size(); at += chunk) {
                        const auto next = std::span(tokens).subspan(at, std::min(chunk, tokens.size() - at));
                        const Rows out = decoder.run(model, sequence, next).rows;
                        rows.insert(rows.end(), out.begin(), out.end());
                    }
                    BOOST_TEST(error_of(model, tokens, rows) == 0);
                }
            }
        }
    }
}

BOOST_AUTO_TEST_CASE(a_hit_computes_the_rest_and_nothing_else) {
    const Model model{&some_weights(), 0};
    PagedDecoder decoder(store_config(0));
    decoder.start(model, counted(1, 8));
    const std::vector<Token> query = {1, 2, 3, 4, 5, 6, 20, 8, 9};
    const auto [found, pass] = decoder.start(model, query);
    BOOST_TEST(found.cut == 6);
    BOOST_TEST(pass.effort.projected_rows == 18);
    BOOST_TEST(decoder.copied_cells() == 2);  // of the block that matches partly
    BOOST_TEST(error_of(model, query, pass.rows) == 0);
}

BOOST_AUTO_TEST_CASE(a_fork_and_its_parent_continue_without_seeing_each_other) {
    const Model model{&some_weights(), 0};
    PagedDecoder decoder(store_config(0));
    std::vector<Token> tokens = counted(1, 6);
    const SequenceHandle parent = decoder.start(model, tokens).found.sequence;
    const auto child = decoder.manager().fork(parent);
    BOOST_REQUIRE(child);
    const Rows of_child = decoder.run(model, *child, counted(20, 3)).rows;
    const Rows of_parent = decoder.run(model, parent, counted(10, 3)).rows;
    for (const auto& [first, rows] : {std::pair(20, of_child), std::pair(10, of_parent)}) {
        std::vector<Token> all = tokens;
        const std::vector<Token> more = counted(first, 3);
        all.insert(all.end(), more.begin(), more.end());
        BOOST_TEST(error_of(model, all, rows) == 0);
    }
    BOOST_TEST(decoder.copied_cells() == 2);
}

BOOST_AUTO_TEST_CASE(planted_rows_are_gathered_as_they_were_and_serve_as_if_computed) {
    const Model model{&some_weights(), 0};
    PagedDecoder decoder(store_config(0));
    const std::vector<Token> tokens = counted(1, 10);
    const SequenceHandle computed = decoder.start(model, tokens).found.sequence;
    const PlacedRows taken = decoder.gather(computed, 0, 7);
    const SequenceHandle planted = decoder.admit(tokens, {.salt = "other"}).sequence;
    decoder.plant(planted, std::span(tokens).first(7), taken);
    const PlacedRows again = decoder.gather(planted, 0, 7);
    for (std::size_t layer = 0; layer < layers; ++layer) {
        for (std::size_t i = 0; i < 7; ++i) {
            BOOST_TEST((again.rows[layer][i].key == taken.rows[layer][i].key));
            BOOST_TEST((again.rows[layer][i].value == taken.rows[layer][i].value));
        }
    }
    BOOST_TEST(error_of(model, tokens, decoder.run(model, planted, std::span(tokens).subspan(7)).rows) == 0);
}

BOOST_AUTO_TEST_CASE(a_planted_fault_changes_what_comes_out) {
    const Model model{&some_weights(), 0};
    const std::vector<Token> query = {1, 2, 3, 4, 5, 6, 20};
    for (const Fault fault : {Fault::next_slot, Fault::missed_copy}) {
        PagedDecoder decoder(store_config(0), fault);
        decoder.start(model, counted(1, 8));
        BOOST_TEST(error_of(model, query, decoder.start(model, query).pass.rows) > 0.001);
    }
}

BOOST_AUTO_TEST_CASE(a_refusal_of_the_manager_says_what_was_tried) {
    Config config = store_config(0);
    config.blocks = 1;
    PagedDecoder decoder(config);
    BOOST_CHECK_EXCEPTION(decoder.start({&some_weights(), 0}, counted(1, 9)), std::logic_error,
                          [](const auto& error) { return std::string(error.what()) == "cannot reserve: never"; });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants::article
