(* SPDX-License-Identifier: Apache-2.0 *)
(* What happens to a block: it is taken, shared, copied, given back, pinned, and fenced while device steps are open. *)
From Coq Require Import List Arith Bool.
From Kvpane Require Import TotalMap State.
Import ListNotations.

Section Blocks.

Context {A : Type}.                      (* a cell, scope and external content included *)
Variable cfg : config.

(* Of these cells, with this configuration. *)
Notation pool := (pool A).
Notation B := (B cfg).

(* ---------- blocks (allocator/block_pool.h) ---------- *)

(* What an operation threads through: the pool, the choices that are left, and the blocks that it copied from, which
   join the queue after everything else that the call gives back: it cannot take them itself. *)
Record work := Work { pool_of : pool; choices : list nat; sources : list nat }.

Definition takeable (w : work) (b : nat) : bool :=
  mem b (free (pool_of w)) && (get (pins (pool_of w)) b =? 0) && negb (mem b (sources w)).

Definition room (w : work) : nat := length (filter (takeable w) (free (pool_of w))).

(* An idle block gets its first reference and loses its entry. *)
Definition claim (p : pool) (b : nat) : pool :=
  with_free (with_index (with_refs p (set (refs p) b 1)) (set (index p) b None)) (without b (free p)).

Definition take (w : work) : result (nat * work) :=
  match choices w with
  | b :: rest => if takeable w b then Done (b, Work (claim (pool_of w) b) rest (sources w)) else Refused Bad_choice
  | [] => match find (takeable w) (free (pool_of w)) with
          | Some b => Done (b, Work (claim (pool_of w) b) [] (sources w))
          | None => Refused No_room
          end
  end.

(* A reference less; the last one frees the block, or fences it while device steps are open. *)
Definition give (p : pool) (b : nat) : pool :=
  let p' := with_refs p (set (refs p) b (get (refs p) b - 1)) in
  if get (refs p) b =? 1 then
    match open p with
    | [] => with_free p' (b :: free p')
    | steps => with_fences p' ((b, steps) :: fenced p') (open p')
    end
  else p'.

(* One more table names the block: an idle one leaves the queue, a fenced one needs no fence while it is held. *)
Definition share (p : pool) (b : nat) : pool :=
  let p' := with_refs p (set (refs p) b (S (get (refs p) b))) in
  if get (refs p) b =? 0 then
    with_fences (with_free p' (without b (free p'))) (filter (fun f => negb (fst f =? b)) (fenced p')) (open p')
  else p'.

Definition give_all (p : pool) (bs : list (option nat)) : pool :=
  fold_left (fun p ob => match ob with Some b => give p b | None => p end) bs p.
Definition share_all (p : pool) (bs : list (option nat)) : pool :=
  fold_left (fun p ob => match ob with Some b => share p b | None => p end) bs p.

(* The first n cells of block a, copied to block b. *)
Definition copy (p : pool) (a b n : nat) : pool :=
  with_store p (fold_left (fun st i => set st (b * B + i) (get st (a * B + i))) (List.seq 0 n) (store p)).

(* ---------- device steps (allocator/fences.h) ---------- *)

Definition step_begin (step : nat) (p : pool) : result pool :=
  _ <- require (negb (mem step (open p))) Invalid ;;
  Done (with_fences p (fenced p) (step :: open p)).

Definition lower (step : nat) (p : pool) : list (nat * list nat) :=
  map (fun f => (fst f, without step (snd f))) (fenced p).
Definition has_passed (f : nat * list nat) : bool := match snd f with [] => true | _ => false end.

Definition step_end (step : nat) (p : pool) : result pool :=
  _ <- require (mem step (open p)) Invalid ;;
  let fs := lower step p in
  Done (with_free (with_fences p (filter (fun f => negb (has_passed f)) fs) (without step (open p)))
                  (map fst (filter has_passed fs) ++ free p)).

(* ---------- the prefix index: pins, and entries that leave it ---------- *)

Definition pin_one (r : result pool) (b : nat) : result pool :=
  p <- r ;;
  _ <- require (match get (index p) b with Some _ => true | None => false end) Bad_choice ;;
  Done (with_pins p (set (pins p) b (S (get (pins p) b)))).

Definition unpin_one (r : result pool) (b : nat) : result pool :=
  p <- r ;;
  _ <- require (0 <? get (pins p) b) Invalid ;;
  Done (with_pins p (set (pins p) b (get (pins p) b - 1))).

Definition forget (p : pool) (b : nat) : pool :=
  with_pins (with_index p (set (index p) b None)) (set (pins p) b 0).

End Blocks.
Arguments work : clear implicits.
