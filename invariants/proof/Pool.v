(* SPDX-License-Identifier: Apache-2.0 *)
(* The primitives of the pool (allocator/) keep its books and its index, and leave the blocks of others
   alone: one lemma `..._ok` for each, of the form

   pool_ok c p -> (c' is c and what the primitive adds or takes away) -> pool_ok c' p' /\ frame rest p p'. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Interpreter Lists Entries Invariant.
Import ListNotations.

Local Arguments without : simpl never.
Local Arguments mem : simpl never.
Local Arguments copy : simpl never.

Section PoolLemmas.
Context {A : Type} {watch : nat -> nat -> Prop} {cfg : config}
  {block_size_positive : positive (B cfg)}.
Notation B := (B cfg).
Implicit Types (p : pool A) (c rest : nat -> nat) (b : nat).

(* ---------- what happens to one block only ---------- *)

Lemma frame_but_one : forall rest p p' b,
  (forall x, x <> b -> get (refs p') x = get (refs p) x) ->
  (forall x, x <> b -> get (index p') x = get (index p) x) ->
  (forall x, x <> b -> get (pins p') x = get (pins p) x) ->
  (forall x, x <> b -> same_cells cfg p p' x) ->
  (0 < rest b -> same_cells cfg p p' b /\ (exclusive p b -> exclusive p' b)) ->
  frame cfg rest p p'.
Proof.
  intros rest p p' b Er Ei Ep Es H x L. destruct (Nat.eq_dec x b) as [-> | D]; [now apply H|].
  split; [now apply Es|]. unfold exclusive. now rewrite Er, Ei, Ep.
Qed.

Lemma same_store : forall p p' b, store p' = store p -> same_cells cfg p p' b.
Proof. intros p p' b E i. now rewrite E. Qed.

Lemma index_ok_same : forall p p',
  store p' = store p -> index p' = index p -> pins p' = pins p -> index_ok cfg p -> index_ok cfg p'.
Proof.
  intros p p' Es Ei Ep [Xe Xp]. split; intros b; rewrite ?Ei, ?Ep; [|apply Xp].
  intros k H. unfold holds_content, cell. rewrite Es. now apply Xe.
Qed.

Lemma books_ok_same : forall c p p',
  refs p' = refs p -> free p' = free p -> fenced p' = fenced p -> open p' = open p ->
  books_ok watch cfg c p -> books_ok watch cfg c p'.
Proof.
  intros c p p' Er Ef Ec Eo K. constructor; unfold waits; rewrite ?Er, ?Ef, ?Ec, ?Eo; apply K.
Qed.

Ltac one_block b :=
  apply (frame_but_one _ _ _ b); cbn; intros;
    [rewrite ?get_set_other by auto; reflexivity.. | now intros ? | ].

(* ---------- taking ---------- *)

Lemma claim_ok : forall c c' p b,
  pool_ok watch cfg c p -> In b (free p) -> get (pins p) b = 0 -> (forall x, c' x = c x + one b x) ->
  pool_ok watch cfg c' (claim p b) /\ frame cfg c p (claim p b) /\ exclusive (claim p b) b.
Proof.
  intros c c' p b [[Rc Rn Fo Fn Fe Fi Fw Ww] [Xe Xp]] Hb Pb E. pose proof (proj1 (Fe b) Hb) as (Nb & Cb & Ub).
  split; [|split].
  - split; constructor; cbn.
    + intros x. rewrite get_set, E. destruct (Nat.eqb_spec b x) as [-> | D].
      * rewrite one_same. lia.
      * rewrite one_other by auto. rewrite Rc. lia.
    + intros x L. rewrite E in L. destruct (one_cases b x) as [[<- _] | [_ O]]; [exact Nb|]. apply Rn. lia.
    + now apply NoDup_filter.
    + exact Fn.
    + intros x. rewrite in_without, Fe, E. split.
      * intros ((Nx & Hx & Ux) & D). rewrite one_other by auto. repeat split; auto; lia.
      * intros (Nx & Hx & Ux). destruct (one_cases b x) as [[<- O] | [D O]]; [lia|]. repeat split; auto; lia.
    + intros x H. rewrite E. destruct (one_cases b x) as [[<- _] | [_ O]]; [contradiction|]. apply Fi in H.
      lia.
    + exact Fw.
    + intros x j W. destruct (Ww x j W) as [O [L | L]]; split; auto. left. rewrite E. lia.
    + intros x k H. rewrite get_set in H. destruct (b =? x); [discriminate|]. now apply Xe.
    + intros x L. rewrite get_set. destruct (Nat.eqb_spec b x) as [-> | D]; [lia | auto].
  - one_block b. lia.
  - unfold exclusive. cbn. now rewrite !get_set_same.
Qed.

Lemma take_ok : forall c (w : work A) b w',
  take w = Done (b, w') -> pool_ok watch cfg c (pool_of w) ->
  c b = 0 /\
  forall c', (forall x, c' x = c x + one b x) ->
  pool_ok watch cfg c' (pool_of w') /\ frame cfg c (pool_of w) (pool_of w') /\ exclusive (pool_of w') b.
Proof.
  intros c w b w' T P.
  assert (H : takeable w b = true /\ pool_of w' = claim (pool_of w) b).
  { unfold take in T. destruct (choices w) as [|b' rest].
    - destruct (find (takeable w) (free (pool_of w))) eqn:F; [|discriminate].
      injection T as -> <-. apply find_some in F. now cbn.
    - destruct (takeable w b') eqn:F; [|discriminate]. injection T as -> <-. now cbn. }
  destruct H as [H ->]. unfold takeable in H. rewrite !andb_true_iff, mem_in, Nat.eqb_eq in H.
  destruct H as [[H Pb] _]. split.
  - now apply (pool_books P) in H.
  - intros c' E. now apply claim_ok.
Qed.

Lemma take_blocks_ok : forall n c (w w' : work A) bs,
  take_blocks n w = Done (w', bs) -> pool_ok watch cfg c (pool_of w) ->
  length bs = n /\
  (forall i, i < n -> exists b, at_ bs i = Some b) /\
  (forall x, count bs x <= 1 /\ (0 < count bs x -> c x = 0 /\ exclusive (pool_of w') x)) /\
  pool_ok watch cfg (fun x => c x + count bs x) (pool_of w') /\ frame cfg c (pool_of w) (pool_of w').
Proof.
  induction n as [|n IH]; intros c w w' bs T P; cbn [take_blocks] in T.
  - injection T as <- <-. repeat apply conj; cbn; [lia | lia | lia | |].
    + eapply pool_ok_ext; [|exact P]. intros; cbn; lia.
    + apply frame_refl.
  - destruct (take w) as [[b w1]|] eqn:T1; [|discriminate]. cbn [bind] in T.
    destruct (take_blocks n w1) as [[w2 bs2]|] eqn:T2; [|discriminate]. cbn [bind] in T. injection T as <- <-.
    destruct (take_ok _ _ _ _ T1 P) as [Cb H].
    destruct (H (fun x => c x + one b x)) as (P1 & F1 & X1); [auto|].
    destruct (IH _ _ _ _ T2 P1) as (L & S & D & P2 & F2). repeat apply conj.
    + cbn. now rewrite L.
    + intros [|i] Li; [cbn; eauto|]. apply (S i). lia.
    + intros x. rewrite count_cons. cbn [named]. destruct (D x) as [D1 D2].
      destruct (one_cases b x) as [[<- O] | [_ O]]; rewrite O in *.
      * split; [destruct (count bs2 b); lia|]. split; [exact Cb|].
        apply F2; [cbn; rewrite one_same; lia | exact X1].
      * split; [lia|]. intros G. destruct D2 as [D2 X2]; [lia|]. split; [lia | exact X2].
    + eapply pool_ok_ext; [|exact P2]. intros x. rewrite count_cons. cbn [named]. lia.
    + eapply frame_trans; [exact F1|]. eapply frame_less; [|exact F2]. intros; cbn in *; lia.
Qed.

(* ---------- giving back ---------- *)

Lemma give_ok : forall c c' p b,
  pool_ok watch cfg c p -> (forall x, c x = c' x + one b x) ->
  pool_ok watch cfg c' (give p b) /\ frame cfg c' p (give p b).
Proof.
  intros c c' p b [[Rc Rn Fo Fn Fe Fi Fw Ww] X] E.
  assert (Cb : c b = c' b + 1) by (rewrite E, one_same; lia).
  assert (Nb : b < N cfg) by (apply Rn; lia).
  assert (Fb : ~ In b (free p)) by (rewrite Fe; lia).
  assert (Ub : ~ In b (map fst (fenced p))) by (intros H; apply Fi in H; lia).
  assert (Rc' : forall x, get (set (refs p) b (get (refs p) b - 1)) x = c' x).
  { intros x. rewrite get_set, !Rc. destruct (Nat.eqb_spec b x) as [-> | D]; [lia|].
    rewrite E, one_other by auto. lia. }
  assert (Rn' : forall x, 0 < c' x -> x < N cfg) by (intros x L; apply Rn; rewrite E; lia).
  assert (Cx : forall x, x <> b -> c' x = c x) by (intros x D; rewrite E, one_other; auto; lia).
  assert (F : forall q, store q = store p -> index q = index p -> pins q = pins p ->
                        refs q = set (refs p) b (get (refs p) b - 1) -> frame cfg c' p q).
  { intros q Es Ei Ep Er. apply (frame_but_one _ _ _ b); rewrite ?Es, ?Ei, ?Ep, ?Er; auto.
    - intros x D. apply get_set_other; auto.
    - intros x _. now apply same_store.
    - intros L. split; [now apply same_store|]. intros [O _]. rewrite Rc in O. lia. }
  unfold give. destruct (Nat.eqb_spec (get (refs p) b) 1) as [C1 | C1]; rewrite Rc in C1;
    [destruct (open p) as [|step steps] eqn:O|].
  - split; [|now apply F]. split; [|now apply (index_ok_same p)]. constructor; cbn; auto.
    + constructor; auto.
    + intros x. split.
      * intros [<- | H]; [repeat split; auto; lia|]. apply Fe in H as (Nx & Hx & Ux).
        repeat split; auto. rewrite E in Hx. lia.
      * intros (Nx & Hx & Ux). destruct (Nat.eq_dec b x) as [|D]; [auto|]. right. apply Fe.
        rewrite <- (Cx x); auto.
    + intros x H. specialize (Fi x H) as [? Hx]. rewrite E in Hx. split; [auto|lia].
    + now rewrite O.
    + intros x j W. destruct (Ww x j W) as [J _]. now rewrite O in J.
  - split; [|now apply F]. split; [|now apply (index_ok_same p)]. constructor; cbn; auto.
    + constructor; auto.
    + intros x. rewrite Fe. split.
      * intros (Nx & Hx & Ux). repeat split; auto; [rewrite E in Hx; lia|].
        intros [<- | H]; [lia | auto].
      * intros (Nx & Hx & Ux). assert (b <> x) by tauto. rewrite <- (Cx x); auto. tauto.
    + intros x [<- | H]; [split; auto; lia|]. specialize (Fi x H) as [? Hx]. rewrite E in Hx.
      split; [auto|lia].
    + rewrite O. intros x steps' [H | H]; [|exact (Fw _ _ H)]. injection H as <- <-.
      split; [discriminate | apply incl_refl].
    + intros x j W. destruct (Ww x j W) as [J [L | (steps' & I & J')]]; (split; [exact J|]).
      * destruct (Nat.eq_dec x b) as [-> | D]; [|left; now rewrite Cx].
        right. exists (step :: steps). split; [now left | now rewrite <- O].
      * right. exists steps'. split; [now right | exact J'].
  - split; [|now apply F]. split; [|now apply (index_ok_same p)]. constructor; cbn; auto.
    + intros x. rewrite Fe. split; intros (Nx & Hx & Ux); repeat split; auto.
      * rewrite E in Hx. lia.
      * destruct (Nat.eq_dec x b) as [-> | D]; [lia|]. rewrite <- (Cx x); auto.
    + intros x H. specialize (Fi x H) as [? Hx]. rewrite E in Hx. split; [auto|lia].
    + intros x j W. destruct (Ww x j W) as [J [L | L]]; (split; [exact J|]); [left | now right].
      destruct (Nat.eq_dec x b) as [-> | D]; [lia|]. now rewrite Cx.
Qed.

Lemma give_all_ok : forall es c c' p,
  pool_ok watch cfg c p -> (forall x, c x = c' x + count es x) ->
  pool_ok watch cfg c' (give_all p es) /\ frame cfg c' p (give_all p es).
Proof.
  induction es as [|[b|] es IH]; intros c c' p P E; cbn [give_all fold_left].
  - split; [|apply frame_refl]. eapply pool_ok_ext; [|exact P]. intros x. rewrite E. cbn. lia.
  - destruct (give_ok c (fun x => c' x + count es x) p b P) as [P1 F1].
    { intros x. rewrite E, count_cons. cbn [named]. lia. }
    destruct (IH _ c' _ P1) as [P2 F2]; [auto|]. split; [exact P2|].
    eapply frame_trans; [|exact F2]. eapply frame_less; [|exact F1]. intros; cbn in *; lia.
  - now apply (IH c).
Qed.

Lemma give_tables_concat : forall tss p, give_tables p tss = give_all p (concat tss).
Proof.
  induction tss as [|es tss IH]; intros p; [reflexivity|]. cbn [concat]. unfold give_all at 1.
  rewrite fold_left_app. apply IH.
Qed.

(* ---------- sharing ---------- *)

Lemma share_ok : forall c c' p b,
  pool_ok watch cfg c p -> b < N cfg -> (forall x, c' x = c x + one b x) -> pool_ok watch cfg c' (share p b).
Proof.
  intros c c' p b [[Rc Rn Fo Fn Fe Fi Fw Ww] X] Nb E.
  assert (Rc' : forall x, get (set (refs p) b (S (get (refs p) b))) x = c' x).
  { intros x. rewrite get_set, E, !Rc. destruct (Nat.eqb_spec b x) as [-> | D].
    - rewrite one_same. lia.
    - rewrite one_other by auto. lia. }
  assert (Rn' : forall x, 0 < c' x -> x < N cfg).
  { intros x L. rewrite E in L. destruct (one_cases b x) as [[<- _] | [_ O]]; [auto|]. apply Rn. lia. }
  assert (Cx : forall x, x <> b -> c' x = c x) by (intros x D; rewrite E, one_other; auto).
  assert (Cb : c' b = S (c b)) by (rewrite E, one_same; lia).
  assert (Iff : forall x, In x (map fst (filter (fun f => negb (fst f =? b)) (fenced p)))
                          <-> In x (map fst (fenced p)) /\ x <> b).
  { intros x. rewrite !in_map_iff. split.
    - intros (f & <- & H). apply filter_In in H as [H D]. rewrite negb_true_iff, Nat.eqb_neq in D. eauto.
    - intros [(f & <- & H) D]. exists f. split; [auto|]. apply filter_In. split; [auto|].
      now rewrite negb_true_iff, Nat.eqb_neq. }
  unfold share. destruct (Nat.eqb_spec (get (refs p) b) 0) as [C0 | C0]; rewrite Rc in C0.
  - split; [|now apply (index_ok_same p)]. constructor; cbn; auto.
    + now apply NoDup_filter.
    + now apply nodup_map_filter.
    + intros x. rewrite in_without, Iff, Fe. split.
      * intros ((Nx & Hx & Ux) & D). rewrite Cx by auto. tauto.
      * intros (Nx & Hx & Ux). assert (D : x <> b) by (intros ->; lia). rewrite Cx in Hx by auto. tauto.
    + intros x H. apply Iff in H as [H D]. rewrite Cx by auto. now apply Fi.
    + intros x steps H. apply filter_In in H as [H _]. now apply Fw in H.
    + intros x j W. destruct (Ww x j W) as [J L]. split; [exact J|].
      destruct (Nat.eq_dec x b) as [-> | D]; [left; lia|]. rewrite Cx by auto.
      destruct L as [L | (steps & I & J')]; [now left | right]. exists steps. split; [|exact J'].
      apply filter_In. split; [exact I|]. now rewrite negb_true_iff, Nat.eqb_neq.
  - split; [|now apply (index_ok_same p)]. constructor; cbn; auto.
    + intros x. rewrite Fe. destruct (Nat.eq_dec x b) as [-> | D]; [lia|]. now rewrite Cx.
    + intros x H. destruct (Nat.eq_dec x b) as [-> | D]; [apply Fi in H; lia|]. rewrite Cx by auto.
      now apply Fi.
    + intros x j W. destruct (Ww x j W) as [J [L | L]]; (split; [exact J|]);
        [left; rewrite E; lia | now right].
Qed.

Lemma share_same : forall p b, store (share p b) = store p /\ index (share p b) = index p /\
  pins (share p b) = pins p.
Proof. intros. unfold share. now destruct (get (refs p) b =? 0). Qed.

Lemma share_all_same : forall es p,
  store (share_all p es) = store p /\ index (share_all p es) = index p /\ pins (share_all p es) = pins p.
Proof.
  induction es as [|[b|] es IH]; intros p; [now split | | apply IH].
  change (share_all p (Some b :: es)) with (share_all (share p b) es).
  destruct (IH (share p b)) as (-> & -> & ->). apply share_same.
Qed.

Lemma share_all_ok : forall es c c' p,
  pool_ok watch cfg c p -> (forall b, In (Some b) es -> b < N cfg) -> (forall x, c' x = c x + count es x) ->
  pool_ok watch cfg c' (share_all p es).
Proof.
  induction es as [|[b|] es IH]; intros c c' p P Ne E; cbn [share_all fold_left].
  - eapply pool_ok_ext; [|exact P]. intros x. rewrite E. cbn. lia.
  - apply (IH (fun x => c x + one b x)); [|intros; apply Ne; now right|].
    + apply (share_ok c); [exact P | apply Ne; now left | auto].
    + intros x. rewrite E, count_cons. cbn [named]. lia.
  - apply (IH c); [exact P | intros; apply Ne; now right | exact E].
Qed.

(* Sharing takes exclusiveness away, from the blocks that are shared. *)
Lemma share_all_frame : forall es c c' rest p,
  pool_ok watch cfg c p -> pool_ok watch cfg c' (share_all p es) -> (forall x, c' x = c x + count es x) ->
  (forall b, In (Some b) es -> 0 < rest b -> ~ exclusive p b) -> frame cfg rest p (share_all p es).
Proof.
  intros es c c' rest p P P' E H b L. destruct (share_all_same es p) as (Es & Ei & Ep). split.
  - intros i. now rewrite Es.
  - intros X. pose proof X as X'. unfold exclusive. rewrite Ei, Ep. split; [|apply X].
    rewrite (refs_count (pool_books P')), E, <- (refs_count (pool_books P)).
    destruct X as [-> X]. destruct (count es b) eqn:C; [reflexivity|]. exfalso.
    apply (H b); [apply count_in; lia | exact L | exact X'].
Qed.

Lemma share_tables_concat : forall tss p, fold_left share_all tss p = share_all p (concat tss).
Proof.
  induction tss as [|es tss IH]; intros p; [reflexivity|]. cbn [concat]. unfold share_all at 2.
  rewrite fold_left_app. apply IH.
Qed.

(* ---------- cells ---------- *)

Lemma other_slot : forall (st : tmap (option (nat * A))) b b' i j x, b' <> b ->
  get (set st (slot cfg b i) x) (slot cfg b' j) = get st (slot cfg b' j).
Proof.
  intros. apply get_set_other. intros E. apply (slot_injective cfg) in E as [E _]. congruence.
Qed.

(* Cells that no index entry tells about may change. *)
Lemma index_ok_cells : forall p p' b,
  index p' = index p -> pins p' = pins p -> get (index p) b = None ->
  (forall x, x <> b -> same_cells cfg p p' x) -> index_ok cfg p -> index_ok cfg p'.
Proof.
  intros p p' b Ei Ep Nb S [Xe Xp]. split; intros x; rewrite ?Ei, ?Ep; [|apply Xp].
  intros k H. destruct (Xe x k H) as (L & K & C). repeat split; auto. intros i Li.
  rewrite <- C by auto. apply cell_same, S. intros ->. congruence.
Qed.

Lemma write_cell_ok : forall c rest p b i x,
  pool_ok watch cfg c p -> get (index p) b = None -> rest b = 0 ->
  let p' := with_store p (set (store p) (slot cfg b i) x) in
  pool_ok watch cfg c p' /\ frame cfg rest p p'.
Proof.
  intros c rest p b i x [K X] Nb Rb p'. assert (S : forall y, y <> b -> same_cells cfg p p' y).
  { intros y D j. now apply other_slot. }
  split; [split|].
  - now apply (books_ok_same c p).
  - now apply (index_ok_cells p p' b).
  - apply (frame_but_one _ _ _ b); auto. lia.
Qed.

Lemma copied_cells : forall (st : tmap (option (nat * A))) a b n, a <> b -> n <= B ->
  let st' := fold_left (fun st i => set st (b * B + i) (get st (a * B + i))) (List.seq 0 n) st in
  (forall x j, x <> b -> get st' (slot cfg x j) = get st (slot cfg x j)) /\
  (forall j, j mod B < n -> get st' (slot cfg b j) = get st (slot cfg a j)).
Proof.
  intros st a b n D. induction n as [|n IH]; intros L st'; [split; [reflexivity | intros; lia]|].
  unfold st' in *. clear st'. rewrite seq_S, fold_left_app. cbn [fold_left Nat.add].
  destruct IH as [IHx IHb]; [lia|].
  set (st' := fold_left _ _ _) in *. assert (Bm : n mod B = n) by (apply Nat.mod_small; lia).
  replace (b * B + n) with (slot cfg b n) by (unfold slot; now rewrite Bm).
  replace (a * B + n) with (slot cfg a n) by (unfold slot; now rewrite Bm). split.
  - intros x j Dx. rewrite other_slot by auto. now apply IHx.
  - intros j Lj. destruct (Nat.eq_dec (j mod B) n) as [E | E].
    + replace (slot cfg b j) with (slot cfg b n) by (unfold slot; now rewrite Bm, E).
      rewrite get_set_same, IHx by auto. unfold slot. now rewrite Bm, E.
    + rewrite get_set_other; [apply IHb; lia|]. intros H.
      apply (slot_injective cfg) in H as [_ H]. lia.
Qed.

Lemma copy_ok : forall c rest p a b n,
  pool_ok watch cfg c p -> get (index p) b = None -> rest b = 0 -> a <> b -> n <= B ->
  let p' := copy cfg p a b n in
  pool_ok watch cfg c p' /\ frame cfg rest p p' /\
  (forall i, i mod B < n -> get (store p') (slot cfg b i) = get (store p) (slot cfg a i)).
Proof.
  intros c rest p a b n [K X] Nb Rb D L p'. destruct (copied_cells (store p) a b n D L) as [Sx Sb].
  assert (S : forall y, y <> b -> same_cells cfg p p' y) by (intros y Dy j; now apply Sx).
  split; [split | split].
  - now apply (books_ok_same c p).
  - now apply (index_ok_cells p p' b).
  - apply (frame_but_one _ _ _ b); auto. lia.
  - exact Sb.
Qed.

(* ---------- the index ---------- *)

(* An entry that is not pinned leaves. *)
Lemma unindex_ok : forall c rest p b,
  pool_ok watch cfg c p -> get (pins p) b = 0 ->
  let p' := with_index p (set (index p) b None) in
  pool_ok watch cfg c p' /\ frame cfg rest p p'.
Proof.
  intros c rest p b [K [Xe Xp]] Pb p'. split; [split|].
  - now apply (books_ok_same c p).
  - split; cbn.
    + intros x k H. rewrite get_set in H. destruct (b =? x); [discriminate|]. now apply Xe.
    + intros x L. rewrite get_set. destruct (Nat.eqb_spec b x) as [-> | D]; [lia | auto].
  - one_block b. split; [now apply same_store|]. unfold exclusive. cbn. now rewrite get_set_same.
Qed.

Lemma forget_ok : forall c rest p b, pool_ok watch cfg c p -> pool_ok watch cfg c (forget p b) /\
  frame cfg rest p (forget p b).
Proof.
  intros c rest p b [K [Xe Xp]]. split; [split|].
  - now apply (books_ok_same c p).
  - split; cbn.
    + intros x k H. rewrite get_set in H. destruct (b =? x); [discriminate|]. now apply Xe.
    + intros x L. rewrite get_set in *. destruct (Nat.eqb_spec b x) as [-> | D]; [lia | auto].
  - one_block b. split; [now apply same_store|]. unfold exclusive. cbn. now rewrite !get_set_same.
Qed.

Lemma index_entry_ok : forall c rest p b k,
  pool_ok watch cfg c p -> rest b < c b -> holds_content cfg p b k ->
  let p' := with_index p (set (index p) b (Some k)) in
  pool_ok watch cfg c p' /\ frame cfg rest p p'.
Proof.
  intros c rest p b k [K [Xe Xp]] L H p'. split; [split|].
  - now apply (books_ok_same c p).
  - split; cbn.
    + intros x k'. rewrite get_set. destruct (Nat.eqb_spec b x) as [<- | D]; [|now apply Xe].
      intros E. injection E as <-. split; [apply K; lia | exact H].
    + intros x Lx. rewrite get_set. destruct (Nat.eqb_spec b x) as [-> | D]; [discriminate | auto].
  - one_block b. split; [now apply same_store|]. intros [X _]. rewrite (refs_count K) in X. lia.
Qed.

(* ---------- pins ---------- *)

Lemma pin_one_ok : forall c rest p p' b,
  pool_ok watch cfg c p -> pin_one (Done p) b = Done p' -> pool_ok watch cfg c p' /\ frame cfg rest p p'.
Proof.
  intros c rest p p' b [K [Xe Xp]] H. unfold pin_one in H. cbn [bind] in H.
  destruct (get (index p) b) eqn:E; [|discriminate]. injection H as <-. split; [split|].
  - now apply (books_ok_same c p).
  - split; cbn; [exact Xe|]. intros x. rewrite get_set.
    destruct (Nat.eqb_spec b x) as [<- | D]; [congruence | auto].
  - one_block b. split; [now apply same_store|]. unfold exclusive. cbn. rewrite E. now intros [_ [? _]].
Qed.

Lemma unpin_one_ok : forall c rest p p' b,
  pool_ok watch cfg c p -> unpin_one (Done p) b = Done p' -> pool_ok watch cfg c p' /\ frame cfg rest p p'.
Proof.
  intros c rest p p' b [K [Xe Xp]] H. unfold unpin_one in H. cbn [bind] in H.
  destruct (Nat.ltb_spec 0 (get (pins p) b)) as [L|L]; [|discriminate]. injection H as <-. split; [split|].
  - now apply (books_ok_same c p).
  - split; cbn; [exact Xe|]. intros x. rewrite get_set. destruct (Nat.eqb_spec b x) as [<- | D]; auto.
  - one_block b. split; [now apply same_store|]. unfold exclusive. cbn. intros (_ & _ & E). lia.
Qed.

(* ---------- device steps ---------- *)

Lemma step_begin_ok : forall c rest p p' i,
  pool_ok watch cfg c p -> step_begin i p = Done p' -> pool_ok watch cfg c p' /\ frame cfg rest p p'.
Proof.
  intros c rest p p' i [[Rc Rn Fo Fn Fe Fi Fw Ww] X] H. unfold step_begin in H.
  destruct (negb (mem i (open p))); [|discriminate]. injection H as <-. split; [split|].
  - constructor; cbn; auto. 
    + intros b steps Hb. apply Fw in Hb as [E S]. split; [exact E | now apply incl_tl].
    + intros b j W. destruct (Ww b j W) as [J L]. split; [now right | exact L].
  - now apply (index_ok_same p).
  - intros b _. split; [now apply same_store | auto].
Qed.

(* Only the end of a step ends the waiting for it. *)
Lemma step_end_ok : forall c rest p p' i,
  pool_ok watch cfg c p -> (forall b, ~ watch b i) -> step_end i p = Done p' -> pool_ok watch cfg c p' /\
    frame cfg rest p p'.
Proof.
  intros c rest p p' i [[Rc Rn Fo Fn Fe Fi Fw Ww] X] Nw H. unfold step_end in H.
  destruct (mem i (open p)); [|discriminate]. injection H as <-.
  assert (L : map fst (lower i p) = map fst (fenced p)) by (unfold lower; rewrite map_map; now apply map_ext).
  assert (Lf : NoDup (map fst (lower i p))) by now rewrite L.
  assert (Iff : forall b, In b (map fst (fenced p)) <->
                In b (map fst (filter has_passed (lower i p))) \/
                In b (map fst (filter (fun f => negb (has_passed f)) (lower i p)))).
  { intros b. rewrite <- L, !in_map_iff. split.
    - intros (f & <- & Hf). destruct (has_passed f) eqn:P; [left | right]; exists f; split; auto;
        apply filter_In; split; auto. now rewrite P.
    - intros [(f & <- & Hf) | (f & <- & Hf)]; apply filter_In in Hf as [Hf _]; eauto. }
  assert (Dis : forall b, In b (map fst (filter has_passed (lower i p))) ->
                ~ In b (map fst (filter (fun f => negb (has_passed f)) (lower i p)))).
  { intros b. rewrite !in_map_iff. intros (f & <- & Hf) (f' & E & Hf'). apply filter_In in Hf as [Hf P].
    apply filter_In in Hf' as [Hf' P']. assert (f' = f); [|subst; now rewrite P in P'].
    revert Lf Hf Hf' E. generalize (lower i p). clear. induction l as [|x l IH]; intros D Hf Hf' E; [easy|].
    cbn in D. inversion_clear D as [|? ? Nx D']. destruct Hf as [->|Hf], Hf' as [->|Hf']; auto.
    - exfalso. apply Nx. rewrite <- E. now apply in_map.
    - exfalso. apply Nx. rewrite E. now apply in_map. }
  split; [split|].
  - constructor; cbn; auto.
    + assert (Dp : NoDup (map fst (filter has_passed (lower i p)))) by now apply nodup_map_filter.
      assert (Nf : forall b, In b (map fst (filter has_passed (lower i p))) -> ~ In b (free p)).
      { intros b Hb Hf. apply Fe in Hf as (_ & _ & U). apply U, Iff. now left. }
      revert Dp Nf. generalize (map fst (filter has_passed (lower i p))). clear - Fo.
      induction l as [|b l IH]; intros D Nf; cbn; [exact Fo|]. inversion_clear D as [|? ? Nb D'].
      constructor; [|apply IH; auto; intros; apply Nf; now right].
      rewrite in_app_iff. intros [|]; [auto|]. apply (Nf b); [now left | auto].
    + now apply nodup_map_filter.
    + intros b. rewrite in_app_iff, Fe. specialize (Iff b). specialize (Dis b). split.
      * intros [Hb | (Nb & Cb & Ub)]; [|tauto]. destruct (Fi b) as [Nb Cb]; tauto.
      * intros (Nb & Cb & Ub). destruct (in_dec Nat.eq_dec b (map fst (fenced p))); tauto.
    + intros b Hb. apply Fi, Iff. now right.
    + intros b steps Hb. apply filter_In in Hb as [Hb P]. split; [now destruct steps|].
      unfold lower in Hb. apply in_map_iff in Hb as ([b' steps'] & E & Hb). injection E as -> <-.
      apply Fw in Hb as [_ S]. intros j Hj. cbn in Hj. apply in_without in Hj as [Hj D]. apply in_without.
      auto.
    + intros b j W. assert (D : j <> i) by (intros ->; now apply (Nw b)).
      destruct (Ww b j W) as [J K]. split; [now apply in_without|].
      destruct K as [K | (steps & I & J')]; [now left | right]. exists (without i steps).
      assert (J'' : In j (without i steps)) by now apply in_without. split; [|exact J''].
      apply filter_In. split; [apply in_map_iff; now exists (b, steps)|]. cbn. now destruct (without i steps).
  - now apply (index_ok_same p).
  - intros b _. split; [now apply same_store | auto].
Qed.

End PoolLemmas.
