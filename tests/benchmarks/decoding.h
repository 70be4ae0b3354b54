// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include <kvpane/blocktable/manager.h>

#include "benchmarks/bench.h"

namespace kvpane::bench {

// Brings the free queue of an unused Manager into an order that no prefetcher guesses, as after hours of service; a
// fresh pool would hand out neighbours.
void scatter(Manager& kv);

// Sequences that decode some steps and go back, again and again.
class Decoding {
public:
    struct Shape {
        std::size_t sequences;
        Length blocks_each;      // at the beginning, all full
        Length blocks;           // of the pool
        bool cache = false;      // whether the prefix cache is on
        Length idle_cached = 0;  // blocks that only the index knows
    };
    enum class Calls { one_for_all, two_for_each };  // append_batch, or reserve and commit

    explicit Decoding(const Shape& shape);

    // About 65 536 tokens, or 64 steps where that is more. Checks what is held, and with append_batch the last slots.
    Sample run(Calls calls);

    // One step for all.
    Step step();

    // Back to where everything began.
    void rewind();

    const std::vector<SequenceHandle>& sequences() const { return sequences_; }

    Manager kv;

private:
    static constexpr Length steps = 64;  // 4 new blocks for each sequence

    std::vector<Check> checks(const Step* last) const;

    Length begin_;  // [tokens] of each sequence
    std::vector<SequenceHandle> sequences_;
    std::vector<Token> tokens_;  // of a step
};

}  // namespace kvpane::bench
