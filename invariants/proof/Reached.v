(* SPDX-License-Identifier: Apache-2.0 *)
(* The verdict in every reachable state: what Verdict.v asks of references and last blocks (`well_kept`)
   follows from the refinement invariant, so nothing is left to be assumed. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Invariant Refinement.
From Kvpane Require Room Demand Choices Reservation Refusals Asking Verdict.
Import ListNotations.

Section Reached.

Context {A : Type} (eqb : A -> A -> bool) (cfg : config).
Hypothesis eqb_ok : forall x y, eqb x y = true <-> x = y.
Hypothesis B_pos : 0 < B cfg.

Lemma tail_is_an_entry : forall begin t a, In a (Demand.tail cfg begin t) -> 0 < count (entries t) a.
Proof.
  intros begin t a I. unfold Demand.tail in I. destruct (begin mod B cfg =? 0); [destruct I|].
  destruct (at_ (entries t) _) as [b|] eqn:E; [|destruct I]. destruct I as [->|[]].
  exact (count_at _ _ _ E).
Qed.

Lemma tail_is_counted : forall begin ts a, In a (Demand.tails_of cfg begin ts) -> 0 < count (blocks_in ts) a.
Proof.
  intros begin. induction ts as [|t ts IH]; intros a I; [destruct I|]. unfold Demand.tails_of, blocks_in in *.
  cbn [flat_map] in *. rewrite count_app. apply in_app_iff in I. destruct I as [I|I].
  - apply tail_is_an_entry in I. lia.
  - specialize (IH a I). lia.
Qed.

(* No block stands twice in the tables of a sequence, so none is the last one of two. *)
Lemma distinct_tails : forall begin ts, (forall b, count (blocks_in ts) b <= 1) ->
  NoDup (Demand.tails_of cfg begin ts).
Proof.
  intros begin. induction ts as [|t ts IH]; intro D; [constructor|]. unfold Demand.tails_of. cbn [flat_map].
  unfold blocks_in in D. cbn [flat_map] in D.
  assert (N : NoDup (Demand.tails_of cfg begin ts)).
  { apply IH. intro b. specialize (D b). rewrite count_app in D. unfold blocks_in. lia. }
  assert (Disj : forall a, In a (Demand.tail cfg begin t) -> ~ In a (Demand.tails_of cfg begin ts)).
  { intros a I I'. apply tail_is_an_entry in I. apply tail_is_counted in I'. specialize (D a).
    rewrite count_app in D. unfold blocks_in in I'. lia. }
  unfold Demand.tails_of in *. unfold Demand.tail in *. destruct (begin mod B cfg =? 0); [exact N|].
  destruct (at_ (entries t) _) as [a|]; [|exact N]. constructor; [apply Disj; now left|exact N].
Qed.

Theorem invariant_is_well_kept : forall watch (st : state A) hs, R watch cfg st hs ->
  Asking.well_kept cfg st.
Proof.
  intros watch st hs [[Books _] [_ Seqs]]. split; [split; [|split]|].
  - exact (free_once Books).
  - intros b I. rewrite (refs_count Books). now apply (free_exact Books) in I.
  - intro b. rewrite (refs_count Books). now apply Nat.eq_le_incl.
  - intros s q E. unfold Refusals.is_seq in E. specialize (Seqs s). rewrite E in Seqs.
    destruct (at_ hs s) as [h|]; [|destruct Seqs]. apply distinct_tails. exact (seq_distinct Seqs).
Qed.

Variables (n_seqs : nat) (os : list (op A)) (st : state A) (hs : histories A).
Hypothesis reached : run eqb cfg n_seqs os = (st, hs).

Theorem reached_is_well_kept : Asking.well_kept cfg st.
Proof.
  pose proof (run_ok A cfg eqb eqb_ok B_pos n_seqs os) as H. rewrite reached in H.
  exact (invariant_is_well_kept _ _ _ H).
Qed.

(* Refusals only for the stated reasons; and the order in which idle blocks are taken refuses nothing. *)
Theorem verdict : forall o why, step eqb cfg hs st o = Refused why -> Verdict.reason eqb cfg st o why.
Proof.
  intros o why H. exact (Verdict.refused_only_for_a_reason eqb cfg B_pos hs st o why reached_is_well_kept H).
Qed.

Theorem no_choice_decides : forall o st', step eqb cfg hs st o = Done st' ->
  exists st'', step eqb cfg hs st (Verdict.unchosen o) = Done st''.
Proof.
  intros o st' H. exact (Verdict.choices_do_not_decide eqb cfg B_pos hs st o st' reached_is_well_kept H).
Qed.

End Reached.
