// SPDX-License-Identifier: Apache-2.0
// What libFuzzer calls. KVPANE_FUZZ_TARGET is a function of target.h.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        kvpane::fuzz::KVPANE_FUZZ_TARGET(std::as_bytes(std::span(data, size)));
    } catch (const kvpane::fuzz::Broken& broken) {
        std::fprintf(stderr, "kvpane fuzz: %s\n", broken.what());
        std::abort();
    }
    return 0;
}
