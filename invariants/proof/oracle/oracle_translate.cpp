// SPDX-License-Identifier: Apache-2.0
// What an operation of the C++ is made of, in the words of the machine: sequences, cells, hits, choices, verdicts.
#include <algorithm>

#include <kvpane/blocktable/prefix_search.h>
#include <kvpane/invariants/proof/oracle/oracle_check.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants::oracle {

namespace {

bool asks_with_a_prompt(Verb verb) { return verb == Verb::admit || verb == Verb::probe || verb == Verb::plan; }

bool is_any_negative(const std::vector<Token>& tokens) {
    return std::ranges::any_of(tokens, [](Token token) { return token < 0; });
}

// Whether external contents lie in order within the prompt.
bool fit(const std::vector<ExternalContent>& extra, Length length) {
    Length end = 0;
    for (const ExternalContent& piece : extra) {
        if (piece.at < end || piece.count < 1 || piece.at > length || piece.count > length - piece.at) {
            return false;
        }
        end = piece.at + piece.count;
    }
    return true;
}

std::string spelled(const std::optional<Error>& error) {
    return error ? text("error ", to_string(*error)) : std::string("success");
}

std::optional<Error> error_of(KvOracleVerdict verdict) {
    switch (verdict) {
        case kv_oracle_done: return std::nullopt;
        case kv_oracle_unknown: return Error::unknown_sequence;
        case kv_oracle_busy: return Error::busy;
        case kv_oracle_not_reserved: return Error::not_reserved;
        case kv_oracle_evicted: return Error::window_evicted;
        case kv_oracle_later: return Error::later;
        case kv_oracle_too_long:
        case kv_oracle_never: return Error::never;
        case kv_oracle_invalid:
        case kv_oracle_bad_choice: break;
    }
    return Error::invalid_argument;
}

}  // namespace

OracleCheck::OracleCheck(const Config& config, std::int64_t all_windows_every)
    : config_(config), machine_(config, 8), cells_(std::make_shared<CellNumbers>()), slots_(8),
      entries_(static_cast<std::size_t>(config.blocks) + 1), all_windows_every_(all_windows_every),
      counts_(std::make_shared<OracleCounts>()) {}

void OracleCheck::before(const Operation& operation, const Subject& subject) {
    const Manager& manager = subject.manager();
    before_.clear();
    const auto note = [&](Name name) {
        const auto handle = subject.handle(name);
        if (!handle) {
            return;
        }
        const Length length = manager.length(*handle).value();
        Before& before = before_.emplace_back(Before{name, length, length + manager.reserved(*handle).value()});
        for (std::uint32_t group = 0; group < manager.groups(); ++group) {
            const TableView table = manager.table(*handle, GroupId{group}).value();
            before.tails.push_back(table[static_cast<std::size_t>(before.end / config_.block_size)]);
        }
    };
    if (works_on_several(operation)) {
        std::ranges::for_each(operation.sequences, note);
    } else {
        note(operation.sequence);
    }
    hits_ = asks_with_a_prompt(operation.verb) && is_expressible(operation) ? find_hits(operation, manager) : Hits{};
    pins_.clear();
    const bool pins = operation.verb == Verb::pin || operation.verb == Verb::unpin;
    for (std::uint32_t block = 0; block <= manager.pool().blocks() && pins; ++block) {
        pins_.push_back(manager.pool().pins(BlockId{block}));
    }
}

// The Manager's choice among the copies of a content. The machine says whether they are legal.
OracleCheck::Hits OracleCheck::find_hits(const Operation& operation, const Manager& manager) const {
    if (manager.index() == nullptr || operation.tokens.empty()) {
        return {};
    }
    std::vector<kvpane::ExternalContent> extra;
    for (const ExternalContent& piece : operation.extra) {
        extra.push_back({piece.at, piece.count, piece.id});
    }
    const Scope& scope = operation.scope;
    const BlockShape shape(config_.block_size);
    PrefixSearch search(config_, shape, *manager.index());
    const Match match =
        search.find(operation.tokens, {scope.model, scope.lora, scope.lora_id, scope.tenant, scope.salt}, extra,
                    static_cast<Length>(operation.tokens.size()) - 1);
    Hits hits{.cut = match.tokens, .blocks = {}};
    for (std::uint32_t group = 0; group < manager.groups(); ++group) {
        const Length sinks = config_.groups[group].sinks;
        for (std::uint32_t entry = 0; entry < match.blocks; ++entry) {
            const bool is_needed = Length{entry} * config_.block_size < sinks || entry >= search.first_block(group);
            hits.blocks.push_back(is_needed ? std::int64_t{to_index(search.block(entry, group))} - 1 : -1);
        }
        if (match.cells > 0) {
            hits.blocks.push_back(std::int64_t{to_index(search.source(group))} - 1);
        }
    }
    return hits;
}

// Whether all of its numbers are natural, and its lists of one length.
bool OracleCheck::is_expressible(const Operation& operation) {
    const auto length = static_cast<Length>(operation.tokens.size());
    switch (operation.verb) {
        case Verb::admit:
        case Verb::probe:
        case Verb::plan:
            return !is_any_negative(operation.tokens) && fit(operation.extra, length) &&
                   operation.compute.value_or(0) >= 0 && operation.count >= 0 && operation.chunk >= 0;
        case Verb::commit:
        case Verb::append: return !is_any_negative(operation.tokens);
        case Verb::append_batch:
            return !is_any_negative(operation.tokens) && operation.tokens.size() == operation.sequences.size();
        case Verb::reserve:
            return operation.is_batch ? operation.sequences.size() == operation.counts.size() &&
                                            std::ranges::all_of(operation.counts, [](Length n) { return n >= 0; })
                                      : operation.count >= 0;
        case Verb::fork: return operation.at.value_or(0) >= 0;
        case Verb::truncate: return operation.length >= 0;
        default: return true;
    }
}

// Numbers that are not natural make no sense in any state. Of several mistakes either may be told.
OracleCheck::Difference OracleCheck::must_be_refused(const Outcome& outcome) {
    if (outcome.error == Error::invalid_argument || outcome.error == Error::unknown_sequence) {
        return std::nullopt;
    }
    return text("C++ says ", spelled(outcome.error), ", but the arguments make no sense");
}

OracleCheck::Difference OracleCheck::verdicts_differ(KvOracleVerdict verdict, const Outcome& outcome) {
    if (verdict == kv_oracle_bad_choice) {
        return text("C++ says ", spelled(outcome.error), ", the machine refuses the blocks that it took or hit");
    }
    if (error_of(verdict) != outcome.error) {
        return text("C++ says ", spelled(outcome.error), ", the machine ", spelled(error_of(verdict)));
    }
    return std::nullopt;
}

// --- sequences and cells --------------------------------------------------------------------------------------------

// No living sequence has the slot that stands for names of no living sequence.
std::int64_t OracleCheck::slot(Name name) const {
    const bool is_alive = name < names_.size() && names_[name].slot >= 0;
    return is_alive ? names_[name].slot : static_cast<std::int64_t>(slots_.size());
}

std::int64_t OracleCheck::vacant_slot() {
    const auto vacant = std::ranges::find(slots_, false);
    const auto at = vacant - slots_.begin();
    if (vacant == slots_.end()) {
        kv_oracle_add_sequences(machine_.id(), static_cast<std::int64_t>(slots_.size()));
        slots_.resize(2 * slots_.size());
    }
    return at;
}

void OracleCheck::start(Name name, std::int64_t slot, std::int64_t scope,
                        std::shared_ptr<const std::vector<ExternalContent>> extra) {
    if (name >= names_.size()) {
        names_.resize(std::size_t{name} + 1);
    }
    names_[name] = {slot, scope, std::move(extra)};
    slots_[static_cast<std::size_t>(slot)] = true;
}

// Of a new prompt.
Numbers OracleCheck::cells_of(const Operation& operation) {
    if (!asks_with_a_prompt(operation.verb)) {
        return before_.empty() ? Numbers(operation.tokens.size()) : cells_behind(before_.front(), operation.tokens);
    }
    Numbers cells;
    const std::int64_t scope = cells_->scope(operation.scope);
    for (std::size_t i = 0; i < operation.tokens.size(); ++i) {
        cells.push_back(cells_->cell(scope, operation.extra, static_cast<Length>(i), operation.tokens[i]));
    }
    return cells;
}

// Of tokens that a sequence commits.
Numbers OracleCheck::cells_behind(const Before& before, std::span<const Token> tokens) {
    const Named& named = names_[before.name];
    Numbers cells;
    for (const Token token : tokens) {
        const Length position = before.length + static_cast<Length>(cells.size());
        cells.push_back(cells_->cell(named.scope, *named.extra, position, token));
    }
    return cells;
}

// The blocks taken for cells [first, first + cells) of the step, the next of one sequence, in the machine's order: group
// by group, a new tail before new blocks.
OracleCheck::Difference OracleCheck::choose(const Outcome& outcome, const Before& before, Length first, Length cells,
                                            Numbers& choices) {
    const Length block_size = config_.block_size;
    for (std::uint32_t group = 0; group < config_.groups.size(); ++group) {
        const auto slots = outcome.step.slots_of(GroupId{group});
        if (static_cast<Length>(slots.size()) < first + cells) {
            return text("C++ handed out ", slots.size(), " slots for ", first + cells, " cells");
        }
        std::int64_t last = 0;
        if (before.end % block_size != 0) {
            last = before.tails.empty() ? 0 : to_index(before.tails[group]);
            // The copy of a hit is made even where no cell is handed out.
            for (const BlockCopy& copy : outcome.step.copies) {
                if (before.tails.empty() && copy.group == GroupId{group}) {
                    last = to_index(copy.destination);
                    choices.push_back(last - 1);
                }
            }
        }
        for (const Slot slot : slots.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(cells))) {
            if (const std::int64_t block = slot / block_size; block != last) {
                choices.push_back(block - 1);
                last = block;
            }
        }
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants::oracle
