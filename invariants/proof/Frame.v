(* SPDX-License-Identifier: Apache-2.0 *)
(* An operation leaves the record of every sequence that it does not write as it was: length, reserved cells,
   tables (invariant F1, the part about records; that the cells behind the tables stay is another matter). A
   fork writes its child only. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results.
Import ListNotations.

Section Frame.

Context {A : Type} (eqb : A -> A -> bool) (cfg : config).
Implicit Types (st : state A) (p : pool A) (w : work A).

(* The sequences whose record an operation writes. *)
Definition written (o : op A) : list nat :=
  match o with
  | Admit s _ _ _ _ _ => [s]
  | Reserve batch _ => map fst batch
  | Commit s _ => [s]
  | Append batch _ => map fst batch
  | Cancel s => [s]
  | Fork _ t _ => [t]
  | Truncate s _ => [s]
  | Release s _ => [s]
  | _ => []
  end.

(* ---------- what is done for one sequence ---------- *)

Lemma reserve_one_writes : forall s k w sl w' sl', reserve_one cfg s k (w, sl) = Done (w', sl') ->
  exists q ts, at_ sl s = Some q /\ sl' = upd sl s (Some (Seq (len q) (rsv q + k) false ts)).
Proof.
  intros s k w sl w' sl' H. unfold reserve_one in H. take_apart.
  apply find_seq_done in H0. subst. eauto.
Qed.

Lemma commit_one_frame : forall s cells h p sl p' sl' s', commit_one cfg s cells h p sl = Done (p', sl') ->
  s' <> s -> length sl' = length sl /\ at_ sl' s' = at_ sl s'.
Proof.
  intros s cells h p sl p' sl' s' H Hs. unfold commit_one in H. take_apart. destruct cells.
  - take_apart. now subst.
  - take_apart. subst. now rewrite length_upd, at_upd_other by congruence.
Qed.

Lemma reserve_batch_frame : forall batch w sl w' sl' s', reserve_batch cfg batch (w, sl) = Done (w', sl') ->
  ~ In s' (map fst batch) -> length sl' = length sl /\ at_ sl' s' = at_ sl s'.
Proof.
  induction batch as [|[s k] rest IH]; intros w sl w' sl' s' H Hs; cbn in H.
  - take_apart. now subst.
  - apply bind_done in H. destruct H as ([w1 sl1] & H1 & H).
    apply reserve_one_writes in H1. destruct H1 as (q & ts & _ & ->).
    cbn in Hs. destruct (IH _ _ _ _ s' H) as [L E]; [tauto|].
    rewrite L, E, length_upd, at_upd_other by tauto. now split.
Qed.

Lemma commit_batch_frame : forall hs batch st st' s', commit_batch cfg hs batch st = Done st' ->
  ~ In s' (map fst batch) -> length (seqs st') = length (seqs st) /\ at_ (seqs st') s' = at_ (seqs st) s'.
Proof.
  induction batch as [|[s cells] rest IH]; intros st st' s' H Hs; cbn in H.
  - take_apart. now subst.
  - apply bind_done in H. destruct H as (st1 & H1 & H). unfold commit in H1. take_apart.
    cbn in Hs. destruct (IH _ _ s' H) as [L E]; [tauto|]. subst st1. cbn [seqs] in L, E.
    match goal with C : commit_one _ _ _ _ _ _ = Done _ |- _ =>
      apply commit_one_frame with (s' := s') in C; [destruct C as [L1 E1]|intuition congruence] end.
    now rewrite L, E, L1, E1.
Qed.

Lemma reserve_frame : forall batch cs st st' s', reserve cfg batch cs st = Done st' ->
  ~ In s' (map fst batch) -> length (seqs st') = length (seqs st) /\ at_ (seqs st') s' = at_ (seqs st) s'.
Proof.
  intros batch cs st st' s' H Hs. unfold reserve in H. take_apart. subst st'. cbn.
  eapply reserve_batch_frame; eassumption.
Qed.

(* ---------- all operations ---------- *)

Lemma map_fst_lengths : forall batch : list (nat * list A),
  map fst (map (fun sc => (fst sc, length (snd sc))) batch) = map fst batch.
Proof. intro batch. rewrite map_map. now apply map_ext. Qed.

Theorem others_keep_their_record : forall hs st o st' s, step eqb cfg hs st o = Done st' ->
  ~ In s (written o) -> at_ (seqs st') s = at_ (seqs st) s.
Proof.
  intros hs st o st' s H Hs. destruct o; cbn [Machine.step written] in *.
  - unfold admit in H. take_apart. subst st'. cbn [seqs].
    match goal with C : commit_one _ _ _ _ _ _ = Done _ |- _ =>
      apply commit_one_frame with (s' := s) in C; [destruct C as [_ ->]|cbn in Hs; intuition congruence] end.
    apply at_upd_other. cbn in Hs. tauto.
  - eapply reserve_frame; eassumption.
  - unfold commit in H. take_apart. subst st'. cbn [seqs].
    eapply commit_one_frame; [eassumption|]. cbn in Hs. intuition congruence.
  - unfold append in H. take_apart. apply commit_batch_frame with (s' := s) in H; [|assumption].
    destruct H as [_ ->]. eapply reserve_frame; [eassumption|]. now rewrite map_fst_lengths.
  - unfold cancel in H. take_apart. destruct (rsv _ =? 0); take_apart; subst; [reflexivity|].
    apply at_upd_other. cbn in Hs. tauto.
  - unfold fork in H. take_apart. subst. apply at_upd_other. cbn in Hs. tauto.
  - unfold truncate in H. take_apart. subst. apply at_upd_other. cbn in Hs. tauto.
  - unfold release in H. take_apart. subst. apply at_upd_other. cbn in Hs. tauto.
  - unfold on_pool in H. take_apart. now subst.
  - unfold on_pool in H. take_apart. now subst.
  - take_apart. now subst.
  - unfold on_pool in H. take_apart. now subst.
  - unfold on_pool in H. take_apart. now subst.
Qed.

End Frame.
