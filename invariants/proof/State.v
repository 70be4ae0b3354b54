(* SPDX-License-Identifier: Apache-2.0 *)
(* What the paged machine is made of: its configuration, the reasons to refuse, the arithmetic of windows and blocks,
   and the state. *)
From Coq Require Import List Arith Bool.
From Kvpane Require Import TotalMap.
Import ListNotations.

(* ---------- configuration (blocktable/config.h) ---------- *)

Record group := Group { window : nat; sinks : nat }.   (* window 0 = full attention; the first `sinks` cells stay *)

Record config := Config {
  B : nat;                (* cells in a block *)
  N : nat;                (* blocks; here 0 .. N - 1, in the C++ 1 .. N *)
  groups : list group;
  slack : nat;            (* cells kept before the window *)
  eager : bool;           (* release right after a commit, not only before the next reservation *)
  limit : nat;            (* longest sequence, reserved cells included; 0 = unlimited *)
  watermark : nat;        (* blocks that an admission leaves free while others live *)
  caching : bool;         (* there is a prefix index *)
  tails : bool }.         (* granularity "token": partly filled blocks enter it when their sequence ends *)

(* ---------- refusals (allocator/error.h) ---------- *)

Inductive refusal :=
| Unknown        (* no such sequence *)
| Invalid        (* an argument that no state makes right *)
| Busy           (* the sequence has reserved cells *)
| Not_reserved   (* a commit beyond the reserved cells *)
| Evicted        (* a cell that would be needed is gone *)
| Too_long       (* passes the limit *)
| No_room        (* no block left that could be taken *)
| Bad_choice.    (* the choices that came with the operation are not legal *)

Inductive result (X : Type) := Done (x : X) | Refused (why : refusal).
Arguments Done {X}.
Arguments Refused {X}.

Definition bind {X Y} (r : result X) (f : X -> result Y) : result Y :=
  match r with Done x => f x | Refused why => Refused why end.
Notation "x <- r ;; k" := (bind r (fun x => k)) (at level 61, r at next level, right associativity).
Notation "' p <- r ;; k" := (bind r (fun x => let p := x in k))
  (at level 61, p pattern, r at next level, right associativity).
Definition require (b : bool) (why : refusal) : result unit := if b then Done tt else Refused why.

Section State.

Context {A : Type}.                      (* a cell, scope and external content included *)
Variable cfg : config.

Notation B := (B cfg).

(* ---------- arithmetic ---------- *)

Definition cdiv (n : nat) : nat := (n + (B - 1)) / B.            (* blocks that hold n cells *)
Definition slot (b i : nat) : nat := b * B + i mod B.            (* where block b keeps the cell of position i *)

(* The first position that the query at position n sees (blocktable/window.h). *)
Definition need (g : group) (n : nat) : nat :=
  match window g with 0 => 0 | w => n + 1 - w end.
(* The first position to keep when n cells are committed and the next ones are reserved; right after a commit. *)
Definition keep_from (g : group) (n : nat) : nat := need g n - slack cfg.
Definition keep_after_commit (g : group) (n : nat) : nat := keep_from g (n - 1).

Definition sink_blocks (g : group) : nat := cdiv (sinks g).

(* ---------- state ---------- *)

(* The content that an indexed block is known by: its group, and all cells from position 0 to its last one. The block
   holds the last of them: those from position key_base on. *)
Record key := Key { in_group : nat; content : list A }.
Definition key_block (k : key) : nat := (length (content k) - 1) / B.
Definition key_base (k : key) : nat := key_block k * B.

Record pool := Pool {
  store : tmap (option (nat * A));       (* slot -> the group whose K and V it holds, and the cell *)
  refs : tmap nat;                       (* block -> tables that name it *)
  pins : tmap nat;                       (* block -> pins, counted apart *)
  index : tmap (option key);             (* block -> what it can be hit for *)
  free : list nat;                       (* no table names them, no step may touch them; cached ones included *)
  fenced : list (nat * list nat);        (* given up, and the steps that were open then and still are *)
  open : list nat }.                     (* device steps in flight *)

(* entries !! j is the block of positions [j * B, (j + 1) * B), None for a hole. Cells of positions in [lo, length) are
   held, and those of the sinks. *)
Record table := Table { lo : nat; entries : list (option nat) }.

Record seq := Seq {
  len : nat;                             (* committed cells *)
  rsv : nat;                             (* reserved cells behind them *)
  full : bool;                           (* the whole window is held (after a commit), not only what need asks *)
  tables : list table }.                 (* one for each group *)

Record state := State { the_pool : pool; seqs : list (option seq) }.

Definition with_store p x := Pool x (refs p) (pins p) (index p) (free p) (fenced p) (open p).
Definition with_refs p x := Pool (store p) x (pins p) (index p) (free p) (fenced p) (open p).
Definition with_pins p x := Pool (store p) (refs p) x (index p) (free p) (fenced p) (open p).
Definition with_index p x := Pool (store p) (refs p) (pins p) x (free p) (fenced p) (open p).
Definition with_free p x := Pool (store p) (refs p) (pins p) (index p) x (fenced p) (open p).
Definition with_fences p x y := Pool (store p) (refs p) (pins p) (index p) (free p) x y.

End State.
Arguments key : clear implicits.
Arguments pool : clear implicits.
Arguments state : clear implicits.

(* ---------- lists ---------- *)

Definition at_ {X} (l : list (option X)) (i : nat) : option X := nth i l None.

Fixpoint upd {X} (l : list X) (i : nat) (x : X) : list X :=
  match l, i with
  | [], _ => []
  | _ :: l', 0 => x :: l'
  | y :: l', S i' => y :: upd l' i' x
  end.

Definition mem (b : nat) (l : list nat) : bool := existsb (Nat.eqb b) l.
Definition without (b : nat) (l : list nat) : list nat := filter (fun x => negb (x =? b)) l.
