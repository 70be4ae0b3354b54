// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <kvpane/invariants/engine_log.h>
#include <kvpane/invariants/random.h>

// A small engine with a paged manager of its own, not ours, and one mistake of the kind that engines have shipped. It
// logs what docs/audit-log.md asks for.
namespace kvpane::testing {

enum class Bug {
    none,
    evicts_one_cell_early,         // the window's edge, off by one
    base_while_not_full,           // the table of a window that is not full begins at block 1
    position_is_resident_index,    // positions count from what is left of the window
    base_is_forgotten,             // the table of a window that slid begins at block 0
    ring_order,                    // a ring of blocks is exported from its first entry, not from its head
    position_is_stale_after_cut,   // the next position stays where it was before a truncation
    tail_is_written_without_copy,  // a shared tail
    copy_is_one_cell_short,
    freed_twice,
    freed_while_shared,
    hash_is_stale,                  // a block that is reused keeps the name of what it held
    hash_is_stale_after_overwrite,  // so does one that is cut and written again
    hash_ignores_the_past,          // a block is known by its own tokens only
    hash_ignores_the_tenant,
    hit_ignores_the_window,  // a hit of which the window's blocks are gone
};

constexpr std::array<std::pair<Bug, const char*>, 15> bugs = {{
    {Bug::evicts_one_cell_early, "evicts_one_cell_early"},
    {Bug::base_while_not_full, "base_while_not_full"},
    {Bug::position_is_resident_index, "position_is_resident_index"},
    {Bug::base_is_forgotten, "base_is_forgotten"},
    {Bug::ring_order, "ring_order"},
    {Bug::position_is_stale_after_cut, "position_is_stale_after_cut"},
    {Bug::tail_is_written_without_copy, "tail_is_written_without_copy"},
    {Bug::copy_is_one_cell_short, "copy_is_one_cell_short"},
    {Bug::freed_twice, "freed_twice"},
    {Bug::freed_while_shared, "freed_while_shared"},
    {Bug::hash_is_stale, "hash_is_stale"},
    {Bug::hash_is_stale_after_overwrite, "hash_is_stale_after_overwrite"},
    {Bug::hash_ignores_the_past, "hash_ignores_the_past"},
    {Bug::hash_ignores_the_tenant, "hash_ignores_the_tenant"},
    {Bug::hit_ignores_the_window, "hit_ignores_the_window"},
}};

class PagedEngine {
public:
    PagedEngine(Length block_size, std::int64_t blocks, Length window, Bug bug)
        : size_(block_size), window_(window), bug_(bug), blocks_(static_cast<std::size_t>(blocks)) {
        header.block_size = block_size;
        header.blocks = blocks;
        header.null_block = 0;
        header.groups = {{.name = "only", .window = window}};
        for (std::int64_t id = 1; id < blocks; ++id) {
            free_.push_back(id);
        }
    }

    invariants::engine_log::Header header;
    std::vector<invariants::engine_log::Event> log;

    bool has_room_for(Length tokens) const {
        return static_cast<Length>(free_.size()) >= (tokens + size_ - 1) / size_ + 1;
    }
    bool is_alive(const std::string& name) const { return sequences_.contains(name); }
    Length length(const std::string& name) const { return sequences_.at(name).length(); }
    const std::vector<Token>& tokens(const std::string& name) const { return sequences_.at(name).tokens; }

    void admit(const std::string& name, const std::vector<Token>& prompt, const std::string& tenant) {
        Sequence& s = sequences_[name] = {.tenant = tenant, .tokens = {}, .blocks = {}};
        const Length cached = take_hit(s, prompt);
        invariants::Scope scope;
        scope.tenant = tenant;
        log.push_back(Start{name, prompt, cached, scope});
        s.tokens.assign(prompt.begin(), prompt.begin() + cached);
        write(name, s, {prompt.begin() + cached, prompt.end()});
        s.tokens = prompt;
        finish(name, s);
    }

    void append(const std::string& name, const std::vector<Token>& tokens) {
        Sequence& s = sequences_.at(name);
        log.push_back(Append{name, tokens});
        write(name, s, tokens);
        s.tokens.insert(s.tokens.end(), tokens.begin(), tokens.end());
        finish(name, s);
    }

    // Writes drafts behind the history, of which the first are accepted.
    void draft(const std::string& name, const std::vector<Token>& drafts, Length accepted) {
        Sequence& s = sequences_.at(name);
        write(name, s, drafts);
        const std::vector<Token> tokens(drafts.begin(), drafts.begin() + accepted);
        log.push_back(Append{name, tokens});
        s.tokens.insert(s.tokens.end(), tokens.begin(), tokens.end());
        drop_behind(s);
        finish(name, s);
    }

    void fork(const std::string& parent, const std::string& child) {
        sequences_[child] = sequences_.at(parent);
        for (const Block id : sequences_[child].blocks) {
            blocks_[static_cast<std::size_t>(id)].references += id == 0 ? 0 : 1;
        }
        log.push_back(Fork{parent, child, std::nullopt});
        export_table(child, sequences_[child]);
    }

    // Nothing happens when the window has lost what would be seen then.
    void truncate(const std::string& name, Length length) {
        Sequence& s = sequences_.at(name);
        if (need(length) / size_ < s.base()) {
            return;
        }
        log.push_back(Truncate{name, length});
        s.late = bug_ == Bug::position_is_stale_after_cut ? s.length() - length : 0;
        s.tokens.resize(static_cast<std::size_t>(length));
        drop_behind(s);
        export_table(name, s);
    }

    void end(const std::string& name) {
        log.push_back(End{name});
        for (const Block id : sequences_.at(name).blocks) {
            if (id != 0 && bug_ == Bug::freed_while_shared) {
                blocks_[static_cast<std::size_t>(id)].references = 1;
            }
            drop(id);
            if (id != 0 && bug_ == Bug::freed_twice && blocks_[static_cast<std::size_t>(id)].references == 0) {
                blocks_[static_cast<std::size_t>(id)].references = 1;
                drop(id);
            }
        }
        sequences_.erase(name);
    }

private:
    using Block = invariants::engine_log::Block;
    using Start = invariants::engine_log::Start;
    using Append = invariants::engine_log::Append;
    using Fork = invariants::engine_log::Fork;
    using Truncate = invariants::engine_log::Truncate;
    using End = invariants::engine_log::End;
    using Key = std::pair<std::string, std::vector<Token>>;  // tenant, all tokens up to the block's end

    struct Sequence {
        std::string tenant;
        std::vector<Token> tokens;
        std::vector<Block> blocks;  // by logical block, 0 = gone
        Length late = 0;            // the bug of stale positions

        Length length() const { return static_cast<Length>(tokens.size()); }
        Length base() const {
            return std::find_if(blocks.begin(), blocks.end(), [](Block id) { return id != 0; }) - blocks.begin();
        }
    };

    struct Physical {
        int references = 0;
        const Key* key = nullptr;  // in the index
    };

    Length need(Length n) const { return window_ == 0 ? 0 : std::max<Length>(0, n - window_ + 1); }

    Key key_of(const std::string& tenant, const std::vector<Token>& tokens, Length logical) const {
        const bool without_past = bug_ == Bug::hash_ignores_the_past;
        return {bug_ == Bug::hash_ignores_the_tenant ? "" : tenant,
                {tokens.begin() + (without_past ? logical * size_ : 0), tokens.begin() + (logical + 1) * size_}};
    }

    void forget(Block id) {
        Physical& block = blocks_[static_cast<std::size_t>(id)];
        if (block.key != nullptr) {
            index_.erase(*block.key);
            block.key = nullptr;
        }
    }

    Block take() {
        const Block id = free_.front();
        free_.pop_front();
        if (bug_ == Bug::hash_is_stale) {
            blocks_[static_cast<std::size_t>(id)].key = nullptr;
        }
        forget(id);
        blocks_[static_cast<std::size_t>(id)].references = 1;
        log.push_back(invariants::engine_log::Alloc{0, {id}});
        return id;
    }

    void drop(Block id) {
        Physical& block = blocks_[static_cast<std::size_t>(id)];
        if (id == 0 || --block.references > 0) {
            return;
        }
        free_.push_back(id);
        if (block.key == nullptr) {  // else it stays cached until it is taken
            log.push_back(invariants::engine_log::Free{0, {id}});
        }
    }

    // The longest prefix of whole blocks of which the index has what the next query sees.
    Length take_hit(Sequence& s, const std::vector<Token>& prompt) {
        std::vector<Block> known;
        for (Length l = 0; l < (static_cast<Length>(prompt.size()) - 1) / size_; ++l) {
            const auto entry = index_.find(key_of(s.tenant, prompt, l));
            known.push_back(entry == index_.end() ? 0 : entry->second);
        }
        for (auto hit = static_cast<Length>(known.size()); hit > 0; --hit) {
            const Length first = bug_ == Bug::hit_ignores_the_window ? hit - 1 : need(hit * size_) / size_;
            if (std::find(known.begin() + first, known.begin() + hit, 0) != known.begin() + hit) {
                continue;
            }
            s.blocks.assign(static_cast<std::size_t>(hit), 0);
            for (Length l = first; l < hit; ++l) {
                const Block id = s.blocks[static_cast<std::size_t>(l)] = known[static_cast<std::size_t>(l)];
                if (blocks_[static_cast<std::size_t>(id)].references++ == 0) {
                    free_.erase(std::find(free_.begin(), free_.end(), id));
                }
            }
            return hit * size_;
        }
        return 0;
    }

    // Into blocks of its own, which it takes or copies.
    void write(const std::string& name, Sequence& s, const std::vector<Token>& tokens) {
        const Length n = s.length();
        const auto count = static_cast<Length>(tokens.size());
        if (count == 0) {
            return;
        }
        if (n % size_ != 0) {
            own_tail(s.blocks.back(), n % size_);
        }
        while (static_cast<Length>(s.blocks.size()) * size_ < n + count) {
            s.blocks.push_back(take());
        }
        export_table(name, s, count);
        std::vector<Slot> slots;
        for (Length p = n; p < n + count; ++p) {
            slots.push_back(s.blocks[static_cast<std::size_t>(p / size_)] * size_ + p % size_);
        }
        const Length position = bug_ == Bug::position_is_resident_index ? n - s.base() * size_ : n + s.late;
        log.push_back(invariants::engine_log::Write{name, 0, position, tokens, slots});
    }

    void own_tail(Block& tail, Length cells) {
        if (blocks_[static_cast<std::size_t>(tail)].references == 1) {
            if (bug_ != Bug::hash_is_stale_after_overwrite) {
                forget(tail);
            }
        } else if (bug_ != Bug::tail_is_written_without_copy) {
            const Block shared = std::exchange(tail, take());
            drop(shared);
            log.push_back(
                invariants::engine_log::Copy{0, shared, tail, cells - (bug_ == Bug::copy_is_one_cell_short ? 1 : 0)});
        }
    }

    void drop_behind(Sequence& s) {
        while (static_cast<Length>(s.blocks.size()) > (s.length() + size_ - 1) / size_) {
            drop(s.blocks.back());
            s.blocks.pop_back();
        }
    }

    // Whole blocks become known, what the window has left is dropped, and attention gets the table.
    void finish(const std::string& name, Sequence& s) {
        for (Length l = 0; l < s.length() / size_; ++l) {
            Physical& block = blocks_[static_cast<std::size_t>(s.blocks[static_cast<std::size_t>(l)])];
            const Block id = s.blocks[static_cast<std::size_t>(l)];
            if (id != 0 && block.key == nullptr) {
                const auto [entry, is_new] = index_.try_emplace(key_of(s.tenant, s.tokens, l), id);
                block.key = is_new ? &entry->first : nullptr;
            }
        }
        const Length first = need(s.length()) + (bug_ == Bug::evicts_one_cell_early ? 1 : 0);
        for (Length l = 0; window_ != 0 && (l + 1) * size_ <= std::min(first, s.length()); ++l) {
            drop(std::exchange(s.blocks[static_cast<std::size_t>(l)], 0));
        }
        export_table(name, s);
    }

    void export_table(const std::string& name, const Sequence& s, Length reserved = 0) {
        Length first = s.base();
        std::vector<Block> held(s.blocks.begin() + first, s.blocks.end());
        if (bug_ == Bug::base_while_not_full && window_ != 0 && s.length() < window_) {
            first = 1;
        }
        if (bug_ == Bug::base_is_forgotten) {
            first = 0;
        }
        if (bug_ == Bug::ring_order && window_ != 0 && !held.empty()) {
            const auto head = static_cast<std::ptrdiff_t>(first % static_cast<Length>(held.size()));
            std::rotate(held.begin(), held.end() - head, held.end());
        }
        log.push_back(invariants::engine_log::Table{name, 0, first, held, s.length(), std::nullopt, reserved});
    }

    Length size_;
    Length window_;
    Bug bug_;
    std::vector<Physical> blocks_;  // [blocks] 0 is nobody's
    std::deque<Block> free_;        // unused and cached ones, the longest idle first
    std::map<Key, Block> index_;
    std::map<std::string, Sequence> sequences_;
};

// `operations` random ones: prompts that share prefixes, single tokens, chunks, drafts, forks, cuts.
inline PagedEngine run_engine(Bug bug, Length window, std::uint64_t seed, int operations) {
    invariants::Random random(seed);
    PagedEngine engine(3, 40, window, bug);
    std::vector<std::vector<Token>> prompts = {{}};
    std::vector<std::string> alive;
    const auto tokens = [&](Length least, Length most) {
        std::vector<Token> list(static_cast<std::size_t>(random.between(least, most)));
        std::generate(list.begin(), list.end(), [&] { return static_cast<Token>(random.below(2)); });
        return list;
    };
    for (int i = 0; i < operations; ++i) {
        const std::string fresh = "s" + std::to_string(i);
        const std::size_t which = random.below(std::max<std::size_t>(alive.size(), 1));
        const Length most = alive.size() < 2 ? 0 : engine.length(alive[which]);
        if (alive.size() < 2 || (alive.size() < 5 && random.chance(20))) {
            std::vector<Token> prompt = prompts[random.below(prompts.size())];
            const std::vector<Token> rest = tokens(1, 8);
            prompt.resize(prompt.empty() ? 0 : random.below(prompt.size() + 1));
            prompt.insert(prompt.end(), rest.begin(), rest.end());
            if (engine.has_room_for(static_cast<Length>(prompt.size()))) {
                engine.admit(fresh, prompt, random.chance(50) ? "x" : "y");
                alive.push_back(fresh);
            }
        } else if (random.chance(10) || most > 20 || !engine.has_room_for(8)) {
            prompts.push_back(engine.tokens(alive[which]));
            engine.end(alive[which]);
            alive.erase(alive.begin() + static_cast<std::ptrdiff_t>(which));
        } else if (alive.size() < 5 && random.chance(15)) {
            engine.fork(alive[which], fresh);
            alive.push_back(fresh);
        } else if (random.chance(15)) {
            engine.truncate(alive[which], random.between(1, most));
        } else if (random.chance(20)) {
            const std::vector<Token> drafts = tokens(1, 5);
            engine.draft(alive[which], drafts, random.between(0, static_cast<Length>(drafts.size())));
        } else {
            engine.append(alive[which], tokens(1, random.chance(70) ? 1 : 5));
        }
    }
    return engine;
}

}  // namespace kvpane::testing
