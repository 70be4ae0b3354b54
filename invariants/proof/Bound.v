(* SPDX-License-Identifier: Apache-2.0 *)
(* How many blocks a sequence holds (invariant T2, second half; scenario-format.md, "Windows").

   After a reservation a table of a group with window W > 0 holds at most ceil((W - 1 + m) / B) + 1 blocks, m
   reserved cells; right after an eager commit at most ceil((W + B - 1) / B), those of the last W cells. Slack
   before the window counts like window, sinks count in whole blocks. Here for one call; RunBound.v says it
   for every run, and shows that both bounds are met.

   Beneath: the entries wholly below the first position to keep are holes after a slide, sinks aside, and what
   is taken for new cells fills none of them. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results Room Slide Frame.
Import ListNotations.

Section Bound.

Context {A : Type} (eqb : A -> A -> bool) (cfg : config).
Notation B := (B cfg).
Hypothesis B_pos : 0 < B.
Notation cdiv := (cdiv cfg).
Notation slack := (slack cfg).
Notation sink_blocks := (sink_blocks cfg).
Notation keep_from := (keep_from cfg).
Notation keep_after_commit := (keep_after_commit cfg).
Implicit Types (st : state A) (p : pool A) (w : work A).

(* ---------- arithmetic ---------- *)

Lemma cdiv_mono : forall m n, m <= n -> cdiv m <= cdiv n.
Proof. intros m n H. unfold State.cdiv. apply Nat.div_le_mono; lia. Qed.

Lemma div_le_cdiv : forall n, n / B <= cdiv n.
Proof. intro n. unfold State.cdiv. apply Nat.div_le_mono; lia. Qed.

(* y cells, wherever they start, touch no more blocks than y + (B - 1) cells from the start of a block on. *)
Lemma blocks_of_cells : forall from to y, to <= from + y -> cdiv to - from / B <= cdiv (y + (B - 1)).
Proof.
  intros from to y H. etransitivity; [apply Nat.sub_le_mono_r, cdiv_mono, H|]. unfold State.cdiv.
  pose proof (Nat.div_mod from B ltac:(lia)) as E. pose proof (Nat.mod_upper_bound from B ltac:(lia)) as L.
  rewrite E at 1.
  replace (B * (from / B) + from mod B + y + (B - 1)) with (from mod B + y + (B - 1) + from / B * B) by lia.
  rewrite Nat.div_add by lia. rewrite Nat.add_sub. apply Nat.div_le_mono; lia.
Qed.

Lemma cdiv_round : forall y, cdiv (y + (B - 1)) <= cdiv y + 1.
Proof.
  intro y. unfold State.cdiv. rewrite <- Nat.div_add by lia. apply Nat.div_le_mono; lia.
Qed.

(* ---------- holes ---------- *)

Definition is_held (e : option nat) : bool := match e with Some _ => true | None => false end.
Definition held_blocks (t : table) : nat := length (filter is_held (entries t)).

(* Nothing is held wholly below `keep`, sinks aside. *)
Definition holes (g : group) (keep : nat) (t : table) : Prop :=
  forall j, sink_blocks g <= j < keep / B -> at_ (entries t) j = None.

Lemma slide_leaves_holes : forall g keep t, holes g keep (slid cfg g keep t).
Proof.
  intros g keep t j [H1 H2]. rewrite slid_at. apply Nat.leb_le in H1. apply Nat.ltb_lt in H2.
  now rewrite H1, H2.
Qed.

Lemma filter_at_most : forall es, length (filter is_held es) <= length es.
Proof. induction es as [|[b|] es IH]; cbn; lia. Qed.

Lemma held_between : forall es s a, (forall j, s <= j < a -> at_ es j = None) ->
  length (filter is_held es) <= Nat.min s a + (length es - a).
Proof.
  unfold at_. induction es as [|e es IH]; intros s a H; [cbn; lia|]. destruct a as [|a].
  - pose proof (filter_at_most (e :: es)). lia.
  - destruct s as [|s].
    + specialize (IH 0 a). cbn [filter]. specialize (H 0 ltac:(lia)) as H0. cbn in H0. subst e.
      cbn [is_held length].
      etransitivity; [apply IH; intros j Hj; apply (H (S j)); lia|]. lia.
    + specialize (IH s a). cbn [filter length].
      assert (L : length (filter is_held es) <= Nat.min s a + (length es - a))
        by (apply IH; intros j Hj; apply (H (S j)); lia).
      destruct (is_held e); cbn [length]; lia.
Qed.

Lemma held_above_holes : forall g keep t, holes g keep t ->
  held_blocks t <= Nat.min (sink_blocks g) (keep / B) + (length (entries t) - keep / B).
Proof. intros g keep t H. now apply held_between. Qed.

(* ---------- what is taken fills no hole ---------- *)

(* t' is t, made longer for k cells from position `begin` on: all entries before theirs are as they were. *)
Definition grows (begin k : nat) (t t' : table) : Prop :=
  length (entries t') = Nat.max (length (entries t)) (cdiv (begin + k)) /\
  forall j, j < begin / B -> j < length (entries t) -> at_ (entries t') j = at_ (entries t) j.

Lemma open_tail_keeps : forall begin hit w t w' t', open_tail cfg begin hit (w, t) = Done (w', t') ->
  length (entries t') = length (entries t) /\
  forall j, j < begin / B -> at_ (entries t') j = at_ (entries t) j.
Proof.
  intros begin hit w t w' t' H. unfold open_tail in H.
  destruct (begin mod B =? 0); [take_apart; now subst|].
  destruct (at_ (entries t) (begin / B)) as [a|]; [destruct (negb hit && _ && _)|];
    take_apart; subst; try (now split); cbn [entries];
    (split; [apply length_upd|intros j Hj; apply at_upd_other; lia]).
Qed.

Lemma take_blocks_length : forall n w w' bs, take_blocks n w = Done (w', bs) -> length bs = n.
Proof.
  induction n as [|n IH]; intros w w' bs H; cbn in H; take_apart; subst; [reflexivity|]. cbn. f_equal.
  eapply IH.
  eassumption.
Qed.

Lemma extend_grows : forall begin k hit w t w' t', extend cfg begin k hit (w, t) = Done (w', t') ->
  grows begin k t t'.
Proof.
  intros begin k hit w t w' t' H. unfold extend in H. apply bind_done in H. destruct H as ([w1 t1] & O & H).
  apply bind_done in H. destruct H as ([w2 bs] & T & H). injection H as <- <-.
  apply open_tail_keeps in O. destruct O as [L K]. apply take_blocks_length in T. split; cbn [entries].
  - rewrite app_length, T, L. lia.
  - intros j Hj Hl. rewrite at_app, L. apply Nat.ltb_lt in Hl. rewrite Hl. now apply K.
Qed.

Lemma extend_all_grows : forall begin k hit ts w w' ts', extend_all cfg begin k hit w ts = Done (w', ts') ->
  length ts' = length ts /\
  forall i t', nth_error ts' i = Some t' -> exists t, nth_error ts i = Some t /\ grows begin k t t'.
Proof.
  intros begin k hit. induction ts as [|t ts IH]; intros w w' ts' H; cbn [extend_all] in H.
  - take_apart. subst. split; [reflexivity|]. intros [|i]; discriminate.
  - apply bind_done in H. destruct H as ([w1 t1] & E & H). apply bind_done in H.
    destruct H as ([w2 ts2] & Es & H).
    injection H as <- <-. apply extend_grows in E. destruct (IH _ _ _ Es) as [L G].
    split; [cbn; now rewrite L|].
    intros [|i] t' Ht; cbn in Ht |- *; [injection Ht as <-; now exists t|now apply G].
Qed.

Lemma holes_stay : forall g keep begin k t t', keep <= begin -> cdiv begin <= length (entries t) ->
  grows begin k t t' -> holes g keep t -> holes g keep t'.
Proof.
  intros g keep begin k t t' Hk L [_ G] H j Hj.
  assert (keep / B <= begin / B) by (apply Nat.div_le_mono; lia). pose proof (div_le_cdiv begin).
  rewrite G by lia. now apply H.
Qed.

(* ---------- all tables of a sequence ---------- *)

Lemma slide_all_tables : forall keep gs p ts p' ts', slide_all cfg keep gs p ts = (p', ts') ->
  length ts' = length ts /\
  forall i g t', nth_error gs i = Some g -> nth_error ts' i = Some t' ->
                 exists t, nth_error ts i = Some t /\ t' = slid cfg g (keep g) t.
Proof.
  intros keep. induction gs as [|g gs IH]; intros p [|t ts] p' ts' H; cbn [slide_all] in H;
    try (injection H as <- <-; split; [reflexivity|intros [|i]; discriminate]).
  rewrite slide_is in H. destruct (slide_all cfg keep gs _ ts) as [p2 ts2] eqn:E. injection H as <- <-.
  destruct (IH _ _ _ _ E) as [L F]. split; [cbn; now rewrite L|].
  intros [|i] g' t' Hg Ht; cbn in Hg, Ht |- *; [|now apply (F i)].
  injection Hg as <-. injection Ht as <-. now exists t.
Qed.

(* A sequence has a table for each group, and each has an entry for every block of its cells. *)
Definition shaped_seq (q : seq) : Prop :=
  length (tables q) = length (groups cfg) /\
  forall i t, nth_error (tables q) i = Some t -> length (entries t) = cdiv (len q + rsv q).

Definition shaped (sl : list (option seq)) : Prop := forall s q, at_ sl s = Some q -> shaped_seq q.

Lemma group_of_table : forall q i t, shaped_seq q -> nth_error (tables q) i = Some t ->
  exists g, nth_error (groups cfg) i = Some g.
Proof.
  intros q i t [L _] H. destruct (nth_error (groups cfg) i) as [g|] eqn:E; [now exists g|].
  apply nth_error_None in E. assert (X : nth_error (tables q) i <> None) by congruence.
  apply nth_error_Some in X. lia.
Qed.

Lemma shaped_upd : forall sl s o, shaped sl -> (forall q, o = Some q -> shaped_seq q) -> shaped (upd sl s o).
Proof.
  intros sl s o H Ho s' q E. destruct (Nat.eq_dec s s') as [<-|N].
  - pose proof (at_some_length E) as R. rewrite length_upd in R. rewrite at_upd_same in E by assumption.
    now apply Ho.
  - rewrite at_upd_other in E by assumption. now apply (H s').
Qed.

(* ---------- after a reservation ---------- *)

(* All that a reservation does to the tables of one sequence. *)
Lemma reserve_one_tables : forall s k w sl w' sl', shaped sl ->
  reserve_one cfg s k (w, sl) = Done (w', sl') ->
  exists q q', at_ sl s = Some q /\ sl' = upd sl s (Some q') /\ len q' = len q /\ rsv q' = rsv q + k /\
    shaped_seq q' /\
    forall i g t', nth_error (groups cfg) i = Some g -> nth_error (tables q') i = Some t' ->
                   holes g (keep_from g (len q)) t'.
Proof.
  intros s k w sl w' sl' Sh H. unfold reserve_one in H. apply bind_done in H. destruct H as (q & E & H).
  apply find_seq_done in E. destruct (Sh s q E) as [L Sq].
  destruct (slide_all cfg _ (groups cfg) (pool_of w) (tables q)) as [p ts] eqn:Es.
  apply slide_all_tables in Es. destruct Es as [Ls Fs]. apply bind_done in H.
  destruct H as ([w1 ts1] & X & H).
  injection H as _ <-. apply extend_all_grows in X. destruct X as [Lx Fx].
  exists q, (Seq (len q) (rsv q + k) false ts1). split; [assumption|]. split; [reflexivity|].
  split; [reflexivity|]. split; [reflexivity|].
  assert (Old : forall i g t, nth_error (groups cfg) i = Some g -> nth_error ts i = Some t ->
                length (entries t) = cdiv (len q + rsv q) /\ holes g (keep_from g (len q)) t).
  { intros i g t Hg Ht. destruct (Fs i g t Hg Ht) as (t0 & H0 & ->). rewrite slid_length.
    split; [now apply (Sq i)|apply slide_leaves_holes]. }
  split.
  - split; [cbn; lia|]. cbn [tables len rsv]. intros i t' Ht. destruct (Fx i t' Ht) as (t & Ht0 & G & _).
    assert (Hq : nth_error ts i <> None) by congruence. apply nth_error_Some in Hq.
    destruct (nth_error (groups cfg) i) as [g|] eqn:Hg; [|apply nth_error_None in Hg; lia].
    destruct (Old i g t Hg Ht0) as [Lt _]. rewrite G, Lt.
    pose proof (cdiv_mono (len q + rsv q) (len q + rsv q + k) ltac:(lia)). rewrite Nat.add_assoc. lia.
  - cbn [tables]. intros i g t' Hg Ht. destruct (Fx i t' Ht) as (t & Ht0 & G).
    destruct (Old i g t Hg Ht0) as [Lt Ho]. apply (holes_stay g _ (len q + rsv q) k t t'); trivial; [|lia].
    pose proof (keep_from_le cfg g (len q)). lia.
Qed.

(* What is held of a window: `cells` of them from the first one to keep on. *)
Lemma held_at_most : forall g keep t cells total, holes g keep t -> length (entries t) = cdiv total ->
  total <= keep + cells -> held_blocks t <= sink_blocks g + cdiv (cells + (B - 1)).
Proof.
  intros g keep t cells total H L C. apply held_above_holes in H. rewrite L in H.
  pose proof (blocks_of_cells keep total cells C). lia.
Qed.

(* q holds no more than a sequence may whose next queries have been given their cells. *)
Definition within_bound (extra : nat) (q : seq) : Prop :=
  forall i g t, nth_error (groups cfg) i = Some g -> nth_error (tables q) i = Some t -> 0 < window g ->
    held_blocks t <= sink_blocks g + cdiv (window g - 1 + slack + extra + (B - 1)).

Lemma reserve_one_bound : forall s k w sl w' sl', shaped sl ->
  reserve_one cfg s k (w, sl) = Done (w', sl') ->
  shaped sl' /\ forall q', at_ sl' s = Some q' -> within_bound (rsv q') q'.
Proof.
  intros s k w sl w' sl' Sh H.
  destruct (reserve_one_tables _ _ _ _ _ _ Sh H) as (q & q' & E & -> & Ln & Rs & Sq & F).
  split; [apply shaped_upd; [assumption|]; intros q0 E0; injection E0 as <-; assumption|].
  intros q0 E0. rewrite at_upd_same in E0 by now apply at_some_length in E. injection E0 as <-.
  intros i g t Hg Ht W. apply (held_at_most g (keep_from g (len q)) t _ (len q' + rsv q')).
  - now apply (F i).
  - now apply (proj2 Sq i).
  - unfold State.keep_from, need. destruct (window g); lia.
Qed.

Lemma reserve_batch_bound : forall batch w sl w' sl', shaped sl -> NoDup (map fst batch) ->
  reserve_batch cfg batch (w, sl) = Done (w', sl') ->
  shaped sl' /\ forall s q', In s (map fst batch) -> at_ sl' s = Some q' -> within_bound (rsv q') q'.
Proof.
  induction batch as [|[s k] rest IH]; intros w sl w' sl' Sh N H; cbn [reserve_batch map fst] in *.
  - take_apart. subst. split; [assumption|intros s q' []].
  - inversion_clear N as [|? ? Ns Nr]. apply bind_done in H. destruct H as ([w1 sl1] & D & H).
    destruct (reserve_one_bound _ _ _ _ _ _ Sh D) as [Sh1 Bd]. destruct (IH _ _ _ _ Sh1 Nr H) as [Sh2 Bs].
    split; [assumption|]. intros s' q' [<-|I] E; [|now apply (Bs s')]. apply Bd.
    destruct (reserve_batch_frame _ _ _ _ _ _ s H Ns) as [_ F]. congruence.
Qed.

(* ---------- after a commit ---------- *)

Lemma write_tables : forall gi g n cells h p t, snd (commit_table cfg gi g n cells h (p, t)) =
  if eager cfg then slid cfg g (keep_after_commit g (n + length cells)) t else t.
Proof. intros. unfold commit_table. now destruct (eager cfg). Qed.

Lemma commit_all_tables : forall n cells h gs gi p ts p' ts',
  commit_all cfg gi n cells h gs p ts = (p', ts') ->
  length ts' = length ts /\
  forall i g t', nth_error gs i = Some g -> nth_error ts' i = Some t' -> exists t, nth_error ts i = Some t /\
    t' = if eager cfg then slid cfg g (keep_after_commit g (n + length cells)) t else t.
Proof.
  intros n cells h. induction gs as [|g gs IH]; intros gi p [|t ts] p' ts' H; cbn [commit_all] in H;
    try (injection H as <- <-; split; [reflexivity|intros [|i]; discriminate]).
  pose proof (write_tables gi g n cells h p t) as T.
  destruct (commit_table cfg gi g n cells h (p, t)) as [p1 t1]. cbn [snd] in T.
  destruct (commit_all cfg (S gi) n cells h gs p1 ts) as [p2 ts2] eqn:E. injection H as <- <-.
  destruct (IH _ _ _ _ _ E) as [L F]. split; [cbn; now rewrite L|].
  intros [|i] g' t' Hg Ht; cbn in Hg, Ht |- *; [|now apply (F i)].
  injection Hg as <-. injection Ht as <-. now exists t.
Qed.

Lemma commit_one_tables : forall s cells h p sl p' sl', shaped sl ->
  commit_one cfg s cells h p sl = Done (p', sl') -> cells <> [] ->
  exists q q', at_ sl s = Some q /\ sl' = upd sl s (Some q') /\ len q' = len q + length cells /\
    rsv q' = rsv q - length cells /\ shaped_seq q' /\
    (eager cfg = true -> forall i g t',
       nth_error (groups cfg) i = Some g -> nth_error (tables q') i = Some t' ->
       holes g (keep_after_commit g (len q')) t').
Proof.
  intros s cells h p sl p' sl' Sh H Nc. unfold commit_one in H. apply bind_done in H.
  destruct H as (q & E & H).
  apply find_seq_done in E. destruct (Sh s q E) as [L Sq]. destruct cells as [|c cells]; [contradiction|].
  set (all := c :: cells) in *. apply bind_done in H. destruct H as ([] & R & H).
  apply require_done, Nat.leb_le in R.
  destruct (commit_all cfg 0 (len q) all _ (groups cfg) p (tables q)) as [p1 ts] eqn:X.
  injection H as _ <-. apply commit_all_tables in X. destruct X as [Lx F].
  exists q, (Seq (len q + length all) (rsv q - length all) true ts).
  split; [assumption|]. split; [reflexivity|]. split; [reflexivity|]. split; [reflexivity|].
  cbn [tables len rsv].
  split.
  - split; [cbn; lia|]. cbn [tables len rsv]. intros i t' Ht.
    assert (Hi : nth_error ts i <> None) by congruence. apply nth_error_Some in Hi.
    destruct (nth_error (groups cfg) i) as [g|] eqn:Hg; [|apply nth_error_None in Hg; lia].
    destruct (F i g t' Hg Ht) as (t & Ht0 & ->).
    replace (len q + length all + (rsv q - length all)) with (len q + rsv q) by lia.
    destruct (eager cfg); [rewrite slid_length|]; now apply (Sq i).
  - intros Eg i g t' Hg Ht. destruct (F i g t' Hg Ht) as (t & _ & ->). rewrite Eg. apply slide_leaves_holes.
Qed.

(* Right after an eager commit a table holds only blocks of the last W cells (and the slack before them), of
   the sinks, and of the cells still reserved. *)
Definition only_window (q : seq) : Prop :=
  forall i g t, nth_error (groups cfg) i = Some g -> nth_error (tables q) i = Some t -> 0 < window g ->
    (forall j b, at_ (entries t) j = Some b -> j < sink_blocks g \/ len q - window g - slack < (j + 1) * B) /\
    held_blocks t <= sink_blocks g + cdiv (window g + slack + rsv q + (B - 1)).

Lemma commit_one_bound : forall s cells h p sl p' sl' q', shaped sl ->
  commit_one cfg s cells h p sl = Done (p', sl') -> cells <> [] -> at_ sl' s = Some q' ->
    eager cfg = true ->
  only_window q'.
Proof.
  intros s cells h p sl p' sl' q0 Sh H Nc E0 Eg.
  destruct (commit_one_tables _ _ _ _ _ _ _ Sh H Nc) as (q & q' & E & -> & Ln & _ & Sq & F).
  rewrite at_upd_same in E0 by now apply at_some_length in E. injection E0 as <-.
  assert (0 < length cells) by (destruct cells; [contradiction|cbn; lia]).
  intros i g t Hg Ht W. specialize (F Eg i g t Hg Ht).
  assert (K : keep_after_commit g (len q') = len q' - window g - slack).
  { unfold State.keep_after_commit, State.keep_from, need. destruct (window g); lia. }
  rewrite K in F. split.
  - intros j b Hj. destruct (Nat.lt_ge_cases j (sink_blocks g)) as [|Hs]; [now left|]. right.
    destruct (Nat.lt_ge_cases j ((len q' - window g - slack) / B)) as [Hk|Hk];
      [rewrite F in Hj; [discriminate|lia]|].
    pose proof (Nat.div_mod (len q' - window g - slack) B ltac:(lia)).
    pose proof (Nat.mod_upper_bound (len q' - window g - slack) B ltac:(lia)). nia.
  - apply (held_at_most g (len q' - window g - slack) t _ (len q' + rsv q'));
      [assumption|now apply (proj2 Sq i)|lia].
Qed.

(* A commit adds no block. *)
Lemma filter_less : forall es es', length es' = length es ->
  (forall j, at_ es' j = None \/ at_ es' j = at_ es j) ->
  length (filter is_held es') <= length (filter is_held es).
Proof.
  unfold at_. induction es as [|e es IH]; intros [|e' es'] L H; try discriminate; [reflexivity|].
  cbn [filter]. specialize (IH es' ltac:(now injection L) (fun j => H (S j))).
  destruct (H 0) as [H0|H0]; cbn in H0; subst e'; cbn [is_held]; destruct (is_held e); cbn [length]; lia.
Qed.

Lemma held_slid : forall g keep t, held_blocks (slid cfg g keep t) <= held_blocks t.
Proof.
  intros g keep t. apply filter_less; [apply slid_length|]. intro j. rewrite slid_at.
  destruct (_ && _); [now left|now right].
Qed.

Lemma commit_one_within : forall s cells h p sl p' sl' s' m,
  commit_one cfg s cells h p sl = Done (p', sl') ->
  (forall q, at_ sl s' = Some q -> within_bound m q) -> forall q', at_ sl' s' = Some q' -> within_bound m q'.
Proof.
  intros s cells h p sl p' sl' s' m H Bd q' E'.
  destruct (Nat.eq_dec s s') as [<-|Ne]; [|destruct (commit_one_frame _ _ _ _ _ _ _ _ s' H) as [_ F];
    [congruence|apply Bd; congruence]].
  unfold commit_one in H. apply bind_done in H. destruct H as (q & E & H). apply find_seq_done in E.
  destruct cells as [|c cells]; [injection H as _ <-; now apply Bd|].
  apply bind_done in H. destruct H as ([] & _ & H).
  destruct (commit_all cfg 0 (len q) (c :: cells) _ (groups cfg) p (tables q)) as [p1 ts] eqn:X.
  injection H as _ <-. rewrite at_upd_same in E' by now apply at_some_length in E. injection E' as <-.
  apply commit_all_tables in X. destruct X as [_ F]. intros i g t' Hg Ht W. cbn [tables] in Ht.
  destruct (F i g t' Hg Ht) as (t & Ht0 & ->). specialize (Bd q E i g t Hg Ht0 W).
  destruct (eager cfg); [|exact Bd]. etransitivity; [apply held_slid|exact Bd].
Qed.

Lemma commit_one_shaped : forall s cells h p sl p' sl', shaped sl ->
  commit_one cfg s cells h p sl = Done (p', sl') -> shaped sl'.
Proof.
  intros s cells h p sl p' sl' Sh H. destruct cells as [|c cells].
  - unfold commit_one in H. take_apart. now subst.
  - destruct (commit_one_tables _ _ _ _ _ _ _ Sh H) as (q & q' & E & -> & _ & _ & Sq & _); [discriminate|].
    apply shaped_upd; [assumption|]. intros q0 E0. now injection E0 as <-.
Qed.

End Bound.
