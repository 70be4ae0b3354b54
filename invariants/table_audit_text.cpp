// SPDX-License-Identifier: Apache-2.0
// How the judge of tables says what it found.
#include <kvpane/invariants/table_audit.h>

#include <utility>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace log = engine_log;

std::string describe(const ToldCell& cell) {
    using Kind = ToldCell::Kind;
    if (cell.kind == Kind::never_written) {
        return "a cell that was never written";
    }
    if (cell.kind == Kind::no_block) {
        return "no block";
    }
    if (cell.kind == Kind::no_token) {
        return "no token: the history ends before it";
    }
    std::string sentence = text("token ", cell.token, " at position ", cell.position);
    if (cell.line != 0) {
        sentence += text(", written by ", cell.sequence, " at line ", cell.line);
    }
    if (cell.kind == Kind::given_up) {
        sentence += ", and given up since";
    }
    return cell.note.empty() ? sentence : sentence + ", " + cell.note;
}

AuditFinding TableAudit::finding(Invariant invariant, BlockKey key, std::string what) const {
    return {.invariant = invariant,
            .line = line_,
            .what = std::move(what),
            .block = key.block,
            .block_history = history_of(key)};
}

AuditFinding TableAudit::finding(Invariant invariant, const log::Table& event, Length position,
                                 std::string what) const {
    AuditFinding found{.invariant = invariant,
                       .line = line_,
                       .what = std::move(what),
                       .sequence = event.sequence,
                       .group = header_.groups[event.group].name,
                       .position = position};
    const Name name = texts_.name_of(event.sequence);
    const log::Block id = block_at(tables_[name][event.group], position / header_.block_size);
    if (id != header_.null_block) {
        found.block = id;
        found.block_history = history_of(key_of(event.group, id));
    }
    return found;
}

AuditFinding TableAudit::finding(Invariant invariant, const Holder& holder, BlockKey key, Length position,
                                 std::string what) const {
    AuditFinding found = finding(invariant, key, std::move(what));
    found.sequence = texts_[holder.sequence].label;
    found.group = header_.groups[holder.group].name;
    found.position = position;
    return found;
}

std::string TableAudit::reader(const log::Table& event) const {
    return text("the next query of ", event.sequence, in_group(event.group), ", at position ",
                event.query.value_or(event.length), ",");
}

std::string TableAudit::in_group(std::uint32_t group) const {
    return header_.groups.size() == 1 ? std::string{} : text(" (group ", header_.groups[group].name, ")");
}

// What is expected: nobody in particular wrote it.
ToldCell TableAudit::told(const AuditCell& cell) const { return {.token = cell.token, .position = cell.position}; }

ToldCell TableAudit::told(const AuditCell& found, const AuditCell& expected) const {
    if (found.line == 0) {
        return {.kind = ToldCell::Kind::never_written};
    }
    ToldCell cell{.kind = found.is_given_up ? ToldCell::Kind::given_up : ToldCell::Kind::cell,
                  .token = found.token,
                  .position = found.position,
                  .sequence = texts_[found.writer].label,
                  .line = found.line};
    if (found.group != expected.group) {
        cell.note = text("for group ", header_.groups[found.group].name);
    } else if (found.scope != expected.scope) {
        cell.note =
            text("in the scope ", told(texts_.scope(found.scope)), " instead of ", told(texts_.scope(expected.scope)));
    } else if (found.token == expected.token && found.position == expected.position && found.chain != expected.chain) {
        cell.note = "behind other tokens";
    }
    return cell;
}

std::string TableAudit::told(const Scope& scope) const {
    std::string parts;
    const auto add = [&parts](const char* name, const auto& part) {
        parts += text(parts.empty() ? "" : ", ", name, " = ", part);
    };
    for (const auto& [name, part] : {std::pair("model", &scope.model), std::pair("tenant", &scope.tenant),
                                     std::pair("lora", &scope.lora), std::pair("salt", &scope.salt)}) {
        if (!part->empty()) {
            add(name, *part);
        }
    }
    if (scope.lora_id != 0) {
        add("lora_id", scope.lora_id);
    }
    return "{" + parts + "}";
}

std::vector<std::string> TableAudit::history_of(BlockKey key) const {
    std::vector<std::string> lines;
    if (const AuditedBlock* block = memory_.find(key)) {
        for (const BlockTouch& touch : block->touches) {
            lines.push_back(text("line ", touch.line, ": ", told(touch)));
        }
    }
    return lines;
}

std::string TableAudit::told(const BlockTouch& touch) const {
    const auto range = [](Length first, Length cells) {
        return cells == 1 ? text(" ", first) : text("s ", first, "..", first + cells - 1);
    };
    const auto table = [&] {
        return text("the table of ", texts_[touch.sequence].label, in_group(touch.group), " as logical block ",
                    touch.first);
    };
    switch (touch.kind) {
        case BlockTouch::Kind::written:
            return text("written by ", texts_[touch.sequence].label, ": position", range(touch.first, touch.cells),
                        " at offset", range(touch.offset, touch.cells), in_group(touch.group));
        case BlockTouch::Kind::copied_here: return text(touch.cells, " cells copied from block ", touch.other);
        case BlockTouch::Kind::copied_away: return text(touch.cells, " cells copied to block ", touch.other);
        case BlockTouch::Kind::allocated: return "allocated";
        case BlockTouch::Kind::freed: return "freed";
        case BlockTouch::Kind::held: return "enters " + table();
        case BlockTouch::Kind::left: return "leaves " + table();
    }
    return {};
}

}  // namespace kvpane::invariants
