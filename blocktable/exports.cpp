// SPDX-License-Identifier: Apache-2.0
#include <kvpane/blocktable/exports.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace kvpane {

namespace {

constexpr std::int64_t int32_most = std::numeric_limits<std::int32_t>::max();

// Writes the ids of `blocks` as int32 and returns where they end. No id passes 2^31 - 2, so the bytes are the same.
std::int32_t* copy_ids(std::span<const BlockId> blocks, std::int32_t* out) noexcept {
    if (!blocks.empty()) {
        std::memcpy(out, blocks.data(), blocks.size_bytes());
    }
    return out + blocks.size();
}

// Cells in the last held block. Where only sink blocks are left they are full.
std::int32_t last_page_cells(const TableView& table, const BlockShape& shape) noexcept {
    if (table.held() == 0) {
        return 0;
    }
    const bool ends_at_the_tail = !table.run.empty() || table.sinks.size() == table.size;
    return static_cast<std::int32_t>(ends_at_the_tail ? shape.offset(table.cells - 1) + 1 : Length{shape.size()});
}

template <class Integer>
expected<void> write_slots(const Manager& manager, SequenceHandle sequence, GroupId group, Length first,
                           std::span<Integer> out) {
    const auto table = manager.table(sequence, group);
    if (!table) {
        return unexpected(table.error());
    }
    const BlockShape shape(manager.config().block_size);
    const auto wanted = static_cast<Length>(out.size());
    if (first < 0 || wanted > table->cells - std::min(first, table->cells)) {
        return unexpected(Error::invalid_argument);
    }
    const auto block_of = [&](Length position) { return (*table)[static_cast<std::size_t>(shape.index(position))]; };
    const Length sinks_end = shape.begin(static_cast<Length>(table->sinks.size()));
    for (Length position = first; position < first + wanted; ++position) {
        // A block may be there and the cell not: window 1, truncated inside a block that had left.
        const bool is_held = position < sinks_end || position >= table->first_resident;
        if (!is_held || block_of(position) == null_block) {
            return unexpected(Error::invalid_argument);
        }
    }
    for (Length i = 0; i < wanted; ++i) {
        const Length position = first + i;
        out[static_cast<std::size_t>(i)] =
            static_cast<Integer>(shape.begin(to_index(block_of(position))) + shape.offset(position));
    }
    return {};
}

}  // namespace

expected<std::int64_t> csr_entries(const Manager& manager, std::span<const SequenceHandle> sequences, GroupId group) {
    std::int64_t entries = 0;
    for (const SequenceHandle& sequence : sequences) {
        const auto table = manager.table(sequence, group);
        if (!table) {
            return unexpected(table.error());
        }
        entries += static_cast<std::int64_t>(table->held());
    }
    return entries;
}

expected<std::int64_t> export_csr(const Manager& manager, std::span<const SequenceHandle> sequences, GroupId group,
                                  const CsrArrays& out) {
    const auto entries = csr_entries(manager, sequences, group);
    if (!entries) {
        return entries;
    }
    const std::size_t n = sequences.size();
    if (*entries > int32_most || out.indptr.size() < n + 1 || out.last_page_len.size() < n ||
        out.first_position.size() < n || out.indices.size() < static_cast<std::size_t>(*entries)) {
        return unexpected(Error::invalid_argument);
    }
    const BlockShape shape(manager.config().block_size);
    std::int32_t* index = out.indices.data();
    out.indptr[0] = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto table = manager.table(sequences[i], group);
        index = copy_ids(table->run, copy_ids(table->sinks, index));
        out.indptr[i + 1] = static_cast<std::int32_t>(index - out.indices.data());
        out.last_page_len[i] = last_page_cells(*table, shape);
        out.first_position[i] = table->first_resident;
    }
    return entries;
}

expected<void> export_padded(const Manager& manager, std::span<const SequenceHandle> sequences, GroupId group,
                             std::size_t width, std::span<std::int32_t> out) {
    std::size_t longest = 0;
    for (const SequenceHandle& sequence : sequences) {
        const auto table = manager.table(sequence, group);
        if (!table) {
            return unexpected(table.error());
        }
        longest = std::max<std::size_t>(longest, table->size);
    }
    // Division, since a caller's width times n_seqs may overflow.
    if (width < longest || (!sequences.empty() && out.size() / sequences.size() < width)) {
        return unexpected(Error::invalid_argument);
    }
    for (std::size_t i = 0; i < sequences.size(); ++i) {
        const auto table = manager.table(sequences[i], group);
        std::int32_t* const row = out.data() + i * width;
        std::fill(copy_ids(table->sinks, row), row + table->run_begin, 0);
        std::fill(copy_ids(table->run, row + table->run_begin), row + width, 0);
    }
    return {};
}

expected<void> export_slots(const Manager& manager, SequenceHandle sequence, GroupId group, Length first,
                            std::span<Slot> out) {
    return write_slots(manager, sequence, group, first, out);
}

expected<void> export_slots(const Manager& manager, SequenceHandle sequence, GroupId group, Length first,
                            std::span<std::int32_t> out) {
    if (!manager.config().int32_slots) {
        return unexpected(Error::invalid_argument);
    }
    return write_slots(manager, sequence, group, first, out);
}

}  // namespace kvpane
