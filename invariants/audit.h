// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/finding.h>
#include <kvpane/invariants/interpreter.h>
#include <kvpane/invariants/record.h>
#include <kvpane/invariants/shadow_cells.h>

// The invariants of a state, one function each. All are naive: they recount, and compare with what the judge recorded.
// Each returns the first place where its sentence does not hold.
namespace kvpane::invariants {

// "sequence a", or "sequence #0" where it has no spelling.
std::string label_of(Name name, const std::vector<std::string>& spellings);

// Everything that a look at a state needs.
struct Scene {
    const Manager& manager;
    const ShadowCells& shadow;
    std::span<const Record* const> living;      // every living sequence
    const std::vector<std::string>& spellings;  // Name -> how messages call it; others are called #name

    std::string label(Name name) const { return label_of(name, spellings); }
    std::string label(const Record& record, std::uint32_t group) const;
};

// P1: every block is exactly one of free, cached, live, fenced; free + cached + live + fenced = blocks; every counter
// equals its recount; without an open step nothing is fenced. COST O(blocks).
Found find_P1(const Scene& scene);

// P2: the references of a block are its appearances in all tables of all sequences and groups; nobody owns the null
// block; no more blocks are pinned than may be. COST O(blocks + table entries).
Found find_P2(const Scene& scene);

// P3: the queue holds exactly the free and cached blocks, each once; the cached ones by rank and time. COST O(blocks).
Found find_P3(const Scene& scene);

// T1: every position from the first resident one to length + reserved has a block, and no block stands twice in the
// tables of one sequence. COST O(table entries).
Found find_T1(const Scene& scene, const Record& record);

// T1, over all sequences: no block stands in tables of two groups. COST O(blocks + table entries).
Found find_T1(const Scene& scene);

// T2: nothing that the next query sees, nor the slack before it, was released; no block wholly outside is kept; behind
// the sinks stand at most ceil((W - 1 + slack + m) / block_size) + 1 blocks. COST O(table entries).
Found find_T2(const Scene& scene, const Record& record);

// T5: a reserved cell lies in a block with exactly one reference, at the slot that was handed out for its position.
Found find_T5(const Scene& scene, const Record& record);

// T5, over all sequences: no slot is reserved twice.
Found find_T5(const Scene& scene);

// T4: the cell at a position was written for that position. COST O(cells).
Found find_T4(const Scene& scene, const Record& record, std::uint32_t group, std::span<const HeldCell> cells);

// T3: the cells are those of the history: after a commit at least the last W and the sinks, else at least what the next
// query sees; and whatever else is held. COST O(cells + W).
Found find_T3(const Scene& scene, const Record& record, std::uint32_t group, std::span<const HeldCell> cells);

// T1, T2, T5, T4 and T3 of one sequence.
Found audit_sequence(const Scene& scene, const Record& record);

// T1, in what is exported: page arrays, padded rows and slots say what the tables say. COST O(table entries + cells).
Found find_wrong_exports(const Scene& scene);

// P1, P2, P3 and T1, T5 over all sequences.
Found audit_whole(const Scene& scene);

}  // namespace kvpane::invariants
