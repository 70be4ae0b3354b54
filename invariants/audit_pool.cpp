// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

bool is_idle(BlockState state) { return state == BlockState::free || state == BlockState::cached; }

Found found(Invariant invariant, std::string what) { return Finding{invariant, std::move(what)}; }

Found found(Invariant invariant, BlockId block, std::string what) {
    return Finding{invariant, std::move(what), {.block = block}};
}

}  // namespace

std::string label_of(Name name, const std::vector<std::string>& spellings) {
    return name < spellings.size() ? text("sequence ", spellings[name]) : text("sequence #", name);
}

std::string Scene::label(const Record& record, std::uint32_t group) const {
    return text(label(record.name), ", group ", manager.config().groups[group].name);
}

Found find_P1(const Scene& scene) {
    const BlockPool& pool = scene.manager.pool();
    std::array<std::int64_t, 4> counted{};
    for (std::uint32_t i = 1; i <= pool.blocks(); ++i) {
        const BlockId block{i};
        const BlockState state = pool.state(block);
        const bool known = pool.content(block) != no_content;
        if ((state == BlockState::live) != (pool.refs(block) > 0) || (state == BlockState::free && known) ||
            (state == BlockState::cached && !known)) {
            return found(Invariant::P1, block,
                         text("block ", i, " is ", to_string(state), " with ", pool.refs(block), " references and ",
                              known ? "a" : "no", " content"));
        }
        ++counted[static_cast<std::size_t>(state)];
    }
    const std::array<std::int64_t, 4> says = {pool.free_blocks(), pool.cached_blocks(), pool.live_blocks(),
                                              pool.fenced_blocks()};
    for (std::size_t state = 0; state < counted.size(); ++state) {
        if (says[state] != counted[state]) {
            return found(Invariant::P1,
                         text("the pool counts ", says[state], " ", to_string(static_cast<BlockState>(state)),
                              " blocks, there are ", counted[state]));
        }
    }
    if (says[0] + says[1] + says[2] + says[3] != scene.manager.config().blocks) {
        return found(Invariant::P1, text("the states do not add up to ", scene.manager.config().blocks, " blocks"));
    }
    if (pool.fenced_blocks() > 0 && !pool.step_is_open()) {
        return found(Invariant::P1, text(pool.fenced_blocks(), " blocks are fenced, and no step is open"));
    }
    return std::nullopt;
}

Found find_P2(const Scene& scene) {
    const BlockPool& pool = scene.manager.pool();
    if (scene.manager.sequences() != scene.living.size()) {
        return found(Invariant::P2, text("the Manager has ", scene.manager.sequences(), " sequences, ",
                                         scene.living.size(), " are alive"));
    }
    std::vector<std::uint32_t> appearances(pool.blocks() + std::size_t{1});
    for (const Record* record : scene.living) {
        for (std::uint32_t group = 0; group < record->groups.size(); ++group) {
            const auto table = scene.manager.table(record->handle, GroupId{group});
            for (std::uint32_t entry = 0; table && entry < table->size; ++entry) {
                const BlockId block = (*table)[entry];
                if (to_index(block) > pool.blocks()) {
                    return found(Invariant::P2, text(scene.label(*record, group), ", logical block ", entry,
                                                     ": there is no block ", to_index(block)));
                }
                ++appearances[to_index(block)];
            }
        }
    }
    appearances[0] = 0;  // holes
    std::uint32_t pinned = 0;
    for (std::uint32_t i = 1; i <= pool.blocks(); ++i) {
        const BlockId block{i};
        pinned += pool.pins(block) > 0 ? 1U : 0U;
        if (pool.pins(block) > 0 && pool.content(block) == no_content) {
            return found(Invariant::P2, block, text("block ", i, " is pinned and known by nothing"));
        }
    }
    if (pinned != pool.pinned_blocks()) {
        return found(Invariant::P2, text(pinned, " blocks are pinned, the pool counts ", pool.pinned_blocks()));
    }
    const std::int64_t most = scene.manager.config().prefix_cache.most_pinned;
    if (most > 0 && pinned > most) {
        return found(Invariant::P2, text(pinned, " blocks are pinned, at most ", most, " may be"));
    }
    for (std::uint32_t i = 0; i <= pool.blocks(); ++i) {
        if (pool.refs(BlockId{i}) != appearances[i]) {
            return found(Invariant::P2, BlockId{i},
                         text("block ", i, " has ", pool.refs(BlockId{i}), " references and stands in ", appearances[i],
                              " tables"));
        }
    }
    return std::nullopt;
}

Found find_P3(const Scene& scene) {
    const BlockPool& pool = scene.manager.pool();
    const bool caches = scene.manager.config().prefix_cache.enabled;
    std::vector<bool> queued(pool.blocks() + std::size_t{1});
    std::int64_t length = 0;
    BlockId before = null_block;  // of those that have a place: with the cache on the others join in front
    for (BlockId at = pool.next_idle(null_block); at != null_block; at = pool.next_idle(at)) {
        const std::uint32_t i = to_index(at);
        if (i > pool.blocks()) {
            return found(Invariant::P3, text("the queue names block ", i, ", which does not exist"));
        }
        if (queued[i]) {
            return found(Invariant::P3, at, text("block ", i, " is queued twice"));
        }
        if (!is_idle(pool.state(at))) {
            return found(Invariant::P3, at, text("block ", i, " is queued and ", to_string(pool.state(at))));
        }
        queued[i] = true;
        ++length;
        if (caches && pool.content(at) == no_content) {
            continue;
        }
        const auto place = [&](BlockId block) { return std::pair(pool.rank(block), pool.idle_since(block)); };
        if (before != null_block && place(at) < place(before)) {
            return found(Invariant::P3, at,
                         text("block ", i, " is queued behind block ", to_index(before),
                              ", and has a lower rank or is idle for longer"));
        }
        before = at;
    }
    for (std::uint32_t i = 1; i <= pool.blocks(); ++i) {
        const bool is_due = is_idle(pool.state(BlockId{i})) && pool.pins(BlockId{i}) == 0;
        if (!is_due && queued[i]) {
            return found(Invariant::P3, BlockId{i}, text("block ", i, " is pinned and queued"));
        }
        if (is_due && !queued[i]) {
            return found(Invariant::P3, BlockId{i},
                         text("block ", i, " is ", to_string(pool.state(BlockId{i})), " and not queued"));
        }
    }
    if (length != pool.idle_blocks()) {
        return found(Invariant::P3, text("the queue holds ", length, " blocks, the pool counts ", pool.idle_blocks()));
    }
    return std::nullopt;
}

Found audit_whole(const Scene& scene) {
    for (const auto find : {&find_P1, &find_P2, &find_P3}) {
        if (auto finding = find(scene)) {
            return finding;
        }
    }
    if (auto finding = find_T1(scene)) {
        return finding;
    }
    return find_T5(scene);
}

}  // namespace kvpane::invariants
