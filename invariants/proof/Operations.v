(* SPDX-License-Identifier: Apache-2.0 *)
(* What single operations promise: a refusal changes nothing, a batch is all or nothing, other sequences do
   not notice, a hit is the query's own prefix, and a fence falls with the last step that it waits for. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Interpreter Lists Entries Invariant Pool Tables Hits Sequences Refinement
  Correctness.
Import ListNotations.

(* The sequences that an operation makes, changes or ends. *)
Definition touched {A} (o : op A) : list nat :=
  match o with
  | Admit s _ _ _ _ _ | Commit s _ | Cancel s | Truncate s _ | Release s _ | Fork _ s _ => [s]
  | Reserve batch _ => map fst batch
  | Append batch _ => map fst batch
  | _ => []
  end.

Section Operations.
Context {A : Type} {cfg : config}.
Variable eqb : A -> A -> bool.
Hypothesis eqb_ok : forall x y, eqb x y = true <-> x = y.
Hypothesis block_size_positive : 0 < B cfg.
Notation B := (B cfg).

Local Instance blocks_hold_cells' : positive B := block_size_positive.

(* ---------- refusals and batches ---------- *)

(* A refused operation leaves no trace [F2]. *)
Theorem refused_changes_nothing : forall hs st o why,
  step eqb cfg hs st o = Refused why -> both eqb cfg (st, hs) o = (st, hs).
Proof. intros hs st o why E. unfold both. now rewrite E. Qed.

Lemma reserve_one_is : forall s k (w : work A) sl w' sl', reserve_one cfg s k (w, sl) = Done (w', sl') ->
  exists q ts, at_ sl s = Some q /\ sl' = upd sl s (Some (Seq (len q) (rsv q + k) false ts)).
Proof.
  intros s k w sl w' sl' E. unfold reserve_one in E. obtain q Eq from E. unfold find_seq in Eq.
  destruct (at_ sl s) as [q'|]; [|discriminate]. injection Eq as ->.
  destruct (slide_all _ _ _ _ _) as [p1 ts1].
  obtain [w2 ts2] E2 from E. injection E as _ <-. eauto.
Qed.

Lemma reserve_batch_others : forall batch (w : work A) sl w' sl' s,
  reserve_batch cfg batch (w, sl) = Done (w', sl') ->
  ~ In s (map fst batch) -> at_ sl' s = at_ sl s.
Proof.
  induction batch as [|[s1 k1] batch IH]; intros w sl w' sl' s E N; cbn [reserve_batch map fst] in *.
  - now injection E as _ <-.
  - obtain [w1 sl1] E1 from E. apply reserve_one_is in E1 as (q & ts & _ & ->).
    rewrite (IH _ _ _ _ s E) by (intros H; apply N; now right). apply at_upd_other. intros ->. apply N.
    now left.
Qed.

Lemma reserve_is : forall batch cs (st st' : state A), reserve cfg batch cs st = Done st' ->
  NoDup (map fst batch) /\
  exists w, reserve_batch cfg batch (Work (the_pool st) cs [], seqs st) = Done (w, seqs st').
Proof.
  intros batch cs st st' E. unfold reserve in E. obtain ? E0 from E. obtain u E1 from E. obtain ? E2 from E.
  obtain [w sl] E3 from E. injection E as <-. split; [now apply ask_once in E1 | eauto].
Qed.

(* A batch gives every sequence its cells, exactly, or (a refusal) none to any. *)
Theorem reserve_all_or_nothing : forall batch cs (st st' : state A), reserve cfg batch cs st = Done st' ->
  forall s k, In (s, k) batch -> exists q q', at_ (seqs st) s = Some q /\ at_ (seqs st') s = Some q' /\
  len q' = len q /\ rsv q' = rsv q + k.
Proof.
  intros batch cs [p sl] [p' sl'] E. apply reserve_is in E as (D & w & E). cbn [the_pool seqs] in *.
  revert D E. generalize (Work p cs []). induction batch as [|[s1 k1] batch IH] in sl |- *;
    intros w0 D E s k I; [easy|].
  cbn [reserve_batch map fst] in *. inversion_clear D as [|? ? N D']. obtain [w1 sl1] E1 from E.
  apply reserve_one_is in E1 as (q & ts & Eq & ->). destruct I as [I | I].
  - injection I as -> ->. exists q. eexists. split; [exact Eq|].
    rewrite (reserve_batch_others _ _ _ _ _ s E) by exact N.
    rewrite at_upd_same by (eapply at_some_length; exact Eq). now split.
  - assert (Ds : s1 <> s) by (intros ->; apply N; now apply (in_map fst) in I).
    destruct (IH _ _ D' E s k I) as (q2 & q' & E2 & H). rewrite at_upd_other in E2 by exact Ds. eauto.
Qed.

Lemma spec_commit_at : forall (hs : histories A) s cells x,
  at_ (spec_commit hs s cells) x = if x =? s then option_map (fun h => h ++ cells) (at_ hs s) else at_ hs x.
Proof.
  intros hs s cells x. unfold spec_commit. destruct (Nat.eqb_spec x s) as [-> | D].
  - destruct (at_ hs s) as [h|] eqn:E; [|exact E]. apply at_upd_same. eapply at_some_length. exact E.
  - destruct (at_ hs s); [|reflexivity]. apply at_upd_other. auto.
Qed.

Lemma spec_append_others : forall batch (hs : histories A) s, ~ In s (map fst batch) ->
  at_ (fold_left (fun hs sc => spec_commit hs (fst sc) (snd sc)) batch hs) s = at_ hs s.
Proof.
  induction batch as [|[s1 cells] batch IH]; intros hs s N; [reflexivity|]. cbn [fold_left fst snd map] in *.
  rewrite IH by (intros H; apply N; now right). rewrite spec_commit_at.
  destruct (Nat.eqb_spec s s1) as [-> | D]; [|reflexivity]. exfalso. apply N. now left.
Qed.

(* An accepted append has grown every history of its batch. *)
Theorem append_all_or_nothing : forall batch cs (hs : histories A) st st',
  append cfg hs batch cs st = Done st' ->
  forall s cells h, In (s, cells) batch -> at_ hs s = Some h ->
  at_ (spec_step hs (Append batch cs)) s = Some (h ++ cells).
Proof.
  intros batch cs hs st st' E. unfold append in E. obtain ? E0 from E. obtain u E1 from E.
  apply ask_once in E1 as [D _].
  rewrite map_map in D. cbn [fst] in D. clear E E0. cbn [spec_step].
  induction batch as [|[s1 cells1] batch IH] in hs, D |- *; intros s cells h I Eh; [easy|].
  cbn [fold_left fst snd map] in *. inversion_clear D as [|? ? N D']. destruct I as [I | I].
  - injection I as -> ->. rewrite spec_append_others by exact N. rewrite spec_commit_at, Nat.eqb_refl.
    now rewrite Eh.
  - apply IH; auto. rewrite spec_commit_at. destruct (Nat.eqb_spec s s1) as [-> | _]; [|exact Eh].
    exfalso. apply N. now apply (in_map fst) in I.
Qed.

(* ---------- other sequences ---------- *)

Lemma commit_one_others : forall s cells h (p : pool A) sl p' sl' x,
  commit_one cfg s cells h p sl = Done (p', sl') -> x <> s -> at_ sl' x = at_ (X := seq) sl x.
Proof.
  intros s cells h p sl p' sl' x E D. unfold commit_one in E. obtain q Eq from E.
  destruct cells; [now injection E as _ <-|]. obtain ? E1 from E. destruct (commit_all _ _ _ _ _ _ _ _).
  injection E as _ <-. apply at_upd_other. auto.
Qed.

Lemma commit_others : forall (hs : histories A) s cells st st' x,
  commit cfg hs s cells st = Done st' -> x <> s -> at_ (seqs st') x = at_ (seqs st) x.
Proof.
  intros hs s cells st st' x E D. unfold commit in E. obtain [p sl] E1 from E. injection E as <-.
  eapply commit_one_others; eassumption.
Qed.

Lemma commit_batch_others : forall batch (hs : histories A) st st' x,
  commit_batch cfg hs batch st = Done st' -> ~ In x (map fst batch) -> at_ (seqs st') x = at_ (seqs st) x.
Proof.
  induction batch as [|[s cells] batch IH]; intros hs st st' x E N; cbn [commit_batch map fst] in *.
  - now injection E as <-.
  - obtain st1 E1 from E. rewrite (IH _ _ _ _ E) by (intros H; apply N; now right).
    eapply commit_others; [exact E1|]. intros ->. apply N. now left.
Qed.

Lemma reserve_others : forall batch cs (st st' : state A) x,
  reserve cfg batch cs st = Done st' -> ~ In x (map fst batch) -> at_ (seqs st') x = at_ (seqs st) x.
Proof.
  intros batch cs st st' x E N. apply reserve_is in E as (_ & w & E).
  eapply reserve_batch_others; eassumption.
Qed.

(* An operation on one sequence changes neither the record nor the history of another. *)
Lemma step_others : forall hs st o st' x, step eqb cfg hs st o = Done st' -> ~ In x (touched o) ->
  at_ (seqs st') x = at_ (seqs st) x /\ at_ (spec_step hs o) x = at_ hs x.
Proof.
  intros hs st o st' x E N. destruct o; cbn [Machine.step spec_step touched In] in *.
  - assert (D : s <> x) by tauto. split; [|now apply at_upd_other]. unfold admit in E.
    required E V. required E Lq. required E Lim. required E H. destruct (if _ =? 0 then _ else _) as [p2 ts2].
    obtain [w ts3] E3 from E. required E W. obtain [p4 sl4] E4 from E. injection E as <-. cbn [seqs].
    rewrite (commit_one_others _ _ _ _ _ _ _ x E4) by auto. now apply at_upd_other.
  - split; [|reflexivity]. eapply reserve_others; eassumption.
  - assert (D : x <> s) by (intros ->; tauto). split; [eapply commit_others; eassumption|].
    rewrite spec_commit_at. now apply Nat.eqb_neq in D as ->.
  - split; [|now apply spec_append_others]. unfold append in E. required E L. obtain u E1 from E.
    required E Id.
    obtain st1 E3 from E. rewrite (commit_batch_others _ _ _ _ x E N). eapply reserve_others; [exact E3|].
    now rewrite map_map.
  - assert (D : s <> x) by tauto. split; [|reflexivity]. unfold cancel in E. obtain q Eq from E.
    destruct (rsv q =? 0); [now injection E as <-|]. destruct (shrink _ _ _ _). injection E as <-.
    now apply at_upd_other.
  - assert (D : t <> x) by tauto. split; [|destruct (at_ hs s); [now apply at_upd_other | reflexivity]].
    unfold fork in E. obtain q Eq from E. required E V. required E Rz. required E L. required E Rs.
    injection E as <-.
    now apply at_upd_other.
  - assert (D : s <> x) by tauto. split; [|destruct (at_ hs s); [now apply at_upd_other | reflexivity]].
    unfold truncate in E. obtain q Eq from E. required E L. required E Rs. destruct (shrink _ _ _ _).
    injection E as <-.
    now apply at_upd_other.
  - assert (D : s <> x) by tauto. split; [|now apply at_upd_other]. unfold release in E. obtain q Eq from E.
    injection E as <-. now apply at_upd_other.
  - unfold on_pool in E. obtain p' Ep from E. now injection E as <-.
  - unfold on_pool in E. obtain p' Ep from E. now injection E as <-.
  - now injection E as <-.
  - unfold on_pool in E. obtain p' Ep from E. now injection E as <-.
  - unfold on_pool in E. obtain p' Ep from E. now injection E as <-.
Qed.

Lemma run_snoc : forall n os o, run eqb cfg n (os ++ [o]) = both eqb cfg (run eqb cfg n os) o.
Proof. intros. unfold run. now rewrite fold_left_app. Qed.

Section Reachable.
Variables (n_seqs : nat) (os : list (op A)) (st : state A) (hs : histories A) (o : op A) (st' : state A).
Hypothesis reached : run eqb cfg n_seqs os = (st, hs).
Hypothesis accepted : step eqb cfg hs st o = Done st'.

Lemma reached_next : run eqb cfg n_seqs (os ++ [o]) = (st', spec_step hs o).
Proof. rewrite run_snoc, reached. unfold both. now rewrite accepted. Qed.

(* Nobody else notices: the same sequence, and the same cells in its window [F1]. *)
Theorem others_untouched : forall s q gi g t, ~ In s (touched o) -> at_ (seqs st) s = Some q ->
  nth_error (groups cfg) gi = Some g -> nth_error (tables q) gi = Some t ->
  at_ (seqs st') s = Some q /\ window_of cfg gi (the_pool st') g q t = window_of cfg gi (the_pool st) g q t.
Proof.
  intros s q gi g t N Es Eg Et. destruct (step_others _ _ _ _ _ accepted N) as [Es' Eh']. rewrite Es in Es'.
  split; [exact Es'|]. destruct (at_ hs s) as [h|] eqn:Eh.
  - pose proof (run_correct eqb eqb_ok block_size_positive _ _ _ _ reached s q h Es Eh gi g t Eg Et) as
      (W & _).
    pose proof (run_correct eqb eqb_ok block_size_positive _ _ _ _ reached_next s q h Es' Eh' gi g t Eg Et) as
      (W' & _).
    congruence.
  - apply (lives_alike eqb eqb_ok block_size_positive _ _ _ _ reached) in Eh. congruence.
Qed.

End Reachable.

(* ---------- prefix hits ---------- *)

(* Right after an accepted admission, whatever legal hits it came with, the new sequence reads back as the
   query's own cells at the query's own positions, wherever the next query looks; and a cell is left to
   compute [X2]. *)
Theorem hit_exact : forall n_seqs os st hs s query compute cut hits cs st',
  run eqb cfg n_seqs os = (st, hs) -> step eqb cfg hs st (Admit s query compute cut hits cs) = Done st' ->
  cut < length query /\
  exists q, at_ (seqs st') s = Some q /\ rsv q = 0 /\ len q = cut + Nat.min compute (length query - cut) /\
  forall gi g t, nth_error (groups cfg) gi = Some g -> nth_error (tables q) gi = Some t ->
  forall i, i < len q -> need g (len q) <= i \/ i < sinks g ->
    read cfg gi (the_pool st') t i = nth_error query i.
Proof.
  intros n_seqs os st hs s query compute cut hits cs st' Run E.
  pose proof (reached_next _ _ _ _ _ _ Run E) as Run'.
  set (n := cut + Nat.min compute (length query - cut)). cbn [spec_step] in Run'. fold n in Run'.
  set (hs' := upd hs s _) in Run'. cbn [Machine.step] in E. unfold admit in E.
  required E V. required E Lq. required E Lim. required E H. rewrite !andb_true_iff in H.
  destruct H as ((Lc & _) & _).
  apply Nat.ltb_lt in Lc. assert (Lnq : n <= length query) by (unfold n; lia).
  split; [exact Lc|]. destruct (if _ =? 0 then _ else _) as [p2 ts2].
  obtain [w ts3] E3 from E. required E W. obtain [p4 sl4] E4 from E. injection E as <-.
  cbn [seqs the_pool] in *.
  assert (Ls : s < length (seqs st)).
  { unfold is_vacant in V. apply andb_true_iff in V as [V _]. now apply Nat.ltb_lt in V. }
  assert (Lh : length (seqs st) = length hs)
    by apply (reachable_ok eqb eqb_ok block_size_positive _ _ _ _ Run).
  assert (Eh : at_ hs' s = Some (firstn n query)) by (apply at_upd_same; lia).
  assert (Q : exists q, at_ sl4 s = Some q /\ rsv q = 0).
  { unfold commit_one, find_seq in E4. rewrite at_upd_same in E4 by exact Ls. cbn [bind] in E4.
    set (k := Nat.min compute (length query - cut)) in *.
    assert (Lq' : k <= length query - cut) by (unfold k; lia).
    pose proof (firstn_length k (skipn cut query)) as Lk.
    rewrite skipn_length in Lk. destruct (firstn k (skipn cut query)) as [|a cells] eqn:C.
    - injection E4 as _ <-. eexists. split; [now apply at_upd_same|]. cbn in *. lia.
    - required E4 Lr. destruct (commit_all _ _ _ _ _ _ _ _). injection E4 as _ <-.
      eexists. split; [apply at_upd_same; now rewrite length_upd|]. cbn [rsv length] in *. lia. }
  destruct Q as (q & Es & Rz). exists q. split; [exact Es | split; [exact Rz|]].
  assert (Ln : len q = n).
  { rewrite (length_exact eqb eqb_ok block_size_positive _ _ _ _ Run' s q _ Es Eh). apply firstn_length_le.
    lia. }
  split; [exact Ln|]. intros gi g t Eg Et i Li Hi. rewrite <- (nth_error_firstn n) by lia.
  eapply (in_flight_sees eqb eqb_ok block_size_positive _ _ _ _ Run' s q _ Es Eh gi g t Eg Et (len q));
    [lia | | exact Hi].
  rewrite firstn_length_le; lia.
Qed.

(* ---------- fences ---------- *)

(* A block given up while steps are in flight waits for exactly these. *)
Theorem given_up_in_flight : forall (p : pool A) b, get (refs p) b = 1 -> open p <> [] ->
  fenced (give p b) = (b, open p) :: fenced p /\ free (give p b) = free p.
Proof.
  intros p b E Ne. unfold give. rewrite E. cbn [Nat.eqb]. now destruct (open p).
Qed.

(* When step i ends, a fenced block is free if it waited for nothing else, and waits on for the others if
   it did. *)
Theorem fence_ends : forall watch c (p p' : pool A) i b steps,
  pool_ok watch cfg c p -> step_end i p = Done p' -> In (b, steps) (fenced p) ->
  ((forall j, In j steps -> j = i) -> In b (free p')) /\
  ((exists j, In j steps /\ j <> i) -> In (b, without i steps) (fenced p') /\ ~ In b (free p')).
Proof.
  intros watch c p p' i b steps P E I. assert (P' : pool_ok nothing cfg c p').
  { assert (P0 : pool_ok nothing cfg c p).
    { destruct P as [K X]. split; [destruct K; now constructor | exact X]. }
    eapply (step_end_ok c c p p' i P0); [easy | exact E]. }
  unfold step_end in E. required E Flies. injection E as <-. cbn [free fenced with_free with_fences] in *.
  assert (L : In (b, without i steps) (lower i p)) by (apply in_map_iff; now exists (b, steps)). split.
  - intros H. apply in_app_iff. left. apply in_map_iff. exists (b, without i steps). split; [reflexivity|].
    apply filter_In. split; [exact L|]. unfold has_passed. cbn [snd].
    destruct (without i steps) as [|j js] eqn:W; [reflexivity|]. exfalso.
    assert (J : In j (without i steps)) by (rewrite W; now left). apply in_without in J as [J D]. auto.
  - intros (j & J & D).
    assert (F : In (b, without i steps) (filter (fun f => negb (has_passed f)) (lower i p))).
    { apply filter_In. split; [exact L|]. unfold has_passed. cbn [snd].
      assert (J' : In j (without i steps)) by now apply in_without. now destruct (without i steps). }
    split; [exact F|]. intros C. apply (free_exact (pool_books P')) in C as (_ & _ & U). apply U.
    cbn. now apply (in_map fst) in F.
Qed.

End Operations.
