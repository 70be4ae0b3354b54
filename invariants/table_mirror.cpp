// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/table_mirror.h>

#include <algorithm>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

TableMirror::Table& TableMirror::table(Name name, std::uint32_t group) {
    const std::size_t at = std::size_t{name} * groups_ + group;
    if (at >= tables_.size()) {
        tables_.resize((std::size_t{name} + 1) * groups_);
    }
    return tables_[at];
}

void TableMirror::update(Name name, std::uint32_t group, const TableView& now) {
    Table& seen = table(name, group);
    const bool only_grows = seen.first == now.run_begin && seen.ids.size() <= now.size;
    const std::size_t from = only_grows && !seen.ids.empty() ? seen.ids.size() - 1 : 0;
    for (std::size_t entry = now.size; entry < seen.ids.size(); ++entry) {
        change(name, group, entry, seen.ids[entry], null_block);
    }
    seen.ids.resize(now.size);
    seen.first = now.run_begin;
    for (std::size_t entry = from; entry < now.size; ++entry) {
        change(name, group, entry, seen.ids[entry], now[entry]);
    }
}

void TableMirror::end(Name name) {
    for (std::uint32_t group = 0; group < groups_; ++group) {
        Table& seen = table(name, group);
        for (std::size_t entry = 0; entry < seen.ids.size(); ++entry) {
            change(name, group, entry, seen.ids[entry], null_block);
        }
        seen.ids.clear();
        seen.first = 0;
    }
}

// Ids beyond the pool count for nothing: whoever reads the table finds them.
void TableMirror::change(Name name, std::uint32_t group, std::size_t entry, BlockId& seen, BlockId now) {
    if (seen == now) {
        return;
    }
    using Kind = BlockHistory::Kind;
    history_->note(Kind::leaves, seen, name, group, static_cast<std::uint32_t>(entry));
    history_->note(Kind::enters, now, name, group, static_cast<std::uint32_t>(entry));
    if (seen != null_block && to_index(seen) < refs_.size()) {
        --refs_[to_index(seen)];
        changed_.push_back(seen);
    }
    if (now != null_block && to_index(now) < refs_.size()) {
        ++refs_[to_index(now)];
        changed_.push_back(now);
    }
    seen = now;
}

Found TableMirror::compare(const Scene& scene) const {
    for (const Record* record : scene.living) {
        for (std::uint32_t group = 0; group < groups_; ++group) {
            const std::vector<BlockId>& seen = tables_.at(std::size_t{record->name} * groups_ + group).ids;
            const TableView now = scene.manager.table(record->handle, GroupId{group}).value();
            for (std::size_t entry = 0; entry < std::max<std::size_t>(seen.size(), now.size); ++entry) {
                const BlockId was = entry < seen.size() ? seen[entry] : null_block;
                if (was != now[entry]) {
                    return Finding{
                        Invariant::P2,
                        text(scene.label(*record, group), ", logical block ", entry, ": block ", to_index(was),
                             " became block ", to_index(now[entry]), " and no operation on the sequence did that"),
                        {.sequence = record->name, .group = group, .block = now[entry]}};
                }
            }
        }
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants
