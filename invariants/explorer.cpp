// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <thread>

#include <kvpane/invariants/explorer_fingerprint.h>
#include <kvpane/invariants/explorer_spelling.h>
#include <kvpane/invariants/explorer_worker.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace explorer {

namespace {

// States that a thread takes at a time: enough that neighbours share their way, few enough for the last ones of a level.
constexpr std::uint32_t chunk = 32;

// Expands the states [begin, end) of one level; the new states in an order that depends on the threads only where two
// of them found the same state.
std::vector<NewState> expand_level(Shared& shared, std::vector<std::unique_ptr<Worker>>& workers, std::uint32_t begin,
                                   std::uint32_t end) {
    std::vector<std::vector<NewState>> found((end - begin + chunk - 1) / chunk);
    std::vector<std::exception_ptr> failed(workers.size());
    std::atomic<std::uint32_t> next{0};
    const auto work = [&](std::size_t worker) {
        try {
            for (std::uint32_t at = next++; at < found.size() && !shared.is_over; at = next++) {
                const std::uint32_t last = std::min(end, begin + (at + 1) * chunk);
                for (std::uint32_t state = begin + at * chunk; state < last; ++state) {
                    workers[worker]->expand(state, found[at]);
                }
            }
        } catch (...) {
            failed[worker] = std::current_exception();
            shared.is_over = true;
        }
    };
    {
        std::vector<std::jthread> threads;
        for (std::size_t worker = 1; worker < workers.size(); ++worker) {
            threads.emplace_back(work, worker);
        }
        work(0);
    }
    for (const std::exception_ptr& failure : failed) {
        if (failure) {
            std::rethrow_exception(failure);
        }
    }
    std::vector<NewState> all;
    for (const std::vector<NewState>& part : found) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

void sum_up(const std::vector<std::unique_ptr<Worker>>& workers, ExploreReport& report) {
    report.transitions = 0;
    report.counts = {};
    for (const std::unique_ptr<Worker>& worker : workers) {
        report.transitions += worker->transitions;
        for (std::size_t verb = 0; verb < verbs; ++verb) {
            report.counts[verb].succeeded += worker->counts[verb].succeeded;
            for (std::size_t error = 0; error < errors; ++error) {
                report.counts[verb].refused[error] += worker->counts[verb].refused[error];
            }
        }
    }
}

}  // namespace

}  // namespace explorer

std::optional<std::string> validate(const ExploreConfig& config) {
    using namespace explorer;
    const Config& manager = config.manager;
    const auto too_large = [](const char* key, auto value, std::size_t most) {
        return text(key, " is ", value, "; at most ", most, " can be explored");
    };
    if (config.sequences > most_sequences) {
        return too_large("sequences", config.sequences, most_sequences);
    }
    if (config.open_steps > most_open_steps) {
        return too_large("open_steps", config.open_steps, most_open_steps);
    }
    if (config.longest > Length{longest_explored}) {
        return too_large("longest", config.longest, longest_explored);
    }
    if (config.alphabet < 2 || config.alphabet > most_alphabet) {
        return text("alphabet is ", config.alphabet, ": histories need 2 to ", most_alphabet, " tokens to differ in");
    }
    if (config.longest_prompt > config.longest || config.reserve > config.longest) {
        return text("prompt and reserve may not be longer than longest, ", config.longest);
    }
    if (manager.blocks > Length{most_blocks}) {
        return too_large("blocks", manager.blocks, most_blocks);
    }
    if (manager.block_size > most_block_size) {
        return too_large("block_size", manager.block_size, most_block_size);
    }
    if (manager.groups.size() > most_groups) {
        return too_large("the number of groups", manager.groups.size(), most_groups);
    }
    if (config.scopes < 1 || config.scopes > most_scopes) {
        return too_large("scopes", config.scopes, most_scopes);
    }
    if (config.contents > most_contents) {
        return too_large("contents", config.contents, most_contents);
    }
    if (config.priorities > most_priorities || config.priority_steps > most_priorities) {
        return too_large("priorities or priority_steps", std::max(config.priorities, config.priority_steps),
                         most_priorities);
    }
    std::uint64_t prefixes = config.scopes + std::uint64_t{1};
    for (Length i = 0; i < config.longest; ++i) {
        prefixes *= Spelling(config).base;
    }
    if (prefixes > most_prefix) {
        return text("alphabet and longest give ", prefixes / 2, " histories; at most ", most_prefix / 2,
                    " can be told apart");
    }
    if (manager.prefix_cache.enabled && manager.prefix_cache.policy != EvictionPolicy::lru) {
        return "policy: only lru can be explored, for lfu counts uses without bound";
    }
    return std::nullopt;
}

ExploreReport explore(const ExploreConfig& config, const std::function<void(const ExploreProgress&)>& progress) {
    using namespace explorer;
    const auto start = std::chrono::steady_clock::now();
    const Setting setting(config);
    Shared shared(config, setting);
    const World root(config, setting);
    shared.states.insert(config.rename ? fingerprint(setting, root) : raw_fingerprint(setting, root));
    shared.origins.push_back({});
    shared.digests.push_back(root.manager().digest());
    std::vector<std::unique_ptr<Worker>> workers;
    for (std::uint32_t i = 0; i < std::max(config.threads, 1U); ++i) {
        workers.push_back(std::make_unique<Worker>(shared));
    }
    ExploreReport report;
    while (shared.level_begin < shared.origins.size() && !shared.is_over) {
        const auto end = static_cast<std::uint32_t>(shared.origins.size());
        const std::vector<NewState> found = expand_level(shared, workers, shared.level_begin, end);
        shared.level_begin = end;
        shared.digests.clear();
        for (const NewState& state : found) {
            shared.origins.push_back(state.origin);
            shared.digests.push_back(state.digest);
        }
        report.depth += found.empty() ? 0 : 1;
        report.states = static_cast<std::int64_t>(shared.origins.size());
        sum_up(workers, report);
        if (progress) {
            progress({report.states, report.transitions, report.depth});
        }
    }
    report.is_exhausted = !shared.is_over;
    report.digest = shared.states.digest();
    report.violation = std::move(shared.violation);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace kvpane::invariants
