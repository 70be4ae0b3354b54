// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/shrinker.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace kvpane::invariants {

namespace {

// Names of one kind, numbered as they come.
template <class Old, class New>
class Numbers {
public:
    explicit Numbers(New first) : next_(first) {}

    New introduce(const Old& old) {
        const auto [entry, is_new] = numbers_.try_emplace(old, next_);
        next_ += is_new ? 1 : 0;
        return entry->second;
    }
    std::optional<New> find(const Old& old) const {
        const auto found = numbers_.find(old);
        return found == numbers_.end() ? std::nullopt : std::optional(found->second);
    }

private:
    std::map<Old, New> numbers_;
    New next_;
};

class Orderer {
public:
    // The operation with all names as they are called from now on; nothing when no scenario can say it.
    std::optional<Operation> order(const Operation& given) {
        Operation operation = only_its_fields(given);
        if (!can_be_said(operation)) {
            return std::nullopt;
        }
        if (works_on_one(operation)) {
            const auto name = names_.find(operation.sequence);
            if (!name) {
                return std::nullopt;
            }
            operation.sequence = *name;
        }
        for (Name& name : operation.sequences) {
            const auto known = names_.find(name);
            if (!known) {
                return std::nullopt;
            }
            name = *known;
        }
        if (operation.verb == Verb::admit) {
            operation.sequence = names_.introduce(operation.sequence);
        } else if (operation.verb == Verb::fork) {
            operation.child = names_.introduce(operation.child);
        }
        if (operation.verb == Verb::step_begin || operation.verb == Verb::step_end) {
            operation.step = steps_.introduce(operation.step);
        }
        for (std::string* word :
             {&operation.scope.model, &operation.scope.tenant, &operation.scope.lora, &operation.scope.salt}) {
            rename(*word);
        }
        for (ExternalContent& piece : operation.extra) {
            rename(piece.id);
        }
        raise_all(operation);
        return operation;
    }

private:
    static bool works_on_one(const Operation& operation) {
        switch (operation.verb) {
            case Verb::reserve: return !operation.is_batch;
            case Verb::commit:
            case Verb::cancel:
            case Verb::append:
            case Verb::fork:
            case Verb::truncate:
            case Verb::release:
            case Verb::uncache: return true;
            default: return false;
        }
    }

    // As default-made but for what the verb looks at.
    static Operation only_its_fields(const Operation& given) {
        Operation out;
        out.verb = given.verb;
        const Verb verb = given.verb;
        const bool is_prompt = verb == Verb::admit || verb == Verb::probe || verb == Verb::pin || verb == Verb::unpin ||
                               (verb == Verb::plan && !given.tokens.empty());
        if (works_on_one(given) || verb == Verb::admit) {
            out.sequence = given.sequence;
        }
        if (works_on_several(given) || verb == Verb::check) {
            out.sequences = given.sequences;
        }
        if (is_prompt || verb == Verb::commit || verb == Verb::append || verb == Verb::append_batch) {
            out.tokens = given.tokens;
        }
        if (is_prompt) {
            out.scope = given.scope;
            out.extra = given.extra;
        }
        switch (verb) {
            case Verb::admit:
                out.compute = given.compute;
                out.priority = given.priority;
                out.priority_steps = given.priority_steps;
                break;
            case Verb::plan:
                out.count = is_prompt ? 0 : given.count;
                out.chunk = given.chunk;
                break;
            case Verb::fork:
                out.child = given.child;
                out.at = given.at;
                break;
            case Verb::reserve:
                out.is_batch = given.is_batch;
                if (given.is_batch) {
                    out.counts = given.counts;
                } else {
                    out.count = given.count;
                }
                break;
            case Verb::evict: out.count = given.count; break;
            case Verb::truncate: out.length = given.length; break;
            case Verb::uncache: out.blocks = given.blocks; break;
            case Verb::step_begin:
            case Verb::step_end: out.step = given.step; break;
            case Verb::release: out.keep_cached = given.keep_cached; break;
            default: break;
        }
        return out;
    }

    static bool can_be_said(const Operation& operation) {
        const auto negative = [](auto number) { return number < 0; };
        const auto odd = [](const ExternalContent& piece) {
            return piece.at < 0 || piece.at > longest_sequence || piece.count < 1 || piece.count > longest_sequence;
        };
        return std::ranges::none_of(operation.tokens, negative) && std::ranges::none_of(operation.extra, odd) &&
               operation.scope.lora_id >= 0 && !(operation.verb == Verb::evict && operation.count < 0);
    }

    // Numbers far below zero are refused as -1 is; scenarios keep steps within a signed number.
    static void raise_all(Operation& operation) {
        constexpr Length deep = -1'000'000;
        const auto raise = [](Length& number) { number = number < deep ? -1 : number; };
        raise(operation.count);
        raise(operation.chunk);
        raise(operation.length);
        std::ranges::for_each(operation.counts, raise);
        std::ranges::for_each(operation.blocks, raise);
        for (std::optional<Length>* number : {&operation.at, &operation.compute}) {
            if (*number) {
                raise(**number);
            }
        }
        constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
        operation.priority_steps = std::min(operation.priority_steps, most);
    }

    void rename(std::string& word) {
        if (!word.empty()) {
            word = "w" + std::to_string(words_.introduce(word));
        }
    }

    Numbers<Name, Name> names_{0};
    Numbers<std::uint64_t, std::uint64_t> steps_{1};
    Numbers<std::string, std::uint32_t> words_{1};
};

}  // namespace

Case in_order(const Case& unordered) {
    Case ordered{unordered.config, {}};
    const Config usual;
    ordered.config.instance = usual.instance;
    ordered.config.int32_slots = usual.int32_slots;
    ordered.config.prefix_cache.kept_events = usual.prefix_cache.kept_events;
    ordered.config.expected_sequences = usual.expected_sequences;
    ordered.config.expected_length = usual.expected_length;
    Orderer orderer;
    for (const Operation& operation : unordered.operations) {
        if (std::optional<Operation> said = orderer.order(operation)) {
            ordered.operations.push_back(std::move(*said));
        }
    }
    return ordered;
}

std::size_t tokens_of(const std::vector<Operation>& operations) noexcept {
    std::size_t tokens = 0;
    for (const Operation& operation : operations) {
        tokens += operation.tokens.size();
    }
    return tokens;
}

}  // namespace kvpane::invariants
