// SPDX-License-Identifier: Apache-2.0
#include "fuzz/operation_stream.h"

#include <array>
#include <limits>

#include <kvpane/invariants/journal.h>

namespace kvpane::fuzz {

using namespace invariants;

namespace {

constexpr std::array<std::uint32_t, 6> block_sizes = {1, 2, 3, 4, 5, 8};
constexpr std::uint8_t most_blocks_here = 24;
constexpr std::uint8_t largest_window = 12;
// Of a prompt or a call: beyond window + block + 1 for every window and block size here.
constexpr std::uint8_t longest = largest_window + 8 + 2;

// What no caller should ask for.
constexpr std::array<Length, 8> extremes = {-1,
                                            64,
                                            1'000,
                                            longest_sequence,
                                            longest_sequence + 1,
                                            journal_format::largest_length,
                                            std::numeric_limits<std::int32_t>::min(),
                                            std::numeric_limits<Length>::min()};

// 32 verbs, so that five bits of a byte choose one: what moves sequences comes more often.
constexpr std::array<Verb, 32> verbs_of_a_byte = {
    Verb::admit,    Verb::admit,    Verb::admit,      Verb::admit,        Verb::append,  Verb::append,  Verb::append,
    Verb::append,   Verb::reserve,  Verb::reserve,    Verb::commit,       Verb::commit,  Verb::commit,  Verb::fork,
    Verb::fork,     Verb::truncate, Verb::truncate,   Verb::release,      Verb::release, Verb::release, Verb::cancel,
    Verb::step_end, Verb::step_end, Verb::step_begin, Verb::append_batch, Verb::probe,   Verb::plan,    Verb::evict,
    Verb::uncache,  Verb::pin,      Verb::unpin,      Verb::reset_cache};

}  // namespace

OperationStream::OperationStream(Input input) : rest_(input) {
    const std::uint8_t switches = byte();
    const auto is_on = [&](unsigned bit) { return (switches >> bit & 1U) != 0; };
    config_.prefix_cache.enabled = !is_on(0);
    config_.prefix_cache.granularity = is_on(1) ? Granularity::token : Granularity::block;
    config_.prefix_cache.policy = is_on(2) ? EvictionPolicy::lfu : EvictionPolicy::lru;
    config_.prefix_cache.constant_hash = is_on(3);
    config_.window_release = is_on(4) ? WindowRelease::reserve : WindowRelease::commit;
    config_.int32_slots = is_on(5);
    two_tokens_ = is_on(6);
    config_.block_size = block_sizes[below(block_sizes.size())];
    config_.blocks = 1 + below(most_blocks_here);
    // A quarter of the pool at most: a larger watermark refuses nearly everything.
    config_.watermark = below(static_cast<std::uint8_t>(config_.blocks / 4 + 1));
    config_.rewind_slack = below(8);
    config_.max_length = std::array<Length, 4>{0, 0, longest, 2 * longest}[below(4)];
    config_.prefix_cache.most_pinned = below(static_cast<std::uint8_t>(config_.blocks / 4 + 1));
    config_.groups.clear();
    const std::size_t groups = 1U + below(3);
    while (config_.groups.size() < groups) {
        config_.groups.push_back(group(config_.groups.size()));
    }
    // Tables must grow beyond the room that was made for them, too.
    config_.expected_sequences = 2;
}

GroupConfig OperationStream::group(std::size_t number) {
    const auto window = static_cast<Length>(below(largest_window + 1));
    const std::uint8_t sinks = below(16);
    return {invariants::text("g", number), window, sinks < 8 ? 0 : sinks - 7};
}

std::optional<Operation> OperationStream::next() {
    if (rest_.empty()) {
        return std::nullopt;
    }
    Operation operation;
    const std::uint8_t head = byte();
    operation.verb = verbs_of_a_byte[head % verbs_of_a_byte.size()];
    operation.sequence = static_cast<Name>(head / verbs_of_a_byte.size()) % names;
    fill(operation);
    return operation;
}

std::uint8_t OperationStream::byte() noexcept {
    if (rest_.empty()) {
        return 0;
    }
    const auto first = static_cast<std::uint8_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return first;
}

Length OperationStream::length() {
    const std::uint8_t drawn = byte();
    constexpr std::uint8_t sensible = 0xF8;
    return drawn < sensible ? drawn % (longest + 1) : extremes[drawn - sensible];
}

// Half of them are 0s, with another token somewhere at most: whatever has grown can be found again as a prompt. The
// others take one or two bits for each token, so that short inputs have long texts.
std::vector<Token> OperationStream::tokens(std::size_t count, bool alike) {
    std::vector<Token> drawn(count);
    if (alike) {
        const std::uint8_t other = byte();
        if (other < count) {
            drawn[other] = 1;
        }
        return drawn;
    }
    const unsigned bits = two_tokens_ ? 1 : 2;
    unsigned left = 0;
    std::uint8_t source = 0;
    for (Token& token : drawn) {
        if (left == 0) {
            source = byte();
            left = 8;
        }
        token = static_cast<Token>(source & ((1U << bits) - 1U));
        source = static_cast<std::uint8_t>(source >> bits);
        left -= bits;
    }
    return drawn;
}

void OperationStream::fill_prompt(Operation& operation) {
    const std::uint8_t head = byte();
    // The rest of the byte, 0..11: most prompts are plain.
    const int kind = head / (longest + 1);
    operation.tokens = tokens(head % (longest + 1), kind % 2 == 0);
    if (kind == 11) {
        const std::uint8_t parts = byte();
        const char* const words[] = {"", "a", "b", "ab"};
        operation.scope = {words[parts % 4], words[parts / 4 % 4], words[parts / 16 % 4], "", parts / 64};
    } else if (kind == 10) {
        operation.extra = {{below(longest), 1 + below(4), below(2) == 0 ? "x" : "y"}};
    } else if (kind == 9) {
        operation.priority = below(3) - 1;
        operation.priority_steps = below(3);
    } else if (kind >= 7) {
        operation.compute = length();
    } else if (kind == 6 && !operation.tokens.empty() && byte() >= 0xF0) {
        operation.tokens.back() = -1;
    }
}

void OperationStream::fill(Operation& operation) {
    switch (operation.verb) {
        case Verb::admit:
        case Verb::probe:
        case Verb::pin:
        case Verb::unpin: fill_prompt(operation); break;
        case Verb::plan:
            if (below(4) == 0) {
                operation.count = length();
            } else {
                fill_prompt(operation);
            }
            operation.chunk = length();
            break;
        case Verb::reserve:
        case Verb::evict: operation.count = length(); break;
        case Verb::commit:
        case Verb::append: {
            const std::uint8_t head = byte();
            operation.tokens = tokens(head % longest, head >= 0x80);
            break;
        }
        case Verb::append_batch: {
            const std::uint8_t head = byte();  // one bit for each name; a pair that does not fit now and then
            for (Name name = 0; name < names; ++name) {
                if ((head >> name & 1U) != 0) {
                    operation.sequences.push_back(name);
                }
            }
            operation.tokens = tokens(operation.sequences.size() + (head == 0xFF ? 1 : 0), false);
            break;
        }
        case Verb::fork: {
            operation.child = name();
            const bool is_whole = below(2) == 0;
            operation.at = is_whole ? std::nullopt : std::optional(length());
            break;
        }
        case Verb::truncate: operation.length = length(); break;
        case Verb::release: operation.keep_cached = below(4) != 0; break;
        case Verb::step_begin:
        case Verb::step_end: operation.step = operation.sequence % steps; break;
        case Verb::uncache: operation.blocks = {length(), length()}; break;
        case Verb::cancel:
        case Verb::reset_cache:
        case Verb::check: break;
    }
}

}  // namespace kvpane::fuzz
