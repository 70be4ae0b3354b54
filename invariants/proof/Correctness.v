(* SPDX-License-Identifier: Apache-2.0 *)
(* What the invariant means for an engine: the theorems about every state that any list of operations
   reaches, with any choices of blocks, hits and evictions. Numbers in brackets are those of the invariants
   in the design. *)
From Coq Require Import List Arith Bool Lia Permutation.
From Kvpane Require Import TotalMap Machine Interpreter Lists Entries Invariant Pool Tables Hits Sequences Refinement.
From Kvpane Require Window.
Import ListNotations.

Lemma nodup_app : forall X (l l' : list X), NoDup l -> NoDup l' -> (forall x, In x l -> ~ In x l') ->
  NoDup (l ++ l').
Proof.
  induction l as [|x l IH]; intros l' D D' O; [exact D'|]. inversion_clear D as [|? ? Nx Dl]. cbn.
  constructor.
  - rewrite in_app_iff. intros [H|H]; [auto|]. apply (O x); [now left | exact H].
  - apply IH; auto. intros y H. apply O. now right.
Qed.

Section Correctness.
Context {A : Type} {cfg : config}.
Variable eqb : A -> A -> bool.
Hypothesis eqb_ok : forall x y, eqb x y = true <-> x = y.
Hypothesis block_size_positive : 0 < B cfg.
Notation B := (B cfg).

Local Instance blocks_hold_cells : positive B := block_size_positive.

(* ---------- what every reachable state is like ---------- *)

Section Reachable.
Variables (n_seqs : nat) (os : list (op A)) (st : state A) (hs : histories A).
Hypothesis reached : run eqb cfg n_seqs os = (st, hs).
Notation p := (the_pool st).

Lemma reachable_ok : R nothing cfg st hs.
Proof. pose proof (run_ok A cfg eqb eqb_ok block_size_positive n_seqs os) as H. now rewrite reached in H. Qed.

Let books : books_ok nothing cfg (count (all_blocks (seqs st))) p := pool_books (proj1 reachable_ok).

(* The machine has exactly the sequences of the specification. *)
Theorem lives_alike : forall s, at_ (seqs st) s = None <-> at_ hs s = None.
Proof.
  intros s. pose proof (proj2 (proj2 reachable_ok) s) as S. destruct (at_ (seqs st) s), (at_ hs s); easy.
Qed.

Section Sequence.
Variables (s : nat) (q : seq) (h : list A).
Hypothesis alive : at_ (seqs st) s = Some q.
Hypothesis says : at_ hs s = Some h.

Lemma sequence_ok : seq_ok cfg p q h.
Proof. pose proof (proj2 (proj2 reachable_ok) s) as S. now rewrite alive, says in S. Qed.

Theorem length_exact : len q = length h.
Proof. apply (len_exact sequence_ok). Qed.

Theorem one_table_for_each_group : length (tables q) = length (groups cfg).
Proof. 
  pose proof (seq_tables sequence_ok) as T. revert T. generalize 0, (groups cfg), (tables q). clear.
  intros gi gs ts T. induction T; cbn; congruence.
 Qed.

(* No block stands twice in the tables of a sequence [T1]. *)
Theorem table_distinct : forall b, count (blocks_in (tables q)) b <= 1.
Proof. apply (seq_distinct sequence_ok). Qed.

Section Table.
Variables (gi : nat) (g : group) (t : table).
Hypothesis group_at : nth_error (groups cfg) gi = Some g.
Hypothesis table_at : nth_error (tables q) gi = Some t.

Lemma table_says : table_ok cfg gi p (len q + rsv q) h g t /\ holds_from cfg (seen_from g q) g t.
Proof.
  pose proof (seq_tables sequence_ok) as T. change gi with (0 + gi) at 1. revert T. clear - group_at table_at.
  generalize 0 as first. generalize (groups cfg) group_at (tables q) table_at. clear group_at table_at.
  induction gi as [|i IH]; intros [|g' gs] Eg [|t' ts] Et first T; try discriminate; inversion_clear T.
  - injection Eg as ->. injection Et as ->. now rewrite Nat.add_0_r.
  - rewrite <- Nat.add_succ_comm. eapply IH; eassumption.
Qed.

Lemma held_reads : forall i, i < length h -> held cfg g t i -> read cfg gi p t i = nth_error h i.
Proof. intros. now apply (committed (proj1 table_says)). Qed.

Lemma seen_is_held : forall i, seen_from g q <= i -> held cfg g t i.
Proof.
  intros i L. pose proof (proj2 table_says) as H. unfold holds_from in H. unfold held. lia.
Qed.

Lemma read_from_history : forall k, k <= length h ->
  (forall i, k <= i < length h -> read cfg gi p t i = nth_error h i) ->
    read_from cfg gi p t k (length h) = skipn k h.
Proof.
  intros k L H. remember (length h - k) as d eqn:D. revert k D L H.
  unfold read_from. induction d as [|d IH]; intros k D L H; rewrite <- D; cbn [List.seq flat_map].
  - symmetry. apply skipn_all2. lia.
  - destruct (nth_error_at h k) as [a Ea]; [lia|]. rewrite H, Ea by lia.
    specialize (IH (S k)). replace (length h - S k) with d in IH by lia.
    rewrite IH; [|lia|lia|intros; apply H; lia].
    symmetry. now apply skipn_nth.
Qed.

(* Read back from tables and store alone, a sequence is the end of its history: after a commit the last W
   cells, between commits at least what the next query sees; and the sinks [T2, T3]. *)
Theorem run_correct :
  window_of cfg gi p g q t = skipn (seen_from g q) h /\
  (full q = true -> window_of cfg gi p g q t = Window.visible (window g) h) /\
  (forall i, i < sinks g -> i < length h -> read cfg gi p t i = nth_error h i).
Proof.
  assert (W : window_of cfg gi p g q t = skipn (seen_from g q) h).
  { unfold window_of. rewrite length_exact. apply read_from_history.
    - rewrite <- length_exact. pose proof (seen_from_le g q). pose proof (need_le g (len q)). lia.
    - intros i L. apply held_reads; [lia | now apply seen_is_held]. }
  split; [exact W | split].
  - intros F. rewrite W. unfold seen_from, Window.visible, Window.last_window. rewrite F, length_exact.
    now destruct (window g).
  - intros i Li Lh. apply held_reads; [exact Lh|]. left. unfold sink_blocks.
    pose proof (div_lt_cdiv cfg i (sinks g) Li) as D. now apply (lt_div cfg) in D.
Qed.

(* No query in flight misses a cell: what the query at any position from the length on sees of the history
   is there, however windows slide and whatever is reserved [T2]. *)
Theorem in_flight_sees : forall position i,
  len q <= position -> i < length h -> need g position <= i \/ i < sinks g ->
    read cfg gi p t i = nth_error h i.
Proof.
  intros position i L Li [H | H]; [|now apply run_correct]. apply held_reads; [exact Li|]. apply seen_is_held.
  pose proof (seen_from_le g q).
  assert (need g (len q) <= need g position) by (unfold need; destruct (window g); lia).
  lia.
Qed.

(* A reserved cell has a block that no other table names, that no query can hit and nobody pinned [T1, T5]. *)
Theorem reserved_exclusive : forall i, len q <= i < len q + rsv q ->
  exists b, at_ (entries t) (i / B) = Some b /\ count (all_blocks (seqs st)) b = 1 /\
            get (refs p) b = 1 /\ get (index p) b = None /\ get (pins p) b = 0.
Proof.
  intros i L. rewrite length_exact in L at 1.
  destruct (reserved (proj1 table_says) i L) as (b & E & X & I & P).
  exists b. repeat split; auto. rewrite <- X. symmetry. apply (refs_count books).
Qed.

Theorem entries_for_each_cell : length (entries t) = cdiv cfg (len q + rsv q).
Proof. apply (entries_length (proj1 table_says)). Qed.

End Table.
End Sequence.

(* ---------- blocks ---------- *)

(* A block is referenced as often as it appears in all tables of all sequences and groups [P2]. *)
Theorem references_exact : forall b, get (refs p) b = count (all_blocks (seqs st)) b.
Proof. apply books. Qed.

(* The free list holds each block once that no table names and no device step may touch [P3]. *)
Theorem free_list_exact : NoDup (free p) /\
  forall b, In b (free p) <-> b < N cfg /\ get (refs p) b = 0 /\ ~ In b (map fst (fenced p)).
Proof.
  split; [apply books|]. intros b. rewrite references_exact. apply books.
Qed.

Theorem fenced_in_no_table_and_no_queue : NoDup (map fst (fenced p)) /\
  forall b steps, In (b, steps) (fenced p) ->
  b < N cfg /\ get (refs p) b = 0 /\ ~ In (Some b) (all_blocks (seqs st)) /\ ~ In b (free p) /\
  steps <> [] /\ incl steps (open p).
Proof.
  split; [apply books|]. intros b steps H.
  assert (Hb : In b (map fst (fenced p))) by now apply (in_map fst) in H.
  destruct (fenced_idle books b Hb) as [Nb Cb]. destruct (fences_wait books b steps H) as [E I].
  rewrite references_exact. repeat split; auto.
  - rewrite count_in. lia.
  - intros C. now apply (free_exact books) in C.
Qed.

(* Each block is free, fenced or live, and only one of them [P1]. *)
Theorem pool_partition :
  let live := filter (fun b => 0 <? get (refs p) b) (List.seq 0 (N cfg)) in
  length (free p) + length (fenced p) + length live = N cfg.
Proof.
  intros live. rewrite <- (map_length fst (fenced p)), <- Nat.add_assoc, <- !app_length.
  transitivity (length (List.seq 0 (N cfg))); [|apply seq_length].
  assert (Live : forall b, In b live <-> b < N cfg /\ 0 < count (all_blocks (seqs st)) b).
  { intros b. unfold live. rewrite filter_In, in_seq, Nat.ltb_lt, references_exact. lia. }
  apply Permutation_length, NoDup_Permutation; [|apply seq_NoDup|].
  - repeat apply nodup_app; try apply books; [apply NoDup_filter, seq_NoDup | |].
    + intros b F L. apply Live in L. apply (fenced_idle books) in F. lia.
    + intros b F L. apply (free_exact books) in F as (_ & C & U). apply in_app_iff in L as [L|L]; [easy|].
      apply Live in L. lia.
  - intros b. rewrite !in_app_iff, Live, in_seq, (free_exact books).
    pose proof (fenced_idle books b). destruct (in_dec Nat.eq_dec b (map fst (fenced p))) as [F|F].
    + intuition lia.
    + destruct (Nat.eq_dec (count (all_blocks (seqs st)) b) 0); intuition lia.
Qed.

(* No sequence and no step in flight: every block is free. *)
Theorem no_leak : (forall s, at_ (seqs st) s = None) -> open p = [] ->
  fenced p = [] /\ length (free p) = N cfg /\ forall b, b < N cfg -> In b (free p).
Proof.
  intros Nobody Idle.
  assert (C : forall b, count (all_blocks (seqs st)) b = 0).
  { intros b. revert Nobody. generalize (seqs st) as sl. clear. unfold all_blocks.
    induction sl as [|o sl IH]; intros Nobody; [reflexivity|]. cbn [flat_map]. rewrite count_app, IH.
    - now rewrite (Nobody 0 : o = None).
    - intros s. apply (Nobody (S s)). }
  assert (F : fenced p = []).
  { destruct (fenced p) as [|[b steps] fs] eqn:E; [reflexivity|]. exfalso.
    destruct (fences_wait books b steps) as [Ne I]; [rewrite E; now left|]. rewrite Idle in I.
    now apply incl_l_nil in I. }
  split; [exact F|]. assert (All : forall b, b < N cfg -> In b (free p)).
  { intros b L. apply (free_exact books). rewrite F. auto. }
  split; [|exact All]. transitivity (length (List.seq 0 (N cfg))); [|apply seq_length].
  apply Permutation_length, NoDup_Permutation; [apply books | apply seq_NoDup |].
  intros b. rewrite in_seq. split; [|intros H; apply All; lia]. intros H. apply (free_exact books) in H. lia.
Qed.

(* An index entry tells the truth: its block holds the last cells of its content [X1]. *)
Theorem index_sound : forall b k, get (index p) b = Some k ->
  b < N cfg /\ content k <> [] /\
  forall i, key_base cfg k <= i < length (content k) ->
    cell cfg (in_group k) p b i = nth_error (content k) i.
Proof. intros b k H. apply (entry_holds (pool_index (proj1 reachable_ok)) b k H). Qed.

(* Only what can be hit is pinned. *)
Theorem pinned_is_indexed : forall b, 0 < get (pins p) b -> get (index p) b <> None.
Proof. apply (pool_index (proj1 reachable_ok)). Qed.

(* What a table named while a step was in flight is not free before that step has ended, whatever happens
   meanwhile: it is named by a table still, or fenced until (at least) that step. *)
Theorem no_reuse_in_flight : forall b j, 0 < get (refs p) b -> In j (open p) ->
  forall later st' hs', ~ In (End j) later -> fold_left (both eqb cfg) later (st, hs) = (st', hs') ->
  In j (open (the_pool st')) /\ ~ In b (free (the_pool st')) /\
  (get (refs (the_pool st')) b = 0 -> exists steps, In (b, steps) (fenced (the_pool st')) /\ In j steps).
Proof.
  intros b j Named Flies later st' hs' Goes E. rewrite references_exact in Named.
  set (watch := fun b' j' => b' = b /\ j' = j).
  assert (H : R watch cfg st hs).
  { destruct reachable_ok as [[K X] S]. split; [split; [|exact X]|exact S]. destruct K. constructor; auto.
    intros b' j' [-> ->]. split; auto. }
  pose proof (steps_ok (watch := watch) eqb eqb_ok later st hs H) as H'. rewrite E in H'.
  destruct H' as [[K _] _].
  { apply Forall_forall. intros [] I; cbn; auto. intros b' [_ ->]. auto. }
  destruct (watched_waits K b j) as [J W]; [now split|]. rewrite (refs_count K), (free_exact K).
  split; [exact J | split].
  - intros (_ & C & U). destruct W as [W | (steps & I & _)]; [lia|]. apply U. now apply (in_map fst) in I.
  - intros C. destruct W as [W | W]; [lia | exact W].
Qed.

End Reachable.
End Correctness.
