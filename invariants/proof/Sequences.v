(* SPDX-License-Identifier: Apache-2.0 *)
(* The operations that make living sequences longer or shorter keep the invariant R: reserve, commit, append,
   cancel, truncate. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Interpreter Lists Entries Invariant Pool Tables Commit.
Import ListNotations.

(* What an accepted operation has computed, one line of the definition after the other. *)
Lemma bind_done : forall X Y (r : result X) (f : X -> result Y) y, bind r f = Done y ->
  exists x, r = Done x /\ f x = Done y.
Proof. intros X Y [x|why] f y H; [eauto | discriminate]. Qed.

Lemma require_done : forall b why u, require b why = Done u -> b = true.
Proof. now intros [] why u. Qed.

(* H : (x <- r ;; f x) = Done y: gives x and what it is. *)
Tactic Notation "obtain" simple_intropattern(x) ident(E) "from" hyp(H) :=
  apply bind_done in H as (x & E & H).
(* H : (_ <- require b why ;; r) = Done y: gives b. *)
Ltac required H E :=
  let u := fresh "u" in apply bind_done in H as (u & E & H); cbv beta in H; apply require_done in E; clear u.

Section Sequences.
Context {A : Type} {watch : nat -> nat -> Prop} {cfg : config}
  {block_size_positive : positive (B cfg)}.
Notation B := (B cfg).
Implicit Types (p : pool A) (hs : histories A) (sl : list (option seq)) (st : state A) (h : list A)
  (g : group).

(* ---------- windows ---------- *)

Lemma need_le : forall g n, need g n <= n.
Proof. intros g n. unfold need. destruct (window g); lia. Qed.

Lemma keep_from_le : forall g n, keep_from cfg g n <= need g n.
Proof. intros. unfold keep_from. lia. Qed.

Lemma seen_from_le : forall g q, seen_from g q <= need g (len q).
Proof. intros g q. unfold seen_from, need. destruct (full q); destruct (window g); lia. Qed.

Lemma seen_after_commit : forall g q m r ts, len q < m -> let q' := Seq m r true ts in
  keep_after_commit cfg g m <= seen_from g q' /\ seen_from g q' <= m /\ seen_from g q <= seen_from g q'.
Proof.
  intros g q m r ts L. unfold keep_after_commit, keep_from, seen_from, need. cbn [full len].
  destruct (full q); destruct (window g); lia.
Qed.

(* ---------- one sequence in the state ---------- *)

Lemma living : forall p sl hs s q, seqs_ok cfg p sl hs -> at_ sl s = Some q ->
  exists h, at_ hs s = Some h /\ seq_ok cfg p q h /\ s < length sl /\ s < length hs.
Proof.
  intros p sl hs s q [L S] E. specialize (S s). rewrite E in S. destruct (at_ hs s) as [h|] eqn:Eh; [|easy].
  exists h. pose proof (at_some_length E). repeat split; try apply S; lia.
Qed.

Lemma vacant : forall p sl hs s, seqs_ok cfg p sl hs -> is_vacant sl s = true ->
  at_ sl s = None /\ at_ hs s = None /\ s < length sl.
Proof.
  intros p sl hs s [L S] V. unfold is_vacant in V. apply andb_true_iff in V as [V1 V2].
  apply Nat.ltb_lt in V1.
  specialize (S s). destruct (at_ sl s), (at_ hs s); easy.
Qed.

Lemma pool_but_one : forall p sl hs s q, R' watch cfg p sl hs -> at_ sl s = Some q ->
  pool_ok watch cfg (fun b => others sl s b + count (blocks_in (tables q)) b) p.
Proof.
  intros p sl hs s q [P _] E. eapply pool_ok_ext; [|exact P]. intros b. cbv beta.
  rewrite (others_split sl s) by (eapply at_some_length; exact E). now rewrite E.
Qed.

Lemma turn_seq : forall p sl hs s q h p' q' h',
  R' watch cfg p sl hs -> at_ sl s = Some q -> at_ hs s = Some h ->
  turn watch cfg (others sl s) p (blocks_in (tables q)) p' (blocks_in (tables q')) -> len q' = length h' ->
  tables_ok cfg p' (len q' + rsv q') h' (fun g => seen_from g q') 0 (groups cfg) (tables q') ->
  R' watch cfg p' (upd sl s (Some q')) (upd hs s (Some h')).
Proof.
  intros p sl hs s q h p' q' h' [P S] Eq Eh [P' F D] L T.
  destruct (living _ _ _ _ _ S Eq) as (h0 & Eh0 & Q & Ls & _). apply (replace_seq watch cfg p); auto.
  split; [exact L | exact T |]. intros b. pose proof (seq_distinct Q b). specialize (D b). lia.
Qed.

(* ---------- reserve ---------- *)

Lemma reserve_one_ok : forall s k w sl hs w' sl',
  R' watch cfg (pool_of w) sl hs -> reserve_one cfg s k (w, sl) = Done (w', sl') ->
  R' watch cfg (pool_of w') sl' hs /\
  exists q ts, at_ sl s = Some q /\ sl' = upd sl s (Some (Seq (len q) (rsv q + k) false ts)).
Proof.
  intros s k w sl hs w' sl' H E. unfold reserve_one in E. obtain q Eq from E. unfold find_seq in Eq.
  destruct (at_ sl s) as [q'|] eqn:Es; [|discriminate]. injection Eq as ->.
  destruct (living _ _ _ _ _ (proj2 H) Es) as (h & Eh & Q & Ls & _).
  destruct (slide_all _ _ _ _ _) as [p1 ts1] eqn:E1. obtain [w2 ts2] E2 from E. injection E as <- <-.
  destruct (slide_all_ok (watch := watch) (len q + rsv q) h (fun g => seen_from g q) (fun g => need g (len q))
              (fun g => keep_from cfg g (len q)) 0 (groups cfg) (tables q) (others sl s) (pool_of w) p1 ts1)
    as [N1 T1].
  { now apply (pool_but_one _ _ hs). }
  { apply Q. }
  { intros g. rewrite <- (len_exact Q). pose proof (need_le g (len q)). pose proof (keep_from_le g (len q)).
    pose proof (seen_from_le g q). lia. }
  { exact E1. }
  destruct (extend_all_ok (watch := watch) (len q + rsv q) k h (fun g => need g (len q)) false 0 (groups cfg)
              ts1 (others sl s)
              (Work p1 (choices w) (sources w)) w2 ts2) as [N2 T2]; auto.
  { apply N1. }
  { rewrite <- (len_exact Q). lia. }
  split; [|eauto]. rewrite <- (upd_same _ hs s (Some h)) by exact Eh.
  eapply turn_seq; [exact H | exact Es | exact Eh | eapply turn_trans; eassumption | apply (len_exact Q) |].
  cbn [len rsv]. now rewrite Nat.add_assoc.
Qed.

Lemma reserve_batch_ok : forall batch w sl hs w' sl',
  R' watch cfg (pool_of w) sl hs -> reserve_batch cfg batch (w, sl) = Done (w', sl') ->
    R' watch cfg (pool_of w') sl' hs.
Proof.
  induction batch as [|[s k] batch IH]; intros w sl hs w' sl' H E; cbn [reserve_batch] in E.
  - now injection E as <- <-.
  - obtain [w1 sl1] E1 from E. apply (reserve_one_ok _ _ _ _ hs) in E1 as [H1 _]; [|exact H].
    now apply (IH w1 sl1).
Qed.

Lemma reserve_ok : forall batch cs st hs st', R watch cfg st hs -> reserve cfg batch cs st = Done st' ->
  R watch cfg st' hs.
Proof.
  intros batch cs st hs st' H E. unfold reserve in E. obtain ? E0 from E. obtain ? E1 from E.
  obtain ? E2 from E.
  obtain [w sl] E3 from E. injection E as <-. now apply (reserve_batch_ok _ _ _ hs) in E3.
Qed.

(* ---------- commit ---------- *)

Lemma commit_one_ok : forall s cells h p sl hs p' sl',
  R' watch cfg p sl hs -> at_ hs s = Some h -> commit_one cfg s cells h p sl = Done (p', sl') ->
  R' watch cfg p' sl' (upd hs s (Some (h ++ cells))).
Proof.
  intros s cells h p sl hs p' sl' H Eh E. unfold commit_one in E. obtain q Eq from E. unfold find_seq in Eq.
  destruct (at_ sl s) as [q'|] eqn:Es; [|discriminate]. injection Eq as ->.
  destruct (living _ _ _ _ _ (proj2 H) Es) as (h' & Eh' & Q & Ls & _).
  assert (h' = h) by congruence. subst h'. clear Eh'. pose proof (len_exact Q) as Ln.
  destruct cells as [|a cells'] eqn:C.
  { injection E as <- <-. rewrite app_nil_r. now rewrite upd_same. }
  rewrite <- C in *. assert (0 < length cells) by (rewrite C; cbn; lia). clear C a cells'.
  required E Lr. apply Nat.leb_le in Lr.
  destruct (commit_all _ _ _ _ _ _ _ _) as [p1 ts1] eqn:E1. injection E as <- <-.
  set (q' := Seq (len q + length cells) (rsv q - length cells) true ts1).
  rewrite Ln in E1.
  destruct (commit_all_ok (watch := watch) (len q + rsv q) h cells (fun g => seen_from g q)
              (fun g => seen_from g q') (groups cfg) 0 (tables q) (others sl s) p p1 ts1) as [N1 T1]; auto.
  { now apply (pool_but_one _ _ hs). }
  { apply Q. }
  { rewrite <- Ln. lia. }
  { intros g. rewrite app_length, <- Ln.
    destruct (seen_after_commit g q (len q + length cells) (rsv q - length cells) ts1) as (K1 & K2 & K3);
      [lia|].
    fold q' in K1, K2, K3. repeat split; [lia | exact K1 | exact K3]. }
  eapply turn_seq; [exact H | exact Es | exact Eh | exact N1 | |]; cbn [q' len rsv].
  - rewrite app_length. lia.
  - replace (len q + length cells + (rsv q - length cells)) with (len q + rsv q) by lia. exact T1.
Qed.

Lemma commit_ok : forall hs0 hs s cells st st',
  R watch cfg st hs -> at_ hs0 s = at_ hs s -> commit cfg hs0 s cells st = Done st' ->
    R watch cfg st' (spec_commit hs s cells).
Proof.
  intros hs0 hs s cells st st' H E0 E. unfold commit in E. obtain [p sl] E1 from E. injection E as <-.
  assert (L : exists q, at_ (seqs st) s = Some q).
  { unfold commit_one, find_seq in E1. destruct (at_ (seqs st) s); [eauto | discriminate]. }
  destruct L as [q Es]. destruct (living _ _ _ _ _ (proj2 H) Es) as (h & Eh & _).
  unfold history in E1. rewrite E0, Eh in E1. unfold spec_commit. rewrite Eh.
  eapply commit_one_ok; eassumption.
Qed.

(* ---------- append ---------- *)

Lemma ask_once : forall sl batch seen u, ask sl seen batch = Done u ->
  NoDup (map fst batch) /\ forall s, In s (map fst batch) -> ~ In s seen.
Proof.
  induction batch as [|[s k] batch IH]; intros seen u E; cbn [ask] in E; [split; [constructor | easy]|].
  obtain q Eq from E. required E Ek. apply andb_true_iff in Ek as [_ Ek]. apply negb_true_iff in Ek.
  assert (Ns : ~ In s seen) by (rewrite <- mem_in; congruence).
  apply IH in E as [D O]. cbn [map fst]. split.
  - constructor; [|exact D]. intros H. apply (O s H). now left.
  - intros x [<- | H] C; [auto|]. apply (O x H). now right.
Qed.

Lemma commit_batch_ok : forall batch hs0 hs st st',
  R watch cfg st hs -> NoDup (map fst batch) -> (forall s, In s (map fst batch) -> at_ hs0 s = at_ hs s) ->
  commit_batch cfg hs0 batch st = Done st' ->
  R watch cfg st' (fold_left (fun hs sc => spec_commit hs (fst sc) (snd sc)) batch hs).
Proof.
  induction batch as [|[s cells] batch IH]; intros hs0 hs st st' H D S E; cbn [commit_batch fold_left] in *.
  - now injection E as <-.
  - obtain st1 E1 from E. inversion_clear D as [|? ? Ns D']. apply (IH hs0 _ st1); auto.
    + eapply (commit_ok hs0 hs); eauto. apply S. now left.
    + intros x Hx. rewrite S by now right. cbn [fst snd]. unfold spec_commit.
      destruct (at_ hs s); [|reflexivity]. rewrite at_upd_other; [reflexivity|]. intros ->. auto.
Qed.

Lemma append_ok : forall hs batch cs st st',
  R watch cfg st hs -> append cfg hs batch cs st = Done st' ->
    R watch cfg st' (spec_step hs (Append batch cs)).
Proof.
  intros hs batch cs st st' H E. unfold append in E. obtain ? E0 from E. obtain u E1 from E.
  obtain ? E2 from E.
  obtain st1 E3 from E. apply ask_once in E1 as [D _]. rewrite map_map in D. cbn [fst] in D.
  apply (commit_batch_ok batch hs hs st1); auto. now apply (reserve_ok _ _ _ hs) in E3.
Qed.

(* ---------- shorter sequences ---------- *)

(* The tables of `gs`, cut to n cells, and what is cut off. *)
Definition cut_all n gs ts : list table := map (fun gt => cut_table cfg n (fst gt) (snd gt)) (combine gs ts).
Definition tails_of n gs ts : list (list (option nat)) :=
  map (fun gt => tail_of cfg n (fst gt) (snd gt)) (combine gs ts).

Lemma tables_cut : forall p m h seen seen' n gi gs ts,
  tables_ok cfg p m h seen gi gs ts -> n <= length h -> length h <= m ->
  (forall g t, holds_from cfg (seen g) g t -> In (g, t) (combine gs ts) ->
               holds_from cfg (seen' g) g (cut_table cfg n g t)) ->
  tables_ok cfg p n (firstn n h) seen' gi gs (cut_all n gs ts) /\
  forall b, count (blocks_in ts) b = count (blocks_in (cut_all n gs ts)) b
    + count (concat (tails_of n gs ts)) b.
Proof.
  intros p m h seen seen' n gi gs ts T L Lm. unfold cut_all, tails_of.
  induction T as [|gi g t gs ts [Tt Th] _ IH]; intros K; [split; [constructor | reflexivity]|].
  destruct (cut_table_ok p m h g t n Tt L Lm) as [Tc C].
  destruct IH as [Tcs Cs]; [intros g' t' H' I; apply K; [exact H' | now right]|].
  cbn [combine map concat fst snd]. split.
  - constructor; [|exact Tcs]. split; [exact Tc | apply K; [exact Th | now left]].
  - intros b. rewrite !count_blocks_cons, count_app, (Cs b), (C b). lia.
Qed.

(* Everything that `n` cells ask for is held: by `all_resident`, or because nothing is taken away. *)
Definition may_cut (n : nat) (q : seq) : Prop := n <= len q /\ (all_resident cfg n q = true \/ n = len q).

Lemma cut_holds_from : forall n q g t,
  may_cut n q -> In (g, t) (combine (groups cfg) (tables q)) -> holds_from cfg (seen_from g q) g t ->
  forall ts, holds_from cfg (seen_from g (Seq n 0 (full q && (n =? len q)) ts)) g (cut_table cfg n g t).
Proof.
  intros n q g t [L [C | ->]] I Th ts; unfold holds_from, cut_table in *; cbn [lo].
  - destruct (Nat.eqb_spec n (len q)) as [-> | D].
    + rewrite andb_true_r. unfold seen_from in *. cbn [full len]. lia.
    + rewrite andb_false_r. unfold seen_from. cbn [full len].
      unfold all_resident in C. rewrite forallb_forall in C. specialize (C _ I). cbn [fst snd] in C.
      unfold is_resident, covers in C. apply orb_true_iff in C as [C|C]; apply Nat.leb_le in C; lia.
  - rewrite Nat.eqb_refl, andb_true_r. unfold seen_from in *. cbn [full len]. lia.
Qed.

Lemma cut_seq_ok : forall n p q h, seq_ok cfg p q h -> may_cut n q ->
  let ts := with_groups cfg (cut_table cfg n) (tables q) in
  let seen g := seen_from g (Seq n 0 (full q && (n =? len q)) ts) in
  tables_ok cfg p n (firstn n h) seen 0 (groups cfg) ts /\
  forall b, count (blocks_in (tables q)) b
            = count (blocks_in ts) b + count (concat (with_groups cfg (tail_of cfg n) (tables q))) b.
Proof.
  intros n p q h Q C ts seen. pose proof (len_exact Q).
  eapply tables_cut; [apply Q | destruct C; lia | lia |].
  intros g t Th I. now apply cut_holds_from.
Qed.

Lemma shrink_ok : forall n p sl hs s q h p' q',
  R' watch cfg p sl hs -> at_ sl s = Some q -> at_ hs s = Some h -> may_cut n q ->
    shrink cfg n p q = (p', q') ->
  R' watch cfg p' (upd sl s (Some q')) (upd hs s (Some (firstn n h))).
Proof.
  intros n p sl hs s q h p' q' H Es Eh C E. unfold shrink in E. injection E as <- <-.
  rewrite give_tables_concat.
  destruct (living _ _ _ _ _ (proj2 H) Es) as (h' & Eh' & Q & Ls & _).
  assert (h' = h) by congruence. subst h'. clear Eh'. pose proof (len_exact Q) as Ln.
  pose proof (pool_but_one _ _ _ _ _ H Es) as P. destruct (cut_seq_ok n p q h Q C) as [T Cut].
  set (ts' := with_groups cfg (cut_table cfg n) (tables q)) in *.
  destruct (give_all_ok (concat (with_groups cfg (tail_of cfg n) (tables q))) _
              (fun b => others sl s b + count (blocks_in ts') b) p P) as [P' F].
  { intros b. cbv beta. rewrite Cut. lia. }
  eapply turn_seq; [exact H | exact Es | exact Eh | | |]; cbn [len rsv tables].
  - split; [exact P' | |].
    + eapply frame_less; [|exact F]. intros; cbv beta; lia.
    + intros b. left. rewrite (Cut b). lia.
  - destruct C as [C _]. rewrite firstn_length_le; lia.
  - rewrite Nat.add_0_r. eapply tables_ok_frame; [exact F | intros; cbv beta; lia | exact T].
Qed.

Lemma cancel_ok : forall s st hs st', R watch cfg st hs -> cancel cfg s st = Done st' -> R watch cfg st' hs.
Proof.
  intros s st hs st' H E. unfold cancel in E. obtain q Eq from E. unfold find_seq in Eq.
  destruct (at_ (seqs st) s) as [q'|] eqn:Es; [|discriminate]. injection Eq as ->.
  destruct (rsv q =? 0); [now injection E as <-|]. destruct (shrink _ _ _ _) as [p1 q1] eqn:E1.
  injection E as <-.
  destruct (living _ _ _ _ _ (proj2 H) Es) as (h & Eh & Q & _).
  rewrite <- (upd_same _ hs s (Some h)) by exact Eh.
  replace (Some h) with (Some (firstn (len q) h)) by (rewrite (len_exact Q); now rewrite firstn_all).
  eapply shrink_ok; [exact H | exact Es | exact Eh | | exact E1]. split; [lia | now right].
Qed.

Lemma truncate_ok : forall s n st hs st',
  R watch cfg st hs -> truncate cfg s n st = Done st' -> R watch cfg st' (spec_step hs (Truncate s n)).
Proof.
  intros s n st hs st' H E. unfold truncate in E. obtain q Eq from E. unfold find_seq in Eq.
  destruct (at_ (seqs st) s) as [q'|] eqn:Es; [|discriminate]. injection Eq as ->.
  required E Ln. apply Nat.leb_le in Ln. required E Res.
  destruct (shrink _ _ _ _) as [p1 q1] eqn:E1. injection E as <-.
  destruct (living _ _ _ _ _ (proj2 H) Es) as (h & Eh & Q & _). cbn [spec_step]. rewrite Eh.
  eapply shrink_ok; [exact H | exact Es | exact Eh | | exact E1]. split; [exact Ln | now left].
Qed.

End Sequences.
