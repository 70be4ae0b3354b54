// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kvpane/attention/cell_store.h>
#include <kvpane/invariants/audit.h>
#include <kvpane/invariants/finding.h>
#include <kvpane/invariants/payload_options.h>
#include <kvpane/invariants/payload_rows.h>
#include <kvpane/invariants/record.h>

namespace kvpane::invariants {

// The tables and slots of one sequence in one group, as attention kernels get them.
struct PayloadExports {
    std::vector<std::int32_t> padded;  // [width] of export_padded()
    std::vector<std::int32_t> pages;   // [width] of export_csr(), as a row again
    std::vector<Slot> slots;           // [length - first resident position] of export_slots()
};

// Plays the engine's part on real cells, one store a group, by the operations that an engine uses: copies are run, K and
// V of committed tokens are written through their slots and converted, and what attention would gather through the
// exported tables is compared byte by byte with what the history says. A table may be right and its cells wrong; here
// that shows.
class Payload {
public:
    // Throws std::invalid_argument with the sentence of find_wrong().
    Payload(const Config& config, const PayloadOptions& options);
    virtual ~Payload() = default;
    Payload(const Payload&) = delete;
    Payload& operator=(const Payload&) = delete;

    // --- what an engine does; virtual, for engines that do it wrong ---------------------------------------------------
    // What the store refuses is told by the next comparison.

    // Runs the copies of a step in all groups.
    virtual void copied(std::span<const BlockCopy> copies);

    // Positions [first, first + slots.size()) of the history are computed, and go to their slots.
    virtual void written(const Record& record, std::uint32_t group, Length first, std::span<const Slot> slots);

    // Nobody may read the block any more: what stands there becomes noise. COST O(1) where nothing was written since.
    void gave_up(BlockId block);

    // --- the comparison ----------------------------------------------------------------------------------------------

    // T3: the committed cells that the sequence holds have its payload; T4: or that of another position.
    // REQUIRES audit_sequence() finds nothing. COST O(elements held).
    Found compare(const Scene& scene, const Record& record);

protected:
    // REQUIRES a history that is not empty. T3: the Manager refuses, or its page arrays are no table.
    virtual Found read_exports(const Scene& scene, const Record& record, std::uint32_t group, PayloadExports& out) const;

private:
    struct Place {
        const Record& record;
        std::uint32_t group;
        Length position;
    };

    Found compare(const Scene& scene, const Record& record, std::uint32_t group);
    // Positions in `range`, of which the first stands where `cells` begins.
    Found compare(const Scene& scene, const Place& first, const CellRange& cells);
    Found blame(const Scene& scene, const Place& place, std::size_t row, std::int32_t block);
    std::string origin(const Scene& scene, const Place& place, std::size_t row, bool& is_of_another_position);
    void note(const payload_expected<void>& result, const char* step);

    std::vector<HostCellStore> stores_;    // [groups]
    std::vector<std::uint8_t> is_written_;  // [blocks + 1] since it was given up
    std::string refusal_;                   // the first one
    PayloadExports exports_;
    PayloadRows computed_;  // f32
    PayloadRows found_;     // in the dtype of the store, as the rest
    PayloadRows expected_;
    PayloadRows candidate_;
};

}  // namespace kvpane::invariants
