(* SPDX-License-Identifier: Apache-2.0 *)
(* The operations, and the specification of the machine: histories, and nothing about blocks. Which blocks an operation
   chose or hit is nothing to it. *)
From Coq Require Import List Arith Bool.
From Kvpane Require Import State.
Import ListNotations.

Section Specification.

Context {A : Type}.                      (* a cell, scope and external content included *)

Inductive op :=
| Admit (s : nat) (query : list A) (compute cut : nat) (hits : list (list (option nat))) (choices : list nat)
| Reserve (batch : list (nat * nat)) (choices : list nat)
| Commit (s : nat) (cells : list A)
| Append (batch : list (nat * list A)) (choices : list nat)
| Cancel (s : nat)
| Fork (s t at_length : nat)
| Truncate (s n : nat)
| Release (s : nat) (keep : bool)      (* keep: a partly filled tail may enter the index *)
| Begin (step : nat)
| End (step : nat)
| Forget (b : nat)                     (* an entry leaves the index: evict, uncache, reset_cache, policy *)
| Pin (bs : list nat)
| Unpin (bs : list nat).

(* Histories of living sequences: the specification (`hs` is what it says before the operation). *)
Definition histories := list (option (list A)).

Definition history (hs : histories) (s : nat) : list A := match at_ hs s with Some h => h | None => [] end.

Definition spec_commit (hs : histories) (s : nat) (cells : list A) : histories :=
  match at_ hs s with Some h => upd hs s (Some (h ++ cells)) | None => hs end.

(* What an accepted operation makes of the histories. *)
Definition spec_step (hs : histories) (o : op) : histories :=
  match o with
  | Admit s q compute cut _ _ => upd hs s (Some (firstn (cut + Nat.min compute (length q - cut)) q))
  | Commit s cells => spec_commit hs s cells
  | Append batch _ => fold_left (fun hs sc => spec_commit hs (fst sc) (snd sc)) batch hs
  | Fork s t n => match at_ hs s with Some h => upd hs t (Some (firstn n h)) | None => hs end
  | Truncate s n => match at_ hs s with Some h => upd hs s (Some (firstn n h)) | None => hs end
  | Release s _ => upd hs s None
  | _ => hs
  end.

Definition spec_init (n_seqs : nat) : histories := repeat None n_seqs.

End Specification.
Arguments op : clear implicits.
Arguments histories : clear implicits.
