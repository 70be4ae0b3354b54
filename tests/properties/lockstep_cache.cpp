// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "properties/lockstep.h"
#include "properties/lockstep_check.h"

// Lockstep and the prefix cache: prompts that are worth asking for, cache operations, contents and events.
namespace kvpane::testing {

namespace {

// Equal texts in different parts, and texts that would be equal when put one behind the other.
const std::array<Scope, 9> scopes{
    Scope{},
    Scope{.tenant = "a"},
    Scope{.adapter = "a"},
    Scope{.adapter_id = 1},
    Scope{.salt = "a"},
    Scope{.model = "a"},
    Scope{.tenant = "a", .salt = "b"},
    Scope{.tenant = "ab"},
    Scope{.adapter = "1"},
};
constexpr std::array<std::string_view, 4> images{"", "a", "b", "ab"};
constexpr std::size_t most_remembered = 10;
constexpr std::size_t longest_prompt = 24;

}  // namespace

// --- prompts --------------------------------------------------------------------------------------------------------

Lockstep::Spoken::Spoken(const ModelPrompt& model) {
    for (const Picture& picture : model.pictures) {
        extra.push_back({picture.at, picture.count, images[static_cast<std::size_t>(picture.image)]});
    }
    prompt = {.tokens = model.tokens,
              .compute = model.compute,
              .scope = scopes[static_cast<std::size_t>(model.scope)],
              .extra = extra,
              .priority = model.priority,
              .priority_steps = model.priority_steps};
}

void Lockstep::remember(const ModelPrompt& prompt) {
    if (remembered_.size() == most_remembered) {
        remembered_.erase(remembered_.begin() + draw(most_remembered));
    }
    remembered_.push_back(prompt);
}

ModelPrompt Lockstep::new_prompt(Length count) {
    ModelPrompt prompt{.tokens = next_tokens(count)};
    prompt.scope = draw(3) == 0 ? draw(static_cast<int>(scopes.size())) : 0;
    prompt.priority = draw(3) == 0 ? draw(4) - 1 : 0;
    prompt.priority_steps = draw(2) == 0 ? static_cast<std::uint64_t>(draw(4)) : 0;
    for (Length at = draw(8); at < count && draw(2) == 0; at += 1 + draw(4)) {
        const Length pictured = std::min<Length>(1 + draw(5), count - at);
        prompt.pictures.push_back({at, pictured, 1 + draw(static_cast<int>(images.size()) - 1)});
        at += pictured;
    }
    return prompt;
}

// Something remembered, cut, continued or changed in one place.
ModelPrompt Lockstep::old_prompt() {
    if (remembered_.empty()) {
        return new_prompt(1 + draw(20));
    }
    ModelPrompt prompt = remembered_[static_cast<std::size_t>(draw(static_cast<int>(remembered_.size())))];
    prompt.compute.reset();
    prompt.priority = draw(3) == 0 ? draw(4) - 1 : 0;
    prompt.priority_steps = draw(2) == 0 ? static_cast<std::uint64_t>(draw(4)) : 0;
    prompt.tokens.resize(std::min(prompt.tokens.size(), longest_prompt));
    if (draw(2) == 0) {
        prompt.tokens.resize(static_cast<std::size_t>(1 + draw(static_cast<int>(prompt.tokens.size()))));
    }
    for (Token& token : prompt.tokens) {
        token = draw(24) == 0 ? 1 - std::min(token, 1) : token;
    }
    const std::vector<Token> more = next_tokens(draw(2) == 0 ? draw(7) : 0);
    prompt.tokens.insert(prompt.tokens.end(), more.begin(), more.end());
    if (draw(8) == 0) {
        prompt.scope = draw(static_cast<int>(scopes.size()));
    }
    const auto count = static_cast<Length>(prompt.tokens.size());
    std::erase_if(prompt.pictures, [&](const Picture& picture) { return picture.at >= count; });
    for (Picture& picture : prompt.pictures) {
        picture.count = std::min(picture.count, count - picture.at);
        picture.image = draw(8) == 0 ? 1 + draw(static_cast<int>(images.size()) - 1) : picture.image;
    }
    if (draw(8) == 0) {
        prompt.pictures.clear();
    }
    return prompt;
}

// --- operations -----------------------------------------------------------------------------------------------------

void Lockstep::count_what_a_prompt_meets(const ModelPrompt& prompt, const Admission& got) {
    const Length cut = got.cached_tokens;
    reached_["hits"] += cut > 0 ? 1U : 0U;
    reached_["hits of part of a block"] += cut % config_.block_size != 0 ? 1U : 0U;
    for (const auto& table : model_.sequences().at(next_name_ - 1).tables) {
        reached_["hits with holes"] += cut > 0 && table.ids[0] == 0 ? 1U : 0U;
    }
    if (cut > 0 && !prompt.pictures.empty() && prompt.pictures[0].at < cut) {
        ++reached_["hits with external content"];
    }
    ModelPrompt other = prompt;
    other.scope = 0;
    if (model_.probe(other).cached > cut) {
        ++reached_["misses because of the scope"];
    }
    other = prompt;
    other.pictures.clear();
    if (model_.probe(other).cached > cut) {
        ++reached_["misses because of external content"];
    }
}

void Lockstep::apply_cache(const Op& op) {
    switch (op.kind) {
        case Kind::probe: {
            const std::uint64_t before = kv_.digest();
            const ModelPrompt prompt = old_prompt();
            const Spoken spoken(prompt);
            const auto got = both([&](Manager& kv) { return kv.probe(spoken.prompt); });
            check_equal(got.value(), model_.probe(prompt).cached, "tokens that a probe finds");
            check_equal(kv_.digest(), before, "digest after a probe");
            break;
        }
        case Kind::evict: {
            const Length blocks = op.much % 5;
            const Answer answer = model_.evict(blocks);
            check_equal(both([&](Manager& kv) { return kv.evict(blocks); }).value(), answer.cached, "evicted blocks");
            reached_["evict"] += answer.cached > 0 ? 1U : 0U;
            break;
        }
        case Kind::reset_cache: {
            const ModelTotals before = model_.totals();
            model_.reset_cache();
            kv_.reset_cache();
            twin_.reset_cache();
            reached_["resets that clear"] += model_.totals().cleared > before.cleared ? 1U : 0U;
            reached_["resets that remove"] += model_.totals().removed > before.removed ? 1U : 0U;
            break;
        }
        default: apply_pin(op);
    }
}

void Lockstep::apply_pin(const Op& op) {
    const ModelPrompt prompt = old_prompt();
    const Spoken spoken(prompt);
    const bool pins = op.kind == Kind::pin;
    const Answer answer = pins ? model_.pin(prompt) : model_.unpin(prompt);
    const auto got = both([&](Manager& kv) { return pins ? kv.pin(spoken.prompt) : kv.unpin(spoken.prompt); });
    check_error(got, answer);
    if (got.has_value()) {
        check_equal(*got, answer.cached, "blocks that were pinned or unpinned");
    }
    const bool did = got.has_value() && *got > 0;
    reached_["pins"] += did && pins ? 1U : 0U;
    reached_["unpins"] += did && !pins ? 1U : 0U;
    reached_["pins beyond the cap"] += !got.has_value() && got.error() == Error::later ? 1U : 0U;
}

void Lockstep::apply_uncache(Name name, const Op& op) {
    const auto size = static_cast<Length>(model_.sequences().at(name).tables[0].ids.size());
    std::vector<Length> entries{op.much % (size + 2)};
    if (op.which % 2 == 0) {
        entries.push_back(op.which % (size + 1));
    }
    const std::size_t before = model_.entries();
    const Answer answer = model_.uncache(name, entries);
    check_error(both([&](Manager& kv) { return kv.uncache(handles_.at(name), entries); }), answer);
    reached_["uncache"] += model_.entries() < before ? 1U : 0U;
}

// --- contents and events --------------------------------------------------------------------------------------------

// Two blocks are known by the same thing if and only if all tokens before their ends are the same.
void Lockstep::compare_contents() {
    std::map<ContentId, const ModelContent*> by_id;
    std::map<std::pair<std::uint32_t, ContentId>, int> copies;
    for (std::uint32_t id = 1; id <= kv_.pool().blocks(); ++id) {
        const std::string which = "block " + std::to_string(id);
        const ModelBlock& block = model_.block(id);
        const ContentId got = kv_.pool().content(BlockId{id});
        check_equal(got != no_content, block.content != nullptr, "whether " + which + " can be found");
        check_equal(kv_.pool().pins(BlockId{id}), block.pins, "pins of " + which);
        if (block.content == nullptr) {
            continue;
        }
        check_equal(to_index(kv_.index()->group(BlockId{id})), block.content->group, "group of " + which);
        const auto [known, is_new] = by_id.emplace(got, block.content.get());
        check(known->second->cells == block.content->cells && known->second->scope == block.content->scope,
              which + " is known by what other blocks with another content are known by");
        reached_["copies of one content"] += ++copies[{block.content->group, got}] > 1 ? 1U : 0U;
    }
    for (const auto& [id, content] : by_id) {
        for (const auto& [other_id, other] : by_id) {
            check(id == other_id || content->cells != other->cells || content->scope != other->scope,
                  "one content has two names");
        }
    }
    check_equal(kv_.index_entries(), model_.entries(), "index entries");
}

// Whoever follows the events knows what can be hit.
void Lockstep::compare_events() {
    const CacheEvents& events = kv_.index()->events();
    check(events.first() <= next_event_, "the ring is too small for this test");
    for (; next_event_ < events.next(); ++next_event_) {
        const CacheEvent event = events.read(next_event_);
        const std::pair<std::uint32_t, std::uint64_t> key{to_index(event.group), event.content};
        check_equal(event.number, next_event_, "number of an event");
        switch (event.kind) {
            case CacheEvent::Kind::stored: {
                const Stored stored{event.parent, {event.tokens.begin(), event.tokens.end()}};
                const auto known = ever_stored_.emplace(event.content, stored).first;
                check(known->second == stored, "two events give one name to two contents");
                check(stored_.insert(key).second, "stored is emitted for the first copy only");
                break;
            }
            case CacheEvent::Kind::removed: check(stored_.erase(key) == 1, "only what was stored is removed"); break;
            case CacheEvent::Kind::cleared: stored_.clear(); break;
        }
    }
    std::map<std::uint32_t, std::set<std::vector<Token>>> wanted;  // by group
    std::set<std::pair<std::uint32_t, const ModelContent*>> distinct;
    std::size_t contents = 0;
    for (std::uint32_t id = 1; id <= kv_.pool().blocks(); ++id) {
        if (const auto& content = model_.block(id).content) {
            std::vector<Token> tokens;
            for (const ModelCell& cell : content->cells) {
                tokens.push_back(cell.token);
            }
            wanted[content->group].insert(tokens);
            const auto same = [&](const auto& other) { return *other.second == *content; };
            contents += std::ranges::none_of(distinct, same) ? 1U : 0U;
            distinct.insert({id, content.get()});
        }
    }
    check_equal(stored_.size(), contents, "contents that a reader of the events knows");
    for (const auto& [group, content] : stored_) {
        std::vector<Token> chain;
        for (auto at = ever_stored_.find(content); at != ever_stored_.end();
             at = ever_stored_.find(at->second.parent)) {
            chain.insert(chain.begin(), at->second.tokens.begin(), at->second.tokens.end());
        }
        const auto ends_alike = [&](const std::vector<Token>& tokens) {
            return tokens.size() >= chain.size() && std::equal(chain.rbegin(), chain.rend(), tokens.rbegin());
        };
        check(std::ranges::any_of(wanted[group], ends_alike), "a chain of events ends in tokens that nobody cached");
    }
}

void Lockstep::compare_totals() {
    const ModelTotals& wanted = model_.totals();
    const CacheEvents::Totals got = kv_.cache_totals();
    check_equal(got.stored, wanted.stored, "blocks stored");
    check_equal(got.removed, wanted.removed, "blocks removed");
    check_equal(got.cleared, wanted.cleared, "blocks cleared");
    check_equal(kv_.statistics().queried_tokens, wanted.queried, "queried tokens");
    check_equal(kv_.statistics().hit_tokens, wanted.hit, "hit tokens");
    check_equal(kv_.statistics().evicted_blocks, wanted.evicted, "evicted blocks");
    reached_["evicted blocks"] = wanted.evicted;
    reached_["tails replaced by longer ones"] = wanted.replaced_tails;
    reached_["entries withdrawn by a writer"] = wanted.withdrawn_by_writer;
    reached_["hits of fenced blocks"] = wanted.fenced_hits;
    reached_["priorities that ended"] = wanted.ended_priorities;
}

}  // namespace kvpane::testing
