(* SPDX-License-Identifier: Apache-2.0 *)
(* The paged machine: a model of allocator/ and blocktable/ that decides, for every operation of the Manager, whether it
   is refused and why, and what the tables, references and cells are afterwards. Here are the operations, and runs of
   them; to be read before it:

     State           configuration, refusals, arithmetic, and what a state is
     Blocks          what happens to one block
     Growth          what makes the tables of a sequence longer and shorter
     Prefix          what the prefix index can be hit for
     Specification   the operations' arguments, and what they make of histories

   and after it Interpreter, which reads a window back, and Never, which asks again of the pool without the others.

   What the machine leaves open is policy. Which idle block is taken next, which of two copies of a content a hit
   finds, and when an entry leaves the prefix index are choices: an operation may carry them (`choices`), the machine
   checks that they are legal, and the theorems hold for all of them, whatever the order of a free queue, a priority or
   an eviction policy says. An empty list of choices takes the first block there is.

   Names are those of the C++: cells, blocks, tables, groups, need, reserved, fenced, pins, index. *)
From Coq Require Import List Arith Bool.
From Kvpane Require Import TotalMap.
From Kvpane Require Export State Blocks Growth Prefix Specification.
Import ListNotations.

Section Machine.

Context {A : Type}.                      (* a cell, scope and external content included *)
Variable eqb : A -> A -> bool.           (* decides equality *)
Variable cfg : config.

(* Of these cells, with this configuration. *)
Notation pool := (pool A).
Notation state := (state A).
Notation op := (op A).
Notation histories := (histories A).
Notation B := (B cfg).
Notation all_hits_ok := (all_hits_ok eqb cfg).
Notation keep_from := (keep_from cfg).
Notation slide_all := (slide_all cfg).
Notation extend_all := (extend_all cfg).
Notation within_limit := (within_limit cfg).
Notation is_short_enough := (is_short_enough cfg).
Notation reserve_batch := (reserve_batch cfg).
Notation commit_one := (commit_one cfg).
Notation publish_tails := (publish_tails cfg).
Notation all_resident := (all_resident cfg).
Notation cut_table := (cut_table cfg).
Notation with_groups := (with_groups cfg).
Notation shrink := (shrink cfg).
Notation hit_table := (hit_table cfg).

(* ---------- the operations (blocktable/manager.h) ---------- *)

Definition is_vacant {X} (l : list (option X)) (s : nat) : bool :=
  (s <? length l) && match at_ l s with None => true | Some _ => false end.

Definition others_live (sl : list (option seq)) : bool :=
  existsb (fun o => match o with Some _ => true | None => false end) sl.

Definition admit (s : nat) (query : list A) (compute cut : nat) (hits : list (list (option nat)))
                 (cs : list nat) (st : state) : result state :=
  let p := the_pool st in
  _ <- require (is_vacant (seqs st) s) Invalid ;;
  _ <- require (0 <? length query) Invalid ;;
  _ <- require (within_limit (length query)) Too_long ;;
  _ <- require ((cut <? length query) && (caching cfg || (cut =? 0)) && all_hits_ok p query cut 0 (groups cfg) hits)
               Bad_choice ;;
  let k := Nat.min compute (length query - cut) in
  let p := fold_left share_all hits p in
  let ts := map hit_table hits in
  let '(p, ts) := if k =? 0 then (p, ts)
                  else slide_all (fun g => keep_from g cut) (groups cfg) p ts in
  '(w, ts) <- extend_all cut k true (Work p cs []) ts ;;
  _ <- require (negb (others_live (seqs st)) || (watermark cfg <=? room w)) No_room ;;
  let sl := upd (seqs st) s (Some (Seq cut k false ts)) in
  '(p, sl) <- commit_one s (firstn k (skipn cut query)) (firstn cut query) (pool_of w) sl ;;
  Done (State p sl).

Definition reserve (batch : list (nat * nat)) (cs : list nat) (st : state) : result state :=
  _ <- require (negb (length batch =? 0)) Invalid ;;
  _ <- ask (seqs st) [] batch ;;
  _ <- require (forallb (is_short_enough (seqs st)) batch) Too_long ;;
  '(w, sl) <- reserve_batch batch (Work (the_pool st) cs [], seqs st) ;;
  Done (State (pool_of w) sl).

Definition commit (hs : histories) (s : nat) (cells : list A) (st : state) : result state :=
  '(p, sl) <- commit_one s cells (history hs s) (the_pool st) (seqs st) ;; Done (State p sl).

Definition is_idle (sl : list (option seq)) (s : nat) : bool :=
  match at_ sl s with Some q => rsv q =? 0 | None => true end.

Fixpoint commit_batch (hs : histories) (batch : list (nat * list A)) (st : state) : result state :=
  match batch with
  | [] => Done st
  | (s, cells) :: rest => st <- commit hs s cells st ;; commit_batch hs rest st
  end.

(* Reserves for all in order, then commits in order. *)
Definition append (hs : histories) (batch : list (nat * list A)) (cs : list nat) (st : state) : result state :=
  let cells := map (fun sc => (fst sc, length (snd sc))) batch in
  _ <- require (negb (length batch =? 0)) Invalid ;;
  _ <- ask (seqs st) [] cells ;;
  _ <- require (forallb (fun sc => is_idle (seqs st) (fst sc)) batch) Busy ;;
  st <- reserve cells cs st ;;
  commit_batch hs batch st.

Definition cancel (s : nat) (st : state) : result state :=
  q <- find_seq (seqs st) s ;;
  if rsv q =? 0 then Done st else
  let '(p, q) := shrink (len q) (the_pool st) q in
  Done (State p (upd (seqs st) s (Some q))).

Definition truncate (s n : nat) (st : state) : result state :=
  q <- find_seq (seqs st) s ;;
  _ <- require (n <=? len q) Invalid ;;
  _ <- require (all_resident n q) Evicted ;;
  let '(p, q) := shrink n (the_pool st) q in
  Done (State p (upd (seqs st) s (Some q))).

Definition fork (s t n : nat) (st : state) : result state :=
  q <- find_seq (seqs st) s ;;
  _ <- require (is_vacant (seqs st) t) Invalid ;;
  _ <- require (rsv q =? 0) Busy ;;
  _ <- require (n <=? len q) Invalid ;;
  _ <- require (all_resident n q) Evicted ;;
  let ts := with_groups (cut_table n) (tables q) in
  Done (State (fold_left share_all (map entries ts) (the_pool st))
              (upd (seqs st) t (Some (Seq n 0 (full q && (n =? len q)) ts)))).

Definition release (hs : histories) (s : nat) (keep : bool) (st : state) : result state :=
  q <- find_seq (seqs st) s ;;
  let p := the_pool st in
  let p := if keep && caching cfg && tails cfg && negb (len q mod B =? 0)
           then publish_tails 0 (len q) (history hs s) (groups cfg) (tables q) p else p in
  Done (State (give_tables p (map entries (tables q))) (upd (seqs st) s None)).

Definition on_pool (st : state) (r : result pool) : result state := p <- r ;; Done (State p (seqs st)).

Definition step (hs : histories) (st : state) (o : op) : result state :=
  match o with
  | Admit s q compute cut hits cs => admit s q compute cut hits cs st
  | Reserve batch cs => reserve batch cs st
  | Commit s cells => commit hs s cells st
  | Append batch cs => append hs batch cs st
  | Cancel s => cancel s st
  | Fork s t n => fork s t n st
  | Truncate s n => truncate s n st
  | Release s keep => release hs s keep st
  | Begin i => on_pool st (step_begin i (the_pool st))
  | End i => on_pool st (step_end i (the_pool st))
  | Forget b => Done (State (forget (the_pool st) b) (seqs st))
  | Pin bs => on_pool st (fold_left pin_one bs (Done (the_pool st)))
  | Unpin bs => on_pool st (fold_left unpin_one bs (Done (the_pool st)))
  end.

(* ---------- runs ---------- *)

Definition init (n_seqs : nat) : state :=
  State (Pool (all None) (all 0) (all 0) (all None) (List.seq 0 (N cfg)) [] []) (repeat None n_seqs).

(* Both, one operation after the other; what is refused changes nothing. *)
Definition both (c : state * histories) (o : op) : state * histories :=
  let '(st, hs) := c in
  match step hs st o with Done st' => (st', spec_step hs o) | Refused _ => (st, hs) end.
Definition run (n_seqs : nat) (os : list op) : state * histories :=
  fold_left both os (init n_seqs, spec_init n_seqs).

End Machine.
