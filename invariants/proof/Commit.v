(* SPDX-License-Identifier: Apache-2.0 *)
(* A commit to the tables of one sequence (blocktable/): reserved cells are written, whole blocks enter the
   index, windows slide. For one group and for all, with the same promises as in Tables.v. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Interpreter Lists Entries Invariant Pool Tables.
Import ListNotations.

Section Commit.
Context {A : Type} {watch : nat -> nat -> Prop} {cfg : config}
  {block_size_positive : positive (B cfg)}.
Notation B := (B cfg).
Implicit Types (p : pool A) (rest : nat -> nat) (t : table) (g : group) (m : nat) (h : list A).

(* ---------- cells are written ---------- *)

(* An own block stands at one place. *)
Lemma exclusive_once : forall rest p t b i j,
  pool_ok watch cfg (fun x => rest x + count (entries t) x) p -> exclusive p b ->
  at_ (entries t) i = Some b -> at_ (entries t) j = Some b -> i = j /\ rest b = 0.
Proof.
  intros rest p t b i j P [X _] Ei Ej. rewrite (refs_count (pool_books P)) in X.
  destruct (Nat.eq_dec i j) as [|D]; [apply count_at in Ei; lia|]. pose proof (count_two _ _ _ _ Ei Ej D).
  lia.
Qed.

(* The next cell of the history, into the first reserved one. *)
Lemma write_one : forall gi rest p m h g t b a,
  pool_ok watch cfg (fun x => rest x + count (entries t) x) p -> table_ok cfg gi p m h g t -> length h < m ->
  at_ (entries t) (length h / B) = Some b ->
  let p' := with_store p (set (store p) (slot cfg b (length h)) (Some (gi, a))) in
  pool_ok watch cfg (fun x => rest x + count (entries t) x) p' /\ frame cfg rest p p' /\
    table_ok cfg gi p' m (h ++ [a]) g t.
Proof.
  intros gi rest p m h g t b a P T L Eb p'. set (n := length h) in *.
  assert (X : exclusive p b).
  { destruct (reserved T n) as (b' & Eb' & X); [lia|]. congruence. }
  assert (O : forall i, at_ (entries t) i = Some b -> i = n / B).
  { intros i Ei. now destruct (exclusive_once _ _ _ _ _ _ P X Ei Eb). }
  destruct (exclusive_once _ _ _ _ _ _ P X Eb Eb) as [_ Rb].
  destruct (write_cell_ok _ rest p b n (Some (gi, a)) P) as [P' F]; [apply X | exact Rb |].
  split; [exact P' | split; [exact F|]]. split.
  - apply T.
  - intros i Li Hi. rewrite app_length in Li. cbn [length] in Li. unfold read, cell, p'.
    cbn [store with_store].
    destruct (Nat.eq_dec i n) as [-> | D].
    + rewrite Eb, get_set_same, Nat.eqb_refl. rewrite nth_error_app2 by (unfold n; lia). unfold n.
      now rewrite Nat.sub_diag.
    + rewrite nth_error_app1 by lia. rewrite <- (committed T i) by (auto; lia). unfold read, cell.
      destruct (at_ (entries t) (i / B)) as [b'|] eqn:Eb'; [|reflexivity].
      rewrite get_set_other; [reflexivity|]. intros E.
      apply (slot_injective cfg) in E as [-> E]. apply O in Eb'. apply D, (same_position cfg); auto.
  - intros i Li. rewrite app_length in Li. cbn [length] in Li. apply (reserved T i). lia.
Qed.

Lemma write_ok : forall gi cells rest p m h g t,
  pool_ok watch cfg (fun x => rest x + count (entries t) x) p -> table_ok cfg gi p m h g t ->
  length h + length cells <= m ->
  let p' := write cfg gi p t (length h) cells in
  pool_ok watch cfg (fun x => rest x + count (entries t) x) p' /\ frame cfg rest p p' /\
    table_ok cfg gi p' m (h ++ cells) g t.
Proof.
  intros gi. induction cells as [|a cells IH]; intros rest p m h g t P T L; cbn [write length] in *.
  - rewrite app_nil_r. split; [exact P | split; [apply frame_refl | exact T]].
  - destruct (reserved T (length h)) as (b & Eb & _); [lia|]. rewrite Eb.
    destruct (write_one gi rest p m h g t b a) as (P1 & F1 & T1); auto; [lia|].
    replace (S (length h)) with (length (h ++ [a])) by (rewrite app_length; cbn; lia).
    destruct (IH rest _ m (h ++ [a]) g t P1 T1) as (P2 & F2 & T2); [rewrite app_length; cbn; lia|].
    rewrite <- app_assoc in T2. split; [exact P2 | split; [|exact T2]]. eapply frame_trans; eassumption.
Qed.

(* ---------- blocks enter the index ---------- *)

(* The cells that a table holds of entry j are those of the history. *)
Lemma entry_content : forall p m h g t gi j n b,
  table_ok cfg gi p m h g t -> is_whole cfg g t j = true -> j * B < n <= (j + 1) * B -> n <= length h ->
  at_ (entries t) j = Some b -> holds_content cfg p b (Key gi (firstn n h)).
Proof.
  intros p m h g t gi j n b T W Ln Lh Eb. unfold holds_content, key_base, key_block. cbn [content].
  rewrite firstn_length_le by lia. split; [intros E; apply (f_equal (@length A)) in E;
    rewrite firstn_length_le in E;
    cbn in E; lia|].
  assert (Ej : (n - 1) / B = j).
  { pose proof (lt_div cfg (n - 1) (j + 1)). pose proof (le_div cfg (n - 1) j). lia. }
  rewrite Ej. intros i Li. rewrite nth_error_firstn by lia.
  assert (Hi : held cfg g t i).
  { unfold is_whole in W. apply orb_true_iff in W as [W|W]; [apply Nat.leb_le in W | apply Nat.ltb_lt in W];
      unfold held; [right; lia | left]. assert ((j + 1) * B <= sink_blocks cfg g * B)
        by (apply Nat.mul_le_mono_r; lia).
    lia. }
  rewrite <- (committed T i) by (auto; lia). unfold read. replace (i / B) with j; [now rewrite Eb|].
  pose proof (lt_div cfg i (j + 1)). pose proof (le_div cfg i j). lia.
Qed.

Lemma publish_ok : forall rest p m h g t gi j,
  pool_ok watch cfg (fun x => rest x + count (entries t) x) p -> table_ok cfg gi p m h g t ->
  is_whole cfg g t j = true -> j < length h / B ->
  let p' := publish gi t p j (firstn ((j + 1) * B) h) in
  pool_ok watch cfg (fun x => rest x + count (entries t) x) p' /\ frame cfg rest p p' /\
    table_ok cfg gi p' m h g t.
Proof.
  intros rest p m h g t gi j P T W L p'. unfold p', publish. clear p'.
  destruct (at_ (entries t) j) as [b|] eqn:Eb; [|split; [exact P | split; [apply frame_refl | exact T]]].
  destruct (keeps_entry p b _); [split; [exact P | split; [apply frame_refl | exact T]]|].
  pose proof (le_div cfg (length h) (j + 1)) as Lj. pose proof is_positive.
  destruct (index_entry_ok _ rest p b (Key gi (firstn ((j + 1) * B) h)) P) as [P' F].
  { apply count_at in Eb. lia. }
  { eapply entry_content; [exact T | exact W | | | exact Eb]; lia. }
  split; [exact P' | split; [exact F|]]. split; [apply T | apply T |].
  intros i Li. destruct (reserved T i Li) as (x & Ex & X). exists x. split; [exact Ex|].
  destruct X as (X1 & X2 & X3). split; [exact X1 | split; [|exact X3]]. cbn.
  rewrite get_set_other; [exact X2|].
  intros ->. destruct (exclusive_once _ _ _ x j (i / B) P) as [E _]; auto; [split; auto|].
  pose proof (Nat.div_le_mono (length h) i B). lia.
Qed.

Lemma publish_blocks_ok : forall rest m h g t gi from p,
  pool_ok watch cfg (fun x => rest x + count (entries t) x) p -> table_ok cfg gi p m h g t ->
  let p' := publish_blocks cfg gi g t from (length h / B) h p in
  pool_ok watch cfg (fun x => rest x + count (entries t) x) p' /\ frame cfg rest p p' /\
    table_ok cfg gi p' m h g t.
Proof.
  intros rest m h g t gi from p P T. unfold publish_blocks.
  assert (Js : forall j, In j (List.seq from (length h / B - from)) -> j < length h / B).
  { intros j H. apply in_seq in H. lia. }
  revert p P T Js. generalize (List.seq from (length h / B - from)) as js.
  induction js as [|j js IH]; intros p P T Js; cbn [fold_left].
  - split; [exact P | split; [apply frame_refl | exact T]].
  - destruct (is_whole cfg g t j) eqn:W; [|apply IH; auto; intros; apply Js; now right].
    destruct (publish_ok rest p m h g t gi j P T W) as (P1 & F1 & T1); [apply Js; now left|].
    destruct (IH _ P1 T1) as (P2 & F2 & T2); [intros; apply Js; now right|].
    split; [exact P2 | split; [|exact T2]]. eapply frame_trans; eassumption.
Qed.

(* ---------- all of a commit ---------- *)

Lemma commit_table_ok : forall rest m h cells g gi t p p' t',
  pool_ok watch cfg (fun x => rest x + count (entries t) x) p -> table_ok cfg gi p m h g t ->
  length h + length cells <= m -> keep_after_commit cfg g (length (h ++ cells)) <= length (h ++ cells) ->
  commit_table cfg gi g (length h) cells (h ++ cells) (p, t) = (p', t') ->
  turn watch cfg rest p (entries t) p' (entries t') /\ table_ok cfg gi p' m (h ++ cells) g t' /\
  exists keep, keep <= keep_after_commit cfg g (length (h ++ cells)) /\ lo t' = Nat.max (lo t) (keep / B * B).
Proof.
  intros rest m h cells g gi t p p' t' P T L K E. unfold commit_table in E. rewrite <- app_length in E.
  destruct (write_ok gi cells rest p m h g t P T L) as (P1 & F1 & T1).
  set (p1 := write cfg gi p t (length h) cells) in *.
  set (p2 := if caching cfg then _ else p1) in E.
  assert (H : pool_ok watch cfg (fun x => rest x + count (entries t) x) p2 /\ frame cfg rest p1 p2 /\
              table_ok cfg gi p2 m (h ++ cells) g t).
  { unfold p2. destruct (caching cfg); [now apply publish_blocks_ok|].
    split; [exact P1 | split; [apply frame_refl | exact T1]]. }
  destruct H as (P2 & F2 & T2). clearbody p2 p1.
  assert (N2 : turn watch cfg rest p (entries t) p2 (entries t)).
  { apply turn_same; [exact P2 | eapply frame_trans; eassumption]. }
  destruct (eager cfg).
  - destruct (slide_ok rest p2 m (h ++ cells) g t _ p' t' P2 T2 K E) as (N3 & T3 & L3).
    split; [eapply turn_trans; eassumption | split; [exact T3 | eauto]].
  - injection E as <- <-. split; [exact N2 | split; [exact T2|]]. exists 0.
    rewrite Nat.div_0_l by (pose proof is_positive; lia). lia.
Qed.

Lemma commit_all_ok : forall m h cells seen seen' gs gi ts rest p p' ts',
  pool_ok watch cfg (fun x => rest x + count (blocks_in ts) x) p -> tables_ok cfg p m h seen gi gs ts ->
  length h + length cells <= m ->
  (forall g, keep_after_commit cfg g (length (h ++ cells)) <= length (h ++ cells) /\
             keep_after_commit cfg g (length (h ++ cells)) <= seen' g /\ seen g <= seen' g) ->
  commit_all cfg gi (length h) cells (h ++ cells) gs p ts = (p', ts') ->
  turn watch cfg rest p (blocks_in ts) p' (blocks_in ts') /\ tables_ok cfg p' m (h ++ cells) seen' gi gs ts'.
Proof.
  intros m h cells seen seen' gs gi ts rest p p' ts' P T L K E.
  induction gs as [|g gs IH] in gi, ts, rest, p, p', ts', P, T, E |- *;
    inversion T as [|? ? t ? ts0 [Tt Th] Ts]; subst.
  - injection E as <- <-. split; [|constructor]. apply turn_same; [exact P | apply frame_refl].
  - cbn [commit_all] in E. destruct (commit_table _ _ _ _ _ _ _) as [p1 t1] eqn:E1.
    destruct (commit_all _ _ _ _ _ _ p1 ts0) as [p2 ts2] eqn:E2. injection E as <- <-.
    destruct (K g) as (Kn & Ks & Kk).
    destruct (commit_table_ok (fun b => rest b + count (blocks_in ts0) b) m h cells g gi t p p1 t1)
      as (N1 & T1 & keep & Lk & L1); auto.
    { eapply pool_ok_ext; [|exact P]. intros b. cbv beta. rewrite count_blocks_cons. lia. }
    destruct (IH (S gi) ts0 (fun b => rest b + count (entries t1) b) p1 p2 ts2) as (N2 & T2); auto.
    { eapply pool_ok_ext; [|apply N1]. intros b. cbv beta. lia. }
    { eapply tables_ok_frame; [apply N1 | | exact Ts]. intros b. cbv beta. lia. }
    split; [eapply turn_cons; eassumption|]. constructor; [|exact T2]. split.
    + eapply table_ok_frame; [apply N2 | | exact T1]. intros b. cbv beta. lia.
    + eapply slide_holds_from; [exact Th | exact L1 | exact Kk | lia].
Qed.

End Commit.
