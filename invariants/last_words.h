// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <kvpane/invariants/journal_writer.h>

namespace kvpane::invariants {

// While it lives: should the process die of a signal that it caused itself (a broken promise, a wild pointer), the
// operation that it died in goes into the journal, and all before it, and `words` to stderr; then the handlers that
// were there before run. Of any other death, and of one in another thread while the writer is at work, all up to the
// last whole frame is kept. REQUIRES the writer lives longer; one LastWords at a time.
class LastWords {
public:
    explicit LastWords(JournalWriter& writer, std::string words = {});
    ~LastWords();
    LastWords(const LastWords&) = delete;
    LastWords& operator=(const LastWords&) = delete;

private:
    std::string words_;
};

}  // namespace kvpane::invariants
