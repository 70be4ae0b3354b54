// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/journal_reader.h>

#include <algorithm>
#include <limits>

#include <kvpane/invariants/checksum.h>
#include <kvpane/invariants/journal_operation.h>

namespace kvpane::invariants {

using namespace journal_format;
using Kind = JournalError::Kind;

namespace {

constexpr std::uint64_t most_32 = std::numeric_limits<std::uint32_t>::max();

std::uint64_t fixed_at(std::span<const std::byte> bytes, std::size_t at, std::size_t width) {
    return JournalDecoder(bytes.subspan(at, width), at).fixed("a number", width);
}

void set_bits(Config& config, std::uint8_t bits) {
    PrefixCacheConfig& cache = config.prefix_cache;
    cache.enabled = (bits & cache_enabled) != 0;
    cache.granularity = (bits & by_token) != 0 ? Granularity::token : Granularity::block;
    cache.policy = (bits & by_frequency) != 0 ? EvictionPolicy::lfu : EvictionPolicy::lru;
    cache.constant_hash = (bits & constant_hash) != 0;
    config.int32_slots = (bits & int32_slots) != 0;
    config.window_release = (bits & release_on_reserve) != 0 ? WindowRelease::reserve : WindowRelease::commit;
}

void decode_body(JournalDecoder& in, JournalHeader& header) {
    Config& config = header.config;
    config.block_size = static_cast<std::uint32_t>(in.varint("block_size", most_32));
    config.blocks = in.zigzag("blocks", largest_length);
    config.watermark = in.zigzag("watermark", largest_length);
    config.max_length = in.zigzag("max_length", largest_length);
    config.rewind_slack = in.zigzag("rewind_slack", largest_length);
    const std::size_t begin = in.at();
    const std::uint8_t bits = in.byte("the switches of the manager");
    if (bits >= release_on_reserve * 2) {
        in.refuse(begin, text("the manager has switches that are not known: ", int{bits}));
    }
    if ((bits & own_ranking) != 0) {
        in.refuse(begin, "the manager used a ranking of its own, which no journal holds");
    }
    set_bits(config, bits);
    config.prefix_cache.most_pinned = in.zigzag("most_pinned", largest_length);
    config.prefix_cache.kept_events = static_cast<std::uint32_t>(in.varint("kept_events", most_32));
    config.instance = static_cast<std::uint32_t>(in.varint("instance", most_32));
    config.groups.resize(in.count("the number of groups", 3));
    for (GroupConfig& group : config.groups) {
        in.text("the name of a group", group.name);
        group.window = in.zigzag("a window", largest_length);
        group.sinks = in.zigzag("sinks", largest_length);
    }
    header.check = static_cast<CheckMode>(in.varint("the check mode", static_cast<std::uint64_t>(CheckMode::every)));
    header.digests = in.varint("whether there are digests", 1) == 1;
    header.source_digest = in.fixed("the digest of the configuration", sizeof(std::uint64_t));
    header.seed = in.fixed("the seed", sizeof(std::uint64_t));
}

}  // namespace

JournalReader::JournalReader(std::span<const std::byte> bytes) : bytes_(bytes) { read_header(); }

void JournalReader::read_header() {
    const std::size_t there = std::min(bytes_.size(), magic.size());
    for (std::size_t i = 0; i < there; ++i) {
        if (static_cast<unsigned char>(bytes_[i]) != magic[i]) {
            fail(Kind::not_a_journal, i, text("this is no journal: byte ", i, " of the start is another"));
            return;
        }
    }
    if (bytes_.size() < prologue_bytes) {
        fail(Kind::cut_off, 0,
             text("the header is cut off: it begins with ", prologue_bytes, " bytes, ", bytes_.size(), " are there"));
        return;
    }
    if (const std::uint64_t found = fixed_at(bytes_, 8, 4); found != version) {
        fail(Kind::other_version, 8, text("a journal of version ", found, "; this program reads version ", version));
        return;
    }
    const auto body = static_cast<std::size_t>(fixed_at(bytes_, 12, 4));
    if (body > most_body_bytes) {
        fail(Kind::out_of_range, 12, text("a header of ", body, " bytes; it has ", most_body_bytes, " at most"));
        return;
    }
    const std::size_t end = prologue_bytes + body;
    if (bytes_.size() < end + checksum_bytes) {
        fail(Kind::cut_off, 0,
             text("the header is cut off: it has ", end + checksum_bytes, " bytes, ", bytes_.size(), " are there"));
        return;
    }
    salt_ = checksum(bytes_.first(end));
    if (fixed_at(bytes_, end, checksum_bytes) != salt_) {
        fail(Kind::wrong_checksum, 0, "the checksum of the header is wrong: some byte of it has changed");
        return;
    }
    JournalDecoder in(bytes_.subspan(prologue_bytes, body), prologue_bytes);
    decode_body(in, header_);
    if (!in.failed() && in.left() != 0) {
        in.refuse(in.at(), text("the header has ", in.left(), " bytes more than it says"));
    }
    if (in.failed()) {
        fail(in, "the header: ");
    } else if (const std::optional<std::string> wrong = validate(header_.config)) {
        fail(Kind::out_of_range, prologue_bytes, "the header: " + *wrong);
    }
    at_ = end + checksum_bytes;
}

const JournalEntry* JournalReader::next() {
    if (error_ || (in_frame_ == 0 && !open_frame())) {
        return nullptr;
    }
    decode(frame_, entry_.operation);
    Answer answer;
    const bool answered = decode(frame_, answer);
    if (frame_.failed()) {
        fail(frame_, text("operation ", entry_.number + 1, ": "));
        return nullptr;
    }
    --in_frame_;
    ++entry_.number;
    entry_.answer = answered ? std::optional(answer) : std::nullopt;
    ended_within_ = !answered;
    if (in_frame_ == 0 && frame_.left() != 0) {
        // Said with the next call: this operation is sound.
        fail(Kind::out_of_range, at_ - checksum_bytes - frame_.left(),
             text("the frame has ", frame_.left(), " bytes more than its operations"));
    } else if (in_frame_ != 0 && ended_within_) {
        fail(Kind::out_of_order, at_ - checksum_bytes - frame_.left(),
             text("operation ", entry_.number, " never ended, and another follows"));
    }
    return &entry_;
}

bool JournalReader::open_frame() {
    const std::size_t left = bytes_.size() - at_;
    if (left == 0) {
        return false;
    }
    if (ended_within_) {
        return fail(Kind::out_of_order, at_, text("operation ", entry_.number, " never ended, and a frame follows"));
    }
    if (left < frame_head_bytes + checksum_bytes) {
        return fail(Kind::cut_off, at_,
                    text("the last frame is cut off: it has at least ", frame_head_bytes + checksum_bytes, " bytes, ",
                         left, " are there"));
    }
    if (fixed_at(bytes_, at_, 4) != frame_mark) {
        return fail(Kind::wrong_checksum, at_, "no frame begins here: some byte has changed");
    }
    const auto payload = static_cast<std::size_t>(fixed_at(bytes_, at_ + 4, 4));
    if (payload > most_payload_bytes) {
        return fail(Kind::out_of_range, at_ + 4,
                    text("a frame of ", payload, " bytes; it has ", most_payload_bytes, " at most"));
    }
    const std::size_t whole = frame_head_bytes + payload + checksum_bytes;
    if (left < whole) {
        return fail(Kind::cut_off, at_,
                    text("the last frame is cut off: it has ", whole, " bytes, ", left, " are there"));
    }
    if (fixed_at(bytes_, at_ + whole - checksum_bytes, checksum_bytes) !=
        checksum(bytes_.subspan(at_, whole - checksum_bytes), salt_)) {
        return fail(Kind::wrong_checksum, at_,
                    text("the checksum of the frame of ", whole,
                         " bytes is wrong: some byte of it has changed, or it "
                         "is of another journal"));
    }
    const std::uint64_t first = fixed_at(bytes_, at_ + 8, 8);
    if (first != static_cast<std::uint64_t>(entry_.number) + 1) {
        return fail(Kind::out_of_order, at_ + 8,
                    text("the frame begins with operation ", first, ", expected ", entry_.number + 1));
    }
    in_frame_ = static_cast<std::uint32_t>(fixed_at(bytes_, at_ + 16, 4));
    if (in_frame_ == 0) {
        return fail(Kind::out_of_range, at_ + 16, "a frame without operations");
    }
    frame_ = JournalDecoder(bytes_.subspan(at_ + frame_head_bytes, payload), at_ + frame_head_bytes);
    at_ += whole;
    return true;
}

bool JournalReader::fail(JournalError::Kind kind, std::uint64_t offset, std::string what) {
    error_ = JournalError{kind, offset, std::move(what)};
    return false;
}

bool JournalReader::fail(const JournalDecoder& decoder, const std::string& where) {
    return fail(Kind::out_of_range, decoder.fault_at(), where + decoder.fault());
}

}  // namespace kvpane::invariants
