// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include <kvpane/blocktable/config.h>
#include <kvpane/invariants/proof/oracle/oracle.h>

namespace kvpane::invariants::oracle {

using Numbers = std::vector<std::int64_t>;

inline KvOracleList list(const Numbers& numbers) { return {numbers.data(), numbers.size()}; }

// A machine of oracle.h with the life of an object. Copies share nothing that changes, and cost O(1).
class Machine {
public:
    // A machine of what `config` says, with `sequences` slots. What it does not model is left out: priorities, the
    // eviction policy, the cap on pins, hashes.
    Machine(const Config& config, std::int64_t sequences);
    Machine(const Machine& other) : id_(kv_oracle_copy(other.id_)) {}
    Machine& operator=(const Machine& other) {
        kv_oracle_assign(id_, other.id_);
        return *this;
    }
    ~Machine() { kv_oracle_free(id_); }

    KvOracle id() const noexcept { return id_; }

private:
    KvOracle id_;
};

}  // namespace kvpane::invariants::oracle
