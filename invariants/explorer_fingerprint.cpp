// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/explorer_fingerprint.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>

#include <kvpane/allocator/digest.h>

namespace kvpane::invariants::explorer {

namespace {

using Order = std::array<std::uint8_t, most_sequences>;

// Two chains of multiply and shift over 64-bit words; words are packed from small numbers.
class Hash {
public:
    KVPANE_WRAPS void add(std::uint64_t word) {
        high_ = (high_ ^ word) * 0x9fb21c651e98df25U;
        high_ ^= high_ >> 29U;
        low_ = (low_ + word) * 0xd6e8feb86659fd93U;
        low_ ^= low_ >> 32U;
    }
    KVPANE_WRAPS Fingerprint value() const {
        const auto end = [](std::uint64_t x) {
            x = (x ^ (x >> 33U)) * 0xff51afd7ed558ccdU;
            x = (x ^ (x >> 33U)) * 0xc4ceb9fe1a85ec53U;
            return x ^ (x >> 33U);
        };
        return {end(high_ ^ (low_ >> 17U)), end(low_ + (high_ << 7U))};
    }

private:
    std::uint64_t high_ = 0x243f6a8885a308d3U;
    std::uint64_t low_ = 0x13198a2e03707344U;
};

// How many entries that a hit could take instead of this one are older. Only among these does age decide.
std::uint64_t rank_of(const Setting& setting, const World& world, std::size_t block) {
    const Snapshot::Block& at = world.seen().blocks[block];
    // By token all that begin alike compete, in other words those that share their first cell.
    const auto competes_by = [&](const Snapshot::Block& that) {
        return setting.by_token ? setting.beginning(that.prefix, that.cells, 1) : that.prefix;
    };
    const Prefix mine = competes_by(at);
    std::uint64_t rank = 0;
    for (std::size_t other = 1; other <= setting.blocks; ++other) {
        const Snapshot::Block& that = world.seen().blocks[other];
        rank += that.content != no_content && that.group == at.group && competes_by(that) == mine &&
                world.shadow().stamps[other] < world.shadow().stamps[block];
    }
    return rank;
}

// The external contents of a prompt stay where they are, whatever is written there later.
std::uint64_t contents_of(const Shadow::Sequence& sequence) {
    std::uint64_t word = 0;
    for (const std::uint8_t content : sequence.contents) {
        word = word << 2U | content;
    }
    return word;
}

class Writer {
public:
    Writer(const Setting& setting, const World& world) : setting_(setting), world_(world) {
        for (std::size_t block = 1; block <= setting.blocks; ++block) {
            const Snapshot::Block& at = world.seen().blocks[block];
            const Shadow::Rank& rank = world.shadow().ranks[block];
            words_[block] = at.pins | std::uint64_t{rank.priority} << 28U | std::uint64_t{rank.steps} << 30U;
            if (at.content != no_content) {
                words_[block] |= std::uint64_t{at.prefix} << 32U | std::uint64_t{at.cells} << 24U |
                                 std::uint64_t{at.group} << 20U | rank_of(setting, world, block) << 12U;
            }
        }
    }

    Fingerprint write(std::span<const std::uint8_t> order, bool renames) {
        Hash hash;
        names_ = {};
        last_name_ = 0;
        if (!renames) {
            std::iota(names_.begin(), names_.end(), std::uint8_t{0});
        }
        for (const std::uint8_t index : order) {
            write_sequence(hash, index, renames);
        }
        write_walk(hash, world_.seen().queue, false);
        write_walk(hash, world_.seen().fenced, true);
        name_the_pinned();
        std::array<std::uint64_t, most_blocks + 1> by_name{};
        for (std::size_t block = 1; block <= setting_.blocks; ++block) {
            by_name[names_[block]] = words_[block];
        }
        for (std::size_t name = 1; name <= setting_.blocks; ++name) {
            hash.add(by_name[name]);
        }
        hash.add(world_.shadow().n_open);
        if (!renames) {
            hash.add(world_.shadow().open[0] | std::uint64_t{world_.shadow().open[1]} << 8U);
        }
        return hash.value();
    }

private:
    std::uint64_t name(std::size_t block) {
        if (block != 0 && names_[block] == 0) {
            names_[block] = ++last_name_;
        }
        return names_[block];
    }

    void write_sequence(Hash& hash, std::size_t index, bool renames) {
        const Shadow::Sequence& sequence = world_.shadow().sequences[index];
        if (!sequence.is_alive) {
            hash.add(1);
            return;
        }
        hash.add(std::uint64_t{sequence.prefix} << 32U | std::uint64_t{sequence.priority} << 24U |
                 std::uint64_t{sequence.reserved} << 16U | std::uint64_t{sequence.own_from} << 8U | (renames ? 2U : 3U));
        if (setting_.has_contents) {
            hash.add(contents_of(sequence));
        }
        for (std::size_t group = 0; group < setting_.groups; ++group) {
            const Snapshot::Table& table = world_.seen().sequences[index].tables[group];
            hash.add(std::uint64_t{table.size} | std::uint64_t{table.run_begin} << 8U |
                     std::uint64_t{table.first_resident} << 16U);
            std::uint64_t word = 0;
            for (std::size_t entry = 0; entry < table.size; ++entry) {
                word = word << 4U | name(table.entries[entry]);  // 16 entries of 4 bits
            }
            hash.add(word);
        }
    }

    void write_walk(Hash& hash, const Snapshot::Walk& walk, bool waits) {
        std::uint64_t word = 0;
        std::uint64_t wait = walk.size;
        for (std::size_t i = 0; i < walk.size; ++i) {
            const std::size_t block = walk.blocks[i];
            word = word << 4U | name(block);
            wait = wait << 4U | (waits ? world_.seen().blocks[block].waits : 0U);
        }
        hash.add(word);
        hash.add(wait);
    }

    // Idle and pinned blocks stand in no table and no queue; their contents and ages tell them apart.
    void name_the_pinned() {
        std::array<std::uint8_t, most_blocks> left{};
        std::size_t n = 0;
        for (std::size_t block = 1; block <= setting_.blocks; ++block) {
            if (names_[block] == 0) {
                left[n++] = static_cast<std::uint8_t>(block);
            }
        }
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = i + 1; j < n; ++j) {
                if (words_[left[j]] < words_[left[i]]) {
                    std::swap(left[i], left[j]);
                }
            }
            name(left[i]);
        }
    }

    const Setting& setting_;
    const World& world_;
    std::array<std::uint64_t, most_blocks + 1> words_{};  // what a block is known by, its age, its pins
    std::array<std::uint8_t, most_blocks + 1> names_{};
    std::uint8_t last_name_ = 0;
};

// What tells two sequences apart without any name.
std::uint64_t key_of(const Setting& setting, const World& world, std::size_t index) {
    const Shadow::Sequence& sequence = world.shadow().sequences[index];
    Hash hash;
    hash.add(std::uint64_t{sequence.prefix} << 32U | std::uint64_t{sequence.priority} << 16U |
             std::uint64_t{sequence.reserved} << 8U | sequence.own_from);
    hash.add(contents_of(sequence));
    for (std::size_t group = 0; group < setting.groups; ++group) {
        const Snapshot::Table& table = world.seen().sequences[index].tables[group];
        std::uint64_t word = table.run_begin + 32U * std::uint64_t{table.first_resident};
        for (std::size_t entry = 0; entry < table.size; ++entry) {
            word = word * 8 + world.seen().blocks[table.entries[entry]].refs;
        }
        hash.add(word);
    }
    return hash.value().high;
}

}  // namespace

Fingerprint fingerprint(const Setting& setting, const World& world) {
    Order order{};
    std::array<std::uint64_t, most_sequences> keys{};
    std::size_t n = 0;
    for (std::size_t index = 0; index < setting.sequences; ++index) {
        if (world.shadow().sequences[index].is_alive) {
            keys[index] = key_of(setting, world, index);
            order[n++] = static_cast<std::uint8_t>(index);
        }
    }
    for (std::size_t i = 1; i < n; ++i) {
        for (std::size_t j = i; j > 0 && keys[order[j]] < keys[order[j - 1]]; --j) {
            std::swap(order[j], order[j - 1]);
        }
    }
    Writer writer(setting, world);
    Fingerprint least = writer.write(std::span(order).first(n), true);
    // Sequences with equal keys may stand in any order: the least name of all orders is the name of the class.
    const bool ties = (n > 1 && keys[order[0]] == keys[order[1]]) || (n > 2 && keys[order[1]] == keys[order[2]]);
    if (ties) {
        std::array<std::uint8_t, most_sequences> places{0, 1, 2};
        while (std::next_permutation(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n))) {
            Order other{};
            bool is_sorted = true;
            for (std::size_t i = 0; i < n; ++i) {
                other[i] = order[places[i]];
                is_sorted = is_sorted && (i == 0 || keys[other[i - 1]] <= keys[other[i]]);
            }
            if (is_sorted) {
                least = std::min(least, writer.write(std::span(other).first(n), true));
            }
        }
    }
    return least;
}

Fingerprint raw_fingerprint(const Setting& setting, const World& world) {
    Order order{0, 1, 2};
    return Writer(setting, world).write(std::span(order).first(setting.sequences), false);
}

}  // namespace kvpane::invariants::explorer
