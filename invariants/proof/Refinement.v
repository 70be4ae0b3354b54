(* SPDX-License-Identifier: Apache-2.0 *)
(* Every operation of the machine keeps the invariant R: what it accepts, the specification does too, and
   the tables say what the histories say. One lemma `..._ok` for each operation; `step_ok` is all of them,
   `run_ok` any list of them. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Interpreter Lists Entries Invariant Pool Tables Commit Hits Sequences.
Import ListNotations.

Section Refinement.
Context {A : Type} {watch : nat -> nat -> Prop} {cfg : config}
  {block_size_positive : positive (B cfg)}.
Variable eqb : A -> A -> bool.
Hypothesis eqb_ok : forall x y, eqb x y = true <-> x = y.
Notation B := (B cfg).
Implicit Types (p : pool A) (hs : histories A) (sl : list (option seq)) (st : state A) (h : list A)
  (g : group).

(* ---------- fork ---------- *)

Lemma blocks_in_concat : forall ts, concat (map entries ts) = blocks_in ts.
Proof. intros. symmetry. apply flat_map_concat_map. Qed.

Lemma fork_ok : forall s t n st hs st',
  R watch cfg st hs -> fork cfg s t n st = Done st' -> R watch cfg st' (spec_step hs (Fork s t n)).
Proof.
  intros s t n [p sl] hs st' H E. unfold fork in E. cbn [the_pool seqs] in E. obtain q Eq from E.
  unfold find_seq in Eq.
  destruct (at_ sl s) as [q'|] eqn:Es; [|discriminate]. injection Eq as ->.
  required E V. required E Rsv. apply Nat.eqb_eq in Rsv. required E Ln. apply Nat.leb_le in Ln.
  required E Res.
  injection E as <-. unfold R in *. cbn [the_pool seqs] in *. cbn [spec_step].
  destruct (living _ _ _ _ _ (proj2 H) Es) as (h & Eh & Q & Ls & _). rewrite Eh.
  destruct (vacant _ _ _ _ (proj2 H) V) as (Et & Eht & Lt). destruct H as [P [Lhs S]].
  rewrite share_tables_concat, blocks_in_concat.
  destruct (cut_seq_ok n p q h Q) as [Tc Cut]; [split; [exact Ln | now left]|].
  set (ts' := with_groups cfg (cut_table cfg n) (tables q)) in *.
  destruct (share_all_same (blocks_in ts') p) as (Est & _). set (p' := share_all p (blocks_in ts')) in *.
  assert (Lq : forall b, count (blocks_in ts') b <= count (blocks_in (tables q)) b).
  { intros b. rewrite (Cut b). lia. }
  assert (Cq : forall b, count (all_blocks sl) b = others sl s b + count (blocks_in (tables q)) b).
  { intros b. rewrite (others_split sl s b Ls). now rewrite Es. }
  assert (P' : pool_ok watch cfg (fun b => count (all_blocks sl) b + count (blocks_in ts') b) p').
  { apply (share_all_ok _ (count (all_blocks sl))); auto. intros b Hb. apply (pool_books P).
    apply count_in in Hb. specialize (Lq b). specialize (Cq b). lia. }
  assert (F : frame cfg (others sl s) p p').
  { eapply share_all_frame; [exact P | exact P' | reflexivity |]. intros b Hb O [X _].
    rewrite (refs_count (pool_books P)), Cq in X. apply count_in in Hb. specialize (Lq b). lia. }
  split; [|split].
  - eapply pool_ok_ext; [|exact P']. intros b. cbv beta. pose proof (count_blocks_upd sl t (Some
      (Seq n 0 (full q && (n =? len q)) ts')) b Lt) as C. rewrite Et in C. cbn [blocks_of tables count] in *.
      lia.
  - now rewrite !length_upd.
  - intros x. destruct (Nat.eq_dec x t) as [-> | Dt].
    + rewrite !at_upd_same by lia. pose proof (len_exact Q). split; cbn [len rsv tables].
      * rewrite firstn_length_le; lia.
      * rewrite Nat.add_0_r. replace n with (length (firstn n h)) at 1 by (rewrite firstn_length_le; lia).
        apply (tables_ok_store cfg p); [exact Est|]. rewrite firstn_length_le by lia.
        exact Tc.
      * intros b. pose proof (seq_distinct Q b). specialize (Lq b). lia.
    + rewrite !at_upd_other by auto. destruct (Nat.eq_dec x s) as [-> | Ds].
      * rewrite Es, Eh. destruct Q as [Q1 Q2 Q3]. split; auto. rewrite Rsv, Nat.add_0_r, Q1 in Q2 |- *.
        now apply (tables_ok_store cfg p).
      * specialize (S x). pose proof (fun b => others_at sl s x b Ds) as O.
        destruct (at_ sl x) as [q2|], (at_ hs x) as [h2|]; try easy.
        eapply seq_ok_frame; [exact F | | exact S].
        intros b C. specialize (O b). cbn [blocks_of] in O. lia.
Qed.

(* ---------- release ---------- *)

Lemma publish_tails_ok : forall p0 m h seen c rest gi gs ts p,
  store p = store p0 -> tables_ok cfg p0 m h seen gi gs ts -> length h mod B <> 0 -> pool_ok watch cfg c p ->
  (forall b, 0 < count (blocks_in ts) b -> rest b < c b) ->
  let p' := publish_tails cfg gi (length h) h gs ts p in pool_ok watch cfg c p' /\ frame cfg rest p p'.
Proof.
  intros p0 m h seen c rest gi gs ts p Es T M P L.
  induction T as [|gi g t gs ts [Tt _] _ IH] in p, Es, P, L |- *; [split; [exact P | apply frame_refl]|].
  cbn [publish_tails]. set (p1 := if is_whole cfg g t (length h / B) then _ else p).
  assert (H : store p1 = store p /\ pool_ok watch cfg c p1 /\ frame cfg rest p p1).
  { unfold p1, publish. destruct (is_whole cfg g t (length h / B)) eqn:W; [|split; auto using frame_refl].
    destruct (at_ (entries t) (length h / B)) as [b|] eqn:Eb; [|split; auto using frame_refl].
    destruct (keeps_entry p b h); [split; auto using frame_refl|].
    split; [reflexivity|]. apply index_entry_ok; [exact P | |].
    - apply L. rewrite count_blocks_cons. apply count_at in Eb. lia.
    - destruct (div_mod_eq cfg (length h)). pose proof (entry_content p0 m h g t gi _ (length h) b Tt W) as C.
      rewrite firstn_all in C. unfold holds_content, cell in *. rewrite Es. apply C; [lia | lia | exact Eb]. }
  destruct H as (E1 & P1 & F1). destruct (IH p1) as [P2 F2]; auto.
  - now rewrite E1.
  - intros b Hb. apply L. rewrite count_blocks_cons. lia.
  - split; [exact P2 | eapply frame_trans; eassumption].
Qed.

Lemma release_ok : forall s keep st hs st', R watch cfg st hs -> release cfg hs s keep st = Done st' ->
  R watch cfg st' (spec_step hs (Release s keep)).
Proof.
  intros s keep [p sl] hs st' H E. unfold release in E. cbn [the_pool seqs] in E. obtain q Eq from E.
  unfold find_seq in Eq.
  destruct (at_ sl s) as [q'|] eqn:Es; [|discriminate]. injection Eq as ->.
  unfold R in H |- *. cbn [the_pool seqs] in H.
  destruct (living _ _ _ _ _ (proj2 H) Es) as (h & Eh & Q & Ls & _).
  pose proof (pool_but_one _ _ _ _ _ H Es) as P. unfold history in E. rewrite Eh in E.
  set (p1 := if keep && caching cfg && tails cfg && _ then _ else p) in E. injection E as <-.
  cbn [the_pool seqs spec_step].
  set (c := fun b => others sl s b + count (blocks_in (tables q)) b) in *.
  assert (H1 : pool_ok watch cfg c p1 /\ frame cfg (others sl s) p p1).
  { unfold p1. destruct (keep && caching cfg && tails cfg && _) eqn:C; [|split; [exact P | apply frame_refl]].
    apply andb_true_iff in C as [_ C]. apply negb_true_iff, Nat.eqb_neq in C. rewrite (len_exact Q) in *.
    apply (publish_tails_ok p _ h _ c (others sl s) 0 _ _ p eq_refl (seq_tables Q) C P).
    intros b Hb. unfold c. lia. }
  destruct H1 as [P1 F1]. rewrite give_tables_concat, blocks_in_concat.
  destruct (give_all_ok (blocks_in (tables q)) c (others sl s) p1 P1) as [P2 F2]; [reflexivity|].
  apply (replace_seq watch cfg p); auto; [apply H | | eapply frame_trans; eassumption].
  eapply pool_ok_ext; [|exact P2]. intros b. cbn [blocks_of count]. lia.
Qed.

(* ---------- admit ---------- *)

Lemma admit_ok : forall s query compute cut hits cs st hs st',
  R watch cfg st hs -> admit eqb cfg s query compute cut hits cs st = Done st' ->
  R watch cfg st' (spec_step hs (Admit s query compute cut hits cs)).
Proof.
  intros s query compute cut hits cs [p sl] hs st' H E. unfold admit in E. cbn [the_pool seqs] in E.
  required E V. required E Lq. required E Lim. required E Hits. rewrite !andb_true_iff in Hits.
  destruct Hits as ((Lc & _) & Hits). apply Nat.ltb_lt in Lc.
  unfold R in H. cbn [the_pool seqs] in H. destruct (vacant _ _ _ _ (proj2 H) V) as (Es & Eh & Ls).
  destruct H as [P S]. pose proof S as [Lhs _].
  destruct (all_hits_ok_tables eqb eqb_ok p query cut (groups cfg) hits 0 (pool_index P)) as (T & I & D);
    auto; [lia|].
  set (k := Nat.min compute (length query - cut)) in *.
  assert (P0 : pool_ok watch cfg (others sl s) p).
  { eapply pool_ok_ext; [|exact P]. intros b. rewrite (others_split sl s b Ls), Es. cbn. lia. }
  rewrite share_tables_concat in E. set (p1 := share_all p (concat hits)) in *.
  assert (P1 : pool_ok watch cfg (fun b => others sl s b + count (concat hits) b) p1).
  { apply (share_all_ok _ (others sl s)); auto. intros b Hb. now destruct (I b Hb) as (? & _ & Nb & _). }
  assert (F1 : frame cfg (others sl s) p p1).
  { eapply share_all_frame; [exact P0 | exact P1 | reflexivity |]. intros b Hb _ (_ & X & _).
    destruct (I b Hb) as (? & _ & _ & ky & Ek & _). congruence. }
  assert (T1 : tables_ok cfg p1 cut (firstn cut query) (fun g => need g cut) 0 (groups cfg)
                 (map (hit_table cfg) hits)).
  { assert (Lf : length (firstn cut query) = cut) by (apply firstn_length_le; lia). rewrite <- Lf at 1.
    apply (tables_ok_store cfg p); [apply share_all_same|]. now rewrite Lf. }
  rewrite <- (blocks_in_hits (cfg := cfg)) in P1, D.
  set (ts1 := map (hit_table cfg) hits) in *. clearbody ts1 p1. clear I Hits.
  destruct (if k =? 0 then _ else _) as [p2 ts2] eqn:E2. obtain [w ts3] E3 from E. required E Wm. clear Wm.
  assert (N2 : turn watch cfg (others sl s) p1 (blocks_in ts1) p2 (blocks_in ts2) /\
               tables_ok cfg p2 cut (firstn cut query) (fun g => need g cut) 0 (groups cfg) ts2).
  { destruct (k =? 0).
    - injection E2 as <- <-. split; [apply turn_same; [exact P1 | apply frame_refl] | exact T1].
    - eapply slide_all_ok; [exact P1 | exact T1 | | exact E2]. intros g. cbv beta.
      rewrite firstn_length_le by lia. pose proof (keep_from_le (cfg := cfg) g cut).
      pose proof (need_le g cut). lia. }
  destruct N2 as [N2 T2].
  destruct (extend_all_ok (watch := watch) cut k (firstn cut query) (fun g => need g cut) true 0 (groups cfg)
              ts2 (others sl s)
              (Work p2 cs []) w ts3) as [N3 T3]; auto.
  { apply N2. }
  { rewrite firstn_length_le; lia. }
  obtain [p4 sl4] E4 from E. injection E as <-. set (q0 := Seq cut k false ts3) in *.
  destruct (turn_trans _ _ _ _ _ _ _ N2 N3) as [P3 F3 D3].
  assert (R3 : R' watch cfg (pool_of w) (upd sl s (Some q0)) (upd hs s (Some (firstn cut query)))).
  { apply (replace_seq watch cfg p); auto; [eapply frame_trans; eassumption|]. split; cbn [q0 len rsv tables].
    - rewrite firstn_length_le; lia.
    - exact T3.
    - intros b. specialize (D b). specialize (D3 b). lia. }
  apply (commit_one_ok _ _ _ _ _ _ _ _ R3) in E4; [|apply at_upd_same; lia].
  unfold R. cbn [the_pool seqs spec_step]. fold k. rewrite upd_twice in E4.
  assert (Q : firstn cut query ++ firstn k (skipn cut query) = firstn (cut + k) query).
  { assert (Lf : length (firstn cut query) = cut) by (apply firstn_length_le; lia).
    transitivity (firstn (cut + k) (firstn cut query ++ skipn cut query)); [|now rewrite firstn_skipn].
    rewrite firstn_app, Lf, (firstn_all2 (firstn cut query)) by lia. do 2 f_equal. lia. }
  now rewrite <- Q.
Qed.

(* ---------- operations on the pool alone ---------- *)

Lemma pool_only : forall st hs p', R watch cfg st hs ->
  (forall c, pool_ok watch cfg c (the_pool st) -> pool_ok watch cfg c p' /\ frame cfg c (the_pool st) p') ->
  R watch cfg (State p' (seqs st)) hs.
Proof.
  intros [p sl] hs p' [P [L S]] K. cbn [the_pool seqs] in *. destruct (K _ P) as [P' F].
  split; [exact P' | split; [exact L|]].
  intros s. specialize (S s). pose proof (fun b => count_blocks_at sl s b) as C. cbn [seqs].
  destruct (at_ sl s) as [q|], (at_ hs s) as [h|]; try easy. eapply seq_ok_frame; [exact F | | exact S].
  intros b Hb. specialize (C b). cbn [blocks_of] in C. lia.
Qed.

Lemma on_pool_ok : forall st hs r st', R watch cfg st hs -> on_pool st r = Done st' ->
  (forall p' c, r = Done p' -> pool_ok watch cfg c (the_pool st) ->
                pool_ok watch cfg c p' /\ frame cfg c (the_pool st) p') ->
  R watch cfg st' hs.
Proof.
  intros st hs r st' H E K. unfold on_pool in E. obtain p' Ep from E. injection E as <-.
  apply pool_only; auto.
Qed.

Lemma fold_pool_ok : forall (f : result (pool A) -> nat -> result (pool A)) c,
  (forall why b, f (Refused why) b = Refused why) ->
  (forall p p' b, pool_ok watch cfg c p -> f (Done p) b = Done p' ->
                  pool_ok watch cfg c p' /\ frame cfg c p p') ->
  forall bs p p', pool_ok watch cfg c p -> fold_left f bs (Done p) = Done p' ->
  pool_ok watch cfg c p' /\ frame cfg c p p'.
Proof.
  intros f c Stop One. assert (Stops : forall bs why, fold_left f bs (Refused why) = Refused why).
  { induction bs as [|b bs IH]; intros why; cbn; [reflexivity|]. now rewrite Stop. }
  induction bs as [|b bs IH]; intros p p' P E; cbn [fold_left] in E.
  - injection E as <-. split; [exact P | apply frame_refl].
  - destruct (f (Done p) b) as [p1|why] eqn:E1; [|now rewrite Stops in E].
    destruct (One _ _ _ P E1) as [P1 F1]. destruct (IH _ _ P1 E) as [P2 F2].
    split; [exact P2 | eapply frame_trans; eassumption].
Qed.

(* ---------- all operations ---------- *)

(* A step that is watched does not end here. *)
Definition goes_on (o : op A) : Prop := match o with End i => forall b, ~ watch b i | _ => True end.

Theorem step_ok : forall st hs o st',
  R watch cfg st hs -> goes_on o -> step eqb cfg hs st o = Done st' -> R watch cfg st' (spec_step hs o).
Proof.
  intros st hs o st' H G E. destruct o; cbn [Machine.step goes_on] in *.
  - eapply admit_ok; eassumption.
  - eapply reserve_ok; eassumption.
  - eapply commit_ok; [exact H | reflexivity | exact E].
  - eapply append_ok; eassumption.
  - eapply cancel_ok; eassumption.
  - eapply fork_ok; eassumption.
  - eapply truncate_ok; eassumption.
  - eapply release_ok; eassumption.
  - eapply on_pool_ok; [exact H | exact E|]. intros p' c E' P. eapply step_begin_ok; eassumption.
  - eapply on_pool_ok; [exact H | exact E|]. intros p' c E' P. eapply step_end_ok; eassumption.
  - injection E as <-. apply pool_only; [exact H|]. intros c P. now apply forget_ok.
  - eapply on_pool_ok; [exact H | exact E|]. intros p' c E' P.
    apply (fold_pool_ok pin_one c) with (bs := bs); auto. intros. eapply pin_one_ok; eassumption.
  - eapply on_pool_ok; [exact H | exact E|]. intros p' c E' P.
    apply (fold_pool_ok unpin_one c) with (bs := bs); auto. intros. eapply unpin_one_ok; eassumption.
Qed.

Theorem steps_ok : forall os st hs, R watch cfg st hs -> Forall goes_on os ->
  let '(st', hs') := fold_left (both eqb cfg) os (st, hs) in R watch cfg st' hs'.
Proof.
  induction os as [|o os IH]; intros st hs H G; cbn [fold_left]; [exact H|].
  inversion_clear G as [|? ? Go Gs].
  unfold both at 2. destruct (step eqb cfg hs st o) as [st'|] eqn:E; [|now apply IH]. apply IH; [|exact Gs].
  eapply step_ok; eassumption.
Qed.

End Refinement.

(* ---------- from the beginning: nothing is watched ---------- *)

Definition nothing (b j : nat) : Prop := False.

Lemma init_ok : forall A cfg n, R (A := A) nothing cfg (init cfg n) (spec_init n).
Proof.
  intros A cfg n. assert (Z : forall b, count (all_blocks (repeat None n)) b = 0).
  { intros b. unfold all_blocks. induction n as [|n IH]; [reflexivity|]. exact IH. }
  split; [split|split]; cbn [init the_pool seqs spec_init].
  - constructor; cbn [refs free fenced open map]; rewrite ?Z.
    + intros b. now rewrite get_all, Z.
    + intros b. rewrite Z. lia.
    + apply seq_NoDup.
    + constructor.
    + intros b. rewrite in_seq, Z. cbn. lia.
    + easy.
    + easy.
    + easy.
  - split; cbn [index pins store]; intros b; rewrite get_all; [discriminate | lia].
  - unfold spec_init. now rewrite !repeat_length.
  - intros s. unfold spec_init. now rewrite !at_repeat_none.
Qed.

Theorem run_ok : forall A cfg (eqb : A -> A -> bool), (forall x y, eqb x y = true <-> x = y) -> 0 < B cfg ->
  forall n os, let '(st, hs) := run eqb cfg n os in R nothing cfg st hs.
Proof.
  intros A cfg eqb eqb_ok Bpos n os. apply (steps_ok (block_size_positive := Bpos) eqb eqb_ok);
    [apply init_ok|].
  apply Forall_forall. now intros [].
Qed.
