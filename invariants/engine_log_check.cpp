// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/engine_log_check.h>

#include <set>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace log = engine_log;

namespace {

using Refused = std::optional<Refusal>;

Refused refuse(const char* field, std::string sentence) { return Refusal{field, std::nullopt, std::move(sentence)}; }

Refused refuse(const char* field, std::size_t index, std::string sentence) {
    return Refusal{field, index, std::move(sentence)};
}

Refused outside(const char* field, Length value, Length min, Length max) {
    if (min <= value && value <= max) {
        return {};
    }
    return refuse(field, text("'", field, "' must be ", min, "..", max, ", got ", value));
}

// One overload for each event. Each returns the first thing that is wrong, in the order of the fields.
class Check {
public:
    Check(const log::Header& header, const AuditTexts& texts, const AuditMemory& memory)
        : header_(header), texts_(texts), memory_(memory) {}

    Refused operator()(const log::Start& event) const {
        if (Refused refused = alive("sequence", event.sequence)) {
            return refused;
        }
        if (Refused refused = tokens(event.tokens, 0)) {
            return refused;
        }
        if (Refused refused = too_many_tokens("tokens", event.tokens.size())) {
            return refused;
        }
        return outside("cached", event.cached, 0, static_cast<Length>(event.tokens.size()));
    }

    Refused operator()(const log::Append& event) const {
        if (Refused refused = unknown("sequence", event.sequence)) {
            return refused;
        }
        if (Refused refused = tokens(event.tokens, texts_.living(event.sequence)->length())) {
            return refused;
        }
        return too_many_tokens("tokens", event.tokens.size());
    }

    Refused operator()(const log::Fork& event) const {
        if (Refused refused = unknown("parent", event.parent)) {
            return refused;
        }
        if (Refused refused = alive("child", event.child)) {
            return refused;
        }
        const Length length = texts_.living(event.parent)->length();
        if (Refused refused = outside("at", event.at.value_or(0), 0, length)) {
            return refused;
        }
        return too_many_tokens("child", static_cast<std::size_t>(event.at.value_or(length)));
    }

    Refused operator()(const log::Truncate& event) const {
        if (Refused refused = unknown("sequence", event.sequence)) {
            return refused;
        }
        return outside("length", event.length, 0, texts_.living(event.sequence)->length());
    }

    Refused operator()(const log::End& event) const { return unknown("sequence", event.sequence); }

    Refused operator()(const log::Write& event) const {
        if (Refused refused = unknown("sequence", event.sequence)) {
            return refused;
        }
        if (Refused refused = outside("position", event.position, 0, longest_sequence)) {
            return refused;
        }
        if (Refused refused = tokens(event.tokens, event.position)) {
            return refused;
        }
        if (event.slots.size() != event.tokens.size()) {
            return refuse("slots", text("'slots' must hold one entry for each of the ", event.tokens.size(),
                                        " tokens, got ", event.slots.size()));
        }
        const Slot end = header_.blocks * header_.block_size;
        for (std::size_t i = 0; i < event.slots.size(); ++i) {
            if (event.slots[i] < -1 || event.slots[i] >= end) {
                return refuse("slots", i, text("a slot must be -1..", end - 1, ", got ", event.slots[i]));
            }
        }
        return too_many(event);
    }

    Refused operator()(const log::Copy& event) const {
        for (const auto& [field, block] : {std::pair("from", event.from), std::pair("to", event.to)}) {
            if (Refused refused = outside(field, block, 0, header_.blocks - 1)) {
                return refused;
            }
            if (block == header_.null_block) {
                return refuse(field, text("'", field, "' is ", block, ", the null block"));
            }
        }
        if (Refused refused = outside("cells", event.cells, 0, header_.block_size)) {
            return refused;
        }
        return has_room_for(1) ? Refused{} : refuse("to", full());
    }

    Refused operator()(const log::Alloc& event) const { return blocks(event.blocks); }
    Refused operator()(const log::Free& event) const { return blocks(event.blocks); }

    Refused operator()(const log::Table& event) const {
        if (Refused refused = unknown("sequence", event.sequence)) {
            return refused;
        }
        for (const auto& [field, value] :
             {std::pair("first", event.first), std::pair("length", event.length),
              std::pair("query", event.query.value_or(0)), std::pair("reserved", event.reserved)}) {
            if (Refused refused = outside(field, value, 0, longest_sequence)) {
                return refused;
            }
        }
        std::int64_t held = 0;
        for (std::size_t i = 0; i < event.blocks.size(); ++i) {
            if (event.blocks[i] == header_.null_block) {
                continue;
            }
            if (Refused refused = not_in_pool(event.blocks[i], i)) {
                return refused;
            }
            if (++held > header_.blocks) {
                return refuse("blocks", i, text("a table holds at most ", header_.blocks, " blocks: the pool"));
            }
        }
        return {};
    }

private:
    Refused unknown(const char* field, const std::string& label) const {
        return texts_.living(label) != nullptr ? Refused{} : refuse(field, text("no sequence ", label, " is alive"));
    }

    Refused alive(const char* field, const std::string& label) const {
        const AuditText* living = texts_.living(label);
        return living == nullptr
                   ? Refused{}
                   : refuse(field, text("sequence ", label, " is alive since line ", living->since, ": end it first"));
    }

    Refused tokens(const std::vector<Token>& tokens, Length first) const {
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            if (tokens[i] < 0) {
                return refuse("tokens", i, text("a token must be 0..2147483647, got ", tokens[i]));
            }
        }
        return static_cast<Length>(tokens.size()) <= longest_sequence - first
                   ? Refused{}
                   : refuse("tokens", text("a sequence has at most ", longest_sequence, " tokens"));
    }

    Refused too_many_tokens(const char* field, std::size_t more) const {
        return static_cast<std::int64_t>(more) <= texts_.most_tokens() - texts_.tokens()
                   ? Refused{}
                   : refuse(field, text("the living sequences have more than ", texts_.most_tokens(),
                                        " tokens, which is all that can be kept"));
    }

    Refused not_in_pool(log::Block block, std::size_t index) const {
        if (0 <= block && block < header_.blocks) {
            return {};
        }
        return refuse("blocks", index, text("a block must be 0..", header_.blocks - 1, ", got ", block));
    }

    Refused blocks(const std::vector<log::Block>& blocks) const {
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            if (Refused refused = not_in_pool(blocks[i], i)) {
                return refused;
            }
            if (blocks[i] == header_.null_block) {
                return refuse("blocks", i, text(blocks[i], " is the null block, which nobody owns"));
            }
        }
        return {};
    }

    bool has_room_for(std::int64_t more_blocks) const {
        return memory_.shadowed_blocks() + more_blocks <= TableAudit::most_cells / header_.block_size;
    }

    static std::string full() {
        return text("the blocks written so far have more than ", TableAudit::most_cells,
                    " cells, which is all that can be shadowed");
    }

    Refused too_many(const log::Write& event) const {
        if (has_room_for(static_cast<std::int64_t>(event.slots.size()))) {
            return {};  // at most one block a slot
        }
        std::set<std::uint32_t> fresh;
        for (const Slot slot : event.slots) {
            const auto block = static_cast<std::uint32_t>(std::max<Slot>(slot, 0) / header_.block_size);
            const AuditedBlock* known = memory_.find({header_.groups[event.group].pool, block});
            if (known == nullptr || known->cells.empty()) {
                fresh.insert(block);
            }
        }
        return has_room_for(static_cast<std::int64_t>(fresh.size())) ? Refused{} : refuse("slots", full());
    }

    const log::Header& header_;
    const AuditTexts& texts_;
    const AuditMemory& memory_;
};

// The events that name a group.
template <class Event>
Refused wrong_group(const Event& event, const log::Header& header) {
    if constexpr (requires { event.group; }) {
        if (event.group >= header.groups.size()) {
            return refuse("group", text("there are ", header.groups.size(), " groups, got number ", event.group));
        }
    }
    return {};
}

}  // namespace

std::optional<Refusal> find_refusal(const log::Event& event, const log::Header& header, const AuditTexts& texts,
                                    const AuditMemory& memory) {
    const Check check(header, texts, memory);
    return std::visit(
        [&](const auto& what) {
            Refused refused = wrong_group(what, header);
            return refused ? refused : check(what);
        },
        event);
}

std::optional<Refusal> TableAudit::refusal(const log::Event& event) const {
    return find_refusal(event, header_, texts_, memory_);
}

}  // namespace kvpane::invariants
