// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <kvpane/blocktable/manager.h>

// What a Manager holds, as plain lists; without a test framework, since the benchmarks read them too.
namespace kvpane::testing {

using Ids = std::vector<std::uint32_t>;  // block ids, 0 where nothing is held
using Slots = std::vector<Slot>;
using Tokens = std::vector<Token>;

inline constexpr GroupId first_group{0};
inline constexpr GroupId second_group{1};
inline constexpr GroupId third_group{2};

// What an operation gave that has to succeed; its error becomes an exception.
template <class T>
T granted(const expected<T>& result) {
    if (!result) {
        throw std::runtime_error(std::string(to_string(result.error())));
    }
    if constexpr (!std::is_void_v<T>) {
        return *result;
    }
}

// The free queue, next to be taken first.
inline Ids queue_of(const BlockPool& pool) {
    Ids out;
    for (BlockId block = pool.next_idle(null_block); block != null_block; block = pool.next_idle(block)) {
        out.push_back(to_index(block));
    }
    return out;
}

inline Ids queue_of(const Manager& kv) { return queue_of(kv.pool()); }

// The block table by logical block.
inline Ids table_of(const Manager& kv, SequenceHandle sequence, GroupId group = first_group) {
    const TableView view = kv.table(sequence, group).value();
    Ids out;
    for (std::size_t entry = 0; entry < view.size; ++entry) {
        out.push_back(to_index(view[entry]));
    }
    return out;
}

}  // namespace kvpane::testing
