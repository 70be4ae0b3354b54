// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>

#include <kvpane/allocator/block_pool.h>
#include <kvpane/allocator/error.h>
#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/manager.h>
#include <kvpane/blocktable/plan.h>

// How Boost.Test and RapidCheck show the values of the core when an expectation fails.
namespace kvpane {

inline std::ostream& operator<<(std::ostream& out, Error error) { return out << to_string(error); }

inline std::ostream& operator<<(std::ostream& out, Verdict verdict) { return out << to_string(verdict); }

inline std::ostream& operator<<(std::ostream& out, BlockId block) { return out << to_index(block); }

inline std::ostream& operator<<(std::ostream& out, GroupId group) { return out << to_index(group); }

inline std::ostream& operator<<(std::ostream& out, ContentId content) {
    return out << static_cast<std::uint32_t>(content);
}

inline std::ostream& operator<<(std::ostream& out, BlockState state) {
    switch (state) {
        case BlockState::free: return out << "free";
        case BlockState::cached: return out << "cached";
        case BlockState::live: return out << "live";
        case BlockState::fenced: return out << "fenced";
    }
    return out;
}

inline std::ostream& operator<<(std::ostream& out, SequenceHandle handle) {
    return out << "#" << handle.index << "." << handle.generation << "@" << handle.instance;
}

inline std::ostream& operator<<(std::ostream& out, const BlockCopy& copy) {
    return out << "group " << copy.group << ": " << copy.source << " -> " << copy.destination << " (" << copy.cells
               << " cells)";
}

inline std::ostream& operator<<(std::ostream& out, const RowChange& change) {
    return out << "[" << change.begin << ", " << change.end << ")";
}

inline bool operator==(const RowChange& a, const RowChange& b) { return a.begin == b.begin && a.end == b.end; }

}  // namespace kvpane
