// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <set>
#include <tuple>

#include "support/cache.h"
#include "support/seed.h"
#include "support/workloads.h"

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

// What a router knows that read all events from the start.
class Mirror {
public:
    using Entry = std::pair<std::uint32_t, std::uint64_t>;  // group, content

    void read(const CacheEvents& events) {
        BOOST_TEST_REQUIRE(events.first() <= next_);
        for (; next_ < events.next(); ++next_) {
            const CacheEvent event = events.read(next_);
            BOOST_TEST(event.number == next_);
            const Entry entry{to_index(event.group), event.content};
            switch (event.kind) {
                case CacheEvent::Kind::stored:
                    BOOST_TEST(entries_.insert(entry).second);
                    parents_[event.content] = {event.parent, {event.tokens.begin(), event.tokens.end()}};
                    break;
                case CacheEvent::Kind::removed: BOOST_TEST(entries_.erase(entry) == 1U); break;
                case CacheEvent::Kind::cleared: entries_.clear(); break;
            }
        }
    }

    // All tokens up to the end of the block, as far as the events told.
    Tokens prefix(std::uint64_t content) const {
        const auto at = parents_.find(content);
        return at == parents_.end() ? Tokens{} : prefix(at->second.first) + at->second.second;
    }

    std::multiset<std::pair<std::uint32_t, Tokens>> all() const {
        std::multiset<std::pair<std::uint32_t, Tokens>> out;
        for (const auto& [group, content] : entries_) {
            out.insert({group, prefix(content)});
        }
        return out;
    }

private:
    std::uint64_t next_ = 1;
    std::set<Entry> entries_;
    std::map<std::uint64_t, std::pair<std::uint64_t, Tokens>> parents_;
};

// The same, from the blocks and the tree: what can be hit now.
std::multiset<std::pair<std::uint32_t, Tokens>> indexed(const Manager& kv) {
    std::set<std::pair<std::uint32_t, ContentId>> distinct;
    std::multiset<std::pair<std::uint32_t, Tokens>> out;
    const PrefixTree& tree = kv.index()->tree();
    for (std::uint32_t id = 1; id <= kv.pool().blocks(); ++id) {
        const ContentId content = kv.pool().content(BlockId{id});
        const std::uint32_t group = content == no_content ? 0 : to_index(kv.index()->group(BlockId{id}));
        if (content == no_content || !distinct.insert({group, content}).second) {
            continue;
        }
        Tokens prefix;
        for (ContentId at = content; !tree.is_root(at); at = tree.parent(at)) {
            const auto part = tree.tokens(at);
            prefix.insert(prefix.begin(), part.begin(), part.end());
        }
        out.insert({group, prefix});
    }
    return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(prefix_events)

BOOST_AUTO_TEST_CASE(stored_says_tokens_parent_group_and_scope_and_removed_names_the_same_content) {
    Manager kv(caching_by_token(4, 8));
    leave(kv, tokens(0, 8), {.tenant = "t", .salt = "s"});
    const CacheEvents& events = kv.index()->events();
    BOOST_TEST(events.first() == 1U);
    BOOST_TEST(events.next() == 4U);
    const CacheEvent first = events.read(1);
    BOOST_TEST((first.kind == CacheEvent::Kind::stored));
    BOOST_TEST(first.group == first_group);
    BOOST_TEST(first.tokens == tokens(0, 3), per_element());
    BOOST_TEST((first.scope == Scope{.tenant = "t", .salt = "s"}));
    const CacheEvent second = events.read(2);
    BOOST_TEST(second.parent == first.content);
    BOOST_TEST(second.tokens == tokens(4, 7), per_element());
    const CacheEvent tail = events.read(3);
    BOOST_TEST(tail.parent == second.content);
    BOOST_TEST(tail.tokens == tokens(8, 8), per_element());
    must(kv.evict(1));
    BOOST_TEST((events.read(4).kind == CacheEvent::Kind::removed));
    BOOST_TEST(events.read(4).content == tail.content);
    kv.reset_cache();
    BOOST_TEST((events.read(5).kind == CacheEvent::Kind::cleared));
    BOOST_TEST(events.next() == 6U);
}

BOOST_AUTO_TEST_CASE(equal_prefixes_have_one_name_as_long_as_somebody_needs_it_and_different_ones_never_share_one) {
    Manager kv(caching(4, 8));
    leave(kv, tokens(0, 3));
    leave(kv, tokens(0, 3), {.tenant = "t"});
    leave(kv, tokens(10, 13));
    const CacheEvents& events = kv.index()->events();
    const std::set<std::uint64_t> names{events.read(1).content, events.read(2).content, events.read(3).content};
    BOOST_TEST(names.size() == 3U);
    BOOST_TEST(events.read(1).parent == events.read(3).parent);
    BOOST_TEST(events.read(1).parent != events.read(2).parent);
    kv.reset_cache();
    leave(kv, tokens(0, 3));
    BOOST_TEST(!names.contains(events.read(5).content));  // it had been forgotten
}

BOOST_AUTO_TEST_CASE(the_first_copy_is_stored_and_the_last_one_removed_in_each_group) {
    Config config = caching(4, 16);
    config.groups = {{"full", 0, 0}, {"swa", 6, 0}};
    Manager kv(config);
    const auto enters_empty = [&] { return must(kv.admit({.tokens = tokens(0, 3), .compute = 0})).sequence; };
    const SequenceHandle a = enters_empty();
    const SequenceHandle b = enters_empty();
    feed(kv, a, tokens(0, 3));
    BOOST_TEST(kv.cache_totals().stored == 2U);
    feed(kv, b, tokens(0, 3));
    BOOST_TEST(kv.cache_totals().stored == 2U);
    BOOST_TEST(kv.index_entries() == 4U);
    must(kv.release(a, false));
    BOOST_TEST(kv.cache_totals().removed == 0U);
    must(kv.release(b, false));
    BOOST_TEST(kv.cache_totals().removed == 2U);
}

BOOST_AUTO_TEST_CASE(a_slow_reader_sees_a_gap_and_nothing_else_stops) {
    Config config = caching(1, 64);
    config.prefix_cache.kept_events = 8;
    Manager kv(config);
    leave(kv, tokens(0, 19));
    const CacheEvents& events = kv.index()->events();
    BOOST_TEST(events.next() == 21U);
    BOOST_TEST(events.first() == 13U);
    for (std::uint64_t number = events.first(); number < events.next(); ++number) {
        const CacheEvent event = events.read(number);
        BOOST_TEST(event.number == number);
        BOOST_TEST(event.tokens.front() == static_cast<Token>(number) - 1);
    }
    BOOST_TEST(kv.cache_totals().stored == 20U);
    BOOST_TEST(found(kv, tokens(0, 20)) == 20);
}

BOOST_AUTO_TEST_CASE(replaying_the_events_from_the_start_rebuilds_what_is_indexed) {
    Config config = caching_by_token(3, 40);
    config.groups = {{"full", 0, 0}, {"swa", 5, 0}};
    Manager kv(config);
    Mirror mirror;
    Lcg lcg(seed());
    std::vector<SequenceHandle> alive;
    for (int step = 0; step < 600; ++step) {
        Tokens prompt;
        const auto count = static_cast<Length>(1 + lcg.below(16));
        for (Length i = 0; i < count; ++i) {
            prompt.push_back(static_cast<Token>(lcg.below(2)));
        }
        switch (lcg.below(8)) {
            case 0: kv.evict(static_cast<Length>(lcg.below(4))).value(); break;
            case 1:
                if (lcg.below(8) == 0) {
                    for (const SequenceHandle sequence : alive) {
                        must(kv.release(sequence));
                    }
                    alive.clear();
                    kv.reset_cache();
                }
                break;
            default:
                if (const auto admitted = kv.admit({.tokens = prompt})) {
                    alive.push_back(admitted->sequence);
                }
        }
        if (alive.size() > 3) {
            must(kv.release(alive.front(), lcg.below(4) != 0));
            alive.erase(alive.begin());
        }
        mirror.read(kv.index()->events());
        BOOST_TEST_REQUIRE((mirror.all() == indexed(kv)), "after step " << step);
    }
    BOOST_TEST(kv.statistics().evicted_blocks > 0U);
    BOOST_TEST(kv.cache_totals().cleared > 0U);
    BOOST_TEST(kv.statistics().hit_tokens > 0U);
}

BOOST_AUTO_TEST_CASE(statistics_are_a_partition_of_the_pool_and_running_totals) {
    Manager kv(caching(4, 8));
    const SequenceHandle a = admit_prompt(kv, tokens(0, 8)).sequence;
    leave(kv, tokens(0, 4));
    BOOST_TEST(kv.statistics().queried_tokens == 14U);
    BOOST_TEST(kv.statistics().hit_tokens == 4U);
    must(kv.step_begin(StepId{1}));
    must(kv.release(a));
    BOOST_TEST(partition_of(kv) == (Partition{5, 0, 0, 3}));
    must(kv.step_end(StepId{1}));
    BOOST_TEST(partition_of(kv) == (Partition{6, 2, 0, 0}));
    BOOST_TEST(found(kv, tokens(0, 8)) == 8);
    BOOST_TEST(kv.statistics().queried_tokens == 14U);  // a probe is no query
    must(kv.evict(1));
    BOOST_TEST(kv.statistics().evicted_blocks == 1U);
    leave(kv, tokens(50, 80));
    BOOST_TEST(kv.statistics().evicted_blocks == 2U);
    kv.reset_cache();
    BOOST_TEST(kv.statistics().evicted_blocks == 2U);
}

BOOST_AUTO_TEST_CASE(reuse_distances_count_what_became_idle_between_a_block_and_its_hit) {
    Manager kv(caching(4, 8));
    leave(kv, tokens(0, 3));
    leave(kv, tokens(10, 13));
    leave(kv, tokens(20, 23));
    const auto& distances = kv.pool().reuse_distances();
    const auto hits = [&] {
        std::uint64_t sum = 0;
        for (const std::uint64_t count : distances) {
            sum += count;
        }
        return sum;
    };
    BOOST_TEST(hits() == 0U);
    const SequenceHandle a = admit_prompt(kv, tokens(0, 4)).sequence;
    BOOST_TEST(hits() == 1U);
    BOOST_TEST(distances[2] == 1U);  // two others
    admit_prompt(kv, tokens(0, 4));  // a living block: no reuse of an idle one
    BOOST_TEST(hits() == 1U);
    admit_prompt(kv, tokens(20, 24));
    BOOST_TEST(distances[0] == 1U);  // the last one that became idle
    must(kv.release(a));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing
