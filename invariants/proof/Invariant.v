(* SPDX-License-Identifier: Apache-2.0 *)
(* The invariant R of the paged machine, and the relation `frame` between the pools before and after an
   operation.

   R says: the pool's books agree with the tables (`pool_ok`, for the function that counts a block's
   appearances in all tables of all sequences), and every table of every sequence holds what its history
   says (`seq_ok`).

   `pool_ok` takes the count as a function, so that what an operation does to a table is a change of that
   function, and arithmetic. `frame rest p p'` says that nothing happened to the blocks that the other
   tables name (`rest` counts their appearances): their cells are the same, and what a table owned alone it
   still owns alone. So it is enough to follow one table at a time; all others keep what they had
   (`table_ok_frame`). *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Interpreter Lists Entries.
Import ListNotations.

(* ---------- appearances in the tables of all sequences ---------- *)

Definition blocks_in (ts : list table) : list (option nat) := flat_map entries ts.
Definition blocks_of (o : option seq) : list (option nat) :=
  match o with Some q => blocks_in (tables q) | None => [] end.
Definition all_blocks (sl : list (option seq)) : list (option nat) := flat_map blocks_of sl.

Section Invariant.
Context {A : Type} (watch : nat -> nat -> Prop) (cfg : config).
Notation B := (B cfg).

(* ---------- the pool ---------- *)

(* Step j is in flight, and block b is named by a table or fenced until j has ended. *)
Definition waits (c : nat -> nat) (p : pool A) (b j : nat) : Prop :=
  In j (open p) /\ (0 < c b \/ exists steps, In (b, steps) (fenced p) /\ In j steps).

(* References, queue and fences against the count c: P1, P2 and P3 of the design. `watch` is any set of
   pairs of a block and a step on which a proof keeps an eye: that no operation but the end of the step
   ends their waiting. *)
Record books_ok (c : nat -> nat) (p : pool A) : Prop := {
  refs_count : forall b, get (refs p) b = c b;
  named_in_range : forall b, 0 < c b -> b < N cfg;
  free_once : NoDup (free p);
  fenced_once : NoDup (map fst (fenced p));
  free_exact : forall b, In b (free p) <-> b < N cfg /\ c b = 0 /\ ~ In b (map fst (fenced p));
  fenced_idle : forall b, In b (map fst (fenced p)) -> b < N cfg /\ c b = 0;
  fences_wait : forall b steps, In (b, steps) (fenced p) -> steps <> [] /\ incl steps (open p);
  watched_waits : forall b j, watch b j -> waits c p b j }.

(* Block b holds the last cells of the content k. *)
Definition holds_content (p : pool A) (b : nat) (k : key A) : Prop :=
  content k <> [] /\
  forall i, key_base cfg k <= i < length (content k) ->
    cell cfg (in_group k) p b i = nth_error (content k) i.

(* X1: every index entry tells the truth about its block. Only what is indexed is pinned. *)
Record index_ok (p : pool A) : Prop := {
  entry_holds : forall b k, get (index p) b = Some k -> b < N cfg /\ holds_content p b k;
  pinned_indexed : forall b, 0 < get (pins p) b -> get (index p) b <> None }.

Record pool_ok (c : nat -> nat) (p : pool A) : Prop := { pool_books : books_ok c p; pool_index : index_ok p }.

(* T5: one table names the block, at one place, it cannot be hit and nobody pinned it. *)
Definition exclusive (p : pool A) (b : nat) : Prop :=
  get (refs p) b = 1 /\ get (index p) b = None /\ get (pins p) b = 0.

Definition same_cells (p p' : pool A) (b : nat) : Prop :=
  forall i, get (store p') (slot cfg b i) = get (store p) (slot cfg b i).

(* F1: the blocks that `rest` counts keep their cells, and their owners own them still. *)
Definition frame (rest : nat -> nat) (p p' : pool A) : Prop :=
  forall b, 0 < rest b -> same_cells p p' b /\ (exclusive p b -> exclusive p' b).

(* ---------- tables and sequences ---------- *)

(* The cell of position i has not slid out of the window. *)
Definition held (g : group) (t : table) (i : nat) : Prop := i < sink_blocks cfg g * B \/ lo t <= i.

(* A table of group g, the gi-th, with m cells: those of the history h, and the rest reserved. *)
Record table_ok (gi : nat) (p : pool A) (m : nat) (h : list A) (g : group) (t : table) : Prop := {
  entries_length : length (entries t) = cdiv cfg m;
  committed : forall i, i < length h -> held g t i -> read cfg gi p t i = nth_error h i;
  reserved : forall i, length h <= i < m -> exists b, at_ (entries t) (i / B) = Some b /\ exclusive p b }.

(* All from position `from` on is held. *)
Definition holds_from (from : nat) (g : group) (t : table) : Prop :=
  lo t <= Nat.max from (sink_blocks cfg g * B).

(* The tables of the groups gs, the first of which is the gi-th. *)
Inductive tables_ok (p : pool A) (m : nat) (h : list A) (seen : group -> nat)
  : nat -> list group -> list table -> Prop :=
| no_table_ok : forall gi, tables_ok p m h seen gi [] []
| one_more_ok : forall gi g t gs ts, table_ok gi p m h g t /\ holds_from (seen g) g t ->
    tables_ok p m h seen (S gi) gs ts -> tables_ok p m h seen gi (g :: gs) (t :: ts).

(* No block stands twice in the tables of one sequence: T1. *)
Definition distinct (ts : list table) : Prop := forall b, count (blocks_in ts) b <= 1.

Record seq_ok (p : pool A) (q : seq) (h : list A) : Prop := {
  len_exact : len q = length h;
  seq_tables : tables_ok p (len q + rsv q) h (fun g => seen_from g q) 0 (groups cfg) (tables q);
  seq_distinct : distinct (tables q) }.

Definition seqs_ok (p : pool A) (sl : list (option seq)) (hs : histories A) : Prop :=
  length sl = length hs /\
  forall s, match at_ sl s, at_ hs s with
            | Some q, Some h => seq_ok p q h
            | None, None => True
            | _, _ => False
            end.

Definition R' (p : pool A) (sl : list (option seq)) (hs : histories A) : Prop :=
  pool_ok (count (all_blocks sl)) p /\ seqs_ok p sl hs.
Definition R (st : state A) (hs : histories A) : Prop := R' (the_pool st) (seqs st) hs.

(* ---------- frames ---------- *)

Lemma frame_refl : forall c p, frame c p p.
Proof. intros c p b _. split; [now intros i | auto]. Qed.

Lemma frame_trans : forall c p p' p'', frame c p p' -> frame c p' p'' -> frame c p p''.
Proof.
  intros c p p' p'' F F' b H. destruct (F b H) as [S X], (F' b H) as [S' X'].
  split; [|auto]. intros i. now rewrite S', S.
Qed.

Lemma frame_less : forall c c' p p', (forall b, 0 < c' b -> 0 < c b) -> frame c p p' -> frame c' p p'.
Proof. intros c c' p p' L F b H. auto. Qed.

Lemma books_ok_ext : forall c c' p, (forall b, c' b = c b) -> books_ok c p -> books_ok c' p.
Proof.
  intros c c' p E K. split; try apply K; intros b; unfold waits; rewrite ?E; apply K.
Qed.

Lemma pool_ok_ext : forall c c' p, (forall b, c' b = c b) -> pool_ok c p -> pool_ok c' p.
Proof. intros c c' p E [K X]. split; [eapply books_ok_ext; eassumption | exact X]. Qed.

Lemma cell_same : forall gi p p' b i, same_cells p p' b -> cell cfg gi p' b i = cell cfg gi p b i.
Proof. intros gi p p' b i S. unfold cell. now rewrite S. Qed.

Lemma read_frame : forall c gi p p' t i,
  frame c p p' -> (forall b, 0 < count (entries t) b -> 0 < c b) -> read cfg gi p' t i = read cfg gi p t i.
Proof.
  intros c gi p p' t i F H. unfold read. destruct (at_ (entries t) (i / B)) as [b|] eqn:E; [|reflexivity].
  apply cell_same, (F b). apply H. eapply count_at. eassumption.
Qed.

(* A table whose blocks are left in peace stays as it is. *)
Lemma table_ok_frame : forall c gi p p' m h g t,
  frame c p p' -> (forall b, 0 < count (entries t) b -> 0 < c b) -> table_ok gi p m h g t ->
  table_ok gi p' m h g t.
Proof.
  intros c gi p p' m h g t F H [L C S]. split; [exact L | |].
  - intros i Li Hi. rewrite (read_frame c gi p p'); auto.
  - intros i Li. destruct (S i Li) as (b & E & X). exists b. split; [exact E|].
    apply (F b); [|exact X]. apply H. eapply count_at. eassumption.
Qed.

Lemma count_blocks_cons : forall t ts b,
  count (blocks_in (t :: ts)) b = count (entries t) b + count (blocks_in ts) b.
Proof. intros. unfold blocks_in. cbn [flat_map]. apply count_app. Qed.

Lemma tables_ok_frame : forall c p p' m h seen gi gs ts,
  frame c p p' -> (forall b, 0 < count (blocks_in ts) b -> 0 < c b) ->
  tables_ok p m h seen gi gs ts -> tables_ok p' m h seen gi gs ts.
Proof.
  intros c p p' m h seen gi gs ts F H T. revert H.
  induction T as [|gi g t gs ts [T X] _ IH]; intros H; constructor.
  - split; [|exact X]. eapply table_ok_frame; [exact F | | exact T].
    intros b L. apply H. rewrite count_blocks_cons. lia.
  - apply IH. intros b L. apply H. rewrite count_blocks_cons. lia.
Qed.

Lemma seq_ok_frame : forall c p p' q h,
  frame c p p' -> (forall b, 0 < count (blocks_in (tables q)) b -> 0 < c b) -> seq_ok p q h -> seq_ok p' q h.
Proof.
  intros c p p' q h F H [L T D]. split; [exact L | | exact D]. eapply tables_ok_frame; eassumption.
Qed.

(* Without reserved cells only the store matters. *)
Lemma tables_ok_store : forall p p' h seen gi gs ts,
  store p' = store p -> tables_ok p (length h) h seen gi gs ts -> tables_ok p' (length h) h seen gi gs ts.
Proof.
  intros p p' h seen gi gs ts E T. induction T as [|gi g t gs ts [[L C _] X] _ IH]; constructor; auto.
  split; [|exact X]. split; [exact L | | lia]. intros i Li Hi. rewrite <- (C i Li Hi). unfold read, cell.
  now rewrite E.
Qed.

(* ---------- one sequence replaced ---------- *)

Lemma count_blocks_upd : forall sl s o b, s < length sl ->
  count (all_blocks (upd sl s o)) b + count (blocks_of (at_ sl s)) b
  = count (all_blocks sl) b + count (blocks_of o) b.
Proof.
  unfold all_blocks. induction sl as [|x sl IH]; intros [|s] o b L; cbn [length] in L; [lia|lia| |].
  - cbn [upd flat_map]. rewrite !count_app. change (at_ (x :: sl) 0) with x. lia.
  - cbn [upd flat_map]. rewrite !count_app. change (at_ (x :: sl) (S s)) with (at_ sl s).
    specialize (IH s o b). lia.
Qed.

Lemma count_blocks_at : forall sl s b, count (blocks_of (at_ sl s)) b <= count (all_blocks sl) b.
Proof.
  intros sl s b. destruct (Nat.lt_ge_cases s (length sl)) as [L|L].
  - pose proof (count_blocks_upd sl s None b L). cbn [blocks_of count] in *. lia.
  - unfold at_. rewrite nth_overflow by lia. cbn. lia.
Qed.

(* Blocks of the sequences but s. *)
Definition others (sl : list (option seq)) (s : nat) (b : nat) : nat := count (all_blocks (upd sl s None)) b.

Lemma others_split : forall sl s b, s < length sl ->
  count (all_blocks sl) b = others sl s b + count (blocks_of (at_ sl s)) b.
Proof.
  intros sl s b L. pose proof (count_blocks_upd sl s None b L). cbn [blocks_of count] in *. unfold others.
  lia.
Qed.

Lemma others_upd : forall sl s o b, others (upd sl s o) s b = others sl s b.
Proof. intros. unfold others. now rewrite upd_twice. Qed.

Lemma others_at : forall sl s s' b, s' <> s -> count (blocks_of (at_ sl s')) b <= others sl s b.
Proof.
  intros sl s s' b D. unfold others. rewrite <- (at_upd_other _ sl s s' None) by auto. apply count_blocks_at.
Qed.

Lemma count_all_upd : forall sl s o b, s < length sl ->
  count (all_blocks (upd sl s o)) b = others sl s b + count (blocks_of o) b.
Proof.
  intros. rewrite (others_split _ s) by now rewrite length_upd. rewrite others_upd, at_upd_same; auto.
Qed.

Lemma replace_seq : forall p sl hs p' s o oh,
  seqs_ok p sl hs -> s < length sl ->
  pool_ok (fun b => others sl s b + count (blocks_of o) b) p' ->
  frame (others sl s) p p' ->
  match o, oh with Some q, Some h => seq_ok p' q h | None, None => True | _, _ => False end ->
  R' p' (upd sl s o) (upd hs s oh).
Proof.
  intros p sl hs p' s o oh [L S] Ls P F Q. split; [|split].
  - eapply pool_ok_ext; [|exact P]. intros b. now apply count_all_upd.
  - now rewrite !length_upd.
  - intros s'. destruct (Nat.eq_dec s' s) as [-> | D].
    + now rewrite !at_upd_same by lia.
    + rewrite !at_upd_other by auto. specialize (S s'). pose proof (fun b => others_at sl s s' b D) as O.
      destruct (at_ sl s') as [q|], (at_ hs s') as [h|]; try easy. eapply seq_ok_frame; [exact F | | exact S].
      intros b C. specialize (O b). cbn [blocks_of] in O. lia.
Qed.

End Invariant.

Arguments refs_count {A watch cfg c p}.
Arguments named_in_range {A watch cfg c p}.
Arguments free_once {A watch cfg c p}.
Arguments fenced_once {A watch cfg c p}.
Arguments free_exact {A watch cfg c p}.
Arguments fenced_idle {A watch cfg c p}.
Arguments fences_wait {A watch cfg c p}.
Arguments watched_waits {A watch cfg c p}.
Arguments entry_holds {A cfg p}.
Arguments pinned_indexed {A cfg p}.
Arguments pool_books {A watch cfg c p}.
Arguments pool_index {A watch cfg c p}.
Arguments entries_length {A cfg gi p m h g t}.
Arguments committed {A cfg gi p m h g t}.
Arguments reserved {A cfg gi p m h g t}.
Arguments len_exact {A cfg p q h}.
Arguments seq_tables {A cfg p q h}.
Arguments seq_distinct {A cfg p q h}.
Arguments frame_refl {A cfg}.
Arguments frame_trans {A cfg}.
Arguments frame_less {A cfg}.
Arguments pool_ok_ext {A watch cfg c c' p}.
