// SPDX-License-Identifier: Apache-2.0
// The C side of glue.ml. Compiled by ocamlopt into the object that holds the runtime.
#include "oracle.h"

#include <stdio.h>
#include <stdlib.h>

#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/printexc.h>

void kv_oracle_start(void) {
    static char name[] = "kvpane";
    char* argv[] = {name, NULL};
    caml_startup(argv);
}

// --- values ----------------------------------------------------------------------------------------------------------

static value list_of(KvOracleList numbers) {
    CAMLparam0();
    CAMLlocal2(list, cell);
    list = Val_emptylist;
    for (size_t i = numbers.size; i > 0; --i) {
        cell = caml_alloc_small(2, Tag_cons);
        Field(cell, 0) = Val_long(numbers.begin[i - 1]);
        Field(cell, 1) = list;
        list = cell;
    }
    CAMLreturn(list);
}

// The answers are copied here: the next collection may move them.
static int64_t* answer = NULL;
static size_t answer_room = 0;

static KvOracleList answered(value array) {
    const size_t size = Wosize_val(array);
    if (size > answer_room) {
        free(answer);
        answer_room = 2 * size;
        answer = malloc(answer_room * sizeof *answer);
        if (answer == NULL) {
            fputs("kvpane oracle: no memory for an answer\n", stderr);
            abort();
        }
    }
    for (size_t i = 0; i < size; ++i) {
        answer[i] = Long_val(Field(array, i));
    }
    return (KvOracleList){answer, size};
}

// --- calls -----------------------------------------------------------------------------------------------------------

static value checked(const char* name, value result) {
    if (Is_exception_result(result)) {
        fprintf(stderr, "kvpane oracle: %s: %s\n", name, caml_format_exception(Extract_exception(result)));
        abort();
    }
    return result;
}

// Looks a function up once: names cost a hash each time.
#define FUNCTION(name)                                        \
    static const value* function = NULL;                      \
    if (function == NULL) {                                   \
        function = caml_named_value("kv_oracle_" name);       \
    }                                                         \
    const char* const called = name

#define CALL(...)                                                                             \
    checked(called, caml_callbackN_exn(*function, sizeof((value[]){__VA_ARGS__}) / sizeof(value), \
                                       (value[]){__VA_ARGS__}))

KvOracle kv_oracle_new(const KvOracleConfig* config) {
    CAMLparam0();
    CAMLlocal3(numbers, windows, sinks);
    FUNCTION("configure");
    const int64_t values[] = {config->block_size, config->blocks,    config->slack,
                              config->limit,      config->watermark, config->sequences};
    numbers = list_of((KvOracleList){values, sizeof values / sizeof *values});
    windows = list_of(config->windows);
    sinks = list_of(config->sinks);
    const value id = CALL(numbers, Val_bool(config->eager), Val_bool(config->caching), Val_bool(config->tails), windows,
                          sinks);
    CAMLreturnT(KvOracle, Long_val(id));
}

KvOracle kv_oracle_copy(KvOracle machine) {
    FUNCTION("copy");
    return Long_val(CALL(Val_long(machine)));
}

void kv_oracle_assign(KvOracle machine, KvOracle other) {
    FUNCTION("assign");
    CALL(Val_long(machine), Val_long(other));
}

void kv_oracle_free(KvOracle machine) {
    FUNCTION("free");
    CALL(Val_long(machine));
}

void kv_oracle_add_sequences(KvOracle machine, int64_t more) {
    FUNCTION("add_sequences");
    CALL(Val_long(machine), Val_long(more));
}

KvOracleVerdict kv_oracle_admit(KvOracle machine, int64_t sequence, KvOracleList query, int64_t compute, int64_t cut,
                                KvOracleList hits, KvOracleList choices) {
    CAMLparam0();
    CAMLlocal3(q, h, c);
    FUNCTION("admit");
    q = list_of(query);
    h = list_of(hits);
    c = list_of(choices);
    const value verdict = CALL(Val_long(machine), Val_long(sequence), q, Val_long(compute), Val_long(cut), h, c);
    CAMLreturnT(KvOracleVerdict, Int_val(verdict));
}

KvOracleVerdict kv_oracle_reserve(KvOracle machine, KvOracleList sequences, KvOracleList counts, KvOracleList choices) {
    CAMLparam0();
    CAMLlocal3(s, k, c);
    FUNCTION("reserve");
    s = list_of(sequences);
    k = list_of(counts);
    c = list_of(choices);
    const value verdict = CALL(Val_long(machine), s, k, c);
    CAMLreturnT(KvOracleVerdict, Int_val(verdict));
}

KvOracleVerdict kv_oracle_commit(KvOracle machine, int64_t sequence, KvOracleList cells) {
    FUNCTION("commit");
    const value list = list_of(cells);
    return Int_val(CALL(Val_long(machine), Val_long(sequence), list));
}

KvOracleVerdict kv_oracle_append(KvOracle machine, KvOracleList sequences, KvOracleList counts, KvOracleList cells,
                                 KvOracleList choices) {
    CAMLparam0();
    CAMLlocal4(s, k, a, c);
    FUNCTION("append");
    s = list_of(sequences);
    k = list_of(counts);
    a = list_of(cells);
    c = list_of(choices);
    const value verdict = CALL(Val_long(machine), s, k, a, c);
    CAMLreturnT(KvOracleVerdict, Int_val(verdict));
}

// The numbers of glue.ml.
enum Simple { cancel, fork, truncate, release, step_begin, step_end, forget };

static KvOracleVerdict simple(KvOracle machine, enum Simple verb, int64_t x, int64_t y, int64_t z) {
    FUNCTION("simple");
    return Int_val(CALL(Val_long(machine), Val_long(verb), Val_long(x), Val_long(y), Val_long(z)));
}

KvOracleVerdict kv_oracle_cancel(KvOracle machine, int64_t sequence) { return simple(machine, cancel, sequence, 0, 0); }
KvOracleVerdict kv_oracle_fork(KvOracle machine, int64_t parent, int64_t child, int64_t length) {
    return simple(machine, fork, parent, child, length);
}
KvOracleVerdict kv_oracle_truncate(KvOracle machine, int64_t sequence, int64_t length) {
    return simple(machine, truncate, sequence, length, 0);
}
KvOracleVerdict kv_oracle_release(KvOracle machine, int64_t sequence, bool keep_cached) {
    return simple(machine, release, sequence, keep_cached, 0);
}
KvOracleVerdict kv_oracle_step_begin(KvOracle machine, int64_t step) { return simple(machine, step_begin, step, 0, 0); }
KvOracleVerdict kv_oracle_step_end(KvOracle machine, int64_t step) { return simple(machine, step_end, step, 0, 0); }
KvOracleVerdict kv_oracle_forget(KvOracle machine, int64_t block) { return simple(machine, forget, block, 0, 0); }

KvOracleVerdict kv_oracle_pin(KvOracle machine, KvOracleList blocks) {
    FUNCTION("pin");
    const value list = list_of(blocks);
    return Int_val(CALL(Val_long(machine), list));
}

KvOracleVerdict kv_oracle_unpin(KvOracle machine, KvOracleList blocks) {
    FUNCTION("unpin");
    const value list = list_of(blocks);
    return Int_val(CALL(Val_long(machine), list));
}

KvOracleList kv_oracle_blocks(KvOracle machine) {
    FUNCTION("blocks");
    return answered(CALL(Val_long(machine)));
}

KvOracleList kv_oracle_key(KvOracle machine, int64_t block) {
    FUNCTION("key");
    return answered(CALL(Val_long(machine), Val_long(block)));
}

KvOracleList kv_oracle_sequence(KvOracle machine, int64_t sequence) {
    FUNCTION("sequence");
    return answered(CALL(Val_long(machine), Val_long(sequence)));
}

KvOracleList kv_oracle_window(KvOracle machine, int64_t sequence, int64_t group) {
    FUNCTION("window");
    return answered(CALL(Val_long(machine), Val_long(sequence), Val_long(group)));
}

int64_t kv_oracle_best_cut(KvOracle machine, KvOracleList query) {
    FUNCTION("best_cut");
    const value list = list_of(query);
    return Long_val(CALL(Val_long(machine), list));
}
