(* SPDX-License-Identifier: Apache-2.0 *)
(* When the operations that take blocks are refused: reserve, append, append_batch and admit (Manager;
   scenario-format.md, "Verdicts"; invariant A1).

   The arguments are looked at first; then no room means that the demand is larger than the room. Without
   choices that is exact: a reservation for one sequence, and an admission, are accepted if and only if the
   arguments are right and there is room for the demand. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results Lookup Frame Room Demand Slide Choices Reservation
  Admission.
From Kvpane Require Import Refusals Asking.
Import ListNotations.

Section RoomRefusals.

Context {A : Type} (eqb : A -> A -> bool) (cfg : config).
Notation B := (B cfg).
Notation past_limit := (past_limit cfg).
Notation well_kept := (well_kept cfg).
Notation one_too_long := (one_too_long cfg).
Notation batch_lacks_room := (batch_lacks_room cfg).
Notation admissible := (admissible eqb cfg).
Notation admit := (admit eqb cfg).
Notation reserve := (reserve cfg).
Notation append := (append cfg).
Implicit Types (st : state A) (p : pool A) (w : work A).

Definition reserve_reason (batch : list (nat * nat)) (cs : list nat) (st : state A) (why : refusal) : Prop :=
  match why with
  | Invalid => wrong_batch batch
  | Unknown => exists s, In s (map fst batch) /\ unknown st s
  | Too_long => one_too_long batch st
  | Bad_choice => cs <> []
  | No_room => batch_lacks_room batch cs st
  | _ => False
  end.

Hypothesis B_pos : 0 < B.

Theorem reserve_refused : forall batch cs st why, well_kept st -> reserve batch cs st = Refused why ->
  reserve_reason batch cs st why.
Proof.
  intros batch cs st why W H. unfold Machine.reserve in H. apply bind_refused in H.
  destruct H as [H|([] & _ & H)].
  - apply require_refused in H. destruct H as [H ->]. left. apply negb_false_iff, Nat.eqb_eq in H.
    now destruct batch.
  - apply bind_refused in H. destruct H as [H|([] & Ak & H)].
    + apply ask_refused in H. destruct H as [(-> & H)|(-> & [H|[H|(s & [] & _)]])].
      * exact H.
      * right. now left.
      * right. now right.
    + apply bind_refused in H. destruct H as [H|([] & _ & H)].
      * apply require_refused in H. destruct H as [H ->]. now apply is_short_enough_false.
      * apply bind_refused in H. destruct H as [H|([w sl] & _ & H)]; [|discriminate].
        pose proof (asked_is_askable cfg _ _ W Ak) as Al.
        destruct (proj1 (ask_done _ _ _) Ak) as (_ & _ & N & _).
        apply (reserve_batch_refused cfg B_pos batch (Work (the_pool st) cs []) (seqs st) [] why Al) in H.
        -- destruct H as [[-> H]|[-> H]]; exact H.
        -- now apply (well_kept_batch cfg).
Qed.

(* An accepted reservation did not lack room. *)
Theorem reserve_accepted : forall batch cs st st', well_kept st -> reserve batch cs st = Done st' ->
  ~ batch_lacks_room batch cs st.
Proof.
  intros batch cs st st' W H. unfold Machine.reserve in H. apply bind_done in H. destruct H as ([] & _ & H).
  apply bind_done in H. destruct H as ([] & Ak & H). apply bind_done in H. destruct H as ([] & _ & H).
  apply bind_done in H. destruct H as (r & D & _). destruct (proj1 (ask_done _ _ _) Ak) as (_ & _ & N & _).
  apply (reserve_batch_done cfg B_pos batch (Work (the_pool st) cs []) (seqs st) [] r); trivial.
  - now apply (asked_is_askable cfg).
  - now apply (well_kept_batch cfg).
Qed.

(* Without choices exactly four things can stand in the way. *)
Theorem batch_accepted : forall batch st, well_kept st ->
  ((exists st', reserve batch [] st = Done st') <->
   ~ wrong_batch batch /\ (forall s, In s (map fst batch) -> ~ unknown st s) /\ ~ one_too_long batch st /\
   ~ batch_lacks_room batch [] st).
Proof.
  intros batch st W. split.
  - intros [st' H]. pose proof (reserve_accepted _ _ _ _ W H) as L. unfold Machine.reserve in H.
    apply bind_done in H. destruct H as ([] & Ne & H). apply bind_done in H. destruct H as ([] & Ak & H).
    apply bind_done in H. destruct H as ([] & Sh & _). apply require_done in Ne, Sh.
    destruct (proj1 (ask_done _ _ _) Ak) as (Al & Z & N & _). split; [|split; [|split; [|exact L]]].
    + intros [->|[(s & I)|Nd]]; [discriminate|exact (Z s I)|contradiction].
    + intros s I U. destruct (Al s I) as [q E]. unfold unknown in U. congruence.
    + intro X. apply (is_short_enough_false cfg) in X. congruence.
  - intros (Wr & Al & Lg & Rm). destruct (reserve batch [] st) as [st'|why] eqn:R; [now exists st'|].
    exfalso. apply (reserve_refused _ _ _ _ W) in R.
    destruct why; cbn [reserve_reason] in R; try contradiction.
    destruct R as (s & I & U). exact (Al s I U).
Qed.

(* The same for one sequence. *)
Theorem reserve_one_accepted : forall s k st, well_kept st ->
  ((exists st', reserve [(s, k)] [] st = Done st') <->
   exists q, is_seq st s q /\ 0 < k /\ ~ past_limit (len q + rsv q + k) /\
             ~ lacks_room cfg (Work (the_pool st) [] []) q k).
Proof.
  intros s k st W. rewrite (batch_accepted _ _ W). unfold unknown, is_seq. split.
  - intros (Wr & Al & Lg & Rm). specialize (Al s (or_introl eq_refl)).
    destruct (at_ (seqs st) s) as [q|] eqn:E; [|congruence]. exists q. split; [reflexivity|]. split; [|split].
    + destruct k; [|lia]. destruct Wr. right. left. exists s. now left.
    + intro P. apply Lg. exists s, k, q. split; [now left|now split].
    + intro L. apply Rm. exists [], s, k, [], (Work (the_pool st) [] []), (seqs st), q. now repeat split.
  - intros (q & E & K & P & L). split; [|split; [|split]].
    + intros [Z|[(s' & [I|[]])|N]]; [discriminate|injection I as _ I; lia|].
      apply N. constructor; [intros []|constructor].
    + intros s' [<-|[]]. cbn [fst]. congruence.
    + intros (s' & k' & q' & [I|[]] & E' & P'). injection I as <- <-. unfold is_seq in E'.
      rewrite E in E'. injection E' as <-. contradiction.
    + intros (before & s' & k' & after & w1 & sl1 & q' & Eb & D & E' & L').
      destruct before as [|x before]; [|now destruct before]. injection Eb as <- <- _. cbn in D.
      injection D as <- _. rewrite E in E'. injection E' as <-. contradiction.
Qed.

(* ---------- append ---------- *)

Definition asked_cells (batch : list (nat * list A)) : list (nat * nat) :=
  map (fun sc => (fst sc, length (snd sc))) batch.

Lemma reserve_batch_reserves : forall batch w sl w' sl', NoDup (map fst batch) ->
  reserve_batch cfg batch (w, sl) = Done (w', sl') ->
  forall s k, In (s, k) batch ->
    exists q q', at_ sl s = Some q /\ at_ sl' s = Some q' /\ rsv q' = rsv q + k.
Proof.
  induction batch as [|[s k] rest IH]; intros w sl w' sl' N H s' k' I; [destruct I|].
  cbn [reserve_batch map fst] in *. inversion_clear N as [|? ? Ns Nr].
  apply bind_done in H. destruct H as ([w1 sl1] & D & H). destruct I as [I|I].
  - injection I as <- <-. apply reserve_one_writes in D. destruct D as (q & ts & E & ->).
    destruct (reserve_batch_frame _ _ _ _ _ _ s H Ns) as [_ F].
    exists q, (Seq (len q) (rsv q + k) false ts). rewrite F. split; [assumption|]. split; [|reflexivity].
    apply at_upd_same. now apply at_some_length in E.
  - destruct (IH _ _ _ _ Nr H s' k' I) as (q & q' & E & E'). exists q, q'. split; [|exact E'].
    apply reserve_one_writes in D. destruct D as (q1 & ts & _ & ->). rewrite at_upd_other in E; [exact E|].
    intros ->. apply Ns. now apply (in_map fst) in I.
Qed.

Lemma commit_batch_succeeds : forall hs batch st, NoDup (map fst batch) ->
  (forall s cells, In (s, cells) batch -> exists q, is_seq st s q /\ length cells <= rsv q) ->
  exists st', commit_batch cfg hs batch st = Done st'.
Proof.
  intros hs. induction batch as [|[s cells] rest IH]; intros st N H; cbn [commit_batch map fst] in *;
    [now exists st|].
  inversion_clear N as [|? ? Ns Nr]. destruct (H s cells (or_introl eq_refl)) as (q & E & L).
  unfold commit at 1.
  destruct (commit_one_succeeds cfg s cells (history hs s) (the_pool st) (seqs st) q E L) as ([p sl] & C).
  rewrite C. cbn [bind]. apply IH; [assumption|]. intros s' cells' I.
  destruct (H s' cells' (or_intror I)) as (q' & E' & L').
  exists q'. split; [|assumption]. unfold is_seq in *. cbn [seqs].
  destruct (commit_one_frame _ _ _ _ _ _ _ _ s' C) as [_ ->]; [|assumption].
  intros ->. apply Ns. now apply (in_map fst) in I.
Qed.

Lemma commits_of_an_append_succeed : forall hs batch cs st st1,
  reserve (asked_cells batch) cs st = Done st1 -> exists st', commit_batch cfg hs batch st1 = Done st'.
Proof.
  intros hs batch cs st st1 H. unfold Machine.reserve in H.
  apply bind_done in H. destruct H as ([] & _ & H). apply bind_done in H. destruct H as ([] & Ak & H).
  apply bind_done in H. destruct H as ([] & _ & H). apply bind_done in H. destruct H as ([w sl] & D & H).
  injection H as <-. destruct (proj1 (ask_done _ _ _) Ak) as (_ & _ & N & _).
  unfold asked_cells in N. rewrite map_fst_lengths in N.
  apply commit_batch_succeeds; [assumption|]. intros s cells I.
  apply (reserve_batch_reserves (asked_cells batch) _ _ _ _) with (s := s) (k := length cells) in D.
  - destruct D as (q & q' & _ & E & L). exists q'. split; [exact E|lia].
  - unfold asked_cells. now rewrite map_fst_lengths.
  - unfold asked_cells. now apply (in_map (fun sc => (fst sc, length (snd sc)))) in I.
Qed.

Definition append_reason (batch : list (nat * list A)) (cs : list nat) (st : state A) (why : refusal)
  : Prop :=
  match why with
  | Busy => exists s q, In s (map fst batch) /\ is_seq st s q /\ 0 < rsv q
  | _ => reserve_reason (asked_cells batch) cs st why
  end.

Theorem append_refused : forall hs batch cs st why, well_kept st -> append hs batch cs st = Refused why ->
  append_reason batch cs st why.
Proof.
  intros hs batch cs st why W H. unfold Machine.append in H. fold (asked_cells batch) in H.
  apply bind_refused in H. destruct H as [H|([] & _ & H)].
  - apply require_refused in H. destruct H as [H ->]. left. apply negb_false_iff, Nat.eqb_eq in H.
    now destruct batch.
  - apply bind_refused in H. destruct H as [H|([] & _ & H)].
    + apply ask_refused in H. destruct H as [(-> & H)|(-> & [H|[H|(s & [] & _)]])].
      * exact H.
      * right. now left.
      * right. now right.
    + apply bind_refused in H. destruct H as [H|([] & _ & H)].
      * apply require_refused in H. destruct H as [H ->]. cbn [append_reason].
        induction batch as [|[s cells] rest IH]; cbn [forallb map fst] in *; [discriminate|].
        apply andb_false_iff in H. destruct H as [H|H].
        -- unfold is_idle in H. destruct (at_ (seqs st) s) as [q|] eqn:E; [|discriminate].
           apply Nat.eqb_neq in H. exists s, q. split; [now left|]. split; [assumption|lia].
        -- destruct (IH H) as (s' & q & I & X). exists s', q. split; [now right|exact X].
      * apply bind_refused in H. destruct H as [H|(st1 & D & H)].
        -- apply (reserve_refused _ _ _ _ W) in H. destruct why; exact H || contradiction.
        -- apply (commits_of_an_append_succeed hs) in D. destruct D as [st' D]. congruence.
Qed.

(* Without choices exactly five things can stand in the way. *)
Theorem append_accepted : forall hs batch st, well_kept st ->
  ((exists st', append hs batch [] st = Done st') <->
   ~ wrong_batch (asked_cells batch) /\ (forall s, In s (map fst batch) -> ~ unknown st s) /\
   (forall s q, In s (map fst batch) -> is_seq st s q -> rsv q = 0) /\
   ~ one_too_long (asked_cells batch) st /\ ~ batch_lacks_room (asked_cells batch) [] st).
Proof.
  intros hs batch st W. split.
  - intros [st' H]. unfold Machine.append in H. fold (asked_cells batch) in H.
    apply bind_done in H. destruct H as ([] & _ & H). apply bind_done in H. destruct H as ([] & _ & H).
    apply bind_done in H. destruct H as ([] & Id & H). apply bind_done in H. destruct H as (st1 & R & _).
    assert (X : exists st1, reserve (asked_cells batch) [] st = Done st1) by now exists st1.
    apply (batch_accepted _ _ W) in X. destruct X as (Wr & Al & Lg & Rm). unfold asked_cells in Al.
    rewrite map_fst_lengths in Al. repeat (split; [assumption|]). split; [|now split].
    intros s q I E. apply require_done in Id. rewrite forallb_forall in Id. apply in_map_iff in I.
    destruct I as (sc & <- & I). specialize (Id _ I). unfold is_idle in Id. unfold is_seq in E.
    rewrite E in Id.
    now apply Nat.eqb_eq.
  - intros (Wr & Al & Id & Lg & Rm). destruct (append hs batch [] st) as [st'|why] eqn:R; [now exists st'|].
    exfalso. apply (append_refused _ _ _ _ _ W) in R.
    destruct why; cbn [append_reason reserve_reason] in R; try contradiction.
    + destruct R as (s & I & U). unfold asked_cells in I. rewrite map_fst_lengths in I. exact (Al s I U).
    + destruct R as (s & q & I & E & L). rewrite (Id s q I E) in L. lia.
Qed.

(* ---------- admissions ---------- *)

Definition admit_reason (s : nat) (query : list A) (compute cut : nat) (hits : list (list (option nat)))
                        (cs : list nat) (st : state A) (why : refusal) : Prop :=
  match why with
  | Invalid => taken_name st s \/ query = []
  | Too_long => past_limit (length query)
  | Bad_choice => admissible (the_pool st) query cut hits = false \/ cs <> []
  | No_room => admission_lacks_room cfg query compute cut hits cs st
  | _ => False
  end.

Lemma admissible_hits_ok : forall p query cut hits, admissible p query cut hits = true ->
  all_hits_ok eqb cfg p query cut 0 (groups cfg) hits = true.
Proof. intros p query cut hits H. unfold Lookup.admissible in H. now apply andb_true_iff in H. Qed.

Theorem admit_refused : forall s query compute cut hits cs st why, well_kept st ->
  admit s query compute cut hits cs st = Refused why -> admit_reason s query compute cut hits cs st why.
Proof.
  intros s query compute cut hits cs st why [S _] H. rewrite admit_is in H.
  apply bind_refused in H. destruct H as [H|([] & V & H)];
    [apply require_refused in H; destruct H as [H ->]; now left|].
  apply bind_refused in H. destruct H as [H|([] & _ & H)].
  { apply require_refused in H. destruct H as [H ->]. right. apply Nat.ltb_ge in H.
    destruct query; [reflexivity|].
    cbn in H. lia. }
  apply bind_refused in H. destruct H as [H|([] & _ & H)].
  { apply require_refused in H. destruct H as [H ->]. now apply within_limit_false. }
  apply bind_refused in H. destruct H as [H|([] & Ad & H)];
    [apply require_refused in H; destruct H as [H ->]; now left|].
  apply require_done, admissible_hits_ok in Ad. apply require_done in V.
  apply (admit_hits_refused eqb cfg B_pos s query compute cut hits cs st V Ad (sound_alone _ _ S)) in H.
  destruct H as [[-> H]|[-> H]]; [now right|exact H].
Qed.

(* Without choices: accepted if and only if the arguments are right and there is room. *)
Theorem admit_accepted : forall s query compute cut hits st, well_kept st ->
  ((exists st', admit s query compute cut hits [] st = Done st') <->
   ~ taken_name st s /\ query <> [] /\ ~ past_limit (length query) /\
   admissible (the_pool st) query cut hits = true /\ ~ admission_lacks_room cfg query compute cut hits [] st).
Proof.
  intros s query compute cut hits st W. split.
  - intros [st' H]. rewrite admit_is in H.
    apply bind_done in H. destruct H as ([] & V & H). apply bind_done in H. destruct H as ([] & Q & H).
    apply bind_done in H. destruct H as ([] & L & H). apply bind_done in H. destruct H as ([] & Ad & H).
    apply require_done in V, Q, L, Ad. split; [unfold taken_name; congruence|]. split; [now intros ->|].
    split; [intro P; apply within_limit_false in P; congruence|]. split; [assumption|].
    apply admissible_hits_ok in Ad. destruct W as [S _].
    exact (admit_hits_done eqb cfg B_pos s query compute cut hits [] st Ad (sound_alone _ _ S) st' H).
  - intros (V & Q & L & Ad & R). destruct (admit s query compute cut hits [] st) as [st'|why] eqn:E;
      [now exists st'|].
    exfalso. apply (admit_refused _ _ _ _ _ _ _ _ W) in E.
    destruct why; cbn [admit_reason] in E; try contradiction.
    + now destruct E.
    + destruct E; [congruence|contradiction].
Qed.

End RoomRefusals.
