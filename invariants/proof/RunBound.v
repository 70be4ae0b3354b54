(* SPDX-License-Identifier: Apache-2.0 *)
(* The bound on held blocks, for every run (invariant T2): whatever operations came before, after a
   reservation, an admission or an append the tables of the sequences in question are within the bound of
   Bound.v, and after an eager commit only blocks of the window are left. The example at the end meets all of
   these bounds: a window of 4096 cells in blocks of 16 takes 257 blocks. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results Slide Frame Asking RoomRefusals Bound.
Import ListNotations.

Section RunBound.

Context {A : Type} (eqb : A -> A -> bool) (cfg : config).
Notation B := (B cfg).
Hypothesis B_pos : 0 < B.
Notation cdiv := (cdiv cfg).
Notation shaped := (shaped cfg).
Notation shaped_seq := (shaped_seq cfg).
Implicit Types (st : state A) (p : pool A) (w : work A).

(* ---------- every reachable state is shaped ---------- *)

Lemma reserve_shaped : forall batch cs st st', shaped (seqs st) -> reserve cfg batch cs st = Done st' ->
  shaped (seqs st') /\
  forall s q', In s (map fst batch) -> at_ (seqs st') s = Some q' -> within_bound cfg (rsv q') q'.
Proof.
  intros batch cs st st' Sh H. unfold reserve in H.
  apply bind_done in H. destruct H as ([] & _ & H). apply bind_done in H. destruct H as ([] & Ak & H).
  apply bind_done in H. destruct H as ([] & _ & H). apply bind_done in H. destruct H as ([w sl] & D & H).
  injection H as <-. apply (reserve_batch_bound cfg B_pos) in D; trivial.
  now apply ask_done in Ak.
Qed.

Lemma commit_batch_shaped : forall hs batch st st', shaped (seqs st) ->
  commit_batch cfg hs batch st = Done st' ->
  shaped (seqs st').
Proof.
  intros hs. induction batch as [|[s cells] rest IH]; intros st st' Sh H; cbn [commit_batch] in H.
  - take_apart. now subst.
  - apply bind_done in H. destruct H as (st1 & C & H). apply (IH st1 st'); [|exact H].
    unfold commit in C. apply bind_done in C. destruct C as ([p sl] & C & E). injection E as <-. cbn [seqs].
    exact (commit_one_shaped cfg B_pos _ _ _ _ _ _ _ Sh C).
Qed.

Lemma cut_table_length : forall n m g t, length (entries t) = cdiv m -> n <= m ->
  length (entries (cut_table cfg n g t)) = cdiv n.
Proof.
  intros n m g t L H. cbn [cut_table entries]. rewrite app_length, firstn_length, repeat_length, L.
  pose proof (cdiv_mono cfg B_pos n m H). unfold kept_entries. destruct (lo t <? n); lia.
Qed.

Lemma cut_shaped : forall n f q, shaped_seq q -> n <= len q + rsv q ->
  shaped_seq (Seq n 0 f (with_groups cfg (cut_table cfg n) (tables q))).
Proof.
  intros n f q [L F] H. unfold with_groups. split; cbn [tables len rsv].
  - rewrite map_length, combine_length. lia.
  - intros i t Ht. rewrite nth_error_map in Ht.
    destruct (nth_error (combine (groups cfg) (tables q)) i) as [[g t0]|] eqn:E; [|discriminate].
    injection Ht as <-. rewrite Nat.add_0_r.
    apply (cut_table_length n (len q + rsv q)); [|assumption]. apply (F i).
    revert E. generalize (groups cfg). generalize i. clear.
    induction (tables q) as [|t ts IH]; intros [|i] [|g' gs] E; cbn in *; try discriminate;
      [now injection E as _ <-|exact (IH i gs E)].
Qed.

Lemma hit_tables_length : forall p query cut gs gi hits,
  all_hits_ok eqb cfg p query cut gi gs hits = true ->
  length (map (hit_table cfg) hits) = length gs /\
  forall i t, nth_error (map (hit_table cfg) hits) i = Some t -> length (entries t) = cdiv cut.
Proof.
  intros p query cut. induction gs as [|g gs IH]; intros gi [|es hits] H; try discriminate.
  - split; [reflexivity|intros [|i]; discriminate].
  - cbn [all_hits_ok] in H. apply andb_true_iff in H. destruct H as [H Hs]. destruct (IH _ _ Hs) as [L F].
    split; [cbn; now rewrite L|]. intros [|i] t Ht; cbn in Ht; [injection Ht as <-|now apply (F i)].
    unfold hits_ok in H. rewrite !andb_true_iff, Nat.eqb_eq in H. now destruct H as [[H _] _].
Qed.

(* Shape, and the bound if the admission reserves: what it takes is taken after its windows have slid. *)
Lemma admit_bound : forall s query compute cut hits cs st st', shaped (seqs st) ->
  admit eqb cfg s query compute cut hits cs st = Done st' ->
  let k := Nat.min compute (length query - cut) in
  shaped (seqs st') /\
  (0 < k -> forall q, at_ (seqs st') s = Some q -> within_bound cfg k q).
Proof.
  intros s query compute cut hits cs st st' Sh H k. unfold admit in H. fold k in H.
  apply bind_done in H. destruct H as ([] & V & H). apply bind_done in H. destruct H as ([] & _ & H).
  apply bind_done in H. destruct H as ([] & _ & H). apply bind_done in H. destruct H as ([] & Ad & H).
  apply require_done, andb_true_iff in Ad. destruct Ad as [_ Ad].
  apply hit_tables_length in Ad. destruct Ad as [L F].
  set (ts := map (hit_table cfg) hits) in *. set (p := fold_left _ hits _) in *.
  assert (X : exists p1 ts1,
              (if k =? 0 then (p, ts) else slide_all cfg (fun g => keep_from cfg g cut) (groups cfg) p ts)
              = (p1, ts1) /\ length ts1 = length (groups cfg) /\
              (forall i t, nth_error ts1 i = Some t -> length (entries t) = cdiv cut) /\
              (0 < k -> forall i g t, nth_error (groups cfg) i = Some g -> nth_error ts1 i = Some t ->
                        holes cfg g (keep_from cfg g cut) t)).
  { destruct (Nat.eqb_spec k 0) as [Z|Z].
    - exists p, ts. split; [reflexivity|]. split; [assumption|]. split; [assumption|lia].
    - destruct (slide_all cfg _ (groups cfg) p ts) as [p1 ts1] eqn:E. exists p1, ts1.
      apply slide_all_tables in E. destruct E as [L1 F1]. split; [reflexivity|]. split; [lia|]. split.
      + intros i t Ht. assert (Hi : nth_error ts1 i <> None) by congruence. apply nth_error_Some in Hi.
        destruct (nth_error (groups cfg) i) as [g|] eqn:Hg; [|apply nth_error_None in Hg; lia].
        destruct (F1 i g t Hg Ht) as (t0 & Ht0 & ->). rewrite slid_length. now apply (F i).
      + intros _ i g t Hg Ht. destruct (F1 i g t Hg Ht) as (t0 & _ & ->). apply slide_leaves_holes. }
  destruct X as (p1 & ts1 & E & L1 & F1 & Ho). rewrite E in H.
  apply bind_done in H. destruct H as ([w ts2] & X & H). apply bind_done in H. destruct H as ([] & _ & H).
  apply bind_done in H. destruct H as ([p3 sl] & C & H). injection H as <-. cbn [seqs].
  apply (extend_all_grows cfg B_pos) in X. destruct X as [L2 F2].
  assert (Len : forall i t, nth_error ts2 i = Some t -> length (entries t) = cdiv (cut + k)).
  { intros i t Ht. destruct (F2 i t Ht) as (t0 & Ht0 & G & _). rewrite G, (F1 i t0 Ht0).
    pose proof (cdiv_mono cfg B_pos cut (cut + k) ltac:(lia)). lia. }
  split.
  - apply (commit_one_shaped cfg B_pos) in C; [assumption|]. apply shaped_upd; [assumption|].
    intros q Eq. injection Eq as <-. split; cbn [tables len rsv]; [lia|assumption].
  - intro K. apply (commit_one_within cfg B_pos _ _ _ _ _ _ _ s k C). intros q Eq.
    unfold is_vacant in V. apply require_done, andb_true_iff in V. destruct V as [V _]. apply Nat.ltb_lt in V.
    rewrite at_upd_same in Eq by assumption. injection Eq as <-. intros i g t Hg Ht W. cbn [tables] in Ht.
    apply (held_at_most cfg B_pos g (keep_from cfg g cut) t _ (cut + k)).
    + destruct (F2 i t Ht) as (t0 & Ht0 & G). pose proof (F1 i t0 Ht0) as Lt.
      apply (holes_stay cfg B_pos g _ cut k t0 t); [apply keep_from_le|lia|assumption|now apply (Ho K i)].
    + now apply (Len i).
    + unfold keep_from, need. destruct (window g); lia.
Qed.

Theorem step_keeps_shape : forall hs st o st', shaped (seqs st) -> step eqb cfg hs st o = Done st' ->
  shaped (seqs st').
Proof.
  intros hs st o st' Sh H. destruct o; cbn [Machine.step] in H.
  - exact (proj1 (admit_bound _ _ _ _ _ _ _ _ Sh H)).
  - now apply reserve_shaped in H.
  - apply bind_done in H. destruct H as ([p sl] & C & H). injection H as <-.
    exact (commit_one_shaped cfg B_pos _ _ _ _ _ _ _ Sh C).
  - unfold append in H. apply bind_done in H. destruct H as ([] & _ & H). apply bind_done in H.
    destruct H as ([] & _ & H). apply bind_done in H. destruct H as ([] & _ & H). apply bind_done in H.
    destruct H as (st1 & R & H). apply reserve_shaped in R; [|assumption].
    exact (commit_batch_shaped _ _ _ _ (proj1 R) H).
  - unfold cancel, shrink in H. take_apart. apply find_seq_done in H0.
    destruct (rsv _ =? 0); take_apart; subst; [assumption|].
    apply shaped_upd; [assumption|]. intros q' E. injection E as <-. apply cut_shaped; [now apply (Sh s)|lia].
  - unfold fork in H. take_apart. apply find_seq_done in H0. subst. cbn [seqs].
    apply shaped_upd; [assumption|].
    intros q' E. injection E as <-. apply Nat.leb_le in H3. apply cut_shaped; [now apply (Sh s)|lia].
  - unfold truncate, shrink in H. take_apart. apply find_seq_done in H0. subst. cbn [seqs].
    apply shaped_upd; [assumption|].
    intros q' E. injection E as <-. apply Nat.leb_le in H1. apply cut_shaped; [now apply (Sh s)|lia].
  - unfold release in H. take_apart. subst. apply shaped_upd; [assumption|discriminate].
  - unfold on_pool in H. take_apart. now subst.
  - unfold on_pool in H. take_apart. now subst.
  - take_apart. now subst.
  - unfold on_pool in H. take_apart. now subst.
  - unfold on_pool in H. take_apart. now subst.
Qed.

Theorem run_is_shaped : forall n os, shaped (seqs (fst (run eqb cfg n os))).
Proof.
  intros n os. unfold run.
  assert (X : forall os st hs, shaped (seqs st) ->
    shaped (seqs (fst (fold_left (both eqb cfg) os (st, hs))))).
  { clear os. induction os as [|o os IH]; intros st hs Sh; cbn [fold_left]; [exact Sh|]. unfold both at 2.
    destruct (step eqb cfg hs st o) as [st'|why] eqn:E; apply IH; [|exact Sh].
    exact (step_keeps_shape _ _ _ _ Sh E). }
  apply X. intros s q E. exfalso. cbn [init seqs] in E. unfold at_ in E. revert s E.
  induction n as [|n IH]; intros [|s] E; try discriminate. exact (IH s E).
Qed.

(* ---------- the bounds ---------- *)

(* ceil((W - 1 + m) / B) + 1 blocks for m new cells: slack counts as window, sinks in whole blocks. *)
Definition holds_at_most (m : nat) (q : seq) : Prop :=
  forall i g t, nth_error (groups cfg) i = Some g -> nth_error (tables q) i = Some t -> 0 < window g ->
    held_blocks t <= sink_blocks cfg g + cdiv (window g - 1 + slack cfg + m) + 1.

Lemma within_holds_at_most : forall m q, within_bound cfg m q -> holds_at_most m q.
Proof.
  intros m q H i g t Hg Ht W. specialize (H i g t Hg Ht W).
  pose proof (cdiv_round cfg B_pos (window g - 1 + slack cfg + m)). lia.
Qed.

(* After a reservation: m is all that is reserved. *)
Theorem reservation_bound : forall n os batch cs st' s q,
  reserve cfg batch cs (fst (run eqb cfg n os)) = Done st' -> In s (map fst batch) ->
  at_ (seqs st') s = Some q -> holds_at_most (rsv q) q.
Proof.
  intros n os batch cs st' s q H I E. apply within_holds_at_most.
  apply reserve_shaped in H; [|apply run_is_shaped]. now apply (proj2 H s).
Qed.

(* One admission of m uncached cells, released eagerly or not. *)
Theorem admission_bound : forall n os s query compute cut hits cs st' q,
  admit eqb cfg s query compute cut hits cs (fst (run eqb cfg n os)) = Done st' ->
  0 < Nat.min compute (length query - cut) -> at_ (seqs st') s = Some q ->
  holds_at_most (Nat.min compute (length query - cut)) q.
Proof.
  intros n os s query compute cut hits cs st' q H K E. apply within_holds_at_most.
  apply admit_bound in H; [|apply run_is_shaped]. now apply (proj2 H K).
Qed.

(* One append of m cells, released eagerly or not. *)
Lemma commit_batch_within : forall hs batch st st' s m, commit_batch cfg hs batch st = Done st' ->
  (forall q, at_ (seqs st) s = Some q -> within_bound cfg m q) ->
  forall q, at_ (seqs st') s = Some q -> within_bound cfg m q.
Proof.
  intros hs. induction batch as [|[s0 cells] rest IH]; intros st st' s m H Bd; cbn [commit_batch] in H.
  - injection H as <-. exact Bd.
  - apply bind_done in H. destruct H as (st1 & C & H). apply (IH _ _ _ _ H). unfold commit in C.
    apply bind_done in C. destruct C as ([p sl] & C & X). injection X as <-. cbn [seqs].
    exact (commit_one_within cfg B_pos _ _ _ _ _ _ _ s m C Bd).
Qed.

Theorem append_bound : forall n os hs batch cs st' s cells q,
  append cfg hs batch cs (fst (run eqb cfg n os)) = Done st' -> In (s, cells) batch ->
  at_ (seqs st') s = Some q -> holds_at_most (length cells) q.
Proof.
  intros n os hs batch cs st' s cells q H I E. apply within_holds_at_most. unfold append in H.
  fold (asked_cells batch) in H.
  apply bind_done in H. destruct H as ([] & _ & H). apply bind_done in H. destruct H as ([] & Ak & H).
  apply bind_done in H. destruct H as ([] & Id & H). apply bind_done in H. destruct H as (st1 & R & H).
  apply require_done in Id. rewrite forallb_forall in Id. specialize (Id _ I). cbn [fst] in Id.
  apply ask_done in Ak. destruct Ak as (_ & _ & N & _).
  assert (Ik : In (s, length cells) (asked_cells batch))
    by now apply (in_map (fun sc => (fst sc, length (snd sc)))) in I.
  pose proof R as R'. apply reserve_shaped in R'; [|apply run_is_shaped]. destruct R' as [_ Bd].
  unfold reserve in R.
  apply bind_done in R. destruct R as ([] & _ & R). apply bind_done in R. destruct R as ([] & _ & R).
  apply bind_done in R. destruct R as ([] & _ & R). apply bind_done in R. destruct R as ([w sl] & D & R).
  injection R as <-.
  destruct (reserve_batch_reserves cfg _ _ _ _ _ N D _ _ Ik) as (q0 & q1 & E0 & E1 & Rs).
  apply (commit_batch_within hs batch _ _ s (length cells) H); [|exact E].
  cbn [seqs] in *. intros q2 E2. rewrite E1 in E2. injection E2 as <-.
  unfold is_idle in Id. rewrite E0 in Id. apply Nat.eqb_eq in Id. rewrite Id in Rs. cbn in Rs. rewrite <- Rs.
  apply (Bd s); [now apply (in_map fst) in Ik|assumption].
Qed.

(* Without slack and sinks these are the numbers of the scenario format. *)
Corollary plain_bound : forall m q i g t, holds_at_most m q -> nth_error (groups cfg) i = Some g ->
  nth_error (tables q) i = Some t -> 0 < window g -> slack cfg = 0 -> sinks g = 0 ->
  held_blocks t <= cdiv (window g - 1 + m) + 1.
Proof.
  intros m q i g t H Hg Ht W L S. specialize (H i g t Hg Ht W). unfold sink_blocks in H.
  rewrite L, S, Nat.add_0_r in H. replace (cdiv 0) with 0 in H; [exact H|].
  unfold State.cdiv. symmetry. apply Nat.div_small. lia.
Qed.

(* Right after an eager commit: only blocks of the last W cells (slack as window), of the sinks and of what is
   reserved. *)
Theorem eager_commit_bound : forall n os hs s cells st' q, eager cfg = true ->
  commit cfg hs s cells (fst (run eqb cfg n os)) = Done st' -> cells <> [] -> at_ (seqs st') s = Some q ->
  only_window cfg q.
Proof.
  intros n os hs s cells st' q Eg H Nc E. apply bind_done in H. destruct H as ([p sl] & C & H).
  injection H as <-.
  exact (commit_one_bound cfg B_pos _ _ _ _ _ _ _ _ (run_is_shaped n os) C Nc E Eg).
Qed.

Lemma eager_commit_batch : forall hs batch st st' s q, eager cfg = true -> shaped (seqs st) ->
  NoDup (map fst batch) -> (forall s, ~ In (s, []) batch) -> commit_batch cfg hs batch st = Done st' ->
  In s (map fst batch) -> at_ (seqs st') s = Some q -> only_window cfg q.
Proof.
  intros hs. induction batch as [|[s cells] rest IH]; intros st st' s' q Eg Sh N Nc H I E; [destruct I|].
  cbn [commit_batch map fst] in *. inversion_clear N as [|? ? Ns Nr].
  apply bind_done in H. destruct H as (st1 & C & H). unfold commit in C. apply bind_done in C.
  destruct C as ([p sl] & C & X). injection X as <-.
  pose proof (commit_one_shaped cfg B_pos _ _ _ _ _ _ _ Sh C) as Sh1.
  destruct I as [<-|I].
  - destruct (commit_batch_frame _ _ _ _ _ s H Ns) as [_ F]. rewrite F in E. cbn [seqs] in E.
    apply (commit_one_bound cfg B_pos _ _ _ _ _ _ _ _ Sh C); trivial. intros ->. apply (Nc s). now left.
  - apply (IH _ _ s' q Eg) in H; trivial. intros s0 I0. apply (Nc s0). now right.
Qed.

Theorem eager_append_bound : forall n os hs batch cs st' s q, eager cfg = true ->
  append cfg hs batch cs (fst (run eqb cfg n os)) = Done st' -> In s (map fst batch) ->
  at_ (seqs st') s = Some q -> only_window cfg q.
Proof.
  intros n os hs batch cs st' s q Eg H I E. unfold append in H. apply bind_done in H.
  destruct H as ([] & _ & H).
  apply bind_done in H. destruct H as ([] & Ak & H). apply bind_done in H. destruct H as ([] & _ & H).
  apply bind_done in H. destruct H as (st1 & R & H). apply reserve_shaped in R; [|apply run_is_shaped].
  apply ask_done in Ak. destruct Ak as (_ & Z & N & _). rewrite map_fst_lengths in N.
  apply (eager_commit_batch hs batch st1 st' s q Eg (proj1 R) N); trivial.
  intros s0 I0. apply (Z s0). now apply (in_map (fun sc => (fst sc, length (snd sc)))) in I0.
Qed.

End RunBound.

(* ---------- both bounds are met ---------- *)

Section Tight.

(* One sequence in a pool of 300 blocks of 16 cells; a window of 4096; its prompt has `cells` cells. *)
Definition wide : config := Config 16 300 [Group 4096 0] 0 true 0 0 false false.

Definition prompted (cells : nat) : state nat :=
  fst (run Nat.eqb wide 1 [Admit 0 (repeat 7 cells) cells 0 [[]] []]).

Definition held_by_first (st : state nat) : nat :=
  match at_ (seqs st) 0 with
  | Some q => fold_left (fun n t => n + held_blocks t) (tables q) 0
  | None => 0
  end.

(* What the sequence holds when m cells more are reserved. *)
Definition held_at_peak (st : state nat) (m : nat) : nat :=
  match reserve wide [(0, m)] [] st with Done st => held_by_first st | Refused _ => 0 end.

(* After a commit of 4110 cells, and with 1 and 3 cells more reserved: exactly the bounds. *)
Example the_bounds_are_met : let st := prompted 4110 in
  (held_by_first st, held_at_peak st 1, held_at_peak st 3) = (257, 257, 258) /\
  (cdiv wide (4096 + (16 - 1)), cdiv wide (4096 - 1 + 1) + 1, cdiv wide (4096 - 1 + 3) + 1) = (257, 257, 258).
Proof. vm_compute. split; reflexivity. Qed.

End Tight.
