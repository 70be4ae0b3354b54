// SPDX-License-Identifier: Apache-2.0
#include <kvpane/cli/operation_json.h>

#include <nlohmann/json.hpp>

#include <kvpane/cli/report.h>

namespace kvpane::cli {

using namespace invariants;
using Json = nlohmann::ordered_json;

namespace {

void add_text(Json& json, const char* key, const std::string& text) {
    if (!text.empty()) {
        json[key] = text;
    }
}

void add_prompt(Json& json, const Operation& operation) {
    json["tokens"] = operation.tokens;
    if (operation.scope != invariants::Scope{}) {
        Json& scope = json["scope"];
        add_text(scope, "model", operation.scope.model);
        add_text(scope, "tenant", operation.scope.tenant);
        add_text(scope, "lora", operation.scope.lora);
        add_text(scope, "salt", operation.scope.salt);
        if (operation.scope.lora_id != 0) {
            scope["lora_id"] = operation.scope.lora_id;
        }
    }
    for (const auto& piece : operation.extra) {
        json["extra"].push_back({{"at", piece.at}, {"count", piece.count}, {"id", piece.id}});
    }
    if (operation.compute) {
        json["compute"] = *operation.compute;
    }
    if (operation.priority != 0) {
        json["priority"] = operation.priority;
    }
    if (operation.priority_steps != 0) {
        json["priority_steps"] = operation.priority_steps;
    }
}

void add_arguments(Json& json, const Operation& operation) {
    switch (operation.verb) {
        case Verb::admit:
            json["seq"] = operation.sequence;
            add_prompt(json, operation);
            break;
        case Verb::probe:
        case Verb::pin:
        case Verb::unpin: add_prompt(json, operation); break;
        case Verb::plan:
            if (operation.tokens.empty()) {
                json["count"] = operation.count;
            } else {
                add_prompt(json, operation);
            }
            json["chunk"] = operation.chunk;
            break;
        case Verb::reserve:
            if (operation.is_batch) {
                json["seqs"] = operation.sequences;
                json["counts"] = operation.counts;
            } else {
                json["seq"] = operation.sequence;
                json["count"] = operation.count;
            }
            break;
        case Verb::commit:
        case Verb::append:
            json["seq"] = operation.sequence;
            json["tokens"] = operation.tokens;
            break;
        case Verb::append_batch:
            json["seqs"] = operation.sequences;
            json["tokens"] = operation.tokens;
            break;
        case Verb::cancel: json["seq"] = operation.sequence; break;
        case Verb::fork:
            json["seq"] = operation.sequence;
            json["as"] = operation.child;
            if (operation.at) {
                json["at"] = *operation.at;
            }
            break;
        case Verb::truncate:
            json["seq"] = operation.sequence;
            json["length"] = operation.length;
            break;
        case Verb::release:
            json["seq"] = operation.sequence;
            json["keep_cached"] = operation.keep_cached;
            break;
        case Verb::step_begin:
        case Verb::step_end: json["id"] = operation.step; break;
        case Verb::evict: json["blocks"] = operation.count; break;
        case Verb::uncache:
            json["seq"] = operation.sequence;
            json["blocks"] = operation.blocks;
            break;
        case Verb::reset_cache: break;
        case Verb::check: json["seqs"] = operation.sequences; break;
    }
}

Json answer_json(const Answer& answer, Verb verb) {
    Json json;
    json["error"] = answer.error ? Json(to_string(*answer.error)) : Json(nullptr);
    if (verb == Verb::admit || verb == Verb::probe) {
        json["cached_tokens"] = answer.cached_tokens;
    }
    json["blocks_taken"] = answer.blocks_taken;
    if (answer.plan) {
        json["verdict"] = to_string(answer.plan->verdict);
        json["blocks_needed"] = answer.plan->blocks_needed;
        json["copies"] = answer.plan->copies;
    }
    if (answer.digest) {
        json["digest"] = hex(*answer.digest);
    }
    return json;
}

}  // namespace

std::string operation_json(const JournalEntry& entry) {
    Json json;
    json["n"] = entry.number;
    json["op"] = to_string(entry.operation.verb);
    add_arguments(json, entry.operation);
    json["answer"] = entry.answer ? answer_json(*entry.answer, entry.operation.verb) : Json(nullptr);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace kvpane::cli
