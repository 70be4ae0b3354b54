// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kvpane::testing {

namespace {

// validate() must say a sentence that names `key`, and the Manager must refuse with that sentence.
void expect_refused(const std::string& key, const std::function<void(Config&)>& spoil) {
    BOOST_TEST_CONTEXT("key " << key) {
        Config config = windowed(4, 16, 8);
        spoil(config);
        const std::optional<std::string> sentence = validate(config);
        BOOST_TEST_REQUIRE(sentence.has_value());
        BOOST_TEST(sentence->find(key) != std::string::npos, "it said: " << *sentence);
        BOOST_CHECK_EXCEPTION(Manager{config}, std::invalid_argument, [&](const std::invalid_argument& thrown) {
            return std::string_view(thrown.what()).ends_with(*sentence);
        });
    }
}

void expect_fine(const std::function<void(Config&)>& change) {
    Config config = windowed(4, 16, 8);
    change(config);
    const std::optional<std::string> sentence = validate(config);
    BOOST_TEST(!sentence.has_value(), "it said: " << sentence.value_or(""));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(configuration)

BOOST_AUTO_TEST_CASE(a_default_made_config_lacks_blocks_only) {
    Config config;
    BOOST_TEST_REQUIRE(validate(config).has_value());
    BOOST_TEST(validate(config)->find("blocks") != std::string::npos);
    config.blocks = 1;
    BOOST_TEST(!validate(config).has_value());
}

BOOST_AUTO_TEST_CASE(a_block_holds_at_least_one_cell_and_at_most_the_limit) {
    expect_refused("block_size", [](Config& c) { c.block_size = 0; });
    expect_refused("block_size", [](Config& c) { c.block_size = largest_block_size + 1; });
    expect_fine([](Config& c) { c.block_size = 1; });
    expect_fine([](Config& c) { c.block_size = largest_block_size; });
}

BOOST_AUTO_TEST_CASE(a_pool_has_at_least_one_block_and_at_most_what_int32_ids_name) {
    expect_refused("blocks", [](Config& c) { c.blocks = 0; });
    expect_refused("blocks", [](Config& c) { c.blocks = -1; });
    expect_refused("blocks", [](Config& c) { c.blocks = most_blocks + 1; });
    expect_refused("blocks", [](Config& c) { c.blocks = std::numeric_limits<std::int64_t>::max(); });
    expect_fine([](Config& c) { c.blocks = 1; });
    expect_fine([](Config& c) { c.blocks = most_blocks; });
}

BOOST_AUTO_TEST_CASE(lengths_and_counts_are_not_negative) {
    expect_refused("watermark", [](Config& c) { c.watermark = -1; });
    expect_refused("max_length", [](Config& c) { c.max_length = -1; });
    expect_refused("rewind_slack", [](Config& c) { c.rewind_slack = -1; });
    expect_refused("window", [](Config& c) { c.groups[0].window = -1; });
    expect_refused("sinks", [](Config& c) { c.groups[0].sinks = -1; });
    expect_refused("expected_length", [](Config& c) { c.expected_length = -1; });
}

BOOST_AUTO_TEST_CASE(lengths_beyond_the_longest_sequence_are_refused) {
    constexpr Length beyond = longest_sequence + 1;
    expect_refused("max_length", [](Config& c) { c.max_length = beyond; });
    expect_refused("rewind_slack", [](Config& c) { c.rewind_slack = beyond; });
    expect_refused("window", [](Config& c) { c.groups[0].window = beyond; });
    expect_refused("sinks", [](Config& c) { c.groups[0].sinks = beyond; });
    expect_refused("expected_length", [](Config& c) { c.expected_length = beyond; });
    expect_fine([](Config& c) { c.max_length = longest_sequence; });
    expect_fine([](Config& c) { c.groups[0].window = longest_sequence; });
}

BOOST_AUTO_TEST_CASE(there_is_at_least_one_group_and_every_group_is_looked_at) {
    expect_refused("group", [](Config& c) { c.groups.clear(); });
    expect_refused("window", [](Config& c) { c.groups.push_back({"second", -5, 0}); });
}

BOOST_AUTO_TEST_CASE(group_names_are_there_and_unique) {
    expect_refused("name", [](Config& c) { c.groups[0].name.clear(); });
    expect_refused("name", [](Config& c) { c.groups.push_back(c.groups[0]); });
}

BOOST_AUTO_TEST_CASE(slots_in_32_bits_are_refused_for_a_pool_that_they_cannot_address) {
    // The last slot is (blocks + 1) * block_size - 1.
    expect_fine([](Config& c) {
        c.int32_slots = true;
        c.block_size = 16;
        c.blocks = 134'217'727;  // the last slot is 2^31 - 1
    });
    expect_refused("int32_slots", [](Config& c) {
        c.int32_slots = true;
        c.block_size = 16;
        c.blocks = 134'217'728;
    });
    expect_fine([](Config& c) {
        c.block_size = 16;
        c.blocks = 134'217'728;  // 64 bits are enough
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing
