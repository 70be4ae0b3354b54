(* SPDX-License-Identifier: Apache-2.0 *)
(* The machine and the specification as OCaml: oracle/kvspec.ml and kvspec.mli are what this file writes, behind a
   header that says so (oracle/generate). Cells are numbers: the oracle's C++ side gives each (scope, external content,
   token) one of its own. *)
From Coq Require Import Arith PArith FMapPositive.
From Kvpane Require Import Realizers TotalMap Machine Interpreter Never.
From Kvpane Require FastSpec.

Definition oracle_cell := nat.
Definition oracle_step := step (A := oracle_cell) Nat.eqb.
Definition oracle_is_never := is_never (A := oracle_cell) Nat.eqb.
Definition oracle_best_cut := best_cut (A := oracle_cell) Nat.eqb.

(* The same histories, kept newest first: a third view. *)
Definition fast_start := FastSpec.fast_empty (Cell := oracle_cell).
Definition fast_step := FastSpec.fast_step (Cell := oracle_cell).
Definition fast_last (n : nat) (f : FastSpec.fast oracle_cell) (s : positive) : option (list oracle_cell) :=
  option_map (FastSpec.window n) (FMapPositive.PositiveMap.find s f).

Extraction "kvspec.ml"
  init spec_init oracle_step spec_step oracle_is_never oracle_best_cut window_of seen_from
  fast_start fast_step fast_last.
