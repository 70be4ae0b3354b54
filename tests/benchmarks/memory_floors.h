// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

// What the machine can do at most: reading memory, and multiplying.
namespace kvpane::bench {

// Reads every cache line of the pieces, in order.
void read(std::span<const std::span<const std::byte>> pieces);

// So many multiplications and additions of f32 from and to registers, with the widest vectors that host_attention uses.
void multiply_add(double count);

}  // namespace kvpane::bench
