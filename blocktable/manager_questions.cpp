// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <kvpane/blocktable/manager.h>

namespace kvpane {

// --- plans ----------------------------------------------------------------------------------------------------------

expected<Plan> Manager::plan_prompt(Length count, Length chunk) const {
    if (count < 1 || chunk < 0) {
        return unexpected(Error::invalid_argument);
    }
    // 2^50 tokens are `never` like any larger count, and keep the sums over the groups far from overflow.
    return planner_.prompt(std::min(count, Length{1} << 50U), chunk, watermark(), {}, nullptr);
}

expected<Plan> Manager::plan_prompt(const Prompt& prompt, Length chunk) {
    if (!is_sound(prompt) || chunk < 0) {
        return unexpected(Error::invalid_argument);
    }
    const auto length = static_cast<Length>(prompt.tokens.size());
    const Match match = search(prompt, length - 1);
    return planner_.prompt(length, chunk, watermark(), match, search_ ? &*search_ : nullptr);
}

expected<Plan> Manager::plan(std::span<const Reservation> batch) {
    begin_call();
    if (const auto asked = ask(batch); !asked) {
        return unexpected(asked.error());
    }
    return planner_.decide();
}

// --- questions ------------------------------------------------------------------------------------------------------

expected<Length> Manager::length(SequenceHandle sequence) const {
    const Sequence* found = sequences_.find(sequence);
    return found == nullptr ? expected<Length>(unexpected(Error::unknown_sequence)) : found->length;
}

expected<Length> Manager::reserved(SequenceHandle sequence) const {
    const Sequence* found = sequences_.find(sequence);
    return found == nullptr ? expected<Length>(unexpected(Error::unknown_sequence)) : found->reserved;
}

std::vector<SequenceHandle> Manager::living() const {
    std::vector<SequenceHandle> handles;
    for (std::uint32_t slot = 0; slot < sequences_.slots(); ++slot) {
        if (sequences_[slot].alive()) {
            handles.push_back(sequences_.handle(slot));
        }
    }
    return handles;
}

std::uint64_t Manager::digest() const {
    Digest digest;
    pool_.add_to(digest);
    sequences_.add_to(digest);
    if (index_) {
        index_->add_to(digest);
        for (std::uint32_t block = 1; block < due_.size(); ++block) {
            if (due_[block] > steps_ended_ && pool_.content(BlockId{block}) != no_content) {
                digest.add((std::uint64_t{block} << 32U) | (due_[block] - steps_ended_));
            }
        }
        for (std::uint32_t slot = 0; slot < sequences_.slots(); ++slot) {
            if (sequences_[slot].alive()) {
                histories_->add_to(digest, slot);
            }
        }
    }
    return digest.value();
}

// --- bound rows -----------------------------------------------------------------------------------------------------

expected<void> Manager::bind_row(SequenceHandle sequence, GroupId group, std::span<std::int32_t> row) {
    if (find(sequence) == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    if (!is_group(group) || row.size() < sequences_.table(sequence.index, group).size()) {
        return unexpected(Error::invalid_argument);
    }
    BlockTable& table = sequences_.table(sequence.index, group);
    // No table is longer than `longest_sequence` entries, so a longer row is as good as one of that length.
    table.row() = {row.data(), static_cast<std::uint32_t>(std::min<std::size_t>(row.size(), longest_sequence)), 0, 0};
    table.refresh_row();
    return {};
}

expected<void> Manager::unbind_row(SequenceHandle sequence, GroupId group) {
    if (find(sequence) == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    if (!is_group(group)) {
        return unexpected(Error::invalid_argument);
    }
    sequences_.table(sequence.index, group).row() = {};
    return {};
}

expected<RowChange> Manager::take_row_change(SequenceHandle sequence, GroupId group) {
    if (find(sequence) == nullptr) {
        return unexpected(Error::unknown_sequence);
    }
    if (!is_group(group) || sequences_.table(sequence.index, group).row().ids == nullptr) {
        return unexpected(Error::invalid_argument);
    }
    BoundRow& row = sequences_.table(sequence.index, group).row();
    const RowChange change{row.changed_begin, row.changed_end};
    row.changed_begin = row.changed_end = 0;
    return change;
}

}  // namespace kvpane
