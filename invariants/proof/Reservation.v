(* SPDX-License-Identifier: Apache-2.0 *)
(* Reservations and admissions, up to the one thing that may be missing: room (the planner; invariants A1 and
   A2).

   For one sequence a reservation lacks room if its demand is larger than the room after its windows have
   slid. A batch is refused for want of room if and only if there is a sequence in it for which this is so
   once those before it have been served. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results Frame Room Demand Slide Choices.
Import ListNotations.

Section Reservation.

Context {A : Type} (eqb : A -> A -> bool) (cfg : config).
Notation B := (B cfg).
Hypothesis B_pos : 0 < B.
Notation extend_all := (extend_all cfg).
Notation slide_all := (slide_all cfg).
Notation reserve_one := (reserve_one cfg).
Notation reserve_batch := (reserve_batch cfg).
Implicit Types (w : work A) (p : pool A) (st : state A).

(* ---------- windows slide first ---------- *)

Lemma slide_all_sound : forall keep gs p ts p' ts' es, slide_all keep gs p ts = (p', ts') ->
  sound p (named ts ++ es) -> sound p' (named ts' ++ es).
Proof.
  intros keep gs p ts p' ts' es E S.
  destruct (alike_slide_all cfg keep gs ts es (Work p [] []) (Work p [] [])) as (p1 & p2 & ts1 & E1 & _ & H).
  { now apply alike_refl. }
  cbn [pool_of] in E1. rewrite E in E1. injection E1 as <- <-. apply (sound_1 _ _ _ H).
Qed.

(* The block that the next cell falls into is not among those that are given back. *)
Lemma slide_keeps_tails : forall keep begin gs p ts, (forall g, keep g <= begin) ->
  tails_of cfg begin (snd (slide_all keep gs p ts)) = tails_of cfg begin ts.
Proof.
  intros keep begin gs p ts H. revert p ts. induction gs as [|g gs IH]; intros p [|t ts]; try reflexivity.
  cbn [Growth.slide_all]. rewrite slide_is. specialize (IH (give_all p (dead cfg g (keep g) t)) ts).
  destruct (slide_all keep gs _ ts) as [p' ts']. unfold tails_of in *. cbn [snd flat_map] in *. rewrite IH.
  f_equal.
  unfold tail. destruct (begin mod B =? 0); [reflexivity|]. rewrite slid_at_above; [reflexivity|].
  apply Nat.div_le_mono; [lia|apply H].
Qed.

(* ---------- one sequence ---------- *)

(* No block is the last one of two tables of a sequence (part of what the refinement invariant says). *)
Definition own_tails (q : seq) : Prop := NoDup (tails_of cfg (len q + rsv q) (tables q)).

(* After its windows have slid, k cells more for the sequence need more blocks than can be taken. *)
Definition lacks_room (w : work A) (q : seq) (k : nat) : Prop :=
  let '(p, ts) := slide_all (fun g => keep_from cfg g (len q)) (groups cfg) (pool_of w) (tables q) in
  room (Work p (choices w) (sources w)) < demand cfg (len q + rsv q) k false p ts.

Lemma slid_tails : forall w q p ts, own_tails q ->
  slide_all (fun g => keep_from cfg g (len q)) (groups cfg) (pool_of w) (tables q) = (p, ts) ->
  NoDup (tails_of cfg (len q + rsv q) ts).
Proof.
  intros w q p ts N E. unfold own_tails in N.
  rewrite <- (slide_keeps_tails (fun g => keep_from cfg g (len q)) _ (groups cfg) (pool_of w)) in N.
  - now rewrite E in N.
  - intro g. pose proof (keep_from_le cfg g (len q)). lia.
Qed.

Lemma reserve_one_done : forall s k w sl w' sl' q es, at_ sl s = Some q -> own_tails q ->
  sound (pool_of w) (held sl s ++ es) -> reserve_one s k (w, sl) = Done (w', sl') ->
  ~ lacks_room w q k /\ sound (pool_of w') es.
Proof.
  intros s k w sl w' sl' q es E N S H. unfold Growth.reserve_one, find_seq in H. unfold held in S.
  rewrite E in *.
  cbn [bind] in H. unfold lacks_room.
  destruct (slide_all _ (groups cfg) (pool_of w) (tables q)) as [p ts] eqn:Es.
  pose proof (slide_all_sound _ _ _ _ _ _ _ Es S) as S'. apply bind_done in H.
  destruct H as ([w1 ts1] & X & H).
  injection H as <- _. split; [|exact (extend_all_sound cfg _ _ _ ts (Work p _ _) _ _ _ S' X)].
  apply takes_its_demand in X; [cbn [pool_of] in X; lia| |now apply (slid_tails w q p)].
  revert S'. apply sound_less. intro b. rewrite count_app. lia.
Qed.

Lemma reserve_one_refused : forall s k w sl q es why, at_ sl s = Some q -> own_tails q ->
  sound (pool_of w) (held sl s ++ es) -> reserve_one s k (w, sl) = Refused why ->
  why = Bad_choice /\ choices w <> [] \/ why = No_room /\ lacks_room w q k.
Proof.
  intros s k w sl q es why E N S H. unfold Growth.reserve_one, find_seq in H. unfold held in S.
  rewrite E in *.
  cbn [bind] in H. unfold lacks_room.
  destruct (slide_all _ (groups cfg) (pool_of w) (tables q)) as [p ts] eqn:Es.
  pose proof (slide_all_sound _ _ _ _ _ _ _ Es S) as S'. apply bind_refused in H.
  destruct H as [H|([w1 ts1] & _ & H)]; [|discriminate].
  apply extend_all_refused in H; [exact H| |now apply (slid_tails w q p)].
  revert S'. apply sound_less. intro b. rewrite count_app. lia.
Qed.

(* ---------- batches ---------- *)

(* Those before it in the batch have been served, and then there is no room for this one. *)
Definition one_lacks_room (batch : list (nat * nat)) (w : work A) (sl : list (option seq)) : Prop :=
  exists before s k after w1 sl1 q, batch = before ++ (s, k) :: after /\
    reserve_batch before (w, sl) = Done (w1, sl1) /\ at_ sl s = Some q /\ lacks_room w1 q k.

Definition askable (batch : list (nat * nat)) (sl : list (option seq)) : Prop :=
  NoDup (map fst batch) /\ forall s, In s (map fst batch) -> exists q, at_ sl s = Some q /\ own_tails q.

Lemma held_elsewhere : forall ss sl1 sl2, (forall s, In s ss -> at_ sl1 s = at_ sl2 s) ->
  flat_map (held sl1) ss = flat_map (held sl2) ss.
Proof.
  intros ss sl1 sl2 H. rewrite !flat_map_concat_map. f_equal. apply map_ext_in. intros s I. unfold held.
  now rewrite H.
Qed.

Lemma askable_rest : forall s k rest w sl w' sl', askable ((s, k) :: rest) sl ->
  reserve_one s k (w, sl) = Done (w', sl') ->
  askable rest sl' /\ forall s', In s' (map fst rest) -> at_ sl' s' = at_ sl s'.
Proof.
  intros s k rest w sl w' sl' [N Al] H. inversion_clear N as [|? ? Ns Nr].
  assert (F : forall s', In s' (map fst rest) -> at_ sl' s' = at_ sl s').
  { intros s' I. apply reserve_one_writes in H. destruct H as (q & ts & _ & ->).
    apply at_upd_other. now intros ->. }
  split; [|exact F]. split; [assumption|]. intros s' I. rewrite F by assumption. apply Al. now right.
Qed.

(* Who is served without choices leaves none. *)
Lemma no_choices_left : forall s k w sl w' sl' q es, at_ sl s = Some q ->
  sound (pool_of w) (held sl s ++ es) -> reserve_one s k (w, sl) = Done (w', sl') -> choices w = [] ->
    choices w' = [].
Proof.
  intros s k w sl w' sl' q es E S H C.
  destruct (alike_reserve_one cfg s k es sl sl w w w' sl' eq_refl) as (w2 & sl2 & H2 & C2 & _); trivial.
  - destruct w as [p cs src]. now apply alike_refl.
  - rewrite H in H2. injection H2 as <- _. exact C2.
Qed.

Lemma reserve_batch_refused : forall batch w sl es why, askable batch sl ->
  sound (pool_of w) (flat_map (held sl) (map fst batch) ++ es) -> reserve_batch batch (w, sl) = Refused why ->
  why = Bad_choice /\ choices w <> [] \/ why = No_room /\ one_lacks_room batch w sl.
Proof.
  induction batch as [|[s k] rest IH]; intros w sl es why Al S H; cbn [Growth.reserve_batch] in H;
    [discriminate|].
  destruct (proj2 Al s (or_introl eq_refl)) as (q & E & N).
  cbn [map fst flat_map] in S. rewrite <- app_assoc in S. apply bind_refused in H.
  destruct H as [H|([w1 sl1] & D & H)].
  - destruct (reserve_one_refused _ _ _ _ _ _ _ E N S H) as [L|[-> L]]; [now left|]. right.
    split; [reflexivity|].
    exists [], s, k, rest, w, sl, q. now repeat split.
  - destruct (askable_rest _ _ _ _ _ _ _ Al D) as [Al1 F].
    destruct (reserve_one_done _ _ _ _ _ _ _ _ E N S D) as [_ S1].
    rewrite <- (held_elsewhere _ sl1 sl F) in S1.
    destruct (IH _ _ _ _ Al1 S1 H)
      as [[-> C]|[-> (before & s1 & k1 & after & w2 & sl2 & q1 & Eb & Db & E1 & L)]].
    + left. split; [reflexivity|]. intro C0. apply C. eapply no_choices_left; eassumption.
    + right. split; [reflexivity|]. exists ((s, k) :: before), s1, k1, after, w2, sl2, q1.
      split; [now rewrite Eb|].
      split; [cbn [Growth.reserve_batch]; now rewrite D|]. split; [|assumption]. rewrite <- F; [assumption|].
      rewrite Eb, map_app, in_app_iff. right. now left.
Qed.

(* And the other way round: who lacks room is not served. *)
Lemma reserve_batch_done : forall batch w sl es r, askable batch sl ->
  sound (pool_of w) (flat_map (held sl) (map fst batch) ++ es) -> reserve_batch batch (w, sl) = Done r ->
  ~ one_lacks_room batch w sl.
Proof.
  induction batch as [|[s k] rest IH];
    intros w sl es r Al S H (before & s1 & k1 & after & w2 & sl2 & q1 & Eb & Db & E1 & L).
  - now destruct before.
  - destruct (proj2 Al s (or_introl eq_refl)) as (q & E & N). cbn [Growth.reserve_batch] in H.
    cbn [map fst flat_map] in S. rewrite <- app_assoc in S. apply bind_done in H.
    destruct H as ([w1 sl1] & D & H).
    destruct (askable_rest _ _ _ _ _ _ _ Al D) as [Al1 F].
    destruct (reserve_one_done _ _ _ _ _ _ _ _ E N S D) as [Room S1].
    destruct before as [|sk before].
    + cbn in Db, Eb. injection Db as <- <-. injection Eb as <- <- _. rewrite E in E1. injection E1 as <-.
      tauto.
    + cbn [app] in Eb. injection Eb as <- Eb. cbn [Growth.reserve_batch] in Db. rewrite D in Db.
      cbn [bind] in Db.
      rewrite <- (held_elsewhere _ sl1 sl F) in S1. apply (IH _ _ _ _ Al1 S1 H).
      exists before, s1, k1, after, w2, sl2, q1. split; [assumption|]. split; [assumption|].
      split; [|assumption].
      rewrite F; [assumption|]. rewrite Eb, map_app, in_app_iff. right. now left.
Qed.

End Reservation.
