(* SPDX-License-Identifier: Apache-2.0 *)
(* Choices do not decide: whether a reservation is accepted does not depend on which takeable blocks it takes
   (invariant A2 needs the order of the queue; whether there is room does not).

   Two runs of one call, one with legal choices and one without, hold different blocks afterwards; but they
   are `alike`: the same room, and the same references, pins and sources as far as the tables that are still
   to come name them. So one succeeds if the other does. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results Room Demand Slide.
Import ListNotations.

Section Choices.

Context {A : Type} (cfg : config).
Notation B := (B cfg).
Notation open_tail := (open_tail cfg).
Notation extend := (extend cfg).
Notation extend_all := (extend_all cfg).
Notation slide_all := (slide_all cfg).
Notation reserve_one := (reserve_one cfg).
Notation reserve_batch := (reserve_batch cfg).
Implicit Types (w : work A) (p : pool A).

(* For those who hold the blocks `es` both look the same, and both have the same room. *)
Record alike (es : list (option nat)) (w1 w2 : work A) : Prop := Alike {
  sound_1 : sound (pool_of w1) es;
  sound_2 : sound (pool_of w2) es;
  same_room : room w1 = room w2;
  same_pins : pins (pool_of w1) = pins (pool_of w2);
  same_open : open (pool_of w1) = open (pool_of w2);
  same_refs : forall c, 0 < count es c -> get (refs (pool_of w1)) c = get (refs (pool_of w2)) c;
  same_sources : forall c, 0 < count es c -> mem c (sources w1) = mem c (sources w2) }.

Lemma alike_refl : forall p es cs1 cs2 src, sound p es -> alike es (Work p cs1 src) (Work p cs2 src).
Proof. intros. now constructor. Qed.

Lemma alike_less : forall es es' w1 w2, (forall b, count es' b <= count es b) -> alike es w1 w2 ->
  alike es' w1 w2.
Proof.
  intros es es' w1 w2 H [S1 S2 R P O F M]. constructor; trivial.
  - now apply (sound_less _ es).
  - now apply (sound_less _ es).
  - intros c U. apply F. specialize (H c). lia.
  - intros c U. apply M. specialize (H c). lia.
Qed.

(* ---------- giving back ---------- *)

Lemma alike_give : forall b es w1 w2, alike (Some b :: es) w1 w2 -> alike es (give_w w1 b) (give_w w2 b).
Proof.
  intros b es w1 w2 [S1 S2 R P O F M].
  assert (U : forall c, 0 < count es c -> 0 < count (Some b :: es) c) by (intros; cbn [count]; lia).
  assert (Ub : 0 < count (Some b :: es) b) by (cbn; rewrite one_same; lia).
  constructor.
  - now apply sound_give.
  - now apply sound_give.
  - rewrite !room_give with (es := es) by assumption. rewrite R. unfold gain. now rewrite P, O, F, M.
  - cbn. now rewrite !pins_give.
  - cbn. now rewrite !open_give.
  - intros c Uc. cbn [give_w pool_of]. rewrite !refs_give, !get_set, !F by auto. reflexivity.
  - intros c Uc. apply M. auto.
Qed.

Lemma alike_give_all : forall bs es w1 w2, alike (bs ++ es) w1 w2 ->
  alike es (Work (give_all (pool_of w1) bs) (choices w1) (sources w1))
           (Work (give_all (pool_of w2) bs) (choices w2) (sources w2)).
Proof.
  induction bs as [|[b|] bs IH]; intros es w1 w2 H; cbn [give_all fold_left].
  - destruct w1, w2. exact H.
  - apply alike_give in H. apply IH in H. exact H.
  - apply IH. revert H. apply alike_less. now intro b.
Qed.

Lemma alike_give_source : forall a b1 b2 n es w1 w2, alike (Some a :: es) w1 w2 ->
  alike es (give_source cfg w1 a b1 n) (give_source cfg w2 a b2 n).
Proof.
  intros a b1 b2 n es w1 w2 [S1 S2 R P O F M].
  assert (U : forall c, 0 < count es c -> 0 < count (Some a :: es) c) by (intros; cbn [count]; lia).
  assert (Ua : 0 < count (Some a :: es) a) by (cbn; rewrite one_same; lia).
  constructor.
  - now apply (sound_give (copy cfg (pool_of w1) a b1 n)).
  - now apply (sound_give (copy cfg (pool_of w2) a b2 n)).
  - now rewrite !room_give_source with (es := es).
  - cbn. now rewrite !pins_give.
  - cbn. now rewrite !open_give.
  - intros c Uc. cbn [give_source pool_of]. rewrite !refs_give, !get_set.
    cbn [copy with_store refs].
    now rewrite !F by auto.
  - intros c Uc. cbn [give_source sources]. cbn [mem existsb]. fold (mem c (sources w1)).
    fold (mem c (sources w2)). now rewrite M by auto.
Qed.

(* ---------- windows ---------- *)

Lemma alike_slide_all : forall keep gs ts es w1 w2, alike (named ts ++ es) w1 w2 ->
  exists p1 p2 ts', slide_all keep gs (pool_of w1) ts = (p1, ts') /\
    slide_all keep gs (pool_of w2) ts = (p2, ts') /\
    alike (named ts' ++ es) (Work p1 (choices w1) (sources w1)) (Work p2 (choices w2) (sources w2)).
Proof.
  intros keep. induction gs as [|g gs IH]; intros [|t ts] es w1 w2 H; cbn [Growth.slide_all];
    try (destruct w1, w2; eexists; eexists; eexists; split; [reflexivity|split; [reflexivity|exact H]]).
  rewrite !slide_is. set (d := dead cfg g (keep g) t). set (t' := slid cfg g (keep g) t).
  assert (H' : alike (d ++ (named ts ++ entries t' ++ es)) w1 w2).
  { revert H. apply alike_less. intro b. unfold named. cbn [flat_map].
    pose proof (count_slid cfg g (keep g) t b) as U. fold d t' in U. rewrite !count_app. lia. }
  apply alike_give_all, IH in H'. destruct H' as (p1 & p2 & ts' & E1 & E2 & H').
  cbn [pool_of choices sources] in *. rewrite E1, E2. exists p1, p2, (t' :: ts').
  split; [reflexivity|split; [reflexivity|]]. revert H'. apply alike_less. intro b. unfold named.
  cbn [flat_map].
  rewrite !count_app. lia.
Qed.

(* ---------- taking ---------- *)

Lemma alike_take : forall es w1 w2 b1 w1', alike es w1 w2 -> choices w2 = [] -> take w1 = Done (b1, w1') ->
  exists b2 w2', take w2 = Done (b2, w2') /\ choices w2' = [] /\ alike es w1' w2'.
Proof.
  intros es w1 w2 b1 w1' [S1 S2 R P O F M] C T1.
  destruct (take_step _ _ _ _ S1 T1) as (S1' & R1 & U1 & F1 & _ & P1 & O1 & M1).
  destruct (take_succeeds w2 C) as (b2 & w2' & T2 & C2); [lia|]. exists b2, w2'.
  destruct (take_step _ _ _ _ S2 T2) as (S2' & R2 & U2 & F2 & _ & P2 & O2 & M2).
  split; [assumption|split; [assumption|]]. constructor; trivial; try congruence; try lia.
  - intros c U. rewrite F1, F2 by (intros ->; lia). now apply F.
  - intros c U. rewrite M1, M2. now apply M.
Qed.

Lemma alike_take_blocks : forall n es w1 w2 w1' bs1, alike es w1 w2 -> choices w2 = [] ->
  take_blocks n w1 = Done (w1', bs1) ->
  exists w2' bs2, take_blocks n w2 = Done (w2', bs2) /\ choices w2' = [] /\ alike es w1' w2'.
Proof.
  induction n as [|n IH]; intros es w1 w2 w1' bs1 H C T; cbn in *.
  - take_apart. subst. now exists w2, [].
  - apply bind_done in T. destruct T as ([b w] & T & T'). apply bind_done in T'.
    destruct T' as ([w' bs] & T' & E).
    injection E as <- <-. destruct (alike_take _ _ _ _ _ H C T) as (b2 & w2' & T2 & C2 & H2).
    rewrite T2. cbn [bind]. destruct (IH _ _ _ _ _ H2 C2 T') as (w2'' & bs2 & T3 & C3 & H3). rewrite T3. cbn.
    now exists w2'', (Some b2 :: bs2).
Qed.

Lemma alike_open_tail : forall begin hit es t w1 w2 w1' t1, alike (entries t ++ es) w1 w2 ->
  choices w2 = [] ->
  open_tail begin hit (w1, t) = Done (w1', t1) ->
  exists w2' t2, open_tail begin hit (w2, t) = Done (w2', t2) /\ choices w2' = [] /\ alike es w1' w2' /\
                 length (entries t1) = length (entries t2).
Proof.
  intros begin hit es t w1 w2 w1' t1 H C T. unfold Growth.open_tail in *.
  assert (He : alike es w1 w2) by (revert H; apply alike_less; intro b; rewrite count_app; lia).
  destruct (begin mod B =? 0); [take_apart; subst; now exists w2, t1|].
  destruct (at_ (entries t) (begin / B)) as [a|] eqn:E.
  - assert (Ha : alike (Some a :: es) w1 w2).
    { revert H. apply alike_less. intro b. rewrite count_app. cbn [count].
      destruct (one_cases a b) as [[-> ->]|[_ ->]]; [|lia]. pose proof (count_at _ _ _ E). lia. }
    assert (Ua : 0 < count (Some a :: es) a) by (cbn; rewrite one_same; lia).
    rewrite <- (same_pins _ _ _ Ha), <- (same_refs _ _ _ Ha a Ua). destruct (negb hit && _ && _).
    + take_apart. subst. eexists. exists t1. split; [reflexivity|]. split; [exact C|]. split; [|reflexivity].
      now destruct He as [(N1 & F1 & U1) (N2 & F2 & U2) R P O F M].
    + apply bind_done in T. destruct T as ([b w] & T & E'). injection E' as <- <-.
      destruct (alike_take _ _ _ _ _ Ha C T) as (b2 & w2' & T2 & C2 & H2). rewrite T2. cbn [bind].
      eexists. eexists. split; [reflexivity|]. split; [exact C2|]. split.
      * exact (alike_give_source a b b2 (begin mod B) es w w2' H2).
      * cbn [entries]. now rewrite !length_upd.
  - apply bind_done in T. destruct T as ([b w] & T & E'). injection E' as <- <-.
    destruct (alike_take _ _ _ _ _ He C T) as (b2 & w2' & T2 & C2 & H2). rewrite T2. cbn [bind].
    eexists. eexists. split; [reflexivity|]. split; [exact C2|]. split; [exact H2|].
    cbn [entries]. now rewrite !length_upd.
Qed.

Lemma alike_extend_all : forall begin k hit ts es w1 w2 w1' ts1, alike (named ts ++ es) w1 w2 ->
  choices w2 = [] ->
  extend_all begin k hit w1 ts = Done (w1', ts1) ->
  exists w2' ts2, extend_all begin k hit w2 ts = Done (w2', ts2) /\ choices w2' = [] /\ alike es w1' w2'.
Proof.
  induction ts as [|t ts IH]; intros es w1 w2 w1' ts1 H C T; cbn [Growth.extend_all] in *.
  - take_apart. subst. now exists w2, [].
  - unfold Growth.extend in *. apply bind_done in T. destruct T as ([w1a t1a] & T & T').
    apply bind_done in T. destruct T as ([w1b t1b] & To & T). apply bind_done in T.
    destruct T as ([w1c bs] & Tb & E).
    injection E as <- <-. apply bind_done in T'. destruct T' as ([w1d ts1d] & Tr & E). injection E as <- <-.
    unfold named in H. cbn [flat_map] in H. fold (named ts) in H. rewrite <- app_assoc in H.
    destruct (alike_open_tail _ _ _ _ _ _ _ _ H C To) as (w2b & t2b & To2 & Cb & Hb & L). rewrite To2.
    cbn [bind].
    rewrite L in Tb. destruct (alike_take_blocks _ _ _ _ _ _ Hb Cb Tb) as (w2c & bs2 & Tb2 & Cc & Hc).
    rewrite Tb2. cbn [bind]. destruct (IH _ _ _ _ _ Hc Cc Tr) as (w2d & ts2d & Tr2 & Cd & Hd). rewrite Tr2.
    cbn [bind]. eexists. eexists. split; [reflexivity|]. now split.
Qed.

(* ---------- batches ---------- *)

Definition held (sl : list (option seq)) (s : nat) : list (option nat) :=
  match at_ sl s with Some q => named (tables q) | None => [] end.

Lemma alike_reserve_one : forall s k es sl1 sl2 w1 w2 w1' sl1', at_ sl1 s = at_ sl2 s ->
  alike (held sl2 s ++ es) w1 w2 -> choices w2 = [] -> reserve_one s k (w1, sl1) = Done (w1', sl1') ->
  exists w2' sl2', reserve_one s k (w2, sl2) = Done (w2', sl2') /\ choices w2' = [] /\ alike es w1' w2' /\
    forall s', s' <> s -> at_ sl1' s' = at_ sl1 s' /\ at_ sl2' s' = at_ sl2 s'.
Proof.
  intros s k es sl1 sl2 w1 w2 w1' sl1' E H C T. unfold Growth.reserve_one in *.
  unfold find_seq, held in *. rewrite E in T. destruct (at_ sl2 s) as [q|]; [|discriminate]. cbn [bind] in *.
  destruct (alike_slide_all (fun g => keep_from cfg g (len q)) (groups cfg) _ _ _ _ H)
    as (p1 & p2 & ts & E1 & E2 & H').
  rewrite E1 in T. rewrite E2. apply bind_done in T. destruct T as ([w1a ts1] & T & T').
  injection T' as <- <-.
  destruct (alike_extend_all _ _ _ _ _ _ _ _ _ H' C T) as (w2a & ts2 & T2 & C2 & H2). rewrite T2. cbn [bind].
  eexists. eexists. split; [reflexivity|]. split; [exact C2|]. split; [exact H2|].
  intros s' Hs. split; apply at_upd_other; congruence.
Qed.

Lemma alike_reserve_batch : forall batch es sl1 sl2 w1 w2 w1' sl1', NoDup (map fst batch) ->
  (forall s, In s (map fst batch) -> at_ sl1 s = at_ sl2 s) ->
  alike (flat_map (held sl2) (map fst batch) ++ es) w1 w2 -> choices w2 = [] ->
  reserve_batch batch (w1, sl1) = Done (w1', sl1') ->
  exists w2' sl2', reserve_batch batch (w2, sl2) = Done (w2', sl2').
Proof.
  induction batch as [|[s k] rest IH]; intros es sl1 sl2 w1 w2 w1' sl1' N E H C T;
    cbn [Growth.reserve_batch] in *.
  - now exists w2, sl2.
  - cbn [map fst flat_map] in *. inversion_clear N as [|? ? Ns Nr]. rewrite <- app_assoc in H.
    apply bind_done in T. destruct T as ([w1a sl1a] & T & T').
    destruct (alike_reserve_one s k _ sl1 sl2 _ _ _ _ (E s (or_introl eq_refl)) H C T)
      as (w2a & sl2a & T2 & C2 & H2 & F).
    rewrite T2. cbn [bind]. apply (IH es sl1a sl2a w1a w2a w1' sl1'); trivial.
    + intros s' I. destruct (F s') as [F1 F2]; [intros ->; contradiction|]. rewrite F1, F2. apply E.
      now right.
    + replace (flat_map (held sl2a) (map fst rest)) with (flat_map (held sl2) (map fst rest)); [assumption|].
      rewrite !flat_map_concat_map. f_equal. apply map_ext_in. intros s' I. unfold held.
      destruct (F s') as [_ F2]; [intros ->; contradiction|]. now rewrite F2.
Qed.

(* All blocks that tables name. *)
Definition all_named (sl : list (option seq)) : list (option nat) :=
  flat_map (fun o => match o with Some q => named (tables q) | None => [] end) sl.

Lemma count_without : forall b sl s,
  count (all_named sl) b = count (held sl s) b + count (all_named (upd sl s None)) b.
Proof.
  intros b. unfold held, at_, all_named. induction sl as [|o sl IH]; intros [|s]; try reflexivity.
  - cbn [flat_map nth upd]. rewrite !count_app. destruct o; cbn; lia.
  - cbn [flat_map nth upd]. rewrite !count_app, (IH s). lia.
Qed.

Lemma count_of_some : forall b ss sl, NoDup ss -> count (flat_map (held sl) ss) b <= count (all_named sl) b.
Proof.
  intros b. induction ss as [|s ss IH]; intros sl N; cbn [flat_map]; [cbn; lia|].
  inversion_clear N as [|? ? Ns Nr]. rewrite count_app, (count_without b sl s). apply Nat.add_le_mono_l.
  specialize (IH (upd sl s None) Nr).
  replace (flat_map (held (upd sl s None)) ss) with (flat_map (held sl) ss) in IH; [exact IH|].
  rewrite !flat_map_concat_map. f_equal. apply map_ext_in. intros s' I. unfold held.
  rewrite at_upd_other; [reflexivity|]. now intros ->.
Qed.

End Choices.
