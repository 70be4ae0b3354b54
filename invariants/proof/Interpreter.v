(* SPDX-License-Identifier: Apache-2.0 *)
(* The interpreter (invariants/interpreter.h): the window of a sequence, read from its tables and the store alone. That
   it is the end of the history is the theorem `run_correct` of Correctness.v. *)
From Coq Require Import List Arith Bool.
From Kvpane Require Import TotalMap State.
Import ListNotations.

Section Interpreter.

Context {A : Type}.                      (* a cell, scope and external content included *)
Variable cfg : config.

(* Of these cells, with this configuration. *)
Notation pool := (pool A).
Notation B := (B cfg).
Notation slot := (slot cfg).

(* The cell of position i in block b, as group gi may read it: another group's K and V are nothing to it. *)
Definition cell (gi : nat) (p : pool) (b i : nat) : option A :=
  match get (store p) (slot b i) with Some (g, a) => if g =? gi then Some a else None | None => None end.

Definition read (gi : nat) (p : pool) (t : table) (i : nat) : option A :=
  match at_ (entries t) (i / B) with Some b => cell gi p b i | None => None end.

Definition read_from (gi : nat) (p : pool) (t : table) (from to : nat) : list A :=
  flat_map (fun i => match read gi p t i with Some a => [a] | None => [] end) (List.seq from (to - from)).

(* The first position of the window that is held for certain: the last W cells, or the last W - 1. *)
Definition seen_from (g : group) (q : seq) : nat :=
  if full q then match window g with 0 => 0 | w => len q - w end else need g (len q).

Definition window_of (gi : nat) (p : pool) (g : group) (q : seq) (t : table) : list A :=
  read_from gi p t (seen_from g q) (len q).

End Interpreter.
