// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kvpane::fuzz {

// The bytes with magic, version, marks, numbers and checksums as the reader wants them, wherever the lengths that they
// name have room for them; the last length that has none becomes what is left. So a changed byte of the contents gets
// as far as the decoder, which a checksum of 64 bits would keep it from for ever. ENSURES a journal that reads whole
// stays as it is.
std::vector<std::byte> sealed(std::span<const std::byte> bytes);

}  // namespace kvpane::fuzz
