// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/operation.h>

// The single steps of the shrinker: what is simpler than something. None of them knows whether it helps.
namespace kvpane::invariants {

// One more than the largest name that an operation mentions.
Name names_in(const std::vector<Operation>& operations) noexcept;

// Without all that works on the sequence, and without its entries in batches.
std::vector<Operation> without_sequence(const std::vector<Operation>& operations, Name name);

// Entries of the operation's list: tokens (with their sequences in a batch), else logical blocks, else the sequences of
// a check.
std::size_t list_size(const Operation& operation) noexcept;
void drop_from_list(Operation& operation, std::size_t begin, std::size_t end);

// The same operation with one part left out, or one number lower; the largest steps first.
std::vector<Operation> simpler_operations(const Operation& operation);

// The same for the Manager: groups, blocks, block size, windows, sinks, slack and the switches.
std::vector<Config> simpler_managers(const Config& config);

// Every list and number of an operation by the ratio of the block sizes, rounded up.
std::vector<Operation> scaled_lists(const std::vector<Operation>& operations, std::uint32_t from, std::uint32_t to);

}  // namespace kvpane::invariants
