// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer_moves.h>

#include <algorithm>

#include <kvpane/invariants/record.h>

namespace kvpane::invariants::explorer {

namespace {

class Lister {
public:
    Lister(const ExploreConfig& config, const Setting& setting, const World& world, std::vector<Move>& moves)
        : config_(config), setting_(setting), world_(world), moves_(moves) {
        moves.clear();
        for (std::size_t i = setting.sequences; i-- > 0;) {
            dead_ = world.shadow().sequences[i].is_alive ? dead_ : static_cast<int>(i);
        }
    }

    void list() {
        prompts();
        for (std::size_t i = 0; i < setting_.sequences; ++i) {
            if (world_.shadow().sequences[i].is_alive) {
                sequence_ = static_cast<std::uint8_t>(i);
                of_one_sequence(world_.shadow().sequences[i]);
                batches(world_.shadow().sequences[i]);
            }
        }
        steps();
        cache();
    }

private:
    bool tries(Verb verb) const { return config_.tries[static_cast<std::size_t>(verb)]; }

    void add(Verb verb, Length number = 0, Prefix tokens = 1, std::size_t other = 0) {
        if (tries(verb)) {
            moves_.push_back(
                {verb, sequence_, static_cast<std::uint8_t>(other), static_cast<std::uint8_t>(number), tokens});
        }
    }

    // Calls visit(tokens, length) for every string of [from, to] tokens.
    template <class F>
    void for_each_string(Length from, Length to, F visit) const {
        for_each_prefix(1, setting_.spelling.alphabet, from, to, visit);
    }

    // Calls visit(prefix, length) for every prefix of [from, to] digits below `digits` in the first scopes.
    template <class F>
    void for_each_prefix(Prefix scopes, Prefix digits, Length from, Length to, F visit) const {
        for (Length length = from; length <= to; ++length) {
            const Prefix first = setting_.power[static_cast<std::size_t>(length)];
            for (Prefix prefix = first; prefix < (scopes + 1) * first; ++prefix) {
                if (digits == setting_.spelling.base || has_digits_below(digits, prefix, length)) {
                    visit(prefix, length);
                }
            }
        }
    }

    bool has_digits_below(Prefix digits, Prefix prefix, Length length) const {
        for (; length > 0 && prefix % setting_.spelling.base < digits; --length) {
            prefix /= setting_.spelling.base;
        }
        return length == 0;
    }

    // All dead names are alike: the first one is taken.
    void prompts() {
        sequence_ = static_cast<std::uint8_t>(dead_ < 0 ? 0 : dead_);
        std::uint32_t pins = 0;
        for (const Snapshot::Block& block : world_.seen().blocks) {
            pins += block.pins;
        }
        const Prefix digits = config_.alphabet * (config_.contents + 1);
        for_each_prefix(config_.scopes, digits, 1, config_.longest_prompt, [&](Prefix tokens, Length length) {
            for (std::size_t priority = 0; dead_ >= 0 && priority <= config_.priorities; ++priority) {
                add(Verb::admit, 0, tokens, priority);
                for (Length compute = 0; compute < std::min<Length>(config_.partial, length); ++compute) {
                    add(Verb::admit, compute + 1, tokens, priority);
                }
            }
            // Without a cache only the length of a prompt can matter to a question.
            if (!setting_.is_cached && tokens != setting_.power[static_cast<std::size_t>(length)]) {
                return;
            }
            add(Verb::plan, 0, tokens);
            if (length == config_.longest_prompt && length > 1) {
                add(Verb::plan, 1, tokens);  // in chunks of one token
            }
            if (setting_.is_cached) {
                add(Verb::probe, 0, tokens);
                if (pins < config_.pins) {
                    add(Verb::pin, 0, tokens);
                }
                if (pins > 0) {
                    add(Verb::unpin, 0, tokens);
                }
            }
        });
    }

    void of_one_sequence(const Shadow::Sequence& sequence) {
        const Length left = config_.longest - sequence.length - sequence.reserved;
        for (Length cells = 1; cells <= std::min(config_.reserve, left); ++cells) {
            add(Verb::reserve, cells);
        }
        for_each_string(1, std::min<Length>(config_.reserve, sequence.reserved),
                        [&](Prefix tokens, Length) { add(Verb::commit, 0, tokens); });
        add(Verb::commit, 0, setting_.power[sequence.reserved + std::size_t{1}]);  // not reserved
        if (sequence.reserved > 0) {
            add(Verb::cancel);
            add(Verb::append, 0, setting_.power[1]);  // busy
        } else {
            for_each_string(1, std::min(config_.reserve, left),
                            [&](Prefix tokens, Length) { add(Verb::append, 0, tokens); });
        }
        if (dead_ >= 0) {
            add(Verb::fork, 0, 1, static_cast<std::size_t>(dead_));
            for (Length at = 0; at < sequence.length; ++at) {
                add(Verb::fork, at + 1, 1, static_cast<std::size_t>(dead_));
            }
        }
        for (Length length = 0; length <= sequence.length + 1; ++length) {
            add(Verb::truncate, length);  // one beyond the length too
        }
        add(Verb::release, 1);
        if (!setting_.is_cached) {
            return;
        }
        add(Verb::release, 0);
        const Length entries = spec::blocks_for(sequence.length + sequence.reserved, setting_.rules[0]);
        for (Length entry = 0; entry <= entries; ++entry) {
            add(Verb::uncache, entry);  // one beyond the table too
        }
    }

    // Ordered pairs: for all it reserves in order, then commits in order.
    void batches(const Shadow::Sequence& first) {
        for (std::size_t other = 0; other < setting_.sequences; ++other) {
            const Shadow::Sequence& second = world_.shadow().sequences[other];
            if (other == sequence_ || !second.is_alive || first.length + first.reserved >= config_.longest ||
                second.length + second.reserved >= config_.longest) {
                continue;
            }
            for_each_string(2, 2, [&](Prefix tokens, Length) { add(Verb::append_batch, 0, tokens, other); });
        }
    }

    // The names of steps decide nothing: a new one gets the smallest that is not open.
    void steps() {
        sequence_ = 0;
        const Shadow& shadow = world_.shadow();
        const auto end = shadow.open.begin() + shadow.n_open;
        std::uint8_t fresh = 1;
        while (std::find(shadow.open.begin(), end, fresh) != end) {
            ++fresh;
        }
        if (shadow.n_open < config_.open_steps) {
            add(Verb::step_begin, fresh);
        }
        if (config_.open_steps == 0) {
            return;
        }
        add(Verb::step_end, fresh);  // not open
        for (auto step = shadow.open.begin(); step != end; ++step) {
            add(Verb::step_end, *step);
            add(Verb::step_begin, *step);  // open already
        }
    }

    void cache() {
        if (!setting_.is_cached) {
            return;
        }
        const std::uint32_t cached = world_.seen().states[static_cast<std::size_t>(BlockState::cached)];
        for (std::uint32_t blocks = 1; blocks <= std::max(cached, 1U); ++blocks) {
            add(Verb::evict, blocks);
        }
        add(Verb::reset_cache);
    }

    const ExploreConfig& config_;
    const Setting& setting_;
    const World& world_;
    std::vector<Move>& moves_;
    std::uint8_t sequence_ = 0;
    int dead_ = -1;  // -1: all are alive
};

}  // namespace

Setting::Setting(const ExploreConfig& config)
    : spelling(config), sequences(config.sequences),
      groups(static_cast<std::uint32_t>(config.manager.groups.size())),
      blocks(static_cast<std::uint32_t>(config.manager.blocks)), block_size(config.manager.block_size),
      limit(config.manager.max_length > 0 ? config.manager.max_length : longest_sequence),
      watermark(config.manager.watermark), most_pinned(config.manager.prefix_cache.most_pinned),
      priority_steps(static_cast<std::uint8_t>(config.priority_steps)), has_contents(config.contents > 0),
      is_cached(config.manager.prefix_cache.enabled),
      by_token(config.manager.prefix_cache.granularity == Granularity::token),
      releases_at_commit(config.manager.window_release == WindowRelease::commit) {
    Prefix value = 1;
    for (Prefix& power_of : power) {
        power_of = value;
        value *= spelling.base;  // may wrap behind the longest prefix, which nobody looks at
    }
    for (std::size_t group = 0; group < groups; ++group) {
        const GroupConfig& from = config.manager.groups[group];
        rules[group] = {from.window, from.sinks, config.manager.rewind_slack, block_size};
        for (Length cut = 0; cut <= Length{most_length}; ++cut) {
            std::uint32_t& needs = hit_needs[group][static_cast<std::size_t>(cut)];
            for (Length p = 0; p < cut; ++p) {
                const bool seen = spec::query_sees(cut, p, from.window, from.sinks) || p == cut - 1;
                const Length block = p / block_size;
                // The blocks of the sinks come whole.
                needs |= seen || block * block_size < from.sinks ? 1U << block : 0U;
            }
        }
    }
}

Length Setting::length_of(Prefix prefix) const {
    Length length = 0;
    while (length < Length{most_length} && prefix >= power[static_cast<std::size_t>(length + 1)]) {
        ++length;
    }
    return length;
}

void list_moves(const ExploreConfig& config, const Setting& setting, const World& world, std::vector<Move>& moves) {
    Lister(config, setting, world, moves).list();
}

Operation to_operation(const Move& move, const Setting& setting) {
    Operation out;
    out.verb = move.verb;
    out.sequence = move.sequence;
    out.child = move.other;
    if (move.verb == Verb::append_batch) {
        out.sequences = {move.sequence, move.other};
    }
    const Length length = setting.length_of(move.tokens);
    for (Length i = 0; i < length; ++i) {
        out.tokens.push_back(setting.token(move.tokens, length, i));
        if (const Prefix content = setting.content(move.tokens, length, i); content > 0) {
            out.extra.push_back({i, 1, std::string(content_id(content))});
        }
    }
    out.scope = owned(scope_of(setting.beginning(move.tokens, length, 0)));
    const Length number = move.number;
    switch (move.verb) {
        case Verb::admit:
            out.compute = number > 0 ? std::optional(number - 1) : std::nullopt;
            out.priority = move.other;
            out.priority_steps = move.other > 0 ? setting.priority_steps : 0U;
            break;
        case Verb::fork: out.at = number > 0 ? std::optional(number - 1) : std::nullopt; break;
        case Verb::truncate: out.length = number; break;
        case Verb::release: out.keep_cached = number != 0; break;
        case Verb::plan: out.chunk = number; break;
        case Verb::step_begin:
        case Verb::step_end: out.step = move.number; break;
        case Verb::uncache: out.blocks = {number}; break;
        default: out.count = number;
    }
    return out;
}

}  // namespace kvpane::invariants::explorer
