// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <kvpane/invariants/file_sink.h>
#include <kvpane/invariants/last_words.h>
#include <kvpane/invariants/recorder.h>

int main() {
    kvpane::Manager kv({.blocks = 64});
    kvpane::invariants::FileSink sink("engine.kvj");
    kvpane::invariants::Recorder recorder(kv, sink);  // from here on every call is written down
    const kvpane::invariants::LastWords last_words(recorder.writer());  // the one that the process dies in, too

    const std::vector<kvpane::Token> prompt(100, 7);
    const auto a = kv.admit({.tokens = prompt});
    const auto b = kv.fork(a->sequence);
    const kvpane::Reservation drafts[] = {{a->sequence, 4}, {*b, 2}};
    return kv.reserve(drafts) && kv.release(a->sequence) && recorder.ok() ? 0 : 1;
}
