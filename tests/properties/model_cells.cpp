// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "properties/model.h"

// How the model holds cells: blocks and their queue, windows, handing out and writing.
namespace kvpane::testing {

Model::Model(const Config& config) : config_(config), refs_(1), blocks_(1) { add_blocks(config.blocks); }

void Model::add_blocks(Length more) {
    for (Length i = 0; i < more; ++i) {
        queue_.push_back(static_cast<std::uint32_t>(refs_.size()));
        refs_.push_back(0);
        blocks_.emplace_back();
    }
}

// --- blocks ---------------------------------------------------------------------------------------------------------

std::uint32_t Model::take() {
    if (queue_.empty()) {
        throw NoRoom{};
    }
    const std::uint32_t block = queue_.front();
    leave_queue(block);
    if (blocks_[block].content != nullptr) {
        withdraw(block);
        ++totals_.evicted;
    }
    refs_[block] = 1;
    return block;
}

void Model::leave_queue(std::uint32_t block) {
    std::erase(queue_, block);
    blocks_[block].place.reset();
}

// One batch, in the order in which it is given up.
void Model::give_back(const std::vector<std::uint32_t>& batch) {
    std::vector<std::uint32_t> idle;
    for (const std::uint32_t block : batch) {
        refs_[block] -= 1;
        if (refs_[block] == 0) {
            idle.push_back(block);
        }
    }
    if (open_.empty()) {
        join_queue(idle);
        return;
    }
    for (const std::uint32_t block : idle) {
        fenced_.push_back({block, open_});
    }
}

// What is known goes to the end of its rank, the rest to the front with the prefix cache on, to the end with it off. A
// pinned block does not queue.
void Model::join_queue(const std::vector<std::uint32_t>& batch) {
    std::vector<std::uint32_t> unknown;
    for (const std::uint32_t id : batch) {
        ModelBlock& block = blocks_[id];
        if (block.content == nullptr) {
            unknown.push_back(id);
        } else if (block.pins == 0) {
            block.place = block.rank;
            const auto behind = [&](std::uint32_t other) { return blocks_[other].place > block.place; };
            queue_.insert(std::ranges::find_if(queue_, behind), id);
        }
    }
    queue_.insert(config_.prefix_cache.enabled ? queue_.begin() : queue_.end(), unknown.begin(), unknown.end());
}

// Holders that will be left when the call has ended.
std::size_t Model::holders(std::uint32_t block) const {
    const auto pending = static_cast<std::size_t>(std::count(sources_.begin(), sources_.end(), block));
    return refs_[block] - pending + (blocks_[block].pins > 0 ? 1 : 0);
}

// The source of a copy joins the queue after everything else that the call gives back.
void Model::end_call() {
    give_back(sources_);
    sources_.clear();
}

std::size_t Model::live() const {
    return static_cast<std::size_t>(std::count_if(refs_.begin(), refs_.end(), [](auto refs) { return refs > 0; }));
}

// --- windows --------------------------------------------------------------------------------------------------------

// The first position that the query at position n sees.
Length Model::need(std::uint32_t group, Length n) const {
    const Length window = config_.groups[group].window;
    return window == 0 ? 0 : std::max<Length>(0, n - window + 1);
}

// Releases the blocks wholly below `position`, deepest first; blocks that hold a sink stay.
void Model::drop_below(ModelSequence& sequence, std::uint32_t group, Length position) {
    ModelTable& table = sequence.tables[group];
    std::vector<std::uint32_t> batch;
    for (Length entry = static_cast<Length>(table.ids.size()) - 1; entry >= 0; --entry) {
        std::uint32_t& id = table.ids[static_cast<std::size_t>(entry)];
        if (id == 0 || (entry + 1) * size() > position || entry * size() < config_.groups[group].sinks) {
            continue;
        }
        batch.push_back(id);
        id = 0;
        for (Length cell = entry * size(); cell < (entry + 1) * size(); ++cell) {
            table.cells.erase(cell);
        }
    }
    give_back(batch);
}

// Forgets every cell from `length` on, and gives back the blocks that hold no cell any more.
void Model::cut(ModelSequence& sequence, Length length) {
    for (ModelTable& table : sequence.tables) {
        table.cells.erase(table.cells.lower_bound(length), table.cells.end());
        std::vector<std::uint32_t> batch;
        for (std::size_t entry = table.ids.size(); entry-- > 0;) {
            const auto begin = static_cast<Length>(entry) * size();
            const auto cell = table.cells.lower_bound(begin);
            const bool keeps_a_cell = cell != table.cells.end() && *cell < begin + size();
            if (table.ids[entry] != 0 && !keeps_a_cell) {
                batch.push_back(table.ids[entry]);
                table.ids[entry] = 0;
            }
        }
        table.ids.resize(static_cast<std::size_t>(blocks_for(length)));
        give_back(batch);
    }
    sequence.reserved = 0;
}

// The history from `length` on is gone, and the external content behind it.
void Model::forget(ModelSequence& sequence, Length length) {
    sequence.history.resize(static_cast<std::size_t>(length));
    sequence.own_from = std::min(sequence.own_from, length);
}

bool Model::needs_are_held(const ModelSequence& sequence, Length length) const {
    for (std::uint32_t group = 0; group < groups(); ++group) {
        for (Length position = 0; position < length; ++position) {
            const bool needed = position >= need(group, length) || position < config_.groups[group].sinks;
            if (needed && !sequence.tables[group].cells.contains(position)) {
                return false;
            }
        }
    }
    return true;
}

Length Model::first_resident(Name name, std::uint32_t group) const {
    const ModelSequence& sequence = sequences_.at(name);
    Length first = sequence.covered();
    while (first > 0 && sequence.tables[group].cells.contains(first - 1)) {
        --first;
    }
    return first;
}

// --- handing out and writing cells ----------------------------------------------------------------------------------

void Model::take_in_group(ModelSequence& sequence, std::uint32_t group, Length cells, Answer& answer) {
    ModelTable& table = sequence.tables[group];
    const Length begin = sequence.covered();
    for (Length position = begin; position < begin + cells; ++position) {
        const auto entry = static_cast<std::size_t>(position / size());
        const Length offset = position % size();
        if (entry == table.ids.size()) {
            table.ids.push_back(0);
        }
        std::uint32_t& id = table.ids[entry];
        if (id == 0) {
            id = take();
            ++answer.taken;
        } else if (holders(id) > 1) {
            const std::uint32_t destination = take();
            ++answer.taken;
            answer.copies.push_back({group, id, destination, offset});
            sources_.push_back(id);
            id = destination;
        } else if (blocks_[id].content != nullptr) {
            withdraw(id);  // it is written again
            ++totals_.withdrawn_by_writer;
        }
        table.cells.insert(position);
        answer.slots[group].push_back(Slot{id} * size() + offset);
    }
}

// The new sequence's tail ends in somebody else's block: a private copy of its first cells.
void Model::copy_tail(ModelSequence& sequence, std::uint32_t group, std::uint32_t source, Answer& answer) {
    const std::uint32_t destination = take();
    ++answer.taken;
    answer.copies.push_back({group, source, destination, sequence.length() % size()});
    sources_.push_back(source);
    sequence.tables[group].ids.back() = destination;
}

void Model::hand_out(ModelSequence& sequence, Length cells, Answer& answer, const ModelMatch* match) {
    if (cells > 0) {
        for (std::uint32_t group = 0; group < groups(); ++group) {
            drop_below(sequence, group, need(group, sequence.length()) - config_.rewind_slack);
        }
    }
    for (std::uint32_t group = 0; group < groups(); ++group) {
        if (match != nullptr && match->sources[group] != 0) {
            copy_tail(sequence, group, match->sources[group], answer);
        }
        take_in_group(sequence, group, cells, answer);
    }
    sequence.reserved += cells;
    answer.cells += cells;
}

void Model::write(ModelSequence& sequence, std::span<const Token> tokens) {
    if (tokens.empty()) {
        return;
    }
    for (const Token token : tokens) {
        sequence.history.push_back(cell(token, sequence.length(), sequence.pictures));
        sequence.reserved -= 1;
        for (std::uint32_t group = 0; group < groups() && sequence.length() % size() == 0; ++group) {
            publish(sequence, group, static_cast<std::size_t>(sequence.length() / size() - 1));
        }
    }
    if (config_.window_release != WindowRelease::commit) {
        return;
    }
    for (std::uint32_t group = 0; group < groups(); ++group) {
        const Length window = config_.groups[group].window;
        if (window != 0) {
            drop_below(sequence, group, sequence.length() - window - config_.rewind_slack);
        }
    }
}

Answer Model::reserve_all(const std::vector<Ask>& batch) {
    Answer answer;
    answer.slots.resize(groups());
    for (const Ask& ask : batch) {
        hand_out(sequences_.at(ask.name), ask.cells, answer);
    }
    return answer;
}

}  // namespace kvpane::testing
