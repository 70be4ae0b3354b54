// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/journal_writer.h>

#include <array>
#include <cstring>
#include <stdexcept>

#include <kvpane/invariants/checksum.h>
#include <kvpane/invariants/journal_bytes.h>
#include <kvpane/invariants/journal_operation.h>

namespace kvpane::invariants {

using namespace journal_format;

namespace {

int bits_of(const Config& config) {
    const PrefixCacheConfig& cache = config.prefix_cache;
    return (cache.enabled ? cache_enabled : 0) | (cache.granularity == Granularity::token ? by_token : 0) |
           (cache.policy == EvictionPolicy::lfu ? by_frequency : 0) | (cache.constant_hash ? constant_hash : 0) |
           (config.int32_slots ? int32_slots : 0) | (cache.ranking != nullptr ? own_ranking : 0) |
           (config.window_release == WindowRelease::reserve ? release_on_reserve : 0);
}

// The whole header with its checksum.
std::vector<std::byte> encode_header(const JournalHeader& header) {
    const Config& config = header.config;
    std::size_t room = prologue_bytes + 16 * most_varint_bytes + checksum_bytes;
    for (const GroupConfig& group : config.groups) {
        room += 3 * most_varint_bytes + group.name.size();
    }
    std::vector<std::byte> bytes(room);
    JournalEncoder out(bytes.data() + prologue_bytes);
    out.varint(config.block_size);
    out.zigzag(config.blocks);
    out.zigzag(config.watermark);
    out.zigzag(config.max_length);
    out.zigzag(config.rewind_slack);
    out.byte(static_cast<std::uint8_t>(bits_of(config)));
    out.zigzag(config.prefix_cache.most_pinned);
    out.varint(config.prefix_cache.kept_events);
    out.varint(config.instance);
    out.varint(config.groups.size());
    for (const GroupConfig& group : config.groups) {
        out.text(group.name);
        out.zigzag(group.window);
        out.zigzag(group.sinks);
    }
    out.byte(static_cast<std::uint8_t>(header.check));
    out.byte(header.digests ? 1 : 0);
    out.fixed(header.source_digest, sizeof(std::uint64_t));
    out.fixed(header.seed, sizeof(std::uint64_t));

    const auto end = static_cast<std::size_t>(out.at() - bytes.data());
    if (end - prologue_bytes > most_body_bytes) {
        throw std::length_error("the names of the groups are too long for a journal");
    }
    JournalEncoder prologue(bytes.data());
    for (const unsigned char c : magic) {
        prologue.byte(c);
    }
    prologue.fixed(version, sizeof(std::uint32_t));
    prologue.fixed(end - prologue_bytes, sizeof(std::uint32_t));
    out.fixed(checksum({bytes.data(), end}), checksum_bytes);
    bytes.resize(end + checksum_bytes);
    return bytes;
}

}  // namespace

bool MemorySink::write(std::span<const std::byte> bytes) noexcept {
    try {
        bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
        return true;
    } catch (...) {  // no memory is left
        return false;
    }
}

JournalWriter::JournalWriter(JournalSink& sink, const JournalHeader& header)
    : sink_(sink), buffer_(usual_frame_bytes + usual_frame_bytes / 4), digests_(header.digests) {
    begin_frame();
    const std::vector<std::byte> bytes = encode_header(header);
    salt_ = checksum({bytes.data(), bytes.size() - checksum_bytes});
    put(bytes);
}

void JournalWriter::announce(const Operation& operation) {
    make_room(most_bytes(operation));
    announced_ = encode(JournalEncoder(concluded_), operation).at();
}

void JournalWriter::conclude(const Answer& answer) noexcept {
    conclude_at(encode(JournalEncoder(announced_), answer).at());
}

void JournalWriter::conclude_in_full(std::optional<Error> error, Length cached_tokens,
                                     std::int64_t blocks_taken) noexcept {
    conclude_at(encode_answer(JournalEncoder(announced_), error, cached_tokens, blocks_taken).at());
}

// Everything is written: the next frame has room for its head alone so far.
void JournalWriter::begin_frame() noexcept {
    concluded_ = buffer_.data() + frame_head_bytes;
    announced_ = concluded_;
    full_ = buffer_.data() + usual_frame_bytes;
    end_ = buffer_.data() + buffer_.size() - checksum_bytes;
}

void JournalWriter::flush() noexcept {
    if (in_frame_ == 0) {
        return;
    }
    const auto announced = static_cast<std::size_t>(announced_ - concluded_);  // [bytes]
    std::byte* const begin = concluded_;
    if (announced == 0) {
        close_frame();
    } else {
        // The checksum goes where the announced operation stands: that one moves to the start of the next frame.
        std::array<std::byte, checksum_bytes> aside{};
        std::memcpy(aside.data(), begin, checksum_bytes);
        close_frame();
        std::memcpy(begin, aside.data(), checksum_bytes);
        std::memmove(buffer_.data() + frame_head_bytes, begin, announced);
    }
    begin_frame();
    announced_ += announced;
    in_frame_ = 0;
    first_ = operations_ + 1;
}

void JournalWriter::last_words() noexcept {
    if (announced_ != concluded_) {
        *announced_++ = std::byte{unanswered};
        concluded_ = announced_;
        ++in_frame_;
    }
    flush();
    closed_ = true;
}

void JournalWriter::put(std::span<const std::byte> bytes) noexcept {
    if (ok_ && !closed_) {
        ok_ = sink_.write(bytes);
        written_ += ok_ ? bytes.size() : 0;
    }
}

// Writes head and checksum around the payload.
void JournalWriter::close_frame() noexcept {
    JournalEncoder head(buffer_.data());
    head.fixed(frame_mark, sizeof(std::uint32_t));
    head.fixed(used() - frame_head_bytes, sizeof(std::uint32_t));
    head.fixed(static_cast<std::uint64_t>(first_), sizeof(std::uint64_t));
    head.fixed(in_frame_, sizeof(std::uint32_t));
    JournalEncoder tail(concluded_);
    tail.fixed(checksum({buffer_.data(), used()}, salt_), checksum_bytes);
    put({buffer_.data(), used() + checksum_bytes});
}

// Room behind what is used: for an operation with its answer, and the checksum.
void JournalWriter::make_room(std::size_t bytes) {
    if (bytes <= room()) {
        return;
    }
    flush();
    const std::size_t needed = used() + bytes + checksum_bytes;
    if (needed > most_payload_bytes) {
        throw std::length_error("an operation is too large for a journal");
    }
    if (needed > buffer_.size()) {
        buffer_.resize(needed);
        begin_frame();
    }
}

}  // namespace kvpane::invariants
