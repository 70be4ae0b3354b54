// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>
#include <utility>

namespace kvpane::testing {

struct Death {
    bool aborted = false;
    std::string message;  // what it wrote to stderr
};

// Runs `deed` in a child process and says how that ended.
template <class Deed>
Death death_of(Deed&& deed) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
        throw std::runtime_error("no pipe");
    }
    const pid_t child = fork();
    if (child < 0) {
        throw std::runtime_error("no child process");
    }
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);  // Boost.Test catches it in this process, the child has to die of it
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        try {
            std::forward<Deed>(deed)();
        } catch (...) {
            _exit(1);  // it must not go on with this process's tests
        }
        _exit(0);
    }
    close(ends[1]);
    Death death;
    std::array<char, 256> part{};
    ssize_t got = 0;
    while ((got = read(ends[0], part.data(), part.size())) > 0) {
        death.message.append(part.data(), static_cast<std::size_t>(got));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    death.aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
    return death;
}

}  // namespace kvpane::testing
