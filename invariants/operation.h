// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kvpane/allocator/ids.h>
#include <kvpane/blocktable/verb.h>

// The one stream of operations that stress runs, scenarios and replays speak.
namespace kvpane::invariants {

using kvpane::Verb;

// What must be equal beside the tokens for a prefix to be shared. Typed parts: none can stand for another.
struct Scope {
    std::string model;
    std::string tenant;
    std::string lora;
    std::string salt;
    std::int64_t lora_id = 0;

    friend bool operator==(const Scope&, const Scope&) = default;
    friend auto operator<=>(const Scope&, const Scope&) = default;
};

// An external content id behind placeholder tokens (multimodal input).
struct ExternalContent {
    Length at = 0;
    Length count = 0;
    std::string id;

    friend bool operator==(const ExternalContent&, const ExternalContent&) = default;
    friend auto operator<=>(const ExternalContent&, const ExternalContent&) = default;
};

// A sequence as the stream names it; the Manager's handle stays inside the driver. Small numbers, used as an index.
using Name = std::uint32_t;

// One operation. Only the fields of its verb are looked at; see scenario-format in docs/ for their meaning.
struct Operation {
    Verb verb = Verb::check;
    Name sequence = 0;                   // all that work on one sequence
    Name child = 0;                      // fork
    std::vector<Name> sequences;         // append_batch, check, a reserve that is_batch
    std::vector<Token> tokens;           // admit, probe, plan, commit, append, append_batch, pin, unpin
    Scope scope;                         // admit, probe, plan, pin, unpin
    std::vector<ExternalContent> extra;  // admit, probe
    std::optional<Length> compute;       // admit
    std::optional<Length> at;            // fork
    bool is_batch = false;               // reserve: of `sequences` and `counts`, not of `sequence` and `count`
    std::vector<Length> counts;          // a reserve that is_batch: cells, one each
    Length count = 0;                    // reserve; plan without tokens; evict (blocks)
    Length chunk = 0;                    // plan: 0 = all at once
    Length length = 0;                   // truncate
    std::vector<Length> blocks;          // uncache: logical blocks
    std::int64_t priority = 0;           // admit
    std::uint64_t priority_steps = 0;    // admit: ended device steps until the priority is 0 again; 0 = never
    std::uint64_t step = 0;              // step_begin, step_end
    bool keep_cached = true;             // release
};

// Whether the operation works on each of `sequences`, all or nothing.
inline bool works_on_several(const Operation& operation) noexcept {
    return operation.verb == Verb::append_batch || (operation.verb == Verb::reserve && operation.is_batch);
}

}  // namespace kvpane::invariants
