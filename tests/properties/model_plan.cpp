// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "properties/model.h"

// Plans: what the model would do, tried on a copy of it.
namespace kvpane::testing {

// Feeds a new sequence now, chunk by chunk; what the windows drop on the way is fenced while a step is open. Returns
// the most new blocks that it held at once; hits are not new.
std::int64_t Model::feed(const ModelPrompt& prompt, const ModelMatch& match, Length chunk) {
    const auto count = static_cast<Length>(prompt.tokens.size());
    const Length watermark = sequences_.empty() ? 0 : config_.watermark;
    ModelSequence sequence;
    adopt(sequence, match, prompt);
    const std::vector<std::uint32_t> hits = match.blocks();
    std::int64_t peak = 0;
    while (sequence.length() < count) {
        const Length cells = std::min(chunk == 0 ? count : chunk, count - sequence.length());
        const bool is_first = sequence.length() == match.cut;
        Answer answer;
        answer.slots.resize(groups());
        hand_out(sequence, cells, answer, is_first ? &match : nullptr);
        if (is_first && static_cast<Length>(queue_.size()) < watermark) {
            throw NoRoom{};
        }
        std::int64_t new_blocks = 0;
        for (const ModelTable& table : sequence.tables) {
            new_blocks += std::ranges::count_if(
                table.ids, [&](std::uint32_t id) { return id != 0 && std::ranges::find(hits, id) == hits.end(); });
        }
        peak = std::max(peak, new_blocks);
        const auto first = prompt.tokens.begin() + static_cast<std::ptrdiff_t>(sequence.length());
        write(sequence, std::vector<Token>(first, first + static_cast<std::ptrdiff_t>(cells)));
        end_call();
    }
    return peak;
}

Plan Model::plan_prompt(Length count, Length chunk) const {
    Model uncached = *this;
    ModelPrompt prompt;
    prompt.tokens.resize(static_cast<std::size_t>(count));
    prompt.scope = -1;  // nobody's
    return uncached.plan_prompt(prompt, chunk);
}

Plan Model::plan_prompt(const ModelPrompt& prompt, Length chunk) const {
    const auto count = static_cast<Length>(prompt.tokens.size());
    const ModelMatch match = find(prompt, count - 1);
    const ModelMatch nothing = find(prompt, 0);
    Config empty = config_;
    empty.blocks = blocks_for(count) * Length{groups()};
    const std::int64_t cold = Model(empty).feed(prompt, nothing, chunk);

    Model roomy = *this;
    while (!roomy.open_.empty()) {
        roomy.step_end(*roomy.open_.begin());
    }
    const auto more = 2 * empty.blocks + config_.watermark;
    roomy.add_blocks(more);
    std::rotate(roomy.queue_.begin(), roomy.queue_.end() - more, roomy.queue_.end());  // no hit is taken
    Plan plan;
    plan.blocks_needed = roomy.feed(prompt, match, chunk);
    plan.copies = std::ranges::count_if(match.sources, [](std::uint32_t source) { return source != 0; });
    if (config_.max_length != 0 && count > config_.max_length) {
        plan.verdict = Verdict::never;
        return plan;
    }
    try {
        Model(*this).feed(prompt, match, chunk);
    } catch (const NoRoom&) {
        plan.verdict = cold > config_.blocks ? Verdict::never : Verdict::later;
    }
    return plan;
}

std::pair<Plan, std::optional<Error>> Model::plan(const std::vector<Ask>& batch) const {
    Plan plan;
    Model tried = *this;
    const Answer answer = tried.reserve(batch);
    if (answer.error == Error::later) {
        plan.verdict = Verdict::later;
    } else if (answer.error == Error::never) {
        plan.verdict = Verdict::never;
    } else if (answer.error) {
        return {plan, answer.error};
    }
    if (passes_a_limit(batch)) {
        plan.blocks_needed = not_said;
        return {plan, std::nullopt};
    }
    Model roomy = *this;  // so much room that nothing is capped
    for (const Ask& ask : batch) {
        roomy.add_blocks((ask.cells + 1) * Length{groups()});
    }
    const Answer whole = roomy.reserve_all(batch);
    plan.blocks_needed = whole.taken;
    plan.copies = static_cast<std::int64_t>(whole.copies.size());
    return {plan, std::nullopt};
}

}  // namespace kvpane::testing
