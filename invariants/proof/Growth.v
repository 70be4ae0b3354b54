(* SPDX-License-Identifier: Apache-2.0 *)
(* What makes the tables of a sequence longer and shorter: windows slide, cells are reserved and committed, and a
   sequence is cut. *)
From Coq Require Import List Arith Bool.
From Kvpane Require Import TotalMap State Blocks.
Import ListNotations.

Section Growth.

Context {A : Type}.                      (* a cell, scope and external content included *)
Variable cfg : config.

(* Of these cells, with this configuration. *)
Notation pool := (pool A).
Notation work := (work A).
Notation B := (B cfg).
Notation cdiv := (cdiv cfg).
Notation slot := (slot cfg).
Notation keep_from := (keep_from cfg).
Notation keep_after_commit := (keep_after_commit cfg).
Notation sink_blocks := (sink_blocks cfg).
Notation copy := (copy cfg).

(* ---------- windows ---------- *)

(* Gives back the blocks wholly below `keep`, sinks aside. *)
Definition slide (g : group) (keep : nat) (pt : pool * table) : pool * table :=
  let '(p, t) := pt in
  let first := keep / B in
  let s := Nat.min (sink_blocks g) first in
  let dead := skipn s (firstn first (entries t)) in
  (give_all p dead,
   Table (Nat.max (lo t) (first * B))
         (firstn s (entries t) ++ map (fun _ => None) dead ++ skipn first (entries t))).

Fixpoint slide_all (keep : group -> nat) (gs : list group) (p : pool) (ts : list table) : pool * list table :=
  match gs, ts with
  | g :: gs', t :: ts' =>
    let '(p, t) := slide g (keep g) (p, t) in
    let '(p, ts') := slide_all keep gs' p ts' in (p, t :: ts')
  | _, _ => (p, ts)
  end.

(* ---------- reservation ---------- *)

(* The block of position `begin` is made writable: nobody else may hold it or hit it. `always_copy`: it is a hit that
   matched only partly, and stays as it is. *)
Definition open_tail (begin : nat) (always_copy : bool) (wt : work * table) : result (work * table) :=
  let '(w, t) := wt in
  if begin mod B =? 0 then Done (w, t) else
  match at_ (entries t) (begin / B) with
  | None =>                              (* its earlier cells are gone, and no query will ask for them *)
    '(b, w) <- take w ;; Done (w, Table (lo t) (upd (entries t) (begin / B) (Some b)))
  | Some a =>
    if negb always_copy && (get (refs (pool_of w)) a =? 1) && (get (pins (pool_of w)) a =? 0) then
      Done (Work (with_index (pool_of w) (set (index (pool_of w)) a None)) (choices w) (sources w), t)
    else
      '(b, w) <- take w ;;
      let p := give (copy (pool_of w) a b (begin mod B)) a in
      Done (Work p (choices w) (a :: sources w), Table (lo t) (upd (entries t) (begin / B) (Some b)))
  end.

Fixpoint take_blocks (n : nat) (w : work) : result (work * list (option nat)) :=
  match n with
  | 0 => Done (w, [])
  | S n => '(b, w) <- take w ;; '(w, bs) <- take_blocks n w ;; Done (w, Some b :: bs)
  end.

Definition extend (begin k : nat) (always_copy : bool) (wt : work * table) : result (work * table) :=
  '(w, t) <- open_tail begin always_copy wt ;;
  '(w, bs) <- take_blocks (cdiv (begin + k) - length (entries t)) w ;;
  Done (w, Table (lo t) (entries t ++ bs)).

Fixpoint extend_all (begin k : nat) (always_copy : bool) (w : work) (ts : list table)
  : result (work * list table) :=
  match ts with
  | [] => Done (w, [])
  | t :: ts =>
    '(w, t) <- extend begin k always_copy (w, t) ;;
    '(w, ts) <- extend_all begin k always_copy w ts ;; Done (w, t :: ts)
  end.

Definition within_limit (n : nat) : bool := (limit cfg =? 0) || (n <=? limit cfg).

Definition find_seq (st : list (option seq)) (s : nat) : result seq :=
  match at_ st s with Some q => Done q | None => Refused Unknown end.

(* k more cells for sequence s: drop what the windows have left, then take. *)
Definition reserve_one (s k : nat) (wq : work * list (option seq)) : result (work * list (option seq)) :=
  let '(w, sl) := wq in
  q <- find_seq sl s ;;
  let '(p, ts) := slide_all (fun g => keep_from g (len q)) (groups cfg) (pool_of w) (tables q) in
  '(w, ts) <- extend_all (len q + rsv q) k false (Work p (choices w) (sources w)) ts ;;
  Done (w, upd sl s (Some (Seq (len q) (rsv q + k) false ts))).

Fixpoint reserve_batch (batch : list (nat * nat)) (wq : work * list (option seq))
  : result (work * list (option seq)) :=
  match batch with
  | [] => Done wq
  | (s, k) :: rest => wq <- reserve_one s k wq ;; reserve_batch rest wq
  end.

(* What makes a batch wrong whatever the room: each sequence once, and cells for each. *)
Fixpoint ask (sl : list (option seq)) (seen : list nat) (batch : list (nat * nat)) : result unit :=
  match batch with
  | [] => Done tt
  | (s, k) :: rest =>
    _ <- find_seq sl s ;; _ <- require ((0 <? k) && negb (mem s seen)) Invalid ;; ask sl (s :: seen) rest
  end.

Definition is_short_enough (sl : list (option seq)) (sk : nat * nat) : bool :=
  match at_ sl (fst sk) with Some q => within_limit (len q + rsv q + snd sk) | None => true end.

(* ---------- commit ---------- *)

Fixpoint write (gi : nat) (p : pool) (t : table) (i : nat) (cells : list A) : pool :=
  match cells with
  | [] => p
  | a :: rest =>
    let p := match at_ (entries t) (i / B) with
             | Some b => with_store p (set (store p) (slot b i) (Some (gi, a)))
             | None => p end in
    write gi p t (S i) rest
  end.

(* What another sequence left in the index stays where it is at least as long, or pinned. *)
Definition keeps_entry (p : pool) (b : nat) (h : list A) : bool :=
  match get (index p) b with
  | Some k => (length h <=? length (content k)) || negb (get (pins p) b =? 0)
  | None => false
  end.

(* Entry j of a table of group number gi enters the index, known by the history h so far, which ends in it. *)
Definition publish (gi : nat) (t : table) (p : pool) (j : nat) (h : list A) : pool :=
  match at_ (entries t) j with
  | Some b => if keeps_entry p b h then p else with_index p (set (index p) b (Some (Key gi h)))
  | None => p
  end.

(* Whether all cells of entry j are held (the first ones may be gone: window 1, after truncate). *)
Definition is_whole (g : group) (t : table) (j : nat) : bool := (lo t <=? j * B) || (j <? sink_blocks g).

(* The history that a table holds is not kept by the machine itself: `h` is the specification's, and the index entries
   are the only thing that is made of it. *)
Definition publish_blocks (gi : nat) (g : group) (t : table) (from to : nat) (h : list A) (p : pool) : pool :=
  fold_left (fun p j => if is_whole g t j then publish gi t p j (firstn ((j + 1) * B) h) else p)
            (List.seq from (to - from)) p.

(* When a sequence ends, its partly filled last entries may enter, too: those after n / B whole ones. *)
Fixpoint publish_tails (gi n : nat) (h : list A) (gs : list group) (ts : list table) (p : pool) : pool :=
  match gs, ts with
  | g :: gs, t :: ts =>
    let p := if is_whole g t (n / B) then publish gi t p (n / B) h else p in
    publish_tails (S gi) n h gs ts p
  | _, _ => p
  end.

Definition commit_table (gi : nat) (g : group) (n : nat) (cells : list A) (h : list A) (pt : pool * table)
  : pool * table :=
  let '(p, t) := pt in
  let p := write gi p t n cells in
  let m := n + length cells in
  let p := if caching cfg then publish_blocks gi g t (n / B) (m / B) h p else p in
  if eager cfg then slide g (keep_after_commit g m) (p, t) else (p, t).

Fixpoint commit_all (gi n : nat) (cells h : list A) (gs : list group) (p : pool) (ts : list table)
  : pool * list table :=
  match gs, ts with
  | g :: gs', t :: ts' =>
    let '(p, t) := commit_table gi g n cells h (p, t) in
    let '(p, ts') := commit_all (S gi) n cells h gs' p ts' in (p, t :: ts')
  | _, _ => (p, ts)
  end.

(* `h`: the history of s so far. *)
Definition commit_one (s : nat) (cells h : list A) (p : pool) (sl : list (option seq))
  : result (pool * list (option seq)) :=
  q <- find_seq sl s ;;
  match cells with
  | [] => Done (p, sl)
  | _ =>
    _ <- require (length cells <=? rsv q) Not_reserved ;;
    let '(p, ts) := commit_all 0 (len q) cells (h ++ cells) (groups cfg) p (tables q) in
    Done (p, upd sl s (Some (Seq (len q + length cells) (rsv q - length cells) true ts)))
  end.

(* ---------- shorter sequences ---------- *)

(* The cells of positions [from, to) are held: those below `start` lie in the blocks of the sinks. *)
Definition covers (g : group) (t : table) (from to : nat) : bool :=
  let start := Nat.max from (sink_blocks g * B) in (to <=? start) || (lo t <=? start).

(* What the query at position n needs is held. *)
Definition is_resident (n : nat) (g : group) (t : table) : bool := covers g t (need g n) n.

Definition all_resident (n : nat) (q : seq) : bool :=
  forallb (fun gt => is_resident n (fst gt) (snd gt)) (combine (groups cfg) (tables q)).

(* Of the entries that n cells need, those behind the sinks are given up where none of their cells is held: the run
   begins within a block (window 1, after truncate), and is cut before it. *)
Definition kept_entries (g : group) (n : nat) (t : table) : nat :=
  if lo t <? n then cdiv n else Nat.min (sink_blocks g) (cdiv n).
Definition cut_table (n : nat) (g : group) (t : table) : table :=
  let k := kept_entries g n t in
  Table (Nat.min (lo t) n) (firstn k (entries t) ++ repeat None (cdiv n - k)).
Definition tail_of (n : nat) (g : group) (t : table) : list (option nat) := skipn (kept_entries g n t) (entries t).

Definition with_groups {X} (f : group -> table -> X) (ts : list table) : list X :=
  map (fun gt => f (fst gt) (snd gt)) (combine (groups cfg) ts).

Definition give_tables (p : pool) (tss : list (list (option nat))) : pool := fold_left give_all tss p.

Definition shrink (n : nat) (p : pool) (q : seq) : pool * seq :=
  (give_tables p (with_groups (tail_of n) (tables q)),
   Seq n 0 (full q && (n =? len q)) (with_groups (cut_table n) (tables q))).

End Growth.
