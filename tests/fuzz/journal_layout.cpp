// SPDX-License-Identifier: Apache-2.0
#include "fuzz/journal_layout.h"

#include <algorithm>

#include <kvpane/invariants/checksum.h>
#include <kvpane/invariants/journal.h>
#include <kvpane/invariants/journal_bytes.h>

namespace kvpane::fuzz {

using namespace invariants;
using namespace invariants::journal_format;

namespace {

class Sealer {
public:
    explicit Sealer(std::span<const std::byte> bytes) : bytes_(bytes.begin(), bytes.end()) {}

    std::vector<std::byte> seal() {
        if (bytes_.size() >= prologue_bytes + checksum_bytes) {
            std::size_t at = seal_header();
            for (std::uint64_t first = 1; bytes_.size() - at >= frame_head_bytes + checksum_bytes;) {
                first += number(at + 16, 4);
                at = seal_frame(at, first - number(at + 16, 4));
            }
        }
        return std::move(bytes_);
    }

private:
    // Both return the offset behind what they sealed.
    std::size_t seal_header() {
        for (std::size_t i = 0; i < magic.size(); ++i) {
            set(i, magic[i], 1);
        }
        set(8, version, 4);
        const std::size_t body = fit(12, bytes_.size() - prologue_bytes - checksum_bytes);
        const std::size_t end = prologue_bytes + body;
        salt_ = checksum(std::span(bytes_).first(end));
        set(end, salt_, checksum_bytes);
        return end + checksum_bytes;
    }

    std::size_t seal_frame(std::size_t at, std::uint64_t first) {
        set(at, frame_mark, 4);
        set(at + 8, first, 8);
        const std::size_t payload = fit(at + 4, bytes_.size() - at - frame_head_bytes - checksum_bytes);
        const std::size_t whole = frame_head_bytes + payload;
        set(at + whole, checksum(std::span(bytes_).subspan(at, whole), salt_), checksum_bytes);
        return at + whole + checksum_bytes;
    }

    // The length that stands at `at`, at most `room`.
    std::size_t fit(std::size_t at, std::size_t room) {
        const std::size_t length = std::min(static_cast<std::size_t>(number(at, 4)), room);
        set(at, length, 4);
        return length;
    }

    std::uint64_t number(std::size_t at, std::size_t width) const {
        return JournalDecoder(std::span(bytes_).subspan(at, width), at).fixed("a number", width);
    }
    void set(std::size_t at, std::uint64_t value, std::size_t width) {
        JournalEncoder(bytes_.data() + at).fixed(value, width);
    }

    std::vector<std::byte> bytes_;
    std::uint64_t salt_ = 0;
};

}  // namespace

std::vector<std::byte> sealed(std::span<const std::byte> bytes) { return Sealer(bytes).seal(); }

}  // namespace kvpane::fuzz
