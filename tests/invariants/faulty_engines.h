// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include <kvpane/invariants/payload.h>

// Engines that do wrong what a Step tells them to do: the tables are right, the cells are not (Tamper::play_on()).
namespace kvpane::invariants {

struct SkipsCopies : Payload {
    using Payload::Payload;
    void copied(std::span<const BlockCopy>) override {}
};

struct CopiesOneCellTooFew : Payload {
    using Payload::Payload;
    void copied(std::span<const BlockCopy> copies) override {
        std::vector<BlockCopy> shorter(copies.begin(), copies.end());
        std::ranges::for_each(shorter, [](BlockCopy& copy) { --copy.cells; });
        Payload::copied(shorter);
    }
};

}  // namespace kvpane::invariants
