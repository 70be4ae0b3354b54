(* SPDX-License-Identifier: Apache-2.0 *)
(* What the prefix index can be hit for: which blocks may stand at the beginning of an admission's tables, and the
   longest beginning of a query that can be hit. *)
From Coq Require Import List Arith Bool.
From Kvpane Require Import TotalMap State.
Import ListNotations.

Section Prefix.

Context {A : Type}.                      (* a cell, scope and external content included *)
Variable eqb : A -> A -> bool.           (* decides equality *)
Variable cfg : config.

(* Of these cells, with this configuration. *)
Notation pool := (pool A).
Notation B := (B cfg).
Notation cdiv := (cdiv cfg).
Notation sink_blocks := (sink_blocks cfg).
Notation key_block := (key_block cfg).

(* ---------- prefix hits ---------- *)

Fixpoint is_prefix (a b : list A) : bool :=      (* a is a prefix of b *)
  match a, b with
  | [], _ => true
  | x :: a, y :: b => eqb x y && is_prefix a b
  | _ :: _, [] => false
  end.

(* Block b can stand at entry j of a table of group gi whose first `cut` cells are those of `query`: it is known by a
   content that agrees with the query from position 0 on, as far as the block reaches. *)
Definition holds (p : pool) (query : list A) (cut gi j b : nat) : bool :=
  match get (index p) b with
  | None => false
  | Some k => (in_group k =? gi) && (key_block k =? j) &&
              (let m := Nat.min ((j + 1) * B) cut in
               (m <=? length (content k)) && is_prefix (firstn m query) (content k))
  end.

(* The start of the unbroken run of held entries that ends at the last one. *)
Fixpoint run_begin (j : nat) (es : list (option nat)) : nat :=   (* es = entries from j on *)
  match es with
  | [] => j
  | None :: es => run_begin (S j) es
  | Some _ :: es => if forallb (fun e => match e with Some _ => true | None => false end) es then j
                    else run_begin (S j) es
  end.

Definition hits_ok (p : pool) (query : list A) (cut gi : nat) (g : group) (es : list (option nat)) : bool :=
  (length es =? cdiv cut) &&
  forallb (fun j => match at_ es j with
                    | Some b => (b <? N cfg) && holds p query cut gi j b
                    | None => negb (j <? sink_blocks g) end)
          (List.seq 0 (length es)) &&
  ((cut =? 0) || (run_begin 0 es * B <? cut) && (run_begin 0 es * B <=? need g cut)).

Fixpoint all_hits_ok (p : pool) (query : list A) (cut gi : nat) (gs : list group) (ess : list (list (option nat)))
  : bool :=
  match gs, ess with
  | g :: gs, es :: ess => hits_ok p query cut gi g es && all_hits_ok p query cut (S gi) gs ess
  | [], [] => true
  | _, _ => false
  end.

Definition hit_table (es : list (option nat)) : table := Table (run_begin 0 es * B) es.

(* ---------- what would be cached for a query (blocktable/prefix_search.h) ---------- *)

(* The blocks known by contents that agree with the query, as (group, entry, cells that agree from position 0). *)
Fixpoint agreement (a b : list A) : nat :=
  match a, b with
  | x :: a, y :: b => if eqb x y then S (agreement a b) else 0
  | _, _ => 0
  end.

Definition candidates (p : pool) (query : list A) : list (nat * nat * nat) :=
  flat_map (fun b => match get (index p) b with
                     | Some k => [(in_group k, key_block k, agreement query (content k))]
                     | None => [] end)
           (List.seq 0 (N cfg)).

Definition has_block (cs : list (nat * nat * nat)) (gi j m : nat) : bool :=
  existsb (fun c => let '(gi', j', m') := c in (gi' =? gi) && (j' =? j) && (m <=? m')) cs.

(* Which entries a hit of `cut` cells needs: those of the sinks, those from need(cut) on, and the last one. *)
Definition needs_entry (g : group) (cut j : nat) : bool :=
  (j <? sink_blocks g) || (Nat.min (need g cut) (cut - 1) / B <=? j).

Definition can_hit (cs : list (nat * nat * nat)) (cut gi : nat) (g : group) : bool :=
  forallb (fun j => negb (needs_entry g cut j) || has_block cs gi j (Nat.min ((j + 1) * B) cut))
          (List.seq 0 (cdiv cut)).

Fixpoint all_can_hit (cs : list (nat * nat * nat)) (cut gi : nat) (gs : list group) : bool :=
  match gs with [] => true | g :: gs => can_hit cs cut gi g && all_can_hit cs cut (S gi) gs end.

(* The longest prefix that can be hit: `below` cells at most. *)
Fixpoint longest (cs : list (nat * nat * nat)) (below : nat) : nat :=
  match below with
  | 0 => 0
  | S n => if (tails cfg || (below mod B =? 0)) && all_can_hit cs below 0 (groups cfg) then below else longest cs n
  end.

Definition best_cut (p : pool) (query : list A) : nat :=
  if caching cfg then longest (candidates p query) (length query - 1) else 0.

End Prefix.
