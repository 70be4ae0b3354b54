(* SPDX-License-Identifier: Apache-2.0 *)
(* What an operation does to the tables of one sequence (blocktable/): they slide, grow and are cut, for one
   group and for all. Each keeps the pool's books and index, leaves the blocks of all other tables alone
   (`turn`), and keeps what the table says about the history (`table_ok`). *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Interpreter Lists Entries Invariant Pool.
Import ListNotations.

Section Tables.
Context {A : Type} {watch : nat -> nat -> Prop} {cfg : config}
  {block_size_positive : positive (B cfg)}.
Notation B := (B cfg).
Implicit Types (p : pool A) (rest : nat -> nat) (t : table) (g : group) (m : nat) (h : list A).

(* From the pool p and the entries es to p' and es', while `rest` counts what all other tables name. *)
Record turn rest p es p' es' : Prop := {
  turn_pool : pool_ok watch cfg (fun b => rest b + count es' b) p';
  turn_frame : frame cfg rest p p';
  turn_distinct : forall b, count es' b <= count es b \/ (rest b = 0 /\ count es' b <= 1) }.

Lemma turn_trans : forall rest p es p1 es1 p2 es2,
  turn rest p es p1 es1 -> turn rest p1 es1 p2 es2 -> turn rest p es p2 es2.
Proof.
  intros rest p es p1 es1 p2 es2 [_ F1 D1] [P2 F2 D2]. split; [exact P2 | eapply frame_trans; eassumption |].
  intros b. specialize (D1 b). specialize (D2 b). lia.
Qed.

(* The same entries, and a pool in which only those changed. *)
Lemma turn_same : forall rest p es p',
  pool_ok watch cfg (fun b => rest b + count es b) p' -> frame cfg rest p p' -> turn rest p es p' es.
Proof. intros rest p es p' P F. split; auto. Qed.

(* First one table, then the others of the sequence. *)
Lemma turn_cons : forall rest p t ts p1 t1 p2 ts2,
  turn (fun b => rest b + count (blocks_in ts) b) p (entries t) p1 (entries t1) ->
  turn (fun b => rest b + count (entries t1) b) p1 (blocks_in ts) p2 (blocks_in ts2) ->
  turn rest p (blocks_in (t :: ts)) p2 (blocks_in (t1 :: ts2)).
Proof.
  intros rest p t ts p1 t1 p2 ts2 [P1 F1 D1] [P2 F2 D2]. split.
  - eapply pool_ok_ext; [|exact P2]. intros b. cbv beta. rewrite count_blocks_cons. lia.
  - eapply frame_trans; eapply frame_less; [|exact F1| |exact F2]; intros; cbv beta in *; lia.
  - intros b. rewrite !count_blocks_cons. specialize (D1 b). specialize (D2 b). cbv beta in *. lia.
Qed.

(* ---------- windows ---------- *)

Lemma slide_entries : forall es s first, s <= first ->
  let es' := firstn s es ++ map (fun _ => None) (skipn s (firstn first es)) ++ skipn first es in
  length es' = length es /\
  (forall j, at_ es' j = if (s <=? j) && (j <? first) then None else at_ es j) /\
  (forall b, count es b = count es' b + count (skipn s (firstn first es)) b).
Proof.
  intros es s first L es'. set (X := firstn first es) in *.
  assert (E : firstn s es = firstn s X) by (unfold X; rewrite firstn_firstn; now rewrite Nat.min_l).
  assert (LX : length X = Nat.min first (length es)) by apply firstn_length.
  assert (Ls : length (firstn s X) = Nat.min s (length X)) by apply firstn_length.
  assert (Ld : length (skipn s X) = length X - s) by apply skipn_length.
  assert (Le : length (skipn first es) = length es - first) by apply skipn_length.
  unfold es'. rewrite E. split; [|split].
  - rewrite !app_length, map_length. lia.
  - intros j. destruct (Nat.leb_spec s j) as [Lj|Lj]; cbn [andb].
    + rewrite at_app_right by lia. destruct (Nat.ltb_spec j first) as [Lf|Lf].
      * destruct (Nat.lt_ge_cases (j - length (firstn s X)) (length (skipn s X))) as [H|H].
        -- rewrite at_app_left by (rewrite map_length; lia). apply at_all_none.
        -- unfold at_. rewrite nth_overflow; [reflexivity|]. rewrite app_length, map_length. lia.
      * rewrite at_app_right by (rewrite map_length; lia). rewrite map_length, at_skipn.
        destruct (Nat.lt_ge_cases j (length es)) as [H|H].
        -- f_equal. lia.
        -- unfold at_. rewrite !nth_overflow; [reflexivity | lia | lia].
    + destruct (Nat.lt_ge_cases j (length X)) as [H|H].
      * rewrite at_app_left by lia. rewrite at_firstn by lia. apply at_firstn. lia.
      * unfold at_. rewrite !nth_overflow; [reflexivity | lia |]. rewrite !app_length, map_length. lia.
  - intros b. rewrite !count_app, count_holes. rewrite (count_split first es b). fold X.
    rewrite (count_split s X b). lia.
Qed.

Lemma slide_ok : forall {gi} rest p m h g t keep p' t',
  pool_ok watch cfg (fun b => rest b + count (entries t) b) p -> table_ok cfg gi p m h g t ->
    keep <= length h ->
  slide cfg g keep (p, t) = (p', t') ->
  turn rest p (entries t) p' (entries t') /\ table_ok cfg gi p' m h g t' /\
    lo t' = Nat.max (lo t) (keep / B * B).
Proof.
  intros gi rest p m h g t keep p' t' P T Lk E. unfold slide in E.
  set (first := keep / B) in *. set (s := Nat.min (sink_blocks cfg g) first) in *.
  set (dead := skipn s (firstn first (entries t))) in *. injection E as Ep Et.
  assert (L : s <= first) by (unfold s; lia).
  destruct (slide_entries (entries t) s first L) as (Len & At & Cnt). fold dead in Len, At, Cnt.
  set (es' := firstn s (entries t) ++ map (fun _ => None) dead ++ skipn first (entries t)) in *.
  destruct (give_all_ok dead _ (fun b => rest b + count es' b) p P) as [P' F].
  { intros b. cbv beta. rewrite Cnt. lia. }
  rewrite Ep in P', F. rewrite <- Et. clear Et t' Ep. cbn [entries lo].
  assert (Fk : first * B <= length h) by (pose proof (le_div cfg keep first); lia).
  assert (Alive : forall i b, at_ es' (i / B) = Some b -> 0 < rest b + count es' b).
  { intros i b H. apply count_at in H. lia. }
  split; [|split; [|reflexivity]].
  - split; [exact P' | |].
    + eapply frame_less; [|exact F]. intros; cbv beta; lia.
    + intros b. left. rewrite (Cnt b). lia.
  - split; cbn [entries].
    + rewrite Len. apply T.
    + intros i Li Hi. assert (Hi' : held cfg g t i /\ at_ es' (i / B) = at_ (entries t) (i / B)).
      { rewrite At. unfold held in *. cbn [lo] in Hi.
        pose proof (lt_div cfg i (sink_blocks cfg g)).
        pose proof (le_div cfg i first). split; [lia|].
        destruct (Nat.leb_spec s (i / B)), (Nat.ltb_spec (i / B) first); cbn [andb]; try reflexivity.
        unfold s in *. lia. }
      destruct Hi' as [Ht Ea]. rewrite <- (committed T i Li Ht). unfold read. cbn [entries]. rewrite Ea.
      destruct (at_ (entries t) (i / B)) as [b|] eqn:Eb; [|reflexivity]. apply cell_same, (F b).
      now apply (Alive i).
    + intros i Li. destruct (reserved T i Li) as (b & Eb & X). exists b.
      assert (Ea : at_ es' (i / B) = Some b).
      { rewrite At, Eb. pose proof (le_div cfg i first).
        destruct (Nat.ltb_spec (i / B) first); [lia|]. now rewrite andb_false_r. }
      split; [exact Ea|]. apply (F b); [|exact X]. now apply (Alive i).
Qed.

Lemma slide_holds_from : forall from from' keep g t t',
  holds_from cfg from g t -> lo t' = Nat.max (lo t) (keep / B * B) -> from <= from' -> keep <= from' ->
  holds_from cfg from' g t'.
Proof.
  unfold holds_from. intros. pose proof (le_div cfg keep (keep / B)). lia.
Qed.

Lemma slide_all_ok : forall m h seen seen' keep gi gs ts rest p p' ts',
  pool_ok watch cfg (fun b => rest b + count (blocks_in ts) b) p -> tables_ok cfg p m h seen gi gs ts ->
  (forall g, keep g <= length h /\ keep g <= seen' g /\ seen g <= seen' g) ->
  slide_all cfg keep gs p ts = (p', ts') ->
  turn rest p (blocks_in ts) p' (blocks_in ts') /\ tables_ok cfg p' m h seen' gi gs ts'.
Proof.
  intros m h seen seen' keep gi gs ts rest p p' ts' P T K E.
  induction gs as [|g gs IH] in gi, ts, rest, p, p', ts', P, T, E |- *;
    inversion T as [|? ? t ? ts0 [Tt Th] Ts];
    subst.
  - injection E as <- <-. split; [|constructor]. apply turn_same; [exact P | apply frame_refl].
  - cbn [slide_all] in E. destruct (slide cfg g (keep g) (p, t)) as [p1 t1] eqn:E1.
    destruct (slide_all cfg keep gs p1 ts0) as [p2 ts2] eqn:E2. injection E as <- <-.
    destruct (K g) as (Kn & Ks & Kk).
    destruct (slide_ok (gi := gi) (fun b => rest b + count (blocks_in ts0) b) p m h g t (keep g) p1 t1) as
      (N1 & T1 & L1); auto.
    { eapply pool_ok_ext; [|exact P]. intros b. cbv beta. rewrite count_blocks_cons. lia. }
    destruct (IH (S gi) ts0 (fun b => rest b + count (entries t1) b) p1 p2 ts2) as (N2 & T2); auto.
    { eapply pool_ok_ext; [|apply N1]. intros b. cbv beta. lia. }
    { eapply tables_ok_frame; [apply N1 | | exact Ts]. intros b. cbv beta. lia. }
    split; [eapply turn_cons; eassumption|]. constructor; [|exact T2]. split.
    + eapply table_ok_frame; [apply N2 | | exact T1]. intros b. cbv beta. lia.
    + eapply slide_holds_from; eassumption.
Qed.

(* ---------- reservation ---------- *)

(* Entry j of a table becomes b, an own block that nobody named; what it held is held there, or was not
   held. *)
Lemma replace_entry : forall {gi} rest p m h g t j b p',
  table_ok cfg gi p m h g t -> j < length (entries t) ->
  frame cfg (fun x => rest x + count (upd (entries t) j None) x) p p' -> exclusive p' b ->
  (forall i, i < length h -> held cfg g t i -> i / B = j -> cell cfg gi p' b i = read cfg gi p t i) ->
  table_ok cfg gi p' m h g (Table (lo t) (upd (entries t) j (Some b))).
Proof.
  intros gi rest p m h g t j b p' T Lj F X C.
  assert (Alive : forall i x, j <> i -> at_ (entries t) i = Some x ->
                  0 < rest x + count (upd (entries t) j None) x).
  { intros i x D E. rewrite <- (at_upd_other _ _ j _ None) in E by auto. apply count_at in E. lia. }
  split; cbn [entries].
  - rewrite length_upd. apply T.
  - intros i Li Hi. rewrite <- (committed T i Li Hi). destruct (Nat.eq_dec j (i / B)) as [E|D].
    + rewrite <- C by auto. unfold read. cbn [entries]. subst j. now rewrite at_upd_same.
    + unfold read. cbn [entries]. rewrite at_upd_other by auto.
      destruct (at_ (entries t) (i / B)) as [x|] eqn:E; [|reflexivity]. apply cell_same, (F x).
      now apply (Alive (i / B)).
  - intros i Li. destruct (Nat.eq_dec j (i / B)) as [E|D].
    + exists b. subst j. now rewrite at_upd_same.
    + destruct (reserved T i Li) as (x & E & Xx). exists x. rewrite at_upd_other by auto.
      split; [exact E|]. apply (F x); [|exact Xx]. now apply (Alive (i / B)).
Qed.

Lemma count_replaced : forall es j b x, j < length es ->
  count (upd es j (Some b)) x = count (upd es j None) x + one b x /\
  count es x = count (upd es j None) x + named (at_ es j) x.
Proof.
  intros es j b x L. pose proof (count_upd es j (Some b) x L). pose proof (count_upd es j None x L).
  cbn [named] in *. lia.
Qed.

Lemma open_tail_ok : forall {gi} rest m h g always w t w' t',
  pool_ok watch cfg (fun b => rest b + count (entries t) b) (pool_of w) ->
    table_ok cfg gi (pool_of w) m h g t ->
  length h <= m -> open_tail cfg m always (w, t) = Done (w', t') ->
  turn rest (pool_of w) (entries t) (pool_of w') (entries t') /\
  table_ok cfg gi (pool_of w') m h g t' /\ lo t' = lo t /\
  (m mod B <> 0 -> exists b, at_ (entries t') (m / B) = Some b /\ exclusive (pool_of w') b).
Proof.
  intros gi rest m h g always w t w' t' P T Lm E. unfold open_tail in E.
  destruct (Nat.eqb_spec (m mod B) 0) as [M|M].
  { injection E as <- <-. split; [apply turn_same; [exact P | apply frame_refl]|].
    split; [exact T | split; [reflexivity | lia]]. }
  assert (Lj : m / B < length (entries t)).
  { rewrite (entries_length T). apply (lt_cdiv cfg). destruct (div_mod_eq cfg m). lia. }
  set (j := m / B) in *. set (gap := upd (entries t) j None).
  destruct (at_ (entries t) j) as [a|] eqn:Ej.
  - destruct (negb always && (get (refs (pool_of w)) a =? 1) && (get (pins (pool_of w)) a =? 0)) eqn:Own.
    + apply andb_true_iff in Own as [Own Pa]. apply andb_true_iff in Own as [_ Ra].
      apply Nat.eqb_eq in Ra, Pa.
      injection E as <- <-. cbn [pool_of].
      destruct (unindex_ok _ (fun b => rest b + count (entries t) b) (pool_of w) a P Pa) as [P' F].
      split; [|split; [|split]]; auto.
      * apply turn_same; [exact P'|]. eapply frame_less; [|exact F]. intros; cbv beta; lia.
      * eapply table_ok_frame; [exact F | | exact T]. intros; cbv beta; lia.
      * intros _. exists a. split; [exact Ej|]. unfold exclusive. cbn. now rewrite get_set_same.
    + clear Own. destruct (take w) as [[b w1]|] eqn:Tk; [|discriminate]. cbn [bind] in E.
      injection E as <- <-.
      cbn [pool_of entries lo]. destruct (take_ok _ _ _ _ Tk P) as [Cb Tk'].
      destruct (Tk' _ (fun x => eq_refl)) as (P1 & F1 & X1). clear Tk Tk'. cbv beta in Cb.
      assert (Dab : a <> b) by (intros ->; apply count_at in Ej; lia).
      destruct (copy_ok _ (fun x => rest x + count gap x) (pool_of w1) a b (m mod B) P1) as (P2 & F2 & C2);
        auto.
      { apply X1. }
      { destruct (count_replaced (entries t) j b b Lj). unfold gap. lia. }
      { destruct (div_mod_eq cfg m). lia. }
      set (p2 := copy cfg (pool_of w1) a b (m mod B)) in *.
      destruct (give_ok _ (fun x => rest x + count (upd (entries t) j (Some b)) x) p2 a P2) as [P3 F3].
      { intros x. cbv beta. destruct (count_replaced (entries t) j b x Lj) as [-> ->]. rewrite Ej.
        cbn [named]. lia. }
      assert (X3 : exclusive (give p2 a) b).
      { apply F3; [|exact X1]. destruct (count_replaced (entries t) j b b Lj) as [-> _]. rewrite one_same.
        lia. }
      assert (F : frame cfg (fun x => rest x + count gap x) (pool_of w) (give p2 a)).
      { eapply frame_trans; [|eapply frame_trans; [exact F2|]].
        - eapply frame_less; [|exact F1]. intros x. destruct (count_replaced (entries t) j b x Lj).
          unfold gap. lia.
        - eapply frame_less; [|exact F3]. intros x. destruct (count_replaced (entries t) j b x Lj).
          unfold gap. lia. }
      split; [|split; [|split]]; auto.
      * split; [exact P3 | |].
        -- eapply frame_less; [|exact F]. intros; cbv beta; lia.
        -- intros x. destruct (count_replaced (entries t) j b x Lj) as [H H']. rewrite Ej in H'.
           cbn [named] in H'.
           destruct (one_cases b x) as [[<- O] | [_ O]]; [right | left]; lia.
      * eapply replace_entry; [exact T | exact Lj | exact F | exact X3 |].
        intros i Li _ Ei. assert (Lb : i mod B < m mod B).
        { destruct (div_mod_eq cfg m), (div_mod_eq cfg i). unfold j in Ei. rewrite Ei in *. lia. }
        unfold read. rewrite Ei, Ej.
        assert (S3 : same_cells cfg p2 (give p2 a) b).
        { apply F3. destruct (count_replaced (entries t) j b b Lj) as [-> _]. rewrite one_same. lia. }
        unfold cell. rewrite S3, C2 by auto. apply cell_same, F1. apply count_at in Ej. lia.
      * intros _. exists b. split; [|exact X3]. now apply at_upd_same.
  - destruct (take w) as [[b w1]|] eqn:Tk; [|discriminate]. cbn [bind] in E. injection E as <- <-.
    cbn [pool_of entries lo]. destruct (take_ok _ _ _ _ Tk P) as [Cb Tk'].
    destruct (Tk' (fun x => rest x + count (upd (entries t) j (Some b)) x)) as (P1 & F1 & X1).
    { intros x. destruct (count_replaced (entries t) j b x Lj) as [-> ->]. rewrite Ej. cbn [named]. lia. }
    split; [|split; [|split]]; auto.
    + split; [exact P1 | |].
      * eapply frame_less; [|exact F1]. intros; cbv beta; lia.
      * intros x. destruct (count_replaced (entries t) j b x Lj) as [H H']. rewrite Ej in H'.
        cbn [named] in H'.
        destruct (one_cases b x) as [[<- O] | [_ O]]; [right | left]; lia.
    + eapply (replace_entry rest); [exact T | exact Lj | | exact X1 |].
      * eapply frame_less; [|exact F1]. intros x. destruct (count_replaced (entries t) j b x Lj). cbv beta.
        lia.
      * intros i Li Hi Ei. exfalso. pose proof (committed T i Li Hi) as C. unfold read in C.
        rewrite Ei, Ej in C. apply nth_error_at in Li as [y Ey]. congruence.
    + intros _. exists b. split; [|exact X1]. now apply at_upd_same.
Qed.

Lemma extend_ok : forall {gi} rest m k h g always w t w' t',
  pool_ok watch cfg (fun b => rest b + count (entries t) b) (pool_of w) ->
    table_ok cfg gi (pool_of w) m h g t ->
  length h <= m -> extend cfg m k always (w, t) = Done (w', t') ->
  turn rest (pool_of w) (entries t) (pool_of w') (entries t') /\
  table_ok cfg gi (pool_of w') (m + k) h g t' /\ lo t' = lo t.
Proof.
  intros gi rest m k h g always w t w' t' P T Lm E. unfold extend in E.
  destruct (open_tail cfg m always (w, t)) as [[w1 t1]|] eqn:E1; [|discriminate]. cbn [bind] in E.
  destruct (open_tail_ok _ _ _ _ _ _ _ _ _ P T Lm E1) as (N1 & T1 & L1 & Tail). clear E1 P T.
  destruct (take_blocks _ w1) as [[w2 bs]|] eqn:E2; [|discriminate]. cbn [bind] in E. injection E as <- <-.
  destruct (take_blocks_ok _ _ _ _ _ E2 (turn_pool _ _ _ _ _ N1)) as (Lb & Sb & Db & P2 & F2). clear E2.
  assert (Le : length (entries t1) = cdiv cfg m) by apply T1.
  assert (Lc : cdiv cfg m <= cdiv cfg (m + k)) by (apply (cdiv_mono cfg); lia).
  cbn [entries lo]. split; [|split; [|exact L1]].
  - eapply turn_trans; [exact N1|]. split.
    + eapply pool_ok_ext; [|exact P2]. intros x. rewrite count_app. lia.
    + eapply frame_less; [|exact F2]. intros; cbv beta; lia.
    + intros x. rewrite count_app. specialize (Db x) as [D1 D2]. destruct (count bs x); [left; lia|].
      right. specialize (D2 ltac:(lia)) as [D2 _]. lia.
  - assert (T2 : table_ok cfg gi (pool_of w2) m h g t1).
    { eapply table_ok_frame; [exact F2 | | exact T1]. intros; cbv beta; lia. }
    split; cbn [entries].
    + rewrite app_length. lia.
    + intros i Li Hi. rewrite <- (committed T2 i Li Hi). unfold read. cbn [entries].
      rewrite at_app_left; [reflexivity|]. rewrite Le. apply (div_lt_cdiv cfg); lia.
    + intros i Li. destruct (Nat.lt_ge_cases i m) as [H|H];
        [|destruct (Nat.lt_ge_cases (i / B) (cdiv cfg m)) as [H'|H']].
      * destruct (reserved T2 i) as (b & Eb & X); [lia|]. exists b. split; [|exact X].
        rewrite at_app_left; [exact Eb | eapply at_some_length; exact Eb].
      * destruct (in_tail_block cfg i m H H') as [Ei M].
        destruct (Tail M) as (b & Eb & X). exists b. rewrite Ei. split.
        -- rewrite at_app_left; [exact Eb | eapply at_some_length; exact Eb].
        -- apply F2; [|exact X]. apply count_at in Eb. lia.
      * destruct (Sb (i / B - cdiv cfg m)) as (b & Eb).
        { rewrite Le. pose proof (div_lt_cdiv cfg i (m + k)). lia. }
        exists b. rewrite at_app_right by lia. rewrite Le. split; [exact Eb|]. apply Db.
        now apply count_at in Eb.
Qed.

Lemma extend_all_ok : forall m k h seen always gi gs ts rest w w' ts',
  pool_ok watch cfg (fun b => rest b + count (blocks_in ts) b) (pool_of w) ->
  tables_ok cfg (pool_of w) m h seen gi gs ts -> length h <= m ->
  extend_all cfg m k always w ts = Done (w', ts') ->
  turn rest (pool_of w) (blocks_in ts) (pool_of w') (blocks_in ts') /\
  tables_ok cfg (pool_of w') (m + k) h seen gi gs ts'.
Proof.
  intros m k h seen always gi gs ts rest w w' ts' P T Lm E.
  induction gs as [|g gs IH] in gi, ts, rest, w, w', ts', P, T, E |- *;
    inversion T as [|? ? t ? ts0 [Tt Th] Ts];
    subst.
  - injection E as <- <-. split; [|constructor]. apply turn_same; [exact P | apply frame_refl].
  - cbn [extend_all] in E. destruct (extend cfg m k always (w, t)) as [[w1 t1]|] eqn:E1; [|discriminate].
    cbn [bind] in E. destruct (extend_all cfg m k always w1 ts0) as [[w2 ts2]|] eqn:E2; [|discriminate].
    cbn [bind] in E. injection E as <- <-.
    destruct (extend_ok (gi := gi) (fun b => rest b + count (blocks_in ts0) b) m k h g always w t w1 t1) as
      (N1 & T1 & L1); auto.
    { eapply pool_ok_ext; [|exact P]. intros b. cbv beta. rewrite count_blocks_cons. lia. }
    destruct (IH (S gi) ts0 (fun b => rest b + count (entries t1) b) w1 w2 ts2) as (N2 & T2); auto.
    { eapply pool_ok_ext; [|apply N1]. intros b. cbv beta. lia. }
    { eapply tables_ok_frame; [apply N1 | | exact Ts]. intros b. cbv beta. lia. }
    split; [eapply turn_cons; eassumption|]. constructor; [|exact T2]. split.
    + eapply table_ok_frame; [apply N2 | | exact T1]. intros b. cbv beta. lia.
    + unfold holds_from. now rewrite L1.
Qed.

(* ---------- shorter tables ---------- *)

Lemma cut_entries : forall es k n, k <= n -> n <= length es ->
  let es' := firstn k es ++ repeat None (n - k) in
  length es' = n /\ (forall j, j < k -> at_ es' j = at_ es j) /\
  (forall b, count es b = count es' b + count (skipn k es) b).
Proof.
  intros es k n L Ln es'. assert (Lk : length (firstn k es) = k) by (apply firstn_length_le; lia).
  unfold es'. split; [|split].
  - rewrite app_length, repeat_length. lia.
  - intros j Lj. rewrite at_app_left by lia. now apply at_firstn.
  - intros b. rewrite count_app, count_repeat. rewrite (count_split k es b). lia.
Qed.

Lemma kept_entries_le : forall g n t, kept_entries cfg g n t <= cdiv cfg n.
Proof. intros. unfold kept_entries. destruct (lo t <? n); lia. Qed.

Lemma cut_table_ok : forall {gi} p m h g t n,
  table_ok cfg gi p m h g t -> n <= length h -> length h <= m ->
  table_ok cfg gi p n (firstn n h) g (cut_table cfg n g t) /\
  forall b, count (entries t) b = count (entries (cut_table cfg n g t)) b + count (tail_of cfg n g t) b.
Proof.
  intros gi p m h g t n T L Lm. assert (Lf : length (firstn n h) = n) by now apply firstn_length_le.
  pose proof (kept_entries_le g n t) as Lk. pose proof (cdiv_mono cfg n m) as Lc.
  destruct (cut_entries (entries t) (kept_entries cfg g n t) (cdiv cfg n) Lk) as (Len & At & Cnt).
  { rewrite (entries_length T). lia. }
  unfold cut_table, tail_of. cbv zeta. split; [|exact Cnt].
  split; cbn [entries]; [exact Len | |]; intros i Li.
  - intros Hi. rewrite Lf in Li. rewrite nth_error_firstn by lia.
    rewrite <- (committed T i); [|lia | unfold held in *; cbn [lo] in *; lia].
    unfold read. cbn [entries]. rewrite At; [reflexivity|]. unfold kept_entries, held in *. cbn [lo] in Hi.
    pose proof (div_lt_cdiv cfg i n Li). pose proof (lt_div cfg i (sink_blocks cfg g)).
    destruct (Nat.ltb_spec (lo t) n); lia.
  - lia.
Qed.

End Tables.

Arguments turn {A} watch cfg.
Arguments turn_pool {A watch cfg rest p es p' es'}.
Arguments turn_frame {A watch cfg rest p es p' es'}.
