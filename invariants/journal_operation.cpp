// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/journal_operation.h>

#include <limits>

namespace kvpane::invariants {

namespace {

using namespace journal_format;

constexpr auto last_verb = static_cast<std::uint8_t>(Verb::check);
constexpr std::uint8_t reserve_of_a_batch = 19;  // in the place of a verb
static_assert(last_verb < reserve_of_a_batch);
constexpr std::uint64_t most_names_in_code = most_names - 1;

bool is_prompt(Verb verb) noexcept {
    return verb == Verb::admit || verb == Verb::probe || verb == Verb::plan || verb == Verb::pin || verb == Verb::unpin;
}

// --- writing ---------------------------------------------------------------------------------------------------------

JournalEncoder encode_names(JournalEncoder out, const std::vector<Name>& names) noexcept {
    out.varint(names.size());
    for (const Name name : names) {
        out.varint(name);
    }
    return out;
}

JournalEncoder encode_lengths(JournalEncoder out, const std::vector<Length>& lengths) noexcept {
    out.varint(lengths.size());
    for (const Length length : lengths) {
        out.zigzag(length);
    }
    return out;
}

JournalEncoder encode_scope(JournalEncoder out, const Scope& scope) noexcept {
    out.text(scope.model);
    out.text(scope.tenant);
    out.text(scope.lora);
    out.text(scope.salt);
    out.zigzag(scope.lora_id);
    return out;
}

JournalEncoder encode_prompt(JournalEncoder out, const Operation& operation) noexcept {
    const bool scoped = operation.scope != Scope{};
    const int parts = (scoped ? has_scope : 0) | (operation.extra.empty() ? 0 : has_extra) |
                      (operation.compute ? has_compute : 0) | (operation.priority != 0 ? has_priority : 0) |
                      (operation.priority_steps != 0 ? has_priority_steps : 0);
    out = encode_tokens(out, operation.tokens);
    out.byte(static_cast<std::uint8_t>(parts));
    if (scoped) {
        out = encode_scope(out, operation.scope);
    }
    if (!operation.extra.empty()) {
        out.varint(operation.extra.size());
        for (const ExternalContent& piece : operation.extra) {
            out.zigzag(piece.at);
            out.zigzag(piece.count);
            out.text(piece.id);
        }
    }
    if (operation.compute) {
        out.zigzag(*operation.compute);
    }
    if (operation.priority != 0) {
        out.zigzag(operation.priority);
    }
    if (operation.priority_steps != 0) {
        out.varint(operation.priority_steps);
    }
    return out;
}

// --- reading ---------------------------------------------------------------------------------------------------------

Name decode_name(JournalDecoder& in, const char* what) {
    return static_cast<Name>(in.varint(what, most_names_in_code));
}

void decode_names(JournalDecoder& in, std::vector<Name>& names) {
    names.resize(in.count("the number of sequences", 1));
    for (Name& name : names) {
        name = decode_name(in, "a sequence");
    }
}

void decode_tokens(JournalDecoder& in, std::vector<Token>& tokens) {
    tokens.resize(in.count("the number of tokens", 1));
    for (Token& token : tokens) {
        token = static_cast<Token>(
            static_cast<std::uint32_t>(in.varint("a token", std::numeric_limits<std::uint32_t>::max())));
    }
}

// Any negative number: the Manager refuses them all.
Length decode_length(JournalDecoder& in, const char* what) {
    const std::size_t begin = in.at();
    const Length value = in.zigzag(what);
    if (value > largest_length) {
        in.refuse(begin, text(what, " is ", value, ", at most ", largest_length, " makes sense"));
    }
    return value;
}

void decode_scope(JournalDecoder& in, Scope& scope) {
    in.text("scope.model", scope.model);
    in.text("scope.tenant", scope.tenant);
    in.text("scope.lora", scope.lora);
    in.text("scope.salt", scope.salt);
    scope.lora_id = in.zigzag("scope.lora_id");
}

void decode_prompt(JournalDecoder& in, Operation& operation) {
    decode_tokens(in, operation.tokens);
    const std::size_t begin = in.at();
    const std::uint8_t parts = in.byte("the parts of a prompt");
    if (parts >= has_priority_steps * 2) {
        in.refuse(begin, text("a prompt has parts that are not known: ", int{parts}));
    }
    if ((parts & has_scope) != 0) {
        decode_scope(in, operation.scope);
    }
    if ((parts & has_extra) != 0) {
        operation.extra.resize(in.count("the pieces of external content", 3));
        for (ExternalContent& piece : operation.extra) {
            piece.at = decode_length(in, "the position of external content");
            piece.count = decode_length(in, "the length of external content");
            in.text("the id of external content", piece.id);
        }
    }
    if ((parts & has_compute) != 0) {
        operation.compute = decode_length(in, "compute");
    }
    operation.priority = (parts & has_priority) != 0 ? in.zigzag("the priority") : 0;
    operation.priority_steps = (parts & has_priority_steps) != 0 ? in.varint("the steps of a priority") : 0;
}

void decode_lengths(JournalDecoder& in, const char* how_many, const char* what, std::vector<Length>& lengths) {
    lengths.resize(in.count(how_many, 1));
    for (Length& length : lengths) {
        length = decode_length(in, what);
    }
}

// As default-made, but the vectors keep their memory.
void clear(Operation& operation) {
    const auto emptied = [](auto& list) {
        list.clear();
        return std::move(list);
    };
    Operation fresh;
    fresh.sequences = emptied(operation.sequences);
    fresh.tokens = emptied(operation.tokens);
    fresh.extra = emptied(operation.extra);
    fresh.counts = emptied(operation.counts);
    fresh.blocks = emptied(operation.blocks);
    operation = std::move(fresh);
}

}  // namespace

std::size_t most_bytes(const Operation& operation) noexcept {
    std::size_t bytes = most_number_bytes + operation.tokens.size() * most_token_bytes +
                        operation.sequences.size() * most_token_bytes +
                        (operation.counts.size() + operation.blocks.size()) * most_varint_bytes;
    if (is_prompt(operation.verb)) {
        const Scope& scope = operation.scope;
        bytes +=
            5 * most_varint_bytes + scope.model.size() + scope.tenant.size() + scope.lora.size() + scope.salt.size();
        for (const ExternalContent& piece : operation.extra) {
            bytes += 3 * most_varint_bytes + piece.id.size();
        }
    }
    return bytes;
}

JournalEncoder encode(JournalEncoder out, const Operation& operation) noexcept {
    const bool is_batch = operation.verb == Verb::reserve && operation.is_batch;
    out.byte(is_batch ? reserve_of_a_batch : static_cast<std::uint8_t>(operation.verb));
    switch (operation.verb) {
        case Verb::admit:
            out.varint(operation.sequence);
            out = encode_prompt(out, operation);
            break;
        case Verb::probe:
        case Verb::pin:
        case Verb::unpin: out = encode_prompt(out, operation); break;
        case Verb::plan:
            out = encode_prompt(out, operation);
            out.zigzag(operation.count);
            out.zigzag(operation.chunk);
            break;
        case Verb::reserve:
            if (is_batch) {
                out = encode_names(out, operation.sequences);
                out = encode_lengths(out, operation.counts);
            } else {
                out = encode_count(out, operation.sequence, operation.count);
            }
            break;
        case Verb::commit:
        case Verb::append: out = encode_growth(out, operation.sequence, operation.tokens); break;
        case Verb::append_batch:
            out = encode_names(out, operation.sequences);
            out = encode_tokens(out, operation.tokens);
            break;
        case Verb::cancel: out.varint(operation.sequence); break;
        case Verb::fork:
            out.varint(operation.sequence);
            out.varint(operation.child);
            out.byte(operation.at ? 1 : 0);
            if (operation.at) {
                out.zigzag(*operation.at);
            }
            break;
        case Verb::truncate:
            out.varint(operation.sequence);
            out.zigzag(operation.length);
            break;
        case Verb::release:
            out.varint(operation.sequence);
            out.byte(operation.keep_cached ? 1 : 0);
            break;
        case Verb::step_begin:
        case Verb::step_end: out.varint(operation.step); break;
        case Verb::evict: out.zigzag(operation.count); break;
        case Verb::uncache:
            out.varint(operation.sequence);
            out = encode_lengths(out, operation.blocks);
            break;
        case Verb::reset_cache: break;
        case Verb::check: out = encode_names(out, operation.sequences); break;
    }
    return out;
}

JournalEncoder encode(JournalEncoder out, const Answer& answer) noexcept {
    out = encode_answer(out, answer.error, answer.cached_tokens, answer.blocks_taken,
                        (answer.plan ? has_plan : 0) | (answer.digest ? has_digest : 0));
    if (answer.plan) {
        out.byte(static_cast<std::uint8_t>(answer.plan->verdict));
        out.zigzag(answer.plan->blocks_needed);
        out.zigzag(answer.plan->copies);
    }
    if (answer.digest) {
        out.fixed(*answer.digest, sizeof(std::uint64_t));
    }
    return out;
}

void decode(JournalDecoder& in, Operation& operation) {
    clear(operation);
    const std::size_t begin = in.at();
    const std::uint8_t verb = in.byte("an operation");
    if (verb > last_verb && verb != reserve_of_a_batch) {
        in.refuse(begin, text("there is no operation ", int{verb}));
        return;
    }
    operation.is_batch = verb == reserve_of_a_batch;
    operation.verb = operation.is_batch ? Verb::reserve : static_cast<Verb>(verb);
    switch (operation.verb) {
        case Verb::admit:
            operation.sequence = decode_name(in, "the sequence");
            decode_prompt(in, operation);
            break;
        case Verb::probe:
        case Verb::pin:
        case Verb::unpin: decode_prompt(in, operation); break;
        case Verb::plan:
            decode_prompt(in, operation);
            operation.count = decode_length(in, "the count");
            operation.chunk = decode_length(in, "the chunk");
            break;
        case Verb::reserve:
            if (operation.is_batch) {
                decode_names(in, operation.sequences);
                decode_lengths(in, "the number of counts", "a count", operation.counts);
            } else {
                operation.sequence = decode_name(in, "the sequence");
                operation.count = decode_length(in, "the count");
            }
            break;
        case Verb::commit:
        case Verb::append:
            operation.sequence = decode_name(in, "the sequence");
            decode_tokens(in, operation.tokens);
            break;
        case Verb::append_batch:
            decode_names(in, operation.sequences);
            decode_tokens(in, operation.tokens);
            break;
        case Verb::cancel: operation.sequence = decode_name(in, "the sequence"); break;
        case Verb::fork:
            operation.sequence = decode_name(in, "the sequence");
            operation.child = decode_name(in, "the child");
            if (in.varint("whether a fork says where", 1) == 1) {
                operation.at = decode_length(in, "where to fork");
            }
            break;
        case Verb::truncate:
            operation.sequence = decode_name(in, "the sequence");
            operation.length = decode_length(in, "the length");
            break;
        case Verb::release:
            operation.sequence = decode_name(in, "the sequence");
            operation.keep_cached = in.varint("whether a release keeps", 1) == 1;
            break;
        case Verb::step_begin:
        case Verb::step_end: operation.step = in.varint("the step"); break;
        case Verb::evict: operation.count = decode_length(in, "the count"); break;
        case Verb::uncache:
            operation.sequence = decode_name(in, "the sequence");
            decode_lengths(in, "the number of blocks", "a logical block", operation.blocks);
            break;
        case Verb::reset_cache: break;
        case Verb::check: decode_names(in, operation.sequences); break;
    }
}

bool decode(JournalDecoder& in, Answer& answer) {
    answer = {};
    const std::size_t begin = in.at();
    const std::uint8_t head = in.byte("an answer");
    if (head == unanswered) {
        return false;
    }
    if ((head & unanswered) != 0) {
        in.refuse(begin, text("an answer is none, and still holds something: ", int{head}));
    }
    if (const int error = head & error_bits; error != 0) {
        answer.error = static_cast<Error>(error - 1);
    }
    if ((head & has_cached) != 0) {
        answer.cached_tokens = in.zigzag("the cached tokens");
    }
    if ((head & has_taken) != 0) {
        answer.blocks_taken = in.zigzag("the blocks taken");
    }
    if ((head & has_plan) != 0) {
        Plan plan;
        plan.verdict = static_cast<Verdict>(in.varint("a verdict", static_cast<std::uint64_t>(Verdict::never)));
        plan.blocks_needed = in.zigzag("the blocks needed");
        plan.copies = in.zigzag("the copies");
        answer.plan = plan;
    }
    if ((head & has_digest) != 0) {
        answer.digest = in.fixed("a digest", sizeof(std::uint64_t));
    }
    return true;
}

}  // namespace kvpane::invariants
