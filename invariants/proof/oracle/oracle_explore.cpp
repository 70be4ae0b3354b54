// SPDX-License-Identifier: Apache-2.0
// The state graph of an exploration, walked breadth first; each edge is one operation of the Manager and the machine.
#include <algorithm>
#include <memory>
#include <vector>

#include <kvpane/invariants/explorer_fingerprint.h>
#include <kvpane/invariants/explorer_moves.h>
#include <kvpane/invariants/explorer_states.h>
#include <kvpane/invariants/explorer_world.h>
#include <kvpane/invariants/pace.h>
#include <kvpane/invariants/proof/oracle/oracle_runs.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::oracle {

namespace {

using namespace explorer;

// A world of the explorer, with the machine beside it.
class Pair final : public Subject {
public:
    Pair(const ExploreConfig& config, const Setting& setting)
        : setting_(setting), world_(config, setting), check_(config.manager) {}

    void assign(const Pair& other) {
        world_.assign(other.world_);
        check_ = other.check_;
    }

    const Manager& manager() const override { return world_.manager(); }

    std::optional<SequenceHandle> handle(Name name) const override {
        const bool is_alive = name < setting_.sequences && world_.shadow().sequences[name].is_alive;
        return is_alive ? std::optional(world_.shadow().handles[name]) : std::nullopt;
    }

    CheckedManager::WindowContents window(Name name, GroupId group) const override {
        const TableView table = manager().table(*handle(name), group).value();
        const Length length = world_.shadow().sequences[name].length;
        const Length window = setting_.rules[to_index(group)].window;
        CheckedManager::WindowContents contents;
        for (Length position = window == 0 ? 0 : std::max<Length>(0, length - window); position < length; ++position) {
            const auto entry = static_cast<std::size_t>(position / setting_.block_size);
            if (table[entry] == null_block || (position < table.first_resident && entry >= table.sinks.size())) {
                continue;
            }
            const auto offset = static_cast<std::size_t>(position % setting_.block_size);
            const Prefix prefix = world_.shadow().cells[to_index(table[entry])][offset] & 0xffffffU;
            contents.positions.push_back(position);
            contents.tokens.push_back(prefix == 0 ? -1 : setting_.token(prefix, position + 1, position));
        }
        return contents;
    }

    const World& world() const { return world_; }
    const OracleCounts& counts() const { return check_.counts(); }

    struct Edge {
        bool changed = false;
        std::optional<std::string> difference;
    };
    Edge apply(const Move& move) {
        const Operation operation = to_operation(move, setting_);
        check_.before(operation, *this);
        const Result result = world_.apply(move);
        Outcome outcome;
        outcome.error = result.error;
        outcome.plan = result.plan;
        outcome.cached_tokens = result.value;
        outcome.step = result.step;
        const bool changed = !result.error && !only_asks(move.verb);
        if (Found found = changed ? world_.follow(move, result) : std::nullopt) {
            return {true, text(to_string(move.verb), ": ", found->what)};
        }
        return {changed, check_.after(operation, outcome, *this)};
    }

private:
    const Setting& setting_;
    World world_;
    OracleCheck check_;
};

// The pairs on the way to the state that is looked at, by depth: neighbours share most of it.
class Way {
public:
    Way(const ExploreConfig& config, const Setting& setting, const std::vector<Origin>& origins)
        : config_(config), setting_(setting), origins_(origins) {
        pairs_.push_back(std::make_unique<Pair>(config, setting));
        states_.push_back(0);
    }

    const Pair& at(std::uint32_t state) {
        std::vector<std::uint32_t> way;
        for (; state != 0; state = origins_[state].parent) {
            way.push_back(state);
        }
        way.push_back(0);
        std::reverse(way.begin(), way.end());
        const auto differ = std::mismatch(states_.begin(), states_.end(), way.begin(), way.end()).second;
        for (auto depth = static_cast<std::size_t>(differ - way.begin()); depth < way.size(); ++depth) {
            if (depth == pairs_.size()) {
                pairs_.push_back(std::make_unique<Pair>(config_, setting_));
            }
            pairs_[depth]->assign(*pairs_[depth - 1]);
            pairs_[depth]->apply(origins_[way[depth]].move);  // compared when it was found
        }
        states_ = std::move(way);
        return *pairs_[states_.size() - 1];
    }

private:
    const ExploreConfig& config_;
    const Setting& setting_;
    const std::vector<Origin>& origins_;
    std::vector<std::unique_ptr<Pair>> pairs_;
    std::vector<std::uint32_t> states_;
};

}  // namespace

OracleReport explore(const ExploreConfig& config, std::int64_t limit) {
    const Pace started;
    const Setting setting(config);
    StateSet known;
    std::vector<Origin> origins{{}};
    Way way(config, setting, origins);
    Pair next(config, setting);
    known.insert(fingerprint(setting, next.world()));
    OracleReport report;
    std::vector<Move> moves;
    std::int64_t edges = 0;
    for (std::uint32_t state = 0; state < origins.size() && !report.difference; ++state) {
        const Pair& here = way.at(state);
        list_moves(config, setting, here.world(), moves);
        bool is_fresh = false;
        for (const Move& move : moves) {
            if (limit > 0 && edges == limit) {
                break;
            }
            if (!is_fresh) {
                next.assign(here);
            }
            ++edges;
            const Pair::Edge edge = next.apply(move);
            is_fresh = !edge.changed;
            if (edge.difference) {
                report.difference = text("operation ", edges, ": ", *edge.difference);
                break;
            }
            if (edge.changed && known.insert(fingerprint(setting, next.world()))) {
                origins.push_back({state, move});
            }
        }
    }
    report.counts = next.counts();
    report.counts.operations = edges;
    report.seconds = started.seconds();
    return report;
}

}  // namespace kvpane::invariants::oracle
