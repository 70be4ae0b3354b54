(* SPDX-License-Identifier: Apache-2.0 *)
(* The paged machine: a model of allocator/ and blocktable/ that decides, for every operation of the Manager, whether it
   is refused and why, and what the tables, references and cells are afterwards.

   What the machine leaves open is policy. Which idle block is taken next, which of two copies of a content a hit
   finds, and when an entry leaves the prefix index are choices: an operation may carry them (`choices`), the machine
   checks that they are legal, and the theorems hold for all of them, whatever the order of a free queue, a priority or
   an eviction policy says. An empty list of choices takes the first block there is.

   Names are those of the C++: cells, blocks, tables, groups, need, reserved, fenced, pins, index.                    *)
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

Section Machine.

Variable A : Type.                       (* a cell, scope and external content included *)
Variable eqb : A -> A -> bool.           (* decides equality *)
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

Definition at_ {X} (l : list (option X)) (i : nat) : option X := nth i l None.

Fixpoint upd {X} (l : list X) (i : nat) (x : X) : list X :=
  match l, i with
  | [], _ => []
  | _ :: l', 0 => x :: l'
  | y :: l', S i' => y :: upd l' i' x
  end.

Definition mem (b : nat) (l : list nat) : bool := existsb (Nat.eqb b) l.
Definition without (b : nat) (l : list nat) : list nat := filter (fun x => negb (x =? b)) l.

(* ---------- blocks (allocator/block_pool.h) ---------- *)

(* What an operation threads through: the pool, the choices that are left, and the blocks that it copied from, which
   join the queue after everything else that the call gives back: it cannot take them itself. *)
Record work := Work { pool_of : pool; choices : list nat; sources : list nat }.

Definition takeable (w : work) (b : nat) : bool :=
  mem b (free (pool_of w)) && (get (pins (pool_of w)) b =? 0) && negb (mem b (sources w)).

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

Definition forget (p : pool) (b : nat) : pool :=
  with_pins (with_index p (set (index p) b None)) (set (pins p) b 0).

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
              (let m := Nat.min ((j + 1) * B) cut in (m <=? length (content k)) && is_prefix (firstn m query) (content k))
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

(* ---------- the operations (blocktable/manager.h) ---------- *)

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

Definition is_vacant {X} (l : list (option X)) (s : nat) : bool :=
  (s <? length l) && match at_ l s with None => true | Some _ => false end.

Definition others_live (sl : list (option seq)) : bool :=
  existsb (fun o => match o with Some _ => true | None => false end) sl.

Definition room (w : work) : nat := length (filter (takeable w) (free (pool_of w))).

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

Definition history (hs : histories) (s : nat) : list A := match at_ hs s with Some h => h | None => [] end.

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

Fixpoint publish_tails (gi n : nat) (h : list A) (gs : list group) (ts : list table) (p : pool) : pool :=
  match gs, ts with
  | g :: gs, t :: ts =>
    let p := if is_whole g t (n / B) then publish gi t p (n / B) h else p in
    publish_tails (S gi) n h gs ts p
  | _, _ => p
  end.

Definition release (hs : histories) (s : nat) (keep : bool) (st : state) : result state :=
  q <- find_seq (seqs st) s ;;
  let p := the_pool st in
  let p := if keep && caching cfg && tails cfg && negb (len q mod B =? 0)
           then publish_tails 0 (len q) (history hs s) (groups cfg) (tables q) p else p in
  Done (State (give_tables p (map entries (tables q))) (upd (seqs st) s None)).

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

Definition pin_one (r : result pool) (b : nat) : result pool :=
  p <- r ;;
  _ <- require (match get (index p) b with Some _ => true | None => false end) Bad_choice ;;
  Done (with_pins p (set (pins p) b (S (get (pins p) b)))).

Definition unpin_one (r : result pool) (b : nat) : result pool :=
  p <- r ;;
  _ <- require (0 <? get (pins p) b) Invalid ;;
  Done (with_pins p (set (pins p) b (get (pins p) b - 1))).

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

(* ---------- the specification: histories, and nothing about blocks ---------- *)

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

Definition init (n_seqs : nat) : state :=
  State (Pool (all None) (all 0) (all 0) (all None) (List.seq 0 (N cfg)) [] []) (repeat None n_seqs).
Definition spec_init (n_seqs : nat) : histories := repeat None n_seqs.

(* Both, one operation after the other; what is refused changes nothing. *)
Definition both (c : state * histories) (o : op) : state * histories :=
  let '(st, hs) := c in
  match step hs st o with Done st' => (st', spec_step hs o) | Refused _ => (st, hs) end.
Definition run (n_seqs : nat) (os : list op) : state * histories :=
  fold_left both os (init n_seqs, spec_init n_seqs).

(* ---------- the interpreter (invariants/interpreter.h): from tables and store alone ---------- *)

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

(* ---------- later or never ---------- *)

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

End Machine.
