// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/payload.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include <kvpane/attention/block_ops.h>
#include <kvpane/attention/cell_ops.h>
#include <kvpane/attention/table_ops.h>
#include <kvpane/blocktable/exports.h>
#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

// NaN in every dtype, which no history has.
constexpr int noise = 0xff;

bool is_noise(std::byte byte) { return byte == static_cast<std::byte>(noise); }

std::vector<HostCellStore> stores_of(const Config& config, const PayloadOptions& options) {
    if (const auto what = find_wrong(config, options)) {
        throw std::invalid_argument(*what);
    }
    const CellShape shape = shape_of(config, options);
    std::vector<HostCellStore> stores;
    for (std::size_t group = 0; group < config.groups.size(); ++group) {
        HostCellStore& store = stores.emplace_back(shape, options.order, options.interleaved);
        if (bytes_of(options.dtype) == 1) {
            store.set_scales(0.25F, 0.5F);  // not 1, and not each other's
        }
        std::memset(store.view().k, noise, bytes_of(shape));  // of V, too: one piece of memory holds both
    }
    return stores;
}

Finding broken(Invariant invariant, const Scene& scene, Site site, const Record& record, std::string what) {
    std::string where = scene.label(record, site.group.value());
    if (site.position) {
        where += text(", position ", *site.position);
    }
    if (site.block) {
        where += text(", block ", to_index(*site.block));
    }
    return {invariant, text(where, ": payload: ", what), std::move(site)};
}

Site at(const Record& record, std::uint32_t group) { return {.sequence = record.name, .group = group}; }

}  // namespace

Payload::Payload(const Config& config, const PayloadOptions& options)
    : stores_(stores_of(config, options)), is_written_(static_cast<std::size_t>(config.blocks) + 1),
      computed_(stores_.front().view(), DType::f32), found_(stores_.front().view(), options.dtype),
      expected_(stores_.front().view(), options.dtype), candidate_(stores_.front().view(), options.dtype) {}

void Payload::copied(std::span<const BlockCopy> copies) {
    for (std::uint32_t group = 0; group < stores_.size() && !copies.empty(); ++group) {
        note(copy_blocks(stores_[group].view(), GroupId{group}, copies), "copy_blocks");
    }
    for (const BlockCopy& copy : copies) {
        is_written_[to_index(copy.destination)] = 1;
    }
}

void Payload::written(const Record& record, std::uint32_t group, Length first, std::span<const Slot> slots) {
    const CellStore& store = stores_[group].view();
    computed_.resize(slots.size());
    for (std::size_t row = 0; row < slots.size(); ++row) {
        const Length position = first + static_cast<Length>(row);
        computed_.fill(row, record.history[static_cast<std::size_t>(position)].chain, position, group);
    }
    const auto result = write_slots(store, slots, computed_.in());
    note(result, "write_slots");
    for (std::size_t row = 0; row < slots.size() && result; ++row) {
        is_written_[static_cast<std::size_t>(slots[row] / store.shape.block_size)] = 1;
    }
}

// K of a block is one piece, and so is V, in every layout.
void Payload::gave_up(BlockId block) {
    if (is_written_[to_index(block)] == 0) {
        return;
    }
    is_written_[to_index(block)] = 0;
    for (const HostCellStore& held : stores_) {
        const CellStore& store = held.view();
        const std::size_t element = bytes_of(store.shape.dtype);
        const std::size_t bytes =
            element * store.shape.block_size * store.shape.kv_heads * store.shape.head_dim;
        const std::int64_t offset = to_index(block) * store.strides.block * static_cast<std::int64_t>(element);
        std::memset(kvpane::at(store.k, offset), noise, bytes);
        std::memset(kvpane::at(store.v, offset), noise, bytes);
    }
}

void Payload::note(const payload_expected<void>& result, const char* step) {
    if (!result && refusal_.empty()) {
        refusal_ = text(step, " was refused: ", to_string(result.error().fault), " (", result.error().where, ")");
    }
}

Found Payload::compare(const Scene& scene, const Record& record) {
    for (std::uint32_t group = 0; group < stores_.size(); ++group) {
        if (!refusal_.empty()) {
            return broken(Invariant::T3, scene, at(record, group), record, refusal_);
        }
        if (auto finding = record.length() > 0 ? compare(scene, record, group) : std::nullopt) {
            return finding;
        }
    }
    return std::nullopt;
}

// Through the padded rows, and through the other exports where they lead somewhere else.
Found Payload::compare(const Scene& scene, const Record& record, std::uint32_t group) {
    if (auto finding = read_exports(scene, record, group, exports_)) {
        return finding;
    }
    const spec::Holding& holding = record.groups[group].holding;
    const Length block_size = holding.rule.block_size;
    const Length resident = std::min(holding.first_resident(), record.length());
    const Length sinks = resident == 0 ? 0 : std::min(holding.sink_end(), record.length());
    for (const auto* table : {&exports_.padded, &exports_.pages}) {
        if (table == &exports_.pages && exports_.pages == exports_.padded) {
            continue;
        }
        for (const spec::Range range : {spec::Range{0, sinks}, spec::Range{resident, record.length()}}) {
            const CellRange cells{*table, range.begin, range.end - range.begin};
            if (auto finding = compare(scene, {record, group, range.begin}, cells)) {
                return finding;
            }
        }
    }
    for (Length position = resident; position < record.length(); ++position) {
        const Slot slot = exports_.slots[static_cast<std::size_t>(position - resident)];
        const auto block = static_cast<std::int32_t>(slot / block_size);
        if (block != exports_.padded[static_cast<std::size_t>(position / block_size)] ||
            slot % block_size != position % block_size) {
            if (auto finding = compare(scene, {record, group, position}, {{&block, 1}, slot % block_size, 1})) {
                return finding;
            }
        }
    }
    return std::nullopt;
}

Found Payload::compare(const Scene& scene, const Place& first, const CellRange& cells) {
    if (cells.count == 0) {
        return std::nullopt;
    }
    const CellStore& store = stores_[first.group].view();
    const auto count = static_cast<std::size_t>(cells.count);
    found_.resize(count);
    expected_.resize(count);
    if (const auto result = gather_cells(store, cells, found_.out()); !result) {
        Site site = at(first.record, first.group);
        site.position = first.position;
        return broken(Invariant::T3, scene, site, first.record,
                      text("gather_cells was refused: ", to_string(result.error().fault), " (", result.error().where,
                           ")"));
    }
    for (std::size_t row = 0; row < count; ++row) {
        const Length position = first.position + static_cast<Length>(row);
        expected_.fill(row, first.record.history[static_cast<std::size_t>(position)].chain, position, first.group);
    }
    if (found_.is_equal(expected_)) {
        return std::nullopt;
    }
    std::size_t row = 0;
    while (found_.has_equal_row(row, expected_, row)) {
        ++row;
    }
    const auto before = static_cast<Length>(row);
    const Length entry = (cells.first + before) / store.shape.block_size;
    return blame(scene, {first.record, first.group, first.position + before}, row,
                 cells.table[static_cast<std::size_t>(entry)]);
}

Found Payload::blame(const Scene& scene, const Place& place, std::size_t row, std::int32_t block) {
    const std::uint32_t head_dim = stores_[place.group].view().shape.head_dim;
    const bool in_v = std::ranges::equal(found_.bytes(false, row), expected_.bytes(false, row));
    const auto found = found_.bytes(in_v, row);
    const auto differ = std::ranges::mismatch(found, expected_.bytes(in_v, row)).in1 - found.begin();
    const auto element = static_cast<std::uint32_t>(static_cast<std::size_t>(differ) /
                                                    bytes_of(stores_[place.group].view().shape.dtype));
    bool is_of_another_position = false;
    const std::string left_by = origin(scene, place, row, is_of_another_position);
    Site site = at(place.record, place.group);
    site.position = place.position;
    site.block = BlockId{static_cast<std::uint32_t>(block)};
    return broken(is_of_another_position ? Invariant::T4 : Invariant::T3, scene, site, place.record,
                  text(in_v ? "V" : "K", ", head ", element / head_dim, ", element ", element % head_dim, " is ",
                       found_.value(in_v, row, element), ", expected ", expected_.value(in_v, row, element), "; ",
                       left_by));
}

// Whose payload stands there instead. COST O(all elements): asked once, for a finding.
std::string Payload::origin(const Scene& scene, const Place& place, std::size_t row, bool& is_of_another_position) {
    if (std::ranges::all_of(found_.bytes(false, row), is_noise) && std::ranges::all_of(found_.bytes(true, row), is_noise)) {
        return "nobody wrote there since the block was given up";
    }
    candidate_.resize(1);
    for (const Record* record : scene.living) {
        for (std::uint32_t group = 0; group < stores_.size(); ++group) {
            for (Length position = 0; position < record->length(); ++position) {
                candidate_.fill(0, record->history[static_cast<std::size_t>(position)].chain, position, group);
                if (candidate_.has_equal_row(0, found_, row)) {
                    is_of_another_position = position != place.position;
                    return text("the payload of ", scene.label(*record, group), ", position ", position,
                                ", stands there");
                }
            }
        }
    }
    return "no living sequence has such a payload";
}

Found Payload::read_exports(const Scene& scene, const Record& record, std::uint32_t group, PayloadExports& out) const {
    const auto refused = [&](const char* what) {
        return broken(Invariant::T3, scene, at(record, group), record, text(what, " was refused"));
    };
    const spec::Holding& holding = record.groups[group].holding;
    const std::span<const SequenceHandle> one(&record.handle, 1);
    const Length first = std::min(holding.first_resident(), record.length());
    out.padded.resize(static_cast<std::size_t>(spec::blocks_for(holding.end, holding.rule)));
    out.pages.resize(out.padded.size());
    out.slots.resize(static_cast<std::size_t>(record.length() - first));
    if (!export_padded(scene.manager, one, GroupId{group}, out.padded.size(), out.padded)) {
        return refused("export_padded");
    }
    if (!out.slots.empty() && !export_slots(scene.manager, record.handle, GroupId{group}, first, out.slots)) {
        return refused("export_slots");
    }
    std::vector<std::int32_t> indptr(2), last_page_len(1);
    std::vector<std::int64_t> first_position(1);
    std::vector<std::int32_t> indices(out.padded.size());
    if (!export_csr(scene.manager, one, GroupId{group}, {indptr, indices, last_page_len, first_position})) {
        return refused("export_csr");
    }
    const CsrTables pages{indptr, indices, first_position, holding.rule.sinks,
                          static_cast<std::uint32_t>(holding.rule.block_size)};
    if (!csr_to_tables(pages, out.pages.size(), out.pages)) {
        return refused("csr_to_tables");
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants
