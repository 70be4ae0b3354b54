// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/file_sink.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

namespace {

// True for an empty file, and for one that begins as a journal does, as far as it goes.
bool may_be_emptied(int file) {
    std::array<unsigned char, journal_format::magic.size()> start{};
    const ssize_t got = pread(file, start.data(), start.size(), 0);
    return got >= 0 && std::equal(start.begin(), start.begin() + got, journal_format::magic.begin());
}

}  // namespace

FileSink::FileSink(const std::string& path)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666)) {
    struct stat status {};
    std::string why;
    if (file_ < 0 || fstat(file_, &status) != 0) {
        why = text("cannot be written: ", std::strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        why = "is not a regular file";
    } else if (!may_be_emptied(file_)) {
        why = "holds something else than a journal: it would be lost";
    } else if (ftruncate(file_, 0) != 0) {
        why = text("cannot be written: ", std::strerror(errno));
    } else {
        return;
    }
    if (file_ >= 0) {
        close(file_);
    }
    throw std::runtime_error(text(path, ": ", why));
}

FileSink::~FileSink() { close(file_); }

bool FileSink::write(std::span<const std::byte> bytes) noexcept {
    while (!bytes.empty()) {
        const ssize_t written = ::write(file_, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

}  // namespace kvpane::invariants
