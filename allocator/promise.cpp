// SPDX-License-Identifier: Apache-2.0
#include <kvpane/allocator/promise.h>

#include <cstdio>
#include <cstdlib>

namespace kvpane {

void broken_promise(const char* invariant, const char* sentence) noexcept {
    std::fprintf(stderr, "kvpane: invariant %s broken: %s\n", invariant, sentence);
    std::abort();
}

}  // namespace kvpane
