// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace kvpane::invariants {

// What a correct manager never breaks. The number is printed when it does; each has a test that breaks it on purpose
// (`breaking_P1_...`).
enum class Invariant : std::uint8_t { P1, P2, P3, T1, T2, T3, T4, T5, F1, F2, X1, X2, X3, A1, A2 };

constexpr std::string_view number(Invariant invariant) noexcept {
    switch (invariant) {
        case Invariant::P1: return "P1";
        case Invariant::P2: return "P2";
        case Invariant::P3: return "P3";
        case Invariant::T1: return "T1";
        case Invariant::T2: return "T2";
        case Invariant::T3: return "T3";
        case Invariant::T4: return "T4";
        case Invariant::T5: return "T5";
        case Invariant::F1: return "F1";
        case Invariant::F2: return "F2";
        case Invariant::X1: return "X1";
        case Invariant::X2: return "X2";
        case Invariant::X3: return "X3";
        case Invariant::A1: return "A1";
        case Invariant::A2: return "A2";
    }
    return "";
}

constexpr std::string_view sentence(Invariant invariant) noexcept {
    switch (invariant) {
        case Invariant::P1: return "every block is exactly one of free, cached, live, fenced, and the counters say so";
        case Invariant::P2: return "the references of a block are its appearances in all tables";
        case Invariant::P3: return "the queue holds exactly the free and cached blocks, each once, in their order";
        case Invariant::T1:
            return "every position from the first resident one to the end has a block, and no block "
                   "stands twice in a table";
        case Invariant::T2: return "nothing that the next query sees is gone, and nothing wholly outside is kept";
        case Invariant::T3: return "the tables read back as the last window of the history, cell by cell";
        case Invariant::T4: return "the cell at a position was written for that position";
        case Invariant::T5: return "a reserved cell lies in a block that nobody else holds";
        case Invariant::F1: return "an operation on one sequence changes no other sequence's cells";
        case Invariant::F2: return "a failed operation changes nothing";
        case Invariant::X1:
            return "an index entry names a block with exactly these tokens, predecessors, scope and group";
        case Invariant::X2:
            return "a hit is the longest prefix that reads back as the request's own, and leaves one "
                   "token to compute";
        case Invariant::X3: return "index and blocks are a bijection, and the events rebuild the index";
        case Invariant::A1: return "what an operation takes is what its plan said";
        case Invariant::A2: return "equal call sequences give equal states";
    }
    return "";
}

}  // namespace kvpane::invariants
