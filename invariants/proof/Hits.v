(* SPDX-License-Identifier: Apache-2.0 *)
(* Prefix hits: blocks that the machine accepts for a query (`all_hits_ok`) make tables that hold the
   query's own cells at the query's own positions (X2), and no block is among them twice. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Interpreter Lists Entries Invariant.
Import ListNotations.

Section Hits.
Context {A : Type} {cfg : config} {block_size_positive : positive (B cfg)}.
Variable eqb : A -> A -> bool.
Hypothesis eqb_ok : forall x y, eqb x y = true <-> x = y.
Notation B := (B cfg).
Implicit Types (p : pool A) (es : list (option nat)) (query : list A).

Lemma is_prefix_agrees : forall a b i, is_prefix eqb a b = true -> i < length a ->
  nth_error b i = nth_error a i.
Proof.
  induction a as [|x a IH]; intros b i H L; [cbn in L; lia|]. destruct b as [|y b]; [discriminate|].
  cbn in H. apply andb_true_iff in H as [E H]. apply eqb_ok in E as ->.
  destruct i; [reflexivity|]. cbn in *. apply IH; [exact H | lia].
Qed.

Lemma run_begin_above : forall es j, j <= run_begin j es.
Proof.
  induction es as [|[b|] es IH]; intros j; cbn [run_begin]; [lia | | specialize (IH (S j)); lia].
  destruct (forallb _ es); [lia|]. specialize (IH (S j)). lia.
Qed.

(* From run_begin on all entries are held. *)
Lemma run_is_held : forall es j i, run_begin j es <= j + i -> i < length es -> exists b, at_ es i = Some b.
Proof.
  induction es as [|e es IH]; intros j i L Li; [cbn in Li; lia|]. cbn [length] in Li.
  assert (Later : run_begin (S j) es <= j + i -> exists b, at_ (e :: es) i = Some b).
  { intros H. pose proof (run_begin_above es (S j)). destruct i as [|i]; [lia|].
    apply (IH (S j) i); lia. }
  destruct e as [b|]; cbn [run_begin] in L; [|now apply Later].
  destruct (forallb _ es) eqn:F; [|now apply Later]. destruct i as [|i]; [cbn; eauto|].
  rewrite forallb_forall in F. assert (Hi : i < length es) by lia. apply (nth_In es None) in Hi.
  apply F in Hi.
  change (at_ (Some b :: es) (S i)) with (nth i es None). destruct (nth i es None); [eauto | discriminate].
Qed.

(* What is known by a content that agrees with the query holds the query's cells. *)
Lemma hit_cell : forall p query cut gi b i,
  index_ok cfg p -> holds eqb cfg p query cut gi (i / B) b = true -> i < cut -> cut <= length query ->
  cell cfg gi p b i = nth_error query i.
Proof.
  intros p query cut gi b i X H Li Lq. unfold holds in H.
  destruct (get (index p) b) as [k|] eqn:Ek; [|discriminate].
  destruct (entry_holds X b k Ek) as (_ & _ & C). rewrite !andb_true_iff in H.
  destruct H as ((Hg & Hj) & Lm & Pre). apply Nat.eqb_eq in Hg. subst gi.
  apply Nat.eqb_eq in Hj. apply Nat.leb_le in Lm. set (m := Nat.min ((i / B + 1) * B) cut) in *.
  destruct (div_mod_eq cfg i) as [Ei Mi]. assert (Lim : i < m) by (unfold m; lia).
  rewrite C by (unfold key_base; rewrite Hj; lia).
  rewrite (is_prefix_agrees _ _ i Pre) by (rewrite firstn_length_le; lia). now apply nth_error_firstn.
Qed.

Definition indexed_in p (gi b : nat) : Prop :=
  b < N cfg /\ exists k, get (index p) b = Some k /\ in_group k = gi.

Lemma hits_ok_table : forall p query cut gi g es,
  index_ok cfg p -> cut <= length query -> hits_ok eqb cfg p query cut gi g es = true ->
  table_ok cfg gi p cut (firstn cut query) g (hit_table cfg es) /\
    holds_from cfg (need g cut) g (hit_table cfg es) /\
  (forall b, In (Some b) es -> indexed_in p gi b) /\ (forall b, count es b <= 1).
Proof.
  intros p query cut gi g es X Lq H. unfold hits_ok in H. rewrite !andb_true_iff in H.
  destruct H as ((Le & All) & Run).
  apply Nat.eqb_eq in Le. rewrite forallb_forall in All.
  assert (Hit : forall j b, at_ es j = Some b -> b < N cfg /\ holds eqb cfg p query cut gi j b = true).
  { intros j b E. specialize (All j). rewrite E in All. rewrite andb_true_iff, Nat.ltb_lt in All. apply All.
    apply in_seq. apply at_some_length in E. lia. }
  assert (Known : forall j b, at_ es j = Some b ->
                  exists k, get (index p) b = Some k /\ in_group k = gi /\ key_block cfg k = j).
  { intros j b E. destruct (Hit j b E) as [_ H]. unfold holds in H.
    destruct (get (index p) b) as [k|]; [|discriminate].
    rewrite !andb_true_iff, !Nat.eqb_eq in H. exists k. repeat split; apply H. }
  assert (Lf : length (firstn cut query) = cut) by now apply firstn_length_le.
  split; [|split; [|split]].
  - split; [exact Le | |]; cbn [hit_table entries lo]; intros i Li; [|lia]. intros Hi. rewrite Lf in Li.
    assert (Lj : i / B < length es) by (rewrite Le; now apply (div_lt_cdiv cfg)).
    assert (Held : exists b, at_ es (i / B) = Some b).
    { destruct Hi as [Hi | Hi].
      - specialize (All (i / B)). destruct (at_ es (i / B)) as [b|]; [eauto|].
        apply (lt_div cfg) in Hi. apply Nat.ltb_lt in Hi. rewrite Hi in All. discriminate All. apply in_seq.
        lia.
      - cbn [lo hit_table] in Hi. apply (run_is_held es 0); [|exact Lj]. now apply (le_div cfg). }
    destruct Held as [b Eb]. unfold read. cbn [entries hit_table]. rewrite Eb, nth_error_firstn by exact Li.
    apply (hit_cell p query cut gi); auto. now apply Hit.
  - unfold holds_from, hit_table. cbn [lo]. apply orb_true_iff in Run as [Run | Run].
    + apply Nat.eqb_eq in Run. subst cut. destruct es; [cbn; lia|]. exfalso. cbn [length] in Le.
      assert (C : 0 < cdiv cfg 0) by lia. apply (lt_cdiv cfg) in C. lia.
    + apply andb_true_iff in Run as [_ Run]. apply Nat.leb_le in Run. lia.
  - intros b Hb. apply in_at in Hb as (j & _ & E). split; [now apply (Hit j)|].
    destruct (Known j b E) as (k & Ek & Eg & _). eauto.
  - intros b. apply count_once. intros i j Ei Ej. destruct (Known i b Ei) as (k & Ek & _ & Ki).
    destruct (Known j b Ej) as (k' & Ek' & _ & Kj). congruence.
Qed.

Lemma all_hits_ok_tables : forall p query cut gs ess gi,
  index_ok cfg p -> cut <= length query -> all_hits_ok eqb cfg p query cut gi gs ess = true ->
  tables_ok cfg p cut (firstn cut query) (fun g => need g cut) gi gs (map (hit_table cfg) ess) /\
  (forall b, In (Some b) (concat ess) -> exists gi', gi <= gi' /\ indexed_in p gi' b) /\
  (forall b, count (concat ess) b <= 1).
Proof.
  intros p query cut gs. induction gs as [|g gs IH]; intros [|es ess] gi X Lq H; try discriminate.
  - split; [constructor | split; [easy | intros; cbn; lia]].
  - cbn [all_hits_ok] in H. apply andb_true_iff in H as [H Hs].
    destruct (hits_ok_table _ _ _ _ _ _ X Lq H) as (T & Th & I & D).
    destruct (IH ess (S gi) X Lq Hs) as (Ts & Is & Ds). cbn [map concat]. split; [|split].
    + constructor; [split; assumption | exact Ts].
    + intros b Hb. apply in_app_iff in Hb as [Hb | Hb]; [exists gi; auto|].
      destruct (Is b Hb) as (gi' & L & H'). exists gi'. split; [lia | exact H'].
    + intros b. rewrite count_app. specialize (D b). specialize (Ds b).
      destruct (count es b) eqn:C; [lia|]. destruct (count (concat ess) b) eqn:C'; [lia|]. exfalso.
      destruct (I b) as (_ & k & Ek & Eg); [apply count_in; lia|].
      destruct (Is b) as (gi' & L & _ & k' & Ek' & Eg'); [apply count_in; lia|].
      assert (k' = k) by congruence.
      subst. lia.
Qed.

Lemma blocks_in_hits : forall ess, blocks_in (map (hit_table cfg) ess) = concat ess.
Proof. induction ess as [|es ess IH]; [reflexivity|]. cbn. now f_equal. Qed.

End Hits.
