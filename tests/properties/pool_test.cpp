// SPDX-License-Identifier: Apache-2.0
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include <rapidcheck.h>

#include <kvpane/allocator/block_pool.h>

#include "support/printing.h"

// The pool with blocks that are known by content, which the Manager makes use of with the prefix cache.
namespace kvpane::testing {
namespace {

struct PoolOp {
    int kind = 0;
    int which = 0;
};

std::ostream& operator<<(std::ostream& out, const PoolOp& op) {
    static constexpr const char* names[] = {"take",         "share",  "give_back",  "set_content",
                                            "drop_content", "revive", "step_begin", "step_end",
                                            "set_rank",     "pin",    "unpin"};
    return out << names[op.kind] << "(" << op.which << ")";
}

// The pool as naive as it gets.
class PoolModel {
public:
    PoolModel(std::uint32_t blocks, IdleOrder order) : pool_(blocks, order), cache_(order != IdleOrder::all_to_back) {
        for (std::uint32_t id = 1; id <= blocks; ++id) {
            queue_.push_back(id);
        }
    }

    void apply(const PoolOp& op) {
        switch (op.kind) {
            case 0: return take();
            case 1: return on(live(), op, [&](auto id) { pool_.share(BlockId{id}), refs_[id] += 1; });
            case 2: return give_back(op);
            case 3: return on(live(), op, [&](auto id) { set_content(id, op.which); });
            case 4: return on(unpinned(), op, [&](auto id) { pool_.drop_content(BlockId{id}), content_.erase(id); });
            case 5: return on(not_live(), op, [&](auto id) { revive(id); });
            case 6: return begin();
            case 7: return end(op);
            case 8: return on(live(), op, [&](auto id) { set_rank(id, op.which); });
            case 9: return on(known(), op, [&](auto id) { pin(id); });
            default: return on(pinned(), op, [&](auto id) { unpin(id); });
        }
    }

    void compare() const {
        std::vector<std::uint32_t> queue;
        for (BlockId at = pool_.next_idle(null_block); at != null_block; at = pool_.next_idle(at)) {
            queue.push_back(to_index(at));
        }
        RC_ASSERT(queue == std::vector<std::uint32_t>(queue_.begin(), queue_.end()));
        std::uint32_t known_idle = 0;
        for (const std::uint32_t id : queue_) {
            const bool is_known = content_.contains(id);
            known_idle += is_known ? 1U : 0U;
            RC_ASSERT(pool_.state(BlockId{id}) == (is_known ? BlockState::cached : BlockState::free));
        }
        for (const auto& [id, pins] : pins_) {
            known_idle += is_idle(id) ? 1U : 0U;
            RC_ASSERT(!is_idle(id) || pool_.state(BlockId{id}) == BlockState::cached);
        }
        RC_ASSERT(pool_.cached_blocks() == known_idle);
        RC_ASSERT(pool_.idle_blocks() == queue_.size());
        RC_ASSERT(pool_.pinned_blocks() == pins_.size());
        RC_ASSERT(pool_.live_blocks() == refs_.size());
        RC_ASSERT(pool_.fenced_blocks() == fenced_.size());
        RC_ASSERT(pool_.step_is_open() == !open_.empty());
        for (std::uint32_t id = 1; id <= pool_.blocks(); ++id) {
            const auto refs = refs_.find(id);
            const auto content = content_.find(id);
            RC_ASSERT(pool_.refs(BlockId{id}) == (refs == refs_.end() ? 0U : refs->second));
            RC_ASSERT(pool_.content(BlockId{id}) == (content == content_.end() ? no_content : content->second));
            RC_ASSERT(pool_.pins(BlockId{id}) == (pins_.contains(id) ? pins_.at(id) : 0U));
            RC_ASSERT(pool_.holders(BlockId{id}) == pool_.refs(BlockId{id}) + (pins_.contains(id) ? 1U : 0U));
            RC_ASSERT(pool_.is_takeable(BlockId{id}) == (std::ranges::find(queue_, id) != queue_.end()));
        }
        for (const auto& [id, waits_for] : fenced_) {
            RC_ASSERT(pool_.state(BlockId{id}) == BlockState::fenced);
        }
    }

private:
    using Ids = std::vector<std::uint32_t>;
    using Fenced = std::pair<std::uint32_t, std::set<std::uint64_t>>;  // block, steps it waits for

    template <class Act>
    void on(const Ids& candidates, const PoolOp& op, Act act) {
        if (!candidates.empty()) {
            act(candidates[static_cast<std::size_t>(op.which) % candidates.size()]);
        }
    }

    Ids live() const {
        Ids out;
        for (const auto& [id, refs] : refs_) {
            out.push_back(id);
        }
        return out;
    }

    Ids known() const {
        Ids out;
        for (const auto& [id, content] : content_) {
            out.push_back(id);
        }
        return out;
    }

    // Known, and held by nobody: in the queue, pinned or fenced.
    Ids not_live() const {
        Ids out;
        std::ranges::copy_if(known(), std::back_inserter(out), [&](auto id) { return !refs_.contains(id); });
        return out;
    }

    Ids unpinned() const {
        Ids out;
        std::ranges::copy_if(known(), std::back_inserter(out), [&](auto id) { return !pins_.contains(id); });
        return out;
    }

    Ids pinned() const {
        Ids out;
        for (const auto& [id, pins] : pins_) {
            out.push_back(id);
        }
        return out;
    }

    bool is_idle(std::uint32_t id) const {
        return !refs_.contains(id) && std::ranges::find(fenced_, id, &Fenced::first) == fenced_.end();
    }

    static Rank rank(int which) { return {which % 3 - 1, static_cast<std::uint32_t>(which / 3) % 2}; }

    void take() {
        if (queue_.empty()) {
            return;
        }
        const std::uint32_t id = queue_.front();
        queue_.pop_front();
        place_.erase(id);
        const auto taken = pool_.take();
        RC_ASSERT(taken.block == BlockId{id});
        RC_ASSERT(taken.evicted == (content_.contains(id) ? content_[id] : no_content));
        content_.erase(id);
        refs_[id] = 1;
    }

    void set_content(std::uint32_t id, int which) {
        if (!content_.contains(id)) {
            content_[id] = ContentId{1 + static_cast<std::uint32_t>(which) % 5};
            rank_[id] = rank(which);
            pool_.make_rank(rank_[id]);
            pool_.set_content(BlockId{id}, content_[id], rank_[id]);
        }
    }

    void set_rank(std::uint32_t id, int which) {
        if (content_.contains(id)) {
            rank_[id] = rank(which);
            pool_.make_rank(rank_[id]);
            pool_.set_rank(BlockId{id}, rank_[id]);
        }
    }

    void pin(std::uint32_t id) {
        pool_.pin(BlockId{id});
        pins_[id] += 1;
        leave_queue(id);
    }

    void unpin(std::uint32_t id) {
        pool_.unpin(BlockId{id});
        if (--pins_[id] == 0) {
            pins_.erase(id);
            if (is_idle(id)) {
                join({id});
            }
        }
    }

    void leave_queue(std::uint32_t id) {
        std::erase(queue_, id);
        place_.erase(id);
    }

    void revive(std::uint32_t id) {
        pool_.revive(BlockId{id});
        leave_queue(id);
        std::erase_if(fenced_, [&](const Fenced& fenced) { return fenced.first == id; });
        refs_[id] = 1;
    }

    // Two pieces of up to four live blocks each, as one batch.
    void give_back(const PoolOp& op) {
        BlockPool::Batch batch;
        Ids idle;
        for (const int start : {op.which, op.which / 3}) {
            std::vector<BlockId> piece;
            const Ids candidates = live();
            for (std::size_t i = 0;
                 i < std::min<std::size_t>(candidates.size(), 1 + static_cast<std::size_t>(start) % 4); ++i) {
                piece.push_back(BlockId{candidates[(static_cast<std::size_t>(start) + i) % candidates.size()]});
            }
            pool_.give_back(batch, piece);
            std::ranges::reverse(piece);
            for (const BlockId block : piece) {
                if (--refs_[to_index(block)] == 0) {
                    refs_.erase(to_index(block));
                    idle.push_back(to_index(block));
                }
            }
        }
        if (open_.empty()) {
            return join(idle);
        }
        for (const std::uint32_t id : idle) {
            fenced_.push_back({id, open_});
        }
    }

    void join(const Ids& batch) {
        Ids unknown;
        for (const std::uint32_t id : batch) {
            if (pins_.contains(id)) {
                continue;
            }
            if (!content_.contains(id)) {
                unknown.push_back(id);
                continue;
            }
            place_[id] = rank_[id];
            const auto behind = [&](auto other) { return place_.contains(other) && place_[other] > rank_[id]; };
            queue_.insert(std::ranges::find_if(queue_, behind), id);
        }
        const auto has_place = [&](auto other) { return place_.contains(other); };
        const auto end = std::ranges::find_if(queue_, has_place);
        queue_.insert(cache_ ? queue_.begin() : end, unknown.begin(), unknown.end());
    }

    void begin() {
        RC_ASSERT(pool_.step_begin(StepId{next_step_}).has_value());
        open_.insert(next_step_++);
    }

    void end(const PoolOp& op) {
        if (open_.empty()) {
            return;
        }
        const auto step = *std::next(open_.begin(), op.which % std::ssize(open_));
        RC_ASSERT(pool_.step_end(StepId{step}).has_value());
        open_.erase(step);
        Ids ready;
        std::vector<Fenced> waiting;
        for (Fenced& fenced : fenced_) {
            fenced.second.erase(step);
            if (fenced.second.empty()) {
                ready.push_back(fenced.first);
            } else {
                waiting.push_back(fenced);
            }
        }
        fenced_ = waiting;
        join(ready);
    }

    BlockPool pool_;
    bool cache_;
    std::deque<std::uint32_t> queue_;
    std::map<std::uint32_t, std::uint32_t> refs_;
    std::map<std::uint32_t, ContentId> content_;
    std::map<std::uint32_t, Rank> rank_;
    std::map<std::uint32_t, Rank> place_;  // in the queue; not for those that came back without content
    std::map<std::uint32_t, std::uint32_t> pins_;
    std::vector<Fenced> fenced_;
    std::set<std::uint64_t> open_;
    std::uint64_t next_step_ = 0;
};

rc::Gen<PoolOp> any_pool_op() {
    const auto kind = rc::gen::weightedElement<int>(
        {{8, 0}, {2, 1}, {5, 2}, {4, 3}, {1, 4}, {3, 5}, {1, 6}, {2, 7}, {1, 8}, {2, 9}, {2, 10}});
    return rc::gen::apply(
        [](int k, int which) {
            return PoolOp{k, which};
        },
        kind, rc::gen::resize(100, rc::gen::inRange(0, 64)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(properties)

BOOST_AUTO_TEST_CASE(the_pool_keeps_states_contents_fences_and_the_queue_as_a_naive_one_does) {
    BOOST_TEST(rc::check("the pool does what the naive pool does", [] {
        const auto blocks = *rc::gen::inRange<std::uint32_t>(1, 12);
        const auto order = *rc::gen::element(IdleOrder::all_to_back, IdleOrder::contentless_to_front);
        const auto ops = *rc::gen::scale(4.0, rc::gen::container<std::vector<PoolOp>>(any_pool_op()));
        PoolModel both(blocks, order);
        both.compare();
        for (const PoolOp& op : ops) {
            both.apply(op);
            both.compare();
        }
    }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing
