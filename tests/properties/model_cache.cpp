// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "properties/model.h"

// The model's prefix cache: what blocks are known by, and the longest prefix that is found.
namespace kvpane::testing {

namespace {

Answer answer_of(Length number) {
    Answer answer;
    answer.cached = number;
    return answer;
}

Answer refusal(Error error) {
    Answer answer;
    answer.error = error;
    return answer;
}

}  // namespace

// --- what blocks are known by ---------------------------------------------------------------------------------------

ModelCell Model::cell(Token token, Length position, const std::vector<Picture>& pictures) {
    for (const Picture& picture : pictures) {
        if (position >= picture.at && position < picture.at + picture.count) {
            return {token, picture.image, position - picture.at};
        }
    }
    return {token, 0, 0};
}

std::size_t Model::copies_of(const ModelContent& content) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        blocks_, [&](const ModelBlock& block) { return block.content != nullptr && *block.content == content; }));
}

// The last cell of the block is committed, or the sequence ends there: all its cells up to the end of the history
// must be held. A block keeps a longer content; its own shorter tail is replaced.
void Model::publish(const ModelSequence& sequence, std::uint32_t group, std::size_t entry) {
    const ModelTable& table = sequence.tables[group];
    const std::uint32_t id = table.ids[entry];
    if (!config_.prefix_cache.enabled || id == 0) {
        return;
    }
    const auto begin = static_cast<Length>(entry) * size();
    for (Length position = begin; position < sequence.length(); ++position) {
        if (!table.cells.contains(position)) {
            return;
        }
    }
    ModelBlock& block = blocks_[id];
    if (block.content != nullptr) {
        if (static_cast<Length>(block.content->cells.size()) >= sequence.length() || block.pins > 0) {
            return;
        }
        withdraw(id);
        ++totals_.replaced_tails;
    }
    const ModelContent content{sequence.scope, group, sequence.history};
    totals_.stored += copies_of(content) == 0 ? 1U : 0U;
    const bool lfu = config_.prefix_cache.policy == EvictionPolicy::lfu;
    block.content = std::make_shared<const ModelContent>(content);
    block.age = next_age_++;
    block.rank = {sequence.priority, lfu ? 1U : 0U};
    block.due = due(sequence.priority, sequence.priority_steps);
}

void Model::publish_tails(const ModelSequence& sequence) {
    if (config_.prefix_cache.granularity != Granularity::token || sequence.length() % size() == 0) {
        return;
    }
    for (std::uint32_t group = 0; group < groups(); ++group) {
        publish(sequence, group, static_cast<std::size_t>(sequence.length() / size()));
    }
}

// Every block with a cell that the sequence filled itself, pinned ones aside.
void Model::withdraw_own(const ModelSequence& sequence) {
    for (const ModelTable& table : sequence.tables) {
        for (Length entry = sequence.own_from / size(); entry * size() < sequence.length(); ++entry) {
            const std::uint32_t id = table.ids[static_cast<std::size_t>(entry)];
            const bool has_own = std::min((entry + 1) * size(), sequence.length()) > sequence.own_from;
            if (has_own && blocks_[id].content != nullptr && blocks_[id].pins == 0) {
                withdraw(id);
            }
        }
    }
}

// The block is no longer found; an idle one keeps its place in the queue.
void Model::withdraw(std::uint32_t id) {
    const auto content = std::exchange(blocks_[id].content, nullptr);
    blocks_[id].pins = 0;
    totals_.removed += copies_of(*content) == 0 ? 1U : 0U;
}

void Model::empty_cache() {
    for (std::uint32_t id = 1; id < blocks_.size(); ++id) {
        if (blocks_[id].content != nullptr) {
            const bool pinned = blocks_[id].pins > 0;
            withdraw(id);
            if (pinned && is_idle(id)) {
                join_queue({id});
            }
        }
    }
}

bool Model::is_idle(std::uint32_t block) const {
    return refs_[block] == 0 && std::ranges::find(fenced_, block, &Fenced::block) == fenced_.end();
}

std::size_t Model::cached() const {
    std::size_t count = 0;
    for (std::uint32_t id = 1; id < blocks_.size(); ++id) {
        count += blocks_[id].content != nullptr && is_idle(id) ? 1U : 0U;
    }
    return count;
}

std::size_t Model::pinned() const {
    return static_cast<std::size_t>(std::ranges::count_if(blocks_, [](const auto& block) { return block.pins > 0; }));
}

std::size_t Model::entries() const {
    const auto known = [](const auto& block) { return block.content != nullptr; };
    return static_cast<std::size_t>(std::ranges::count_if(blocks_, known));
}

// --- the search -----------------------------------------------------------------------------------------------------

std::vector<std::uint32_t> ModelMatch::blocks() const {
    std::vector<std::uint32_t> out;
    for (std::size_t group = 0; group < whole.size(); ++group) {
        out.push_back(sources[group]);
        out.insert(out.end(), whole[group].rbegin(), whole[group].rend());
    }
    std::erase(out, 0U);
    return out;
}

// The oldest block of the content's group that ends in the same block and begins like this; 0 when there is none.
std::uint32_t Model::oldest(const ModelContent& wanted) const {
    const std::size_t block_size = config_.block_size;
    const std::size_t end = (wanted.cells.size() + block_size - 1) / block_size * block_size;
    std::uint32_t found = 0;
    for (std::uint32_t id = 1; id < blocks_.size(); ++id) {
        const ModelBlock& block = blocks_[id];
        if (block.content == nullptr || block.content->scope != wanted.scope || block.content->group != wanted.group ||
            block.content->cells.size() < wanted.cells.size() || block.content->cells.size() > end ||
            !std::equal(wanted.cells.begin(), wanted.cells.end(), block.content->cells.begin())) {
            continue;
        }
        if (found == 0 || block.age < blocks_[found].age) {
            found = id;
        }
    }
    return found;
}

// Whether everything is there that the query behind this prefix needs.
std::optional<ModelMatch> Model::serve(int scope, const std::vector<ModelCell>& prefix) const {
    ModelMatch match;
    match.cut = static_cast<Length>(prefix.size());
    match.whole.resize(groups());
    match.sources.resize(groups());
    for (std::uint32_t group = 0; group < groups(); ++group) {
        for (Length begin = 0; begin < match.cut; begin += size()) {
            const Length end = std::min(begin + size(), match.cut);
            const bool seen = end > need(group, match.cut) || begin < config_.groups[group].sinks;
            std::uint32_t id = 0;
            if (seen || end == match.cut) {
                id = oldest({scope, group, {prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(end)}});
                if (id == 0) {
                    return std::nullopt;
                }
            }
            if (end % size() == 0) {
                match.whole[group].push_back(id);
            } else {
                match.sources[group] = id;
            }
        }
    }
    return match;
}

// The longest prefix of at most `most` tokens.
ModelMatch Model::find(const ModelPrompt& prompt, Length most) const {
    std::vector<ModelCell> cells;
    for (const Token token : prompt.tokens) {
        cells.push_back(cell(token, static_cast<Length>(cells.size()), prompt.pictures));
    }
    const bool by_token = config_.prefix_cache.granularity == Granularity::token;
    cells.resize(static_cast<std::size_t>(most));
    while (!cells.empty()) {
        if (by_token || cells.size() % config_.block_size == 0) {
            if (const auto match = serve(prompt.scope, cells)) {
                return *match;
            }
        }
        cells.pop_back();
    }
    return *serve(prompt.scope, {});
}

// --- using it -------------------------------------------------------------------------------------------------------

// One more reference for a hit, which leaves the queue or the fence.
void Model::hold(std::uint32_t id, const ModelPrompt& prompt) {
    ModelBlock& block = blocks_[id];
    if (is_idle(id)) {
        leave_queue(id);
    }
    totals_.fenced_hits += std::erase_if(fenced_, [&](const Fenced& fenced) { return fenced.block == id; });
    refs_[id] += 1;
    if (prompt.priority > block.rank.priority) {
        block.rank.priority = prompt.priority;
        block.due = due(prompt.priority, prompt.priority_steps);
    }
    if (config_.prefix_cache.policy == EvictionPolicy::lfu) {
        block.rank.frequency += 1;
    }
}

std::optional<std::uint64_t> Model::due(std::int64_t priority, std::uint64_t steps) const {
    return priority == 0 || steps == 0 ? std::nullopt : std::optional(steps_ended_ + steps);
}

// Idle blocks whose priority ends join the others of their new rank as if they had just become idle, in their old order.
void Model::end_priorities() {
    std::vector<std::uint32_t> queued;
    for (const std::uint32_t id : queue_) {
        if (blocks_[id].content != nullptr && blocks_[id].due == steps_ended_) {
            queued.push_back(id);
        }
    }
    for (ModelBlock& block : blocks_) {
        if (block.content != nullptr && block.due == steps_ended_) {
            block.due.reset();
            block.rank.priority = 0;
            ++totals_.ended_priorities;
        }
    }
    for (const std::uint32_t id : queued) {
        leave_queue(id);
        join_queue({id});
    }
}

void Model::adopt(ModelSequence& sequence, const ModelMatch& match, const ModelPrompt& prompt) {
    for (const std::uint32_t block : match.blocks()) {
        hold(block, prompt);
    }
    sequence.scope = prompt.scope;
    sequence.pictures = prompt.pictures;
    sequence.priority = prompt.priority;
    sequence.priority_steps = prompt.priority_steps;
    sequence.own_from = match.cut;
    for (Length position = 0; position < match.cut; ++position) {
        const Token token = prompt.tokens[static_cast<std::size_t>(position)];
        sequence.history.push_back(cell(token, position, prompt.pictures));
    }
    sequence.tables.resize(groups());
    for (std::uint32_t group = 0; group < groups(); ++group) {
        ModelTable& table = sequence.tables[group];
        table.ids = match.whole[group];
        if (match.cut % size() != 0) {
            table.ids.push_back(match.sources[group]);
        }
        for (Length position = 0; position < match.cut; ++position) {
            if (table.ids[static_cast<std::size_t>(position / size())] != 0) {
                table.cells.insert(position);
            }
        }
    }
}

// --- operations -----------------------------------------------------------------------------------------------------

Answer Model::probe(const ModelPrompt& prompt) const {
    if (const auto error = unsound(prompt)) {
        return refusal(*error);
    }
    return answer_of(find(prompt, static_cast<Length>(prompt.tokens.size()) - 1).cut);
}

Answer Model::evict(Length blocks) {
    if (blocks < 0) {
        return refusal(Error::invalid_argument);
    }
    Length dropped = 0;
    for (const std::uint32_t id : queue_) {
        if (dropped < blocks && blocks_[id].content != nullptr) {
            withdraw(id);
            ++totals_.evicted;
            ++dropped;
        }
    }
    return answer_of(dropped);
}

Answer Model::uncache(Name name, const std::vector<Length>& entries) {
    const ModelSequence& sequence = sequences_.at(name);
    for (const Length entry : entries) {
        if (entry < 0 || entry >= static_cast<Length>(sequence.tables[0].ids.size())) {
            return refusal(Error::invalid_argument);
        }
    }
    for (const Length entry : entries) {
        for (const ModelTable& table : sequence.tables) {
            const std::uint32_t id = table.ids[static_cast<std::size_t>(entry)];
            if (blocks_[id].content != nullptr) {
                withdraw(id);
            }
        }
    }
    return {};
}

Answer Model::pin(const ModelPrompt& prompt) {
    if (const auto error = unsound(prompt)) {
        return refusal(*error);
    }
    const std::vector<std::uint32_t> hits = find(prompt, static_cast<Length>(prompt.tokens.size())).blocks();
    const auto is_new = [&](std::uint32_t id) { return blocks_[id].pins == 0; };
    const Length pinned_then = static_cast<Length>(pinned()) + std::ranges::count_if(hits, is_new);
    if (config_.prefix_cache.most_pinned != 0 && pinned_then > config_.prefix_cache.most_pinned) {
        return refusal(Error::later);
    }
    for (const std::uint32_t id : hits) {
        if (is_idle(id)) {
            leave_queue(id);
        }
        blocks_[id].pins += 1;
    }
    return answer_of(std::ssize(hits));
}

Answer Model::unpin(const ModelPrompt& prompt) {
    if (const auto error = unsound(prompt)) {
        return refusal(*error);
    }
    const std::vector<std::uint32_t> hits = find(prompt, static_cast<Length>(prompt.tokens.size())).blocks();
    if (hits.empty() || std::ranges::any_of(hits, [&](std::uint32_t id) { return blocks_[id].pins == 0; })) {
        return refusal(Error::invalid_argument);
    }
    for (const std::uint32_t id : hits) {
        blocks_[id].pins -= 1;
        if (blocks_[id].pins == 0 && is_idle(id)) {
            join_queue({id});
        }
    }
    return answer_of(std::ssize(hits));
}

void Model::reset_cache() {
    const ModelTotals before = totals_;
    std::uint64_t forgotten = 0;
    for (const std::uint32_t id : queue_) {
        if (blocks_[id].content != nullptr) {
            withdraw(id);
            ++forgotten;
        }
    }
    if (entries() == 0) {
        totals_ = before;
        totals_.cleared += forgotten;
    }
}

}  // namespace kvpane::testing
