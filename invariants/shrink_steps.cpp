// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/shrink_steps.h>

#include <algorithm>
#include <array>

namespace kvpane::invariants {

namespace {

// Lower numbers than `value`, not below `least`: the least, half the way, one less.
std::vector<std::int64_t> lower(std::int64_t value, std::int64_t least) {
    std::vector<std::int64_t> numbers;
    for (const std::int64_t candidate : {least, least + (value - least) / 2, value - 1}) {
        if (candidate < value && candidate >= least && std::ranges::find(numbers, candidate) == numbers.end()) {
            numbers.push_back(candidate);
        }
    }
    return numbers;
}

// Adds `from` with a change, when that makes a difference.
template <class T, class Field>
void add(std::vector<T>& simpler, const T& from, Field T::*field, const Field& value) {
    if (from.*field != value) {
        simpler.push_back(from);
        simpler.back().*field = value;
    }
}

template <class T, class Field>
void add_lower(std::vector<T>& simpler, const T& from, Field T::*field, std::int64_t least) {
    for (const std::int64_t number : lower(static_cast<std::int64_t>(from.*field), least)) {
        add(simpler, from, field, static_cast<Field>(number));
    }
}

void add_lower_if(std::vector<Operation>& simpler, const Operation& from, std::optional<Length> Operation::*field) {
    if (from.*field) {
        add(simpler, from, field, std::optional<Length>());
        for (const Length number : lower(*(from.*field), 0)) {
            add(simpler, from, field, std::optional(number));
        }
    }
}

void add_lower_in(std::vector<Operation>& simpler, const Operation& from, std::vector<Length> Operation::*list) {
    for (std::size_t i = 0; i < (from.*list).size(); ++i) {
        for (const Length number : lower((from.*list)[i], 0)) {
            simpler.push_back(from);
            (simpler.back().*list)[i] = number;
        }
    }
}

void add_simpler_groups(std::vector<Config>& simpler, const Config& config) {
    for (std::size_t i = 0; i < config.groups.size(); ++i) {
        if (config.groups.size() > 1) {
            simpler.push_back(config);
            simpler.back().groups.erase(simpler.back().groups.begin() + static_cast<std::ptrdiff_t>(i));
        }
        std::vector<GroupConfig> groups;
        add(groups, config.groups[i], &GroupConfig::window, Length{0});  // full attention
        if (config.groups[i].window > 1) {
            add_lower(groups, config.groups[i], &GroupConfig::window, 1);
        }
        add_lower(groups, config.groups[i], &GroupConfig::sinks, 0);
        for (GroupConfig& group : groups) {
            simpler.push_back(config);
            simpler.back().groups[i] = std::move(group);
        }
    }
}

void add_simpler_caches(std::vector<Config>& simpler, const Config& config) {
    const PrefixCacheConfig& cache = config.prefix_cache;
    std::vector<PrefixCacheConfig> caches;
    add(caches, cache, &PrefixCacheConfig::enabled, false);
    add(caches, cache, &PrefixCacheConfig::granularity, Granularity::block);
    add(caches, cache, &PrefixCacheConfig::policy, EvictionPolicy::lru);
    add(caches, cache, &PrefixCacheConfig::constant_hash, false);
    add(caches, cache, &PrefixCacheConfig::most_pinned, std::int64_t{0});
    for (PrefixCacheConfig& changed : caches) {
        simpler.push_back(config);
        simpler.back().prefix_cache = changed;
    }
}

// What a batch of one sequence is without the others.
Operation alone(Operation batch) {
    batch.sequence = batch.sequences.front();
    batch.sequences.clear();
    if (batch.verb == Verb::append_batch) {
        batch.verb = Verb::append;
    } else {
        batch.is_batch = false;
        batch.count = batch.counts.empty() ? 0 : batch.counts.front();
        batch.counts.clear();
    }
    return batch;
}

}  // namespace

Name names_in(const std::vector<Operation>& operations) noexcept {
    Name names = 0;
    for (const Operation& operation : operations) {
        names = std::max({names, operation.sequence + 1, operation.verb == Verb::fork ? operation.child + 1 : 0});
        for (const Name name : operation.sequences) {
            names = std::max(names, name + 1);
        }
    }
    return names;
}

std::vector<Operation> without_sequence(const std::vector<Operation>& operations, Name name) {
    std::vector<Operation> left;
    for (const Operation& operation : operations) {
        const bool names_one = !operation.sequences.empty() || works_on_several(operation) ||
                               operation.verb == Verb::probe || operation.verb == Verb::plan ||
                               operation.verb == Verb::pin || operation.verb == Verb::unpin ||
                               operation.verb == Verb::evict || operation.verb == Verb::step_begin ||
                               operation.verb == Verb::step_end || operation.verb == Verb::reset_cache ||
                               operation.verb == Verb::check;
        if (!names_one && (operation.sequence == name || (operation.verb == Verb::fork && operation.child == name))) {
            continue;
        }
        Operation kept = operation;
        for (std::size_t i = 0; i < kept.sequences.size();) {
            if (kept.sequences[i] == name) {
                drop_from_list(kept, i, i + 1);
            } else {
                ++i;
            }
        }
        if (!works_on_several(operation) || !kept.sequences.empty()) {
            left.push_back(std::move(kept));
        }
    }
    return left;
}

std::size_t list_size(const Operation& operation) noexcept {
    return std::max({operation.tokens.size(), operation.blocks.size(), operation.sequences.size(),
                     operation.counts.size()});
}

void drop_from_list(Operation& operation, std::size_t begin, std::size_t end) {
    const auto drop = [&](auto& list) {
        const auto at = [&](std::size_t i) {
            return list.begin() + static_cast<std::ptrdiff_t>(std::min(i, list.size()));
        };
        list.erase(at(begin), at(end));
    };
    drop(operation.tokens);
    drop(operation.blocks);
    drop(operation.sequences);
    drop(operation.counts);
}

std::vector<Operation> simpler_operations(const Operation& operation) {
    std::vector<Operation> simpler;
    add(simpler, operation, &Operation::scope, Scope{});
    add(simpler, operation, &Operation::extra, std::vector<ExternalContent>());
    add(simpler, operation, &Operation::priority, std::int64_t{0});
    add(simpler, operation, &Operation::priority_steps, std::uint64_t{0});
    add(simpler, operation, &Operation::keep_cached, true);
    add_lower_if(simpler, operation, &Operation::compute);
    add_lower_if(simpler, operation, &Operation::at);
    add_lower(simpler, operation, &Operation::sequence, 0);  // an older sequence may do, and then this one can go
    for (std::size_t i = 0; i < operation.sequences.size(); ++i) {
        for (const std::int64_t name : lower(operation.sequences[i], 0)) {
            simpler.push_back(operation);
            simpler.back().sequences[i] = static_cast<Name>(name);
        }
    }
    add_lower(simpler, operation, &Operation::count, 0);
    add_lower(simpler, operation, &Operation::chunk, 0);
    add_lower(simpler, operation, &Operation::length, 0);
    add_lower_in(simpler, operation, &Operation::counts);
    add_lower_in(simpler, operation, &Operation::blocks);
    if (works_on_several(operation) && operation.sequences.size() == 1) {
        simpler.push_back(alone(operation));
    }
    return simpler;
}

std::vector<Config> simpler_managers(const Config& config) {
    std::vector<Config> simpler;
    add_simpler_groups(simpler, config);
    add_lower(simpler, config, &Config::block_size, 1);
    add(simpler, config, &Config::watermark, std::int64_t{0});
    add(simpler, config, &Config::max_length, Length{0});
    add(simpler, config, &Config::window_release, WindowRelease::commit);
    add_lower(simpler, config, &Config::rewind_slack, 0);
    add_simpler_caches(simpler, config);
    add_lower(simpler, config, &Config::blocks, 1);
    return simpler;
}

std::vector<Operation> scaled_lists(const std::vector<Operation>& operations, std::uint32_t from, std::uint32_t to) {
    const auto scaled = [&](Length number) {
        constexpr Length large = 1'000'000'000;  // such numbers are not about blocks
        return number <= 0 || number > large ? number : (number * Length{to} + from - 1) / Length{from};
    };
    std::vector<Operation> out = operations;
    for (Operation& operation : out) {
        if (operation.verb != Verb::append_batch) {
            operation.tokens.resize(static_cast<std::size_t>(scaled(static_cast<Length>(operation.tokens.size()))));
        }
        if (operation.verb != Verb::evict) {
            operation.count = scaled(operation.count);
        }
        for (Length& count : operation.counts) {
            count = scaled(count);
        }
        operation.length = scaled(operation.length);
        operation.chunk = scaled(operation.chunk);
        for (std::optional<Length>* number : {&operation.at, &operation.compute}) {
            if (*number) {
                **number = scaled(**number);
            }
        }
    }
    return out;
}

}  // namespace kvpane::invariants
