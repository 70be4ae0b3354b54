(* SPDX-License-Identifier: Apache-2.0 *)
(* Later or never: whether what found no room could find it when the other sequences have ended. *)
From Coq Require Import List Arith Bool.
From Kvpane Require Import TotalMap Machine.
Import ListNotations.

Section Never.

Context {A : Type}.                      (* a cell, scope and external content included *)
Variable eqb : A -> A -> bool.           (* decides equality *)
Variable cfg : config.

(* Of these cells, with this configuration. *)
Notation state := (state A).
Notation op := (op A).
Notation histories := (histories A).
Notation release := (release cfg).
Notation step := (step eqb cfg).

(* The same pool without the other sequences: they have ended, the index is empty, no step is open. *)
Definition alone (hs : histories) (keep : list nat) (st : state) : state :=
  let ended := fold_left (fun st s => if mem s keep then st
                                      else match release hs s false st with Done st' => st' | Refused _ => st end)
                         (List.seq 0 (length (seqs st))) st in
  let p := fold_left forget (List.seq 0 (N cfg)) (the_pool ended) in
  State (fold_left (fun p i => match step_end i p with Done p' => p' | Refused _ => p end) (open p) p) (seqs ended).

(* What is asked again of the pool alone: without choices, hits or others. *)
Definition asked_alone (o : op) : op :=
  match o with
  | Admit s q compute _ _ _ => Admit s q compute 0 (map (fun _ => []) (groups cfg)) []
  | Reserve batch _ => Reserve batch []
  | Append batch _ => Append batch []
  | o => o
  end.

Definition who_asks (o : op) : list nat :=
  match o with
  | Reserve batch _ => map fst batch
  | Append batch _ => map fst batch
  | _ => []
  end.

(* Whether what found no room could never find it. *)
Definition is_never (hs : histories) (st : state) (o : op) : bool :=
  match step hs (alone hs (who_asks o) st) (asked_alone o) with Done _ => false | Refused _ => true end.

End Never.
