// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The machine that was proven (invariants/proof/Machine.v) and extracted, as C calls: stubs.c and glue.ml are between.
//
// A machine is a number. Its state is a value, never changed in place: kv_oracle_copy() costs O(1), and both go their
// own ways from there. Blocks count from 0 here, sequences are the slots 0 .. n_sequences - 1. One thread of a process
// may call, and no argument may be negative: numbers are natural here. What the program around it finds to be broken
// (an unknown machine, no memory) ends the process with a message.

#ifdef __cplusplus
extern "C" {
#endif

// A list of numbers.
typedef struct KvOracleList {
    const int64_t* begin;
    size_t size;
} KvOracleList;

typedef struct KvOracleConfig {
    int64_t block_size, blocks, slack;
    int64_t limit;  // 0 = unlimited
    int64_t watermark;
    bool eager;            // a commit releases what left its window
    bool caching, tails;   // a prefix index; with partly filled blocks
    KvOracleList windows;  // [groups]
    KvOracleList sinks;    // [groups]
    int64_t sequences;     // slots
} KvOracleConfig;

typedef enum KvOracleVerdict {
    kv_oracle_done,
    kv_oracle_unknown,
    kv_oracle_invalid,
    kv_oracle_busy,
    kv_oracle_not_reserved,
    kv_oracle_evicted,
    kv_oracle_too_long,
    kv_oracle_later,       // no room now
    kv_oracle_never,       // no room in an empty pool either
    kv_oracle_bad_choice,  // blocks or hits that came with the operation are not legal
} KvOracleVerdict;

typedef int64_t KvOracle;

// Once in a process, before anything else.
void kv_oracle_start(void);

KvOracle kv_oracle_new(const KvOracleConfig* config);
KvOracle kv_oracle_copy(KvOracle machine);
// `machine` takes the state of `other`, which was made by the same kv_oracle_new() or a copy. COST O(1).
void kv_oracle_assign(KvOracle machine, KvOracle other);
void kv_oracle_free(KvOracle machine);
// Room for so many more sequences.
void kv_oracle_add_sequences(KvOracle machine, int64_t more);

// --- the operations; refused ones change nothing --------------------------------------------------------------------

// `choices`: the blocks that the operation takes, in the machine's order. Empty = any.

// hits: [groups * entries] for each group the blocks of entries 0 .. entries - 1, -1 for a hole.
KvOracleVerdict kv_oracle_admit(KvOracle machine, int64_t sequence, KvOracleList query, int64_t compute, int64_t cut,
                                KvOracleList hits, KvOracleList choices);
// sequences and cells: [n], one each
KvOracleVerdict kv_oracle_reserve(KvOracle machine, KvOracleList sequences, KvOracleList counts, KvOracleList choices);
KvOracleVerdict kv_oracle_commit(KvOracle machine, int64_t sequence, KvOracleList cells);
// counts[i] of the cells belong to sequences[i].
KvOracleVerdict kv_oracle_append(KvOracle machine, KvOracleList sequences, KvOracleList counts, KvOracleList cells,
                                 KvOracleList choices);
KvOracleVerdict kv_oracle_cancel(KvOracle machine, int64_t sequence);
KvOracleVerdict kv_oracle_fork(KvOracle machine, int64_t parent, int64_t child, int64_t length);
KvOracleVerdict kv_oracle_truncate(KvOracle machine, int64_t sequence, int64_t length);
KvOracleVerdict kv_oracle_release(KvOracle machine, int64_t sequence, bool keep_cached);
KvOracleVerdict kv_oracle_step_begin(KvOracle machine, int64_t step);
KvOracleVerdict kv_oracle_step_end(KvOracle machine, int64_t step);
KvOracleVerdict kv_oracle_forget(KvOracle machine, int64_t block);
KvOracleVerdict kv_oracle_pin(KvOracle machine, KvOracleList blocks);
KvOracleVerdict kv_oracle_unpin(KvOracle machine, KvOracleList blocks);

// --- questions: the answer is valid until the next call of any of them ----------------------------------------------

// [blocks, 5] of each block: references; 0 idle, 1 live, 2 fenced, else lost; the steps that it waits for; pins; a
// number for its entry in the index, another one whenever that may have changed, 0 for none.
KvOracleList kv_oracle_blocks(KvOracle machine);

// The content that a block is known by: its group, then all cells from position 0 on; empty for none.
KvOracleList kv_oracle_key(KvOracle machine, int64_t block);

// Committed and reserved cells; then for each group: the first position that is held behind the sinks, the number of
// entries, the entries (-1 = hole). Empty when no such sequence lives.
KvOracleList kv_oracle_sequence(KvOracle machine, int64_t sequence);

// The first position of the window that is held for certain; the cells from there on as the machine reads them through
// its table, as the specification has them, and as the fast specification (FastSpec.v) has them. REQUIRES the sequence
// lives.
KvOracleList kv_oracle_window(KvOracle machine, int64_t sequence, int64_t group);

// The longest prefix of the query that can be hit now.
int64_t kv_oracle_best_cut(KvOracle machine, KvOracleList query);

#ifdef __cplusplus
}
#endif
