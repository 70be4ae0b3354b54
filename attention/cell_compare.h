// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include <kvpane/allocator/ids.h>
#include <kvpane/attention/argument_memory.h>
#include <kvpane/attention/cell_rows.h>
#include <kvpane/attention/cell_store.h>
#include <kvpane/attention/payload_error.h>

namespace kvpane {

// The first element that is not what was expected, in the order of position, K before V, head, element.
struct CellMismatch {
    static constexpr Length none = -1;

    Length position = none;
    bool in_v = false;
    std::uint32_t head = 0;
    std::uint32_t element = 0;
    float found = 0;
    float expected = 0;

    friend bool operator==(const CellMismatch&, const CellMismatch&) = default;
};

// Compares the range, converted as gather_cells does, with rows [range.count, ...]; a position of none where all is
// equal. Equal is: the same bits; with a tolerance also |found - expected| <= tolerance, and NaN of any kind.
// ERRORS also out_of_range (a tolerance that is negative or not finite), bad_shape (no `out`), misaligned, overlapping
// (`out` and an input). COST O(elements).
payload_expected<void> compare_cells(const CellStore& store, const CellRange& range, const CellRows& expected,
                                     std::optional<float> tolerance, CellMismatch* out) noexcept;

// What compare_cells() asks of the memory of its answer, on the host and, with the scratch before it, on a device.
// ERRORS misaligned, overlapping. REQUIRES nothing else is wrong.
payload_expected<void> find_wrong_answer(const CellStore& store, const CellRange& range, const CellRows& expected,
                                         std::initializer_list<ArgumentMemory> outputs) noexcept;

}  // namespace kvpane
