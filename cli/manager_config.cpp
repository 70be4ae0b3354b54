// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/manager_config.h>

#include <utility>

#include <fmt/format.h>

namespace kvpane::cli {

namespace {

constexpr Range lengths{0, longest_sequence};

Place read_pool(Table& file, Config& config) {
    Table pool = file.table("pool", "[pool]");
    config.block_size = static_cast<std::uint32_t>(pool.integer("block_size", {1, largest_block_size}));
    config.blocks = pool.integer("blocks", {1, most_run_blocks});
    config.watermark = pool.integer_or("watermark", 0, {0, config.blocks});
    pool.integer_or("host_blocks", 0, {0, most_blocks});  // the second tier; nothing moves there yet
    pool.finish();
    const std::int64_t cells = config.blocks * std::int64_t{config.block_size};
    if (cells > most_run_cells) {
        pool.fail(pool.place(), fmt::format("[pool] has {} cells (blocks * block_size); a run holds at most {}", cells,
                                            most_run_cells));
    }
    return pool.place();
}

void read_manager(Table& file, Config& config) {
    std::optional<Table> manager = file.table_if("manager", "[manager]");
    if (!manager) {
        return;
    }
    config.max_length = manager->integer_or("max_length", 0, lengths);
    config.rewind_slack = manager->integer_or("rewind_slack", 0, lengths);
    const bool reserve = manager->choice_if("window_release", {"commit", "reserve"}) == 1U;
    config.window_release = reserve ? WindowRelease::reserve : WindowRelease::commit;
    manager->finish();
}

void read_prefix_cache(Table& file, Config& config) {
    std::optional<Table> cache = file.table_if("prefix_cache", "[prefix_cache]");
    if (!cache) {
        return;
    }
    config.prefix_cache.enabled = cache->boolean_or("enabled", true);
    const bool by_token = cache->choice_if("granularity", {"block", "token"}) == 1U;
    const bool by_frequency = cache->choice_if("policy", {"lru", "lfu"}) == 1U;
    config.prefix_cache.granularity = by_token ? Granularity::token : Granularity::block;
    config.prefix_cache.policy = by_frequency ? EvictionPolicy::lfu : EvictionPolicy::lru;
    config.prefix_cache.constant_hash = cache->choice_if("hash", {"default", "constant"}) == 1U;
    config.prefix_cache.most_pinned = cache->integer_or("most_pinned", 0, {0, config.blocks});
    cache->finish();
}

void read_groups(Table& file, Config& config) {
    std::vector<Table> tables = file.tables("group", "[[group]]");
    if (tables.empty()) {
        return;  // one group of full attention
    }
    config.groups.clear();
    for (Table& table : tables) {
        GroupConfig group;
        group.name = table.string("name");
        group.window = table.integer_or("window", 0, lengths);
        group.sinks = table.integer_or("sinks", 0, lengths);
        table.finish();
        config.groups.push_back(std::move(group));
        if (const std::optional<std::string> wrong = validate(config)) {
            table.fail(table.place(), *wrong);
        }
    }
}

}  // namespace

Config read_manager_config(Table& file) {
    Config config;
    const Place pool = read_pool(file, config);
    read_manager(file, config);
    read_prefix_cache(file, config);
    if (const std::optional<std::string> wrong = validate(config)) {
        file.fail(pool, *wrong);
    }
    read_groups(file, config);
    return config;
}

}  // namespace kvpane::cli
