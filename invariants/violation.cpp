// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/violation.h>

#include <algorithm>
#include <utility>

#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/block_history.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

std::string spelled(const Scene& scene, Name name) { return label_of(name, scene.spellings).substr(sizeof "sequence"); }

std::optional<BlockId> block_at(const Scene& scene, const Site& site) {
    if (!site.sequence || !site.group || !site.position || *site.position < 0) {
        return std::nullopt;
    }
    const auto record = std::ranges::find(scene.living, *site.sequence, &Record::name);
    if (record == scene.living.end()) {
        return std::nullopt;
    }
    const auto table = scene.manager.table((*record)->handle, GroupId{*site.group});
    const BlockId block =
        table ? (*table)[static_cast<std::size_t>(*site.position / scene.manager.config().block_size)] : null_block;
    return block == null_block ? std::nullopt : std::optional(block);
}

std::string counted(std::uint32_t number, const char* what) { return text(number, " ", what, number == 1 ? "" : "s"); }

std::string cells(std::uint32_t first, std::uint32_t last) {
    return first == last ? text("cell ", first) : text("cells ", first, "..", last);
}

std::string sentence_of(const BlockHistory::Touch& touch, const Scene& scene) {
    using Kind = BlockHistory::Kind;
    const auto table = [&] {
        return text("the table of ", spelled(scene, touch.sequence), " in group ",
                    scene.manager.config().groups[touch.group].name, " as logical block ", touch.first);
    };
    switch (touch.kind) {
        case Kind::written: return text(cells(touch.first, touch.last), " written by ", spelled(scene, touch.sequence));
        case Kind::copied_here: return text(counted(touch.last, "cell"), " copied from block ", touch.first);
        case Kind::copied_away: return text(counted(touch.last, "cell"), " copied to block ", touch.first);
        case Kind::cut: return text("cells from ", touch.first, " on given up by ", spelled(scene, touch.sequence));
        case Kind::enters: return text("enters ", table());
        case Kind::leaves: return text("leaves ", table());
        case Kind::withdrawn: return text("leaves the index for ", spelled(scene, touch.sequence));
    }
    return {};
}

std::string line_of(const BlockHistory::Touch& touch, const Scene& scene) {
    const std::string when = touch.since == touch.operation ? text("operation ", touch.operation)
                                                            : text("operations ", touch.since, " to ", touch.operation);
    return text(when, " (", to_string(touch.verb), "): ", sentence_of(touch, scene));
}

std::string state_of(BlockId block, const BlockPool& pool) {
    return text("now: ", to_string(pool.state(block)), ", ", counted(pool.refs(block), "reference"), ", ",
                pool.content(block) == no_content ? "not in the index" : "in the index");
}

}  // namespace

Violation report(Finding finding, std::int64_t operation, const Scene& scene, const BlockHistory* history) {
    Violation violation{finding.invariant, operation, std::move(finding.what)};
    const Site& site = finding.site;
    if (site.sequence) {
        violation.sequence = spelled(scene, *site.sequence);
    }
    if (site.group) {
        violation.group = scene.manager.config().groups[*site.group].name;
    }
    violation.position = site.position;
    violation.expected = site.expected;
    violation.found = site.found;
    violation.block = site.block ? site.block : block_at(scene, site);
    const BlockPool& pool = scene.manager.pool();
    if (history != nullptr && violation.block && to_index(*violation.block) <= pool.blocks()) {
        for (const BlockHistory::Touch& touch : history->of(*violation.block)) {
            violation.block_history.push_back(line_of(touch, scene));
        }
        violation.block_history.push_back(state_of(*violation.block, pool));
    }
    return violation;
}

std::string text_of(const Violation& violation) {
    std::string lines = text("VIOLATION ", number(violation.invariant), " at operation ", violation.operation, ": ",
                             sentence(violation.invariant), "\n  ", violation.what, "\n");
    if (!violation.block_history.empty()) {
        lines += text("  what last happened to block ", to_index(*violation.block), ":\n");
        for (const std::string& line : violation.block_history) {
            lines += text("    ", line, "\n");
        }
    }
    return lines;
}

}  // namespace kvpane::invariants
