// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace kvpane::gpu {

// Every operation on the device against the host's function, the same arguments for both. `small`: a handful, for a
// checker that makes them a hundred times slower. Without a device only the host's half is run: the arguments are
// sound, and nothing is compared. Gives {"name": ..., "error": norm ratio or null, "ok": ...} of each.
nlohmann::ordered_json check_all(bool small, bool has_device);

// Times, as a share of the copy bandwidth. Gives {"name", "microseconds", "gb_per_s", "share_of_copy"} of each.
nlohmann::ordered_json measure_all();

}  // namespace kvpane::gpu
