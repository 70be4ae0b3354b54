// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/last_words.h>

#include <array>
#include <csignal>
#include <utility>

#include <unistd.h>

namespace kvpane::invariants {

namespace {

// What the handlers of a dying process need; they can be given nothing else.
constexpr std::array<int, 5> deadly = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
JournalWriter* dying_journal = nullptr;
const std::string* dying_words = nullptr;
std::array<void (*)(int), deadly.size()> handlers_before{};

// These signals come from the Manager's own code, never from within the writer's: its buffer is in order.
void on_death(int signal) {
    if (dying_journal != nullptr) {
        std::exchange(dying_journal, nullptr)->last_words();
        [[maybe_unused]] const ssize_t said = ::write(STDERR_FILENO, dying_words->data(), dying_words->size());
    }
    for (std::size_t i = 0; i < deadly.size(); ++i) {
        if (deadly[i] == signal) {
            std::signal(signal, handlers_before[i]);
        }
    }
    std::raise(signal);
}

}  // namespace

LastWords::LastWords(JournalWriter& writer, std::string words) : words_(std::move(words)) {
    dying_words = &words_;
    dying_journal = &writer;
    for (std::size_t i = 0; i < deadly.size(); ++i) {
        handlers_before[i] = std::signal(deadly[i], on_death);
    }
}

LastWords::~LastWords() {
    dying_journal = nullptr;
    for (std::size_t i = 0; i < deadly.size(); ++i) {
        std::signal(deadly[i], handlers_before[i]);
    }
}

}  // namespace kvpane::invariants
