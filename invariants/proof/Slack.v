(* SPDX-License-Identifier: Apache-2.0 *)
(* What a window may let go: with n committed cells nothing at or above need(n) - rewind_slack is ever
   released, by any operation, as long as its sequence lives. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Lists Entries Invariant Pool Tables Hits Sequences Refinement
  Operations.
Import ListNotations.

Section Slack.
Context {A : Type} {cfg : config} {block_size_positive : positive (B cfg)}.
Variable eqb : A -> A -> bool.
Notation B := (B cfg).

(* Each table of ts' begins to hold where that of ts did, or at the bound of its group at the latest. *)
Definition lowered (bound : group -> nat) (gs : list group) (ts ts' : list table) : Prop :=
  forall gi g t', nth_error gs gi = Some g -> nth_error ts' gi = Some t' ->
  exists t, nth_error ts gi = Some t /\ lo t' <= Nat.max (lo t) (bound g).

Lemma lowered_refl : forall bound gs ts, lowered bound gs ts ts.
Proof. intros bound gs ts gi g t _ E. exists t. split; [exact E | lia]. Qed.

Lemma lowered_trans : forall b1 b2 bound gs ts ts1 ts2,
  lowered b1 gs ts ts1 -> lowered b2 gs ts1 ts2 -> (forall g, b1 g <= bound g /\ b2 g <= bound g) ->
  lowered bound gs ts ts2.
Proof.
  intros b1 b2 bound gs ts ts1 ts2 H1 H2 K gi g t2 Eg E2. destruct (H2 gi g t2 Eg E2) as (t1 & E1 & L2).
  destruct (H1 gi g t1 Eg E1) as (t & E & L1). exists t. split; [exact E|]. specialize (K g). lia.
Qed.

Lemma lowered_cons : forall bound g gs t t' ts ts',
  lo t' <= Nat.max (lo t) (bound g) -> lowered bound gs ts ts' ->
    lowered bound (g :: gs) (t :: ts) (t' :: ts').
Proof.
  intros bound g gs t t' ts ts' L H [|gi] g' t2 Eg E; cbn in *; [|now apply (H gi)].
  injection Eg as <-. injection E as <-. eauto.
Qed.

Lemma slide_lowers : forall g keep (p : pool A) t p' t', slide cfg g keep (p, t) = (p', t') ->
  lo t' <= Nat.max (lo t) keep.
Proof.
  intros g keep p t p' t' E. injection E as _ <-. cbn [lo].
  pose proof (le_div cfg keep (keep / B)). lia.
Qed.

Lemma slide_all_lowers : forall keep gs (p : pool A) ts p' ts', slide_all cfg keep gs p ts = (p', ts') ->
  lowered keep gs ts ts'.
Proof.
  induction gs as [|g gs IH]; intros p ts p' ts' E; [injection E as _ <-; apply lowered_refl|].
  destruct ts as [|t ts]; [injection E as _ <-; apply lowered_refl|]. cbn [slide_all] in E.
  destruct (slide cfg g (keep g) (p, t)) as [p1 t1] eqn:E1.
  destruct (slide_all cfg keep gs p1 ts) as [p2 ts2] eqn:E2.
  injection E as _ <-. apply lowered_cons; [eapply slide_lowers; exact E1 | eapply IH; exact E2].
Qed.

Lemma extend_keeps_lo : forall m k always (w : work A) t w' t',
  extend cfg m k always (w, t) = Done (w', t') ->
  lo t' = lo t.
Proof.
  intros m k always w t w' t' E. unfold extend in E. obtain [w1 t1] E1 from E. obtain [w2 bs] E2 from E.
  injection E as _ <-. cbn [lo]. unfold open_tail in E1. destruct (m mod B =? 0); [now injection E1 as _ <-|].
  destruct (at_ (entries t) (m / B)) as [a|].
  - destruct (_ && _); [now injection E1 as _ <-|]. obtain [b w3] E3 from E1. now injection E1 as _ <-.
  - obtain [b w3] E3 from E1. now injection E1 as _ <-.
Qed.

Lemma extend_all_lowers : forall m k always ts gs (w : work A) w' ts',
  extend_all cfg m k always w ts = Done (w', ts') -> lowered (fun _ => 0) gs ts ts'.
Proof.
  induction ts as [|t ts IH]; intros gs w w' ts' E; cbn [extend_all] in E;
    [injection E as _ <-; apply lowered_refl|].
  obtain [w1 t1] E1 from E. obtain [w2 ts2] E2 from E. injection E as _ <-.
  destruct gs as [|g gs]; [now intros [|gi] g t'|].
  apply lowered_cons; [|eapply IH; exact E2]. apply extend_keeps_lo in E1. lia.
Qed.

Lemma commit_all_lowers : forall n cells h gs gi (p : pool A) ts p' ts',
  commit_all cfg gi n cells h gs p ts = (p', ts') ->
  lowered (fun g => keep_after_commit cfg g (n + length cells)) gs ts ts'.
Proof.
  induction gs as [|g gs IH]; intros gi p ts p' ts' E; [injection E as _ <-; apply lowered_refl|].
  destruct ts as [|t ts]; [injection E as _ <-; apply lowered_refl|]. cbn [commit_all] in E.
  destruct (commit_table _ _ _ _ _ _ _) as [p1 t1] eqn:E1.
  destruct (commit_all _ _ _ _ _ _ p1 ts) as [p2 ts2] eqn:E2.
  injection E as _ <-. apply lowered_cons; [|eapply IH; exact E2].
  unfold commit_table in E1. destruct (eager cfg); [eapply slide_lowers; exact E1|]. injection E1 as _ <-.
  lia.
Qed.

Lemma cut_lowers : forall n gs ts, lowered (fun _ => 0) gs ts (cut_all (cfg := cfg) n gs ts).
Proof.
  intros n. induction gs as [|g gs IH]; intros [|t ts]; try (now intros [|gi] g' t').
  cbn. apply lowered_cons; [|apply IH]. unfold cut_table. cbn [lo]. lia.
Qed.

(* ---------- sequences ---------- *)

(* What may be let go of n committed cells, at most. *)
Definition released_below (n : nat) (g : group) : nat := need g n - slack cfg.

(* The same sequences live, none shorter, and none has let go of more than it may. *)
Definition onward (sl sl' : list (option seq)) : Prop := forall s,
  match at_ sl s, at_ sl' s with
  | Some q, Some q' => len q <= len q' /\ lowered
    (released_below (len q')) (groups cfg) (tables q) (tables q')
  | None, None => True
  | _, _ => False
  end.

Lemma need_grows : forall g n m, n <= m -> need g n <= need g m.
Proof. intros. unfold need. destruct (window g); lia. Qed.

Lemma onward_refl : forall sl, onward sl sl.
Proof. intros sl s. destruct (at_ sl s); [|exact I]. split; [lia | apply lowered_refl]. Qed.

Lemma onward_trans : forall sl sl1 sl2, onward sl sl1 -> onward sl1 sl2 -> onward sl sl2.
Proof.
  intros sl sl1 sl2 H1 H2 s. specialize (H1 s). specialize (H2 s).
  destruct (at_ sl s) as [q|], (at_ sl1 s) as [q1|], (at_ sl2 s) as [q2|]; try easy.
  destruct H1 as [L1 T1], H2 as [L2 T2]. split; [lia|]. eapply lowered_trans; [exact T1 | exact T2 |].
  intros g. unfold released_below. pose proof (need_grows g (len q1) (len q2) L2). lia.
Qed.

Lemma onward_upd : forall sl s q q', at_ sl s = Some q -> len q <= len q' ->
  lowered (released_below (len q')) (groups cfg) (tables q) (tables q') -> onward sl (upd sl s (Some q')).
Proof.
  intros sl s q q' E L T x. destruct (Nat.eq_dec s x) as [<- | D].
  - rewrite E, at_upd_same by (eapply at_some_length; exact E). now split.
  - rewrite at_upd_other by exact D. apply onward_refl.
Qed.

Lemma reserve_one_onward : forall s k (w : work A) sl w' sl',
  reserve_one cfg s k (w, sl) = Done (w', sl') -> onward sl sl'.
Proof.
  intros s k w sl w' sl' E. unfold reserve_one in E. obtain q Eq from E. unfold find_seq in Eq.
  destruct (at_ sl s) as [q'|] eqn:Es; [|discriminate]. injection Eq as ->.
  destruct (slide_all _ _ _ _ _) as [p1 ts1] eqn:E1. obtain [w2 ts2] E2 from E. injection E as _ <-.
  apply (onward_upd _ _ q); [exact Es | cbn; lia |]. cbn [len tables].
  eapply lowered_trans; [eapply slide_all_lowers; exact E1 | eapply extend_all_lowers; exact E2 |].
  intros g. cbv beta. unfold released_below, keep_from. lia.
Qed.

Lemma reserve_batch_onward : forall batch (w : work A) sl w' sl',
  reserve_batch cfg batch (w, sl) = Done (w', sl') -> onward sl sl'.
Proof.
  induction batch as [|[s k] batch IH]; intros w sl w' sl' E; cbn [reserve_batch] in E.
  - injection E as _ <-. apply onward_refl.
  - obtain [w1 sl1] E1 from E. eapply onward_trans;
      [eapply reserve_one_onward; exact E1 | eapply IH; exact E].
Qed.

Lemma commit_one_onward : forall s cells h (p : pool A) sl p' sl',
  commit_one cfg s cells h p sl = Done (p', sl') -> onward sl sl'.
Proof.
  intros s cells h p sl p' sl' E. unfold commit_one in E. obtain q Eq from E. unfold find_seq in Eq.
  destruct (at_ sl s) as [q'|] eqn:Es; [|discriminate]. injection Eq as ->.
  destruct cells as [|a cells'] eqn:C; [injection E as _ <-; apply onward_refl|].
  rewrite <- C in *. clear C.
  required E Lr. destruct (commit_all _ _ _ _ _ _ _ _) as [p1 ts1] eqn:E1. injection E as _ <-.
  apply (onward_upd _ _ q); [exact Es | cbn; lia |]. cbn [len tables]. apply commit_all_lowers in E1.
  eapply lowered_trans; [exact E1 | apply (lowered_refl (fun _ => 0)) |]. intros g. cbv beta.
  unfold keep_after_commit, keep_from, released_below.
  pose proof (need_grows g (len q + length cells - 1) (len q + length cells)). split; lia.
Qed.

Lemma commit_batch_onward : forall batch (hs : histories A) st st',
  commit_batch cfg hs batch st = Done st' -> onward (seqs st) (seqs st').
Proof.
  induction batch as [|[s cells] batch IH]; intros hs st st' E; cbn [commit_batch] in E.
  - injection E as <-. apply onward_refl.
  - obtain st1 E1 from E. unfold commit in E1. obtain [p sl] E2 from E1. injection E1 as <-.
    eapply onward_trans; [eapply commit_one_onward; exact E2 | exact (IH _ _ _ E)].
Qed.

Lemma reserve_onward : forall batch cs (st st' : state A),
  reserve cfg batch cs st = Done st' -> onward (seqs st) (seqs st').
Proof.
  intros batch cs st st' E. apply reserve_is in E as (_ & w & E). eapply reserve_batch_onward; exact E.
Qed.

(* ---------- any operation ---------- *)

Lemma cut_only : forall sl s q q' n (p : pool A) r f, at_ sl s = Some q ->
  at_ (seqs (State p (upd sl s (Some (Seq n r f (with_groups cfg (cut_table cfg n) (tables q))))))) s
    = Some q' ->
  lowered (released_below (len q')) (groups cfg) (tables q) (tables q').
Proof.
  intros sl s q q' n p r f Es Es'. cbn [seqs] in Es'.
  rewrite at_upd_same in Es' by (eapply at_some_length; exact Es). injection Es' as <-. cbn [tables len].
  eapply lowered_trans; [apply cut_lowers | apply (lowered_refl (fun _ => 0)) |]. intros. cbv beta. lia.
Qed.

Lemma step_lowers : forall hs st o st' s q q', step eqb cfg hs st o = Done st' ->
  at_ (seqs st) s = Some q -> at_ (seqs st') s = Some q' ->
  lowered (released_below (len q')) (groups cfg) (tables q) (tables q').
Proof.
  intros hs st o st' s q q' E Es Es'.
  assert (Onward : onward (seqs st) (seqs st') ->
    lowered (released_below (len q')) (groups cfg) (tables q) (tables q')).
  { intros H. specialize (H s). rewrite Es, Es' in H. apply H. }
  destruct (in_dec Nat.eq_dec s (touched o)) as [T | T].
  2: { destruct (step_others eqb _ _ _ _ _ E T) as [H _]. assert (q' = q) by congruence. subst. apply
    lowered_refl. }
  destruct o; cbn [Machine.step touched In] in *; try easy.
  - exfalso. destruct T as [-> | []]. unfold admit in E. required E V. unfold is_vacant in V. rewrite Es in V.
    now rewrite andb_false_r in V.
  - apply Onward. eapply reserve_onward; exact E.
  - apply Onward. unfold commit in E. obtain [p sl] E1 from E. injection E as <-.
    eapply commit_one_onward; exact E1.
  - apply Onward. unfold append in E. required E L. obtain u E1 from E. required E Id. obtain st1 E3 from E.
    eapply onward_trans; [eapply reserve_onward; exact E3 | eapply commit_batch_onward; exact E].
  - destruct T as [-> | []]. unfold cancel, find_seq in E. rewrite Es in E. cbn [bind] in E.
    destruct (rsv q =? 0); [apply Onward; injection E as <-; apply onward_refl|]. unfold shrink in E.
    injection E as <-. eapply cut_only; eassumption.
  - exfalso. destruct T as [-> | []]. unfold fork in E. obtain q0 Eq from E. required E V.
    unfold is_vacant in V.
    rewrite Es in V. now rewrite andb_false_r in V.
  - destruct T as [-> | []]. unfold truncate, find_seq in E. rewrite Es in E. cbn [bind] in E. required E L.
    required E Rs. unfold shrink in E. injection E as <-. eapply cut_only; eassumption.
  - exfalso. destruct T as [-> | []]. unfold release in E. obtain q0 Eq from E. injection E as <-.
    cbn [seqs] in Es'.
    rewrite at_upd_same in Es' by (eapply at_some_length; exact Es). discriminate.
Qed.

(* Nothing that is held at or above need(n) - rewind_slack is released, whatever is done, while its
   sequence lives. *)
Theorem slack_is_kept : forall hs st o st' s q q' gi g t t', step eqb cfg hs st o = Done st' ->
  at_ (seqs st) s = Some q -> at_ (seqs st') s = Some q' ->
  nth_error (groups cfg) gi = Some g -> nth_error (tables q) gi = Some t ->
    nth_error (tables q') gi = Some t' ->
  forall i, need g (len q') - slack cfg <= i -> held cfg g t i -> held cfg g t' i.
Proof.
  intros hs st o st' s q q' gi g t t' E Es Es' Eg Et Et' i L H.
  destruct (step_lowers _ _ _ _ _ _ _ E Es Es' gi g t' Eg Et') as (t0 & E0 & K).
  assert (t0 = t) by congruence. subst. unfold held, released_below in *. lia.
Qed.

End Slack.
