(* SPDX-License-Identifier: Apache-2.0 *)
(* Admissions: what is shared first, what is taken then, and the watermark (Manager::admit and its plan; A1).

   An admission lacks room if its demand, after the hits have been taken out of the idle blocks, and the
   watermark while others live are larger than the room. Nothing behind the taking can fail: the uncached
   prompt has been reserved when it is committed. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results Lookup Room Demand Slide Choices Reservation.
Import ListNotations.

Section Admission.

Context {A : Type} (eqb : A -> A -> bool) (cfg : config).
Notation B := (B cfg).
Hypothesis B_pos : 0 < B.
Notation extend_all := (extend_all cfg).
Notation slide_all := (slide_all cfg).
Notation hits_ok := (hits_ok eqb cfg).
Notation all_hits_ok := (all_hits_ok eqb cfg).
Notation admit := (admit eqb cfg).
Notation admissible := (admissible eqb cfg).
Implicit Types (w : work A) (p : pool A) (st : state A).

(* ---------- hits ---------- *)

Lemma sound_share : forall p b es, sound p es -> sound (share p b) (Some b :: es).
Proof.
  intros p b es (N & F & U). unfold share.
  destruct (Nat.eqb_spec (get (refs p) b) 0) as [Z|Z]; repeat split; cbn.
  - now apply NoDup_filter.
  - intros c I. apply in_without in I. rewrite get_set_other by (intros ->; tauto). now apply F.
  - intro c. rewrite get_set. specialize (U c). unfold one.
    destruct (Nat.eqb_spec b c) as [E|E]; [subst c|]; lia.
  - assumption.
  - intros c I. rewrite get_set. destruct (Nat.eqb_spec b c) as [E|E]; [subst c|now apply F].
    now apply F in I.
  - intro c. rewrite get_set. specialize (U c). unfold one.
    destruct (Nat.eqb_spec b c) as [E|E]; [subst c|]; lia.
Qed.

Lemma sound_share_all : forall bs p es, sound p es -> sound (share_all p bs) (bs ++ es).
Proof.
  induction bs as [|[b|] bs IH]; intros p es S; cbn [share_all fold_left app]; [exact S| |].
  - apply sound_share with (b := b), IH in S. revert S. apply sound_less. intro c. cbn [count].
    rewrite !count_app.
    cbn [count]. lia.
  - apply IH in S. exact S.
Qed.

Lemma sound_hits : forall hits p es, sound p es ->
  sound (fold_left share_all hits p) (named (map (hit_table cfg) hits) ++ es).
Proof.
  induction hits as [|bs hits IH]; intros p es S; cbn [fold_left map]; [exact S|].
  apply sound_share_all with (bs := bs), IH in S. revert S. apply sound_less. intro c.
  unfold named. cbn [flat_map hit_table entries]. rewrite !count_app. lia.
Qed.

(* Hits of different groups are different blocks: each is known for one group. *)
Lemma hit_is_of_its_group : forall p query cut gi g es j b, hits_ok p query cut gi g es = true ->
  at_ es j = Some b -> exists k, get (index p) b = Some k /\ in_group k = gi.
Proof.
  intros p query cut gi g es j b H E. unfold Prefix.hits_ok in H. rewrite !andb_true_iff in H.
  destruct H as [[_ H] _]. assert (Hj : j < length es).
  { destruct (Nat.lt_ge_cases j (length es)); [assumption|]. now rewrite at_past in E. }
  rewrite forallb_forall in H. specialize (H j). rewrite in_seq, E, andb_true_iff in H.
  destruct (H ltac:(lia)) as [_ Hh]. unfold holds in Hh. destruct (get (index p) b) as [k|]; [|discriminate].
  exists k. rewrite !andb_true_iff, Nat.eqb_eq in Hh. tauto.
Qed.

Lemma tail_of_a_hit : forall begin es a, In a (tail cfg begin (hit_table cfg es)) ->
  at_ es (begin / B) = Some a.
Proof.
  intros begin es a I. unfold tail in I. destruct (begin mod B =? 0); [destruct I|].
  cbn [hit_table entries] in I.
  destruct (at_ es (begin / B)) as [b|]; [|destruct I]. now destruct I as [->|[]].
Qed.

Lemma hits_have_own_tails : forall p query cut gs gi hits, all_hits_ok p query cut gi gs hits = true ->
  NoDup (tails_of cfg cut (map (hit_table cfg) hits)) /\
  forall a, In a (tails_of cfg cut (map (hit_table cfg) hits)) ->
            exists k, get (index p) a = Some k /\ gi <= in_group k.
Proof.
  intros p query cut. induction gs as [|g gs IH]; intros gi [|es hits] H; try discriminate.
  - split; [constructor|intros a []].
  - cbn in H. apply andb_true_iff in H. destruct H as [H Hs]. destruct (IH _ _ Hs) as [N G].
    unfold tails_of in *. cbn [map flat_map]. set (rest := flat_map _ (map _ hits)) in *.
    assert (T : forall a, In a (tail cfg cut (hit_table cfg es)) ->
                exists k, get (index p) a = Some k /\ in_group k = gi).
    { intros a I. apply tail_of_a_hit in I. exact (hit_is_of_its_group _ _ _ _ _ _ _ _ H I). }
    split.
    + unfold tail in *. destruct (cut mod B =? 0); [exact N|]. destruct (at_ _ _) as [a|]; [|exact N].
      constructor; [|exact N]. intro I. destruct (T a (or_introl eq_refl)) as (k & E & K).
      destruct (G a I) as (k' & E' & K'). rewrite E in E'. injection E' as <-. lia.
    + intros a I. apply in_app_iff in I. destruct I as [I|I].
      * destruct (T a I) as (k & E & K). exists k. split; [assumption|lia].
      * destruct (G a I) as (k & E & K). exists k. split; [assumption|lia].
Qed.

(* ---------- the admission ---------- *)

(* The pool and the tables of the new sequence before it takes a block of its own. *)
Definition after_hits (query : list A) (compute cut : nat) (hits : list (list (option nat))) (st : state A)
  : pool A * list table :=
  let p := fold_left share_all hits (the_pool st) in
  let ts := map (hit_table cfg) hits in
  if Nat.min compute (length query - cut) =? 0 then (p, ts)
  else slide_all (fun g => keep_from cfg g cut) (groups cfg) p ts.

Definition kept_free (st : state A) : nat := if others_live (seqs st) then watermark cfg else 0.

Definition admission_lacks_room (query : list A) (compute cut : nat) (hits : list (list (option nat)))
                                (cs : list nat) (st : state A) : Prop :=
  let '(p, ts) := after_hits query compute cut hits st in
  room (Work p cs []) < demand cfg cut (Nat.min compute (length query - cut)) true p ts + kept_free st.

Lemma after_hits_sound : forall query compute cut hits st p ts, sound (the_pool st) [] ->
  after_hits query compute cut hits st = (p, ts) -> sound p (named ts).
Proof.
  intros query compute cut hits st p ts S E. unfold after_hits in E.
  apply (sound_hits hits) in S. rewrite <- (app_nil_r (named ts)). destruct (_ =? 0).
  - now injection E as <- <-.
  - exact (slide_all_sound cfg _ _ _ _ _ _ _ E S).
Qed.

Lemma after_hits_tails : forall query compute cut hits st p ts,
  all_hits_ok (the_pool st) query cut 0 (groups cfg) hits = true ->
  after_hits query compute cut hits st = (p, ts) -> NoDup (tails_of cfg cut ts).
Proof.
  intros query compute cut hits st p ts H E. apply hits_have_own_tails in H. destruct H as [N _].
  unfold after_hits in E. destruct (_ =? 0); [now injection E as <- <-|].
  rewrite <- (slide_keeps_tails cfg B_pos (fun g => keep_from cfg g cut) cut (groups cfg)
               (fold_left share_all hits (the_pool st))) in N; [now rewrite E in N|].
  intro g. apply keep_from_le.
Qed.

Lemma commit_one_succeeds : forall s cells h p sl q, at_ sl s = Some q -> length cells <= rsv q ->
  exists r, commit_one cfg s cells h p sl = Done r.
Proof.
  intros s cells h p sl q E L. unfold commit_one, find_seq. rewrite E. cbn [bind].
  destruct cells as [|c cells]; [now eexists|]. apply Nat.leb_le in L. rewrite L. cbn [bind require].
  destruct (commit_all _ _ _ _ _ _ _ _) as [p' ts']. now eexists.
Qed.

(* What the admission does after its arguments have been found right. *)
Definition admit_hits (s : nat) (query : list A) (compute cut : nat) (hits : list (list (option nat)))
                      (cs : list nat) (st : state A) : result (state A) :=
  let '(p, ts) := after_hits query compute cut hits st in
  let k := Nat.min compute (length query - cut) in
  '(w, ts) <- extend_all cut k true (Work p cs []) ts ;;
  _ <- require (negb (others_live (seqs st)) || (watermark cfg <=? room w)) No_room ;;
  let sl := upd (seqs st) s (Some (Seq cut k false ts)) in
  '(p, sl) <- commit_one cfg s (firstn k (skipn cut query)) (firstn cut query) (pool_of w) sl ;;
  Done (State p sl).

Lemma admit_is : forall s query compute cut hits cs st, admit s query compute cut hits cs st =
  bind (require (is_vacant (seqs st) s) Invalid) (fun _ =>
  bind (require (0 <? length query) Invalid) (fun _ =>
  bind (require (within_limit cfg (length query)) Too_long) (fun _ =>
  bind (require (admissible (the_pool st) query cut hits) Bad_choice) (fun _ =>
  admit_hits s query compute cut hits cs st)))).
Proof. reflexivity. Qed.

Lemma watermark_iff : forall st n,
  negb (others_live (seqs st)) || (watermark cfg <=? n) = true <-> kept_free st <= n.
Proof.
  intros st n. unfold kept_free. destruct (others_live (seqs st)); cbn [negb orb]; [apply Nat.leb_le|].
  split; [lia|reflexivity].
Qed.

Section Accepted_arguments.

Variables (s : nat) (query : list A) (compute cut : nat) (hits : list (list (option nat))) (cs : list nat).
Variable st : state A.
Hypothesis vacant : is_vacant (seqs st) s = true.
Hypothesis right_hits : all_hits_ok (the_pool st) query cut 0 (groups cfg) hits = true.
Hypothesis is_sound : sound (the_pool st) [].

Lemma admit_hits_refused : forall why, admit_hits s query compute cut hits cs st = Refused why ->
  why = Bad_choice /\ cs <> [] \/ why = No_room /\ admission_lacks_room query compute cut hits cs st.
Proof.
  intros why H. unfold admit_hits in H. unfold admission_lacks_room.
  destruct (after_hits query compute cut hits st) as [p ts] eqn:E.
  pose proof (after_hits_sound _ _ _ _ _ _ _ is_sound E) as S.
  pose proof (after_hits_tails _ _ _ _ _ _ _ right_hits E) as N.
  set (k := Nat.min compute (length query - cut)) in *.
  apply bind_refused in H. destruct H as [H|([w ts'] & X & H)].
  - apply (extend_all_refused cfg cut k true ts (Work p cs [])) in H; trivial.
    destruct H as [H|[-> H]]; [now left|]. right. split; [reflexivity|]. cbn [pool_of] in H. lia.
  - apply takes_its_demand in X; trivial. cbn [pool_of] in X. apply bind_refused in H.
    destruct H as [H|([] & _ & H)].
    + apply require_refused in H. destruct H as [H ->]. right. split; [reflexivity|].
      destruct (Nat.le_gt_cases (kept_free st) (room w)) as [L|L]; [|lia].
      apply watermark_iff in L. congruence.
    + exfalso. apply bind_refused in H. destruct H as [H|([p' sl'] & _ & H)]; [|discriminate].
      unfold is_vacant in vacant. apply andb_true_iff in vacant. destruct vacant as [V _].
      apply Nat.ltb_lt in V.
      destruct (commit_one_succeeds s (firstn k (skipn cut query)) (firstn cut query) (pool_of w)
                 (upd (seqs st) s (Some (Seq cut k false ts'))) (Seq cut k false ts')) as (r & R).
      * now apply at_upd_same.
      * rewrite firstn_length. cbn [rsv]. lia.
      * congruence.
Qed.

Lemma admit_hits_done : forall st', admit_hits s query compute cut hits cs st = Done st' ->
  ~ admission_lacks_room query compute cut hits cs st.
Proof.
  intros st' H. unfold admit_hits in H. unfold admission_lacks_room.
  destruct (after_hits query compute cut hits st) as [p ts] eqn:E.
  pose proof (after_hits_sound _ _ _ _ _ _ _ is_sound E) as S.
  pose proof (after_hits_tails _ _ _ _ _ _ _ right_hits E) as N.
  apply bind_done in H. destruct H as ([w ts'] & X & H). apply bind_done in H. destruct H as ([] & R & _).
  apply require_done, watermark_iff in R. apply takes_its_demand in X; trivial. cbn [pool_of] in X.
  lia.
Qed.

End Accepted_arguments.

End Admission.
