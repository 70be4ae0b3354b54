// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <kvpane/attention/host_cells.h>
#include <kvpane/blocktable/manager.h>
#include <kvpane/invariants/decoder.h>

namespace kvpane::invariants::article {

// What attends: weights, and the window that its queries see (0 = everything).
struct Model {
    const Weights* weights = nullptr;
    Length window = 0;
};

// A fault of the engine, planted by tests that must see it noticed.
enum class Fault : std::uint8_t {
    none,
    next_slot,    // attention reads the cell behind the right one
    missed_copy,  // the copies that the Manager orders are not run
};

// An engine in miniature: the decoder with its K and V rows in the blocks of a real Manager. Each layer has a payload of
// its own, [blocks + 1, block_size] cells of one KeyValue; all layers share the one group and its tables. A pass
// reserves its cells, runs the copies, and then in each layer writes its rows to the slots that it was given, and reads
// what its queries see through the exported table; at the end it commits.
//
// ERRORS std::logic_error when the Manager refuses: pools here are made large enough.
class PagedDecoder {
public:
    // REQUIRES a config with one group.
    explicit PagedDecoder(const Config& config, Fault fault = Fault::none);

    struct Found {
        SequenceHandle sequence;
        Length cut = 0;  // tokens of the prompt that the cache had
        // Where, by logical block: those that are shared, and those whose cells were copied; the null block where the
        // window needs none.
        std::vector<BlockId> blocks;
    };
    // Creates a sequence that holds what the cache has of the prompt; nothing is computed.
    Found admit(std::span<const Token> prompt, const Scope& scope = {});

    struct Pass {
        Rows rows;  // [tokens]
        Effort effort;
    };
    // Computes the next tokens. `position` is that of the first one's code; it is right to leave it out, and anything but
    // the sequence's length is an error on purpose.
    Pass run(const Model& model, SequenceHandle sequence, std::span<const Token> tokens,
             std::optional<Length> position = std::nullopt);

    // Admits the prompt and computes the rest of it.
    struct Started {
        Found found;
        Pass pass;  // of the tokens from the cut on
    };
    Started start(const Model& model, std::span<const Token> prompt, const Scope& scope = {});

    // The next tokens get rows from elsewhere instead of being computed: as many as there are tokens.
    void plant(SequenceHandle sequence, std::span<const Token> tokens, const PlacedRows& rows);

    // The rows of positions [first, first + count), as the sequence's table finds them.
    PlacedRows gather(SequenceHandle sequence, Length first, std::size_t count);

    // Bytes of K and V in the blocks that the sequence holds.
    std::size_t held_bytes(SequenceHandle sequence) const;

    Length copied_cells() const noexcept { return copied_cells_; }
    Manager& manager() noexcept { return manager_; }

private:
    class BlockMemory;

    HostCells cells(std::size_t layer);
    Step reserve(SequenceHandle sequence, std::size_t cells);
    void run_ordered(std::span<const BlockCopy> copies);

    Manager manager_;
    Fault fault_;
    std::array<std::vector<KeyValue>, layers> payload_;  // [blocks + 1, block_size] of each layer
    Length copied_cells_ = 0;                            // in one layer
};

}  // namespace kvpane::invariants::article
