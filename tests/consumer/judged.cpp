// SPDX-License-Identifier: Apache-2.0
// A program that links the judge as well.
#include <kvpane/invariants/checked_manager.h>

int main() {
    kvpane::invariants::CheckedManager kv{kvpane::Config{.block_size = 4, .blocks = 8},
                                          kvpane::invariants::CheckMode::every};
    kv.audit();
    return kv.violation() || kv.checks() == 0 ? 1 : 0;
}
