// SPDX-License-Identifier: Apache-2.0
// An engine that embeds kvpane without the judge: admit, reserve, commit, fork, release, and every block is free again.
#include <cstdio>
#include <vector>

#include <kvpane/blocktable/manager.h>
#include <kvpane/version.h>

int main() {
    kvpane::Manager kv{kvpane::Config{.block_size = 4, .blocks = 8}};

    const std::vector<kvpane::Token> prompt{1, 2, 3, 4, 5};
    const auto admitted = kv.admit({.tokens = prompt});
    if (!admitted) {
        return 1;
    }
    const kvpane::Reservation two_cells{.sequence = admitted->sequence, .cells = 2};
    if (!kv.reserve({&two_cells, 1}) || !kv.commit(admitted->sequence, std::vector<kvpane::Token>{6, 7})) {
        return 1;
    }
    const auto child = kv.fork(admitted->sequence);
    if (!child || kv.length(*child).value() != 7 || kv.pool().idle_blocks() != 6) {
        return 1;
    }
    if (!kv.release(admitted->sequence) || !kv.release(*child) || kv.pool().idle_blocks() != 8) {
        return 1;
    }
    std::printf("kvpane %s\n", kvpane::version);
    return 0;
}
