// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <kvpane/blocktable/manager.h>

int main() {
    kvpane::Manager kv({.blocks = 4096, .groups = {{.name = "full"}, {.name = "swa", .window = 1024}}});
    const std::vector<kvpane::Token> prompt(100, 7), accepted = {8, 9};
    const auto a = kv.admit({.tokens = prompt});  // a handle and the slots to write, or an Error
    const kvpane::Reservation draft{.sequence = a->sequence, .cells = 4};
    const auto step = kv.reserve({&draft, 1});  // one atomic call for a whole batch
    // ... the engine runs step->copies, writes K and V to step->slots_of(group), runs its attention kernels ...
    if (step->cells != 4 || !kv.commit(a->sequence, accepted) || !kv.cancel(a->sequence))
        return 1;
    const auto b = kv.fork(a->sequence);  // shares every block, the first write copies one
    return b && kv.length(*b) == 102 ? 0 : 1;
}
