// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/proof/oracle/oracle_machine.h>

namespace kvpane::invariants::oracle {

namespace {

KvOracle make(const Config& config, std::int64_t sequences) {
    static const bool started = (kv_oracle_start(), true);
    static_cast<void>(started);
    Numbers windows, sinks;
    for (const GroupConfig& group : config.groups) {
        windows.push_back(group.window);
        sinks.push_back(group.sinks);
    }
    const bool caching = config.prefix_cache.enabled;
    const KvOracleConfig same{.block_size = config.block_size,
                              .blocks = config.blocks,
                              .slack = config.rewind_slack,
                              .limit = config.max_length > 0 ? config.max_length : longest_sequence,
                              .watermark = config.watermark,
                              .eager = config.window_release == WindowRelease::commit,
                              .caching = caching,
                              .tails = caching && config.prefix_cache.granularity == Granularity::token,
                              .windows = list(windows),
                              .sinks = list(sinks),
                              .sequences = sequences};
    return kv_oracle_new(&same);
}

}  // namespace

Machine::Machine(const Config& config, std::int64_t sequences) : id_(make(config, sequences)) {}

}  // namespace kvpane::invariants::oracle
