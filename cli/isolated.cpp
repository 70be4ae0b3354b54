// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/isolated.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace kvpane::cli {

using namespace invariants;

namespace {

constexpr unsigned most_seconds = 60;
constexpr int ended_by_exception = 4;
constexpr std::array deadly = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

char spelled(const std::optional<Error>& error) {
    return error ? static_cast<char>('1' + static_cast<int>(*error)) : '0';
}

std::optional<Error> error_of(char spelled) {
    return spelled == '0' ? std::nullopt : std::optional(static_cast<Error>(spelled - '1'));
}

// What the child says: one character for each operation, '0' for success, else '1' + Error; then, if something broke,
// "V<what was due><invariant>\n<sentence>", or "E<what the exception said>". A child that dies says nothing more; its stderr comes
// through the same pipe, behind the characters.
void say(int pipe, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(pipe, text.data(), text.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            _exit(ended_by_exception);
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

[[noreturn]] void be_the_child(int pipe, const Case& one, const RunCase& run) {
    for (const int signal : deadly) {
        std::signal(signal, SIG_DFL);
    }
    alarm(most_seconds);
    dup2(pipe, STDERR_FILENO);
    try {
        const auto violation = run(one, [&](const Outcome& outcome) {
            const char said = spelled(outcome.error);
            say(pipe, {&said, 1});
        });
        if (violation) {
            say(pipe, fmt::format("V{}{}\n{}", spelled(violation->due), number(violation->invariant), violation->what));
        }
    } catch (const std::exception& error) {
        say(pipe, fmt::format("E{}", error.what()));
        _exit(ended_by_exception);
    }
    _exit(0);
}

std::string read_all(int pipe) {
    std::string text;
    std::array<char, 4096> piece{};
    for (;;) {
        const ssize_t got = read(pipe, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return text;
        }
        text.append(piece.data(), static_cast<std::size_t>(got));
    }
}

// "kvpane: invariant P1 broken: sentence" as the promise and its sentence.
std::optional<Failure> promise_in(std::string_view said, std::int64_t operation) {
    constexpr std::string_view before = "kvpane: invariant ";
    constexpr std::string_view behind = " broken: ";
    const std::size_t begin = said.find(before);
    const std::size_t end = said.find(behind, begin);
    if (begin == std::string_view::npos || end == std::string_view::npos) {
        return std::nullopt;
    }
    const std::string_view sentence = said.substr(end + behind.size());
    return Failure{fmt::format("promise {}", said.substr(begin + before.size(), end - begin - before.size())),
                   operation, std::string(sentence.substr(0, sentence.find('\n'))), std::nullopt};
}

}  // namespace

IsolatedRun run_isolated(const Case& one, const RunCase& run) {
    std::array<int, 2> ends{};
    std::fflush(nullptr);
    if (pipe(ends.data()) != 0) {
        throw std::runtime_error("no pipe to a child process can be made");
    }
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        be_the_child(ends[1], one, run);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        throw std::runtime_error("no child process can be made");
    }
    const std::string said = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}

    IsolatedRun result;
    std::size_t at = 0;
    for (; at < said.size() && said[at] >= '0' && said[at] <= '7'; ++at) {
        result.errors.push_back(error_of(said[at]));
    }
    const auto ended = static_cast<std::int64_t>(result.errors.size());
    const std::string_view rest = std::string_view(said).substr(at);
    if (WIFSIGNALED(status)) {
        const auto promise = WTERMSIG(status) == SIGABRT ? promise_in(rest, ended + 1) : std::nullopt;
        result.failure = promise ? *promise
                                 : Failure{fmt::format("signal {}", WTERMSIG(status)), ended + 1,
                                           "the process was ended by a signal", std::nullopt};
    } else if (WEXITSTATUS(status) != 0) {
        throw std::runtime_error(
            fmt::format("a run in a child process ended: {}", rest.substr(rest.starts_with('E') ? 1 : 0)));
    } else if (rest.starts_with('V') && rest.size() > 1) {
        const std::size_t line = rest.find('\n');
        result.failure = Failure{fmt::format("invariant {}", rest.substr(2, line - 2)), ended,
                                 std::string(rest.substr(line + 1)), error_of(rest[1])};
    }
    return result;
}

}  // namespace kvpane::cli
