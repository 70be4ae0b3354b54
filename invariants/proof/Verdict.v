(* SPDX-License-Identifier: Apache-2.0 *)
(* Refusals only for the stated reasons: all operations together (allocator/error.h; scenario-format.md,
   `expect.error`).

   `refused_only_for_a_reason` is the headline: whatever is refused, there is the reason that its error names.
   No room is never said by an operation that takes no block; a bad choice is only said about choices that
   were made; and `choices_do_not_decide`: no call is refused because of the order in which idle blocks are
   taken. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results Lookup Frame Room Demand Slide Choices Reservation
  Admission.
From Kvpane Require Import Refusals Asking RoomRefusals.
Import ListNotations.

Section Verdict.

Context {A : Type} (eqb : A -> A -> bool) (cfg : config).
Hypothesis B_pos : 0 < B cfg.
Notation well_kept := (well_kept cfg).
Notation admit := (admit eqb cfg).
Notation reserve := (reserve cfg).
Notation append := (append cfg).
Implicit Types (st : state A) (o : op A).

(* ---------- the reasons ---------- *)

Definition reason (st : state A) (o : op A) (why : refusal) : Prop :=
  match o, why with
  | Admit s query compute cut hits cs, _ => admit_reason eqb cfg s query compute cut hits cs st why
  | Reserve batch cs, _ => reserve_reason cfg batch cs st why
  | Append batch cs, _ => append_reason cfg batch cs st why
  | Commit s _, Unknown => unknown st s
  | Commit s cells, Not_reserved => exists q, is_seq st s q /\ rsv q < length cells
  | Cancel s, Unknown => unknown st s
  | Fork s _ _, Unknown => unknown st s
  | Fork s t n, Invalid => taken_name st t \/ exists q, is_seq st s q /\ len q < n
  | Fork s _ _, Busy => exists q, is_seq st s q /\ 0 < rsv q
  | Fork s _ n, Evicted => exists q, is_seq st s q /\ misses cfg n q
  | Truncate s _, Unknown => unknown st s
  | Truncate s n, Invalid => exists q, is_seq st s q /\ len q < n
  | Truncate s n, Evicted => exists q, is_seq st s q /\ misses cfg n q
  | Release s _, Unknown => unknown st s
  | Begin i, Invalid => In i (open (the_pool st))
  | End i, Invalid => ~ In i (open (the_pool st))
  | Pin bs, Bad_choice => exists b, In b bs /\ get (index (the_pool st)) b = None
  | Unpin bs, Invalid => exists b, get (pins (the_pool st)) b < times b bs
  | _, _ => False
  end.

Lemma on_pool_refused : forall st r why, on_pool st r = Refused why -> r = Refused why.
Proof. intros st r why H. apply bind_refused in H. destruct H as [H|(p & _ & H)]; [exact H|discriminate]. Qed.

Theorem refused_only_for_a_reason : forall hs st o why, well_kept st ->
  step eqb cfg hs st o = Refused why -> reason st o why.
Proof.
  intros hs st o why W H. destruct o; cbn [Machine.step reason] in *; try apply on_pool_refused in H.
  - exact (admit_refused eqb cfg B_pos _ _ _ _ _ _ _ _ W H).
  - exact (reserve_refused cfg B_pos _ _ _ _ W H).
  - apply commit_refused in H. destruct H as [[-> H]|[-> H]]; exact H.
  - exact (append_refused cfg B_pos _ _ _ _ _ W H).
  - apply cancel_refused in H. now destruct H as [-> H].
  - apply fork_refused in H.
    destruct H as [[-> H]|(q & E & [[-> [H|[_ H]]]|[(-> & _ & H)|(-> & _ & _ & _ & H)]])].
    + exact H.
    + now left.
    + right. now exists q.
    + now exists q.
    + now exists q.
  - apply truncate_refused in H. destruct H as [[-> H]|(q & E & [[-> H]|(-> & _ & H)])]; [exact H| |];
      now exists q.
  - apply release_refused in H. now destruct H as [-> H].
  - apply begin_refused in H. now destruct H as [-> H].
  - apply end_refused in H. now destruct H as [-> H].
  - discriminate.
  - apply pin_refused in H. now destruct H as [-> H].
  - apply unpin_refused in H. now destruct H as [-> H].
Qed.

(* ---------- what follows at once ---------- *)

Definition takes_blocks (o : op A) : bool :=
  match o with Admit _ _ _ _ _ _ | Reserve _ _ | Append _ _ => true | _ => false end.

Theorem no_room_only_for_takers : forall hs st o, well_kept st ->
  step eqb cfg hs st o = Refused No_room -> takes_blocks o = true.
Proof.
  intros hs st o W H. apply (refused_only_for_a_reason _ _ _ _ W) in H.
  destruct o; cbn in H; try contradiction; reflexivity.
Qed.

Definition choices_of (o : op A) : list nat :=
  match o with Admit _ _ _ _ _ cs => cs | Reserve _ cs => cs | Append _ cs => cs | _ => [] end.

(* Without choices only hits that are none, and pins of what is not indexed, are bad ones. *)
Theorem without_choices_no_bad_choice : forall hs st o, well_kept st -> choices_of o = [] ->
  step eqb cfg hs st o = Refused Bad_choice ->
  match o with
  | Admit _ query _ cut hits _ => admissible eqb cfg (the_pool st) query cut hits = false
  | Pin bs => exists b, In b bs /\ get (index (the_pool st)) b = None
  | _ => False
  end.
Proof.
  intros hs st o W C H. apply (refused_only_for_a_reason _ _ _ _ W) in H.
  destruct o; cbn in C, H; try contradiction; try exact H. now destruct H.
Qed.

(* ---------- choices do not decide ---------- *)

Lemma reserve_without_choices : forall batch cs st st', well_kept st -> reserve batch cs st = Done st' ->
  exists st'', reserve batch [] st = Done st''.
Proof.
  intros batch cs st st' W H. unfold Machine.reserve in *.
  apply bind_done in H. destruct H as ([] & E1 & H). rewrite E1. cbn [bind].
  apply bind_done in H. destruct H as ([] & Ak & H). rewrite Ak. cbn [bind].
  apply bind_done in H. destruct H as ([] & E2 & H). rewrite E2. cbn [bind].
  apply bind_done in H. destruct H as ([w sl] & D & _).
  destruct (proj1 (ask_done _ _ _) Ak) as (_ & _ & N & _).
  pose proof (well_kept_batch cfg st batch W N) as S.
  destruct (alike_reserve_batch cfg batch [] (seqs st) (seqs st)
              (Work (the_pool st) cs []) (Work (the_pool st) [] []) w sl N (fun _ _ => eq_refl))
    as (w2 & sl2 & D2); trivial.
  - now apply alike_refl.
  - rewrite D2. cbn [bind]. now eexists.
Qed.

Lemma append_without_choices : forall hs batch cs st st', well_kept st -> append hs batch cs st = Done st' ->
  exists st'', append hs batch [] st = Done st''.
Proof.
  intros hs batch cs st st' W H. unfold Machine.append in *. fold (asked_cells batch) in *.
  apply bind_done in H. destruct H as ([] & E1 & H). rewrite E1. cbn [bind].
  apply bind_done in H. destruct H as ([] & Ak & H). rewrite Ak. cbn [bind].
  apply bind_done in H. destruct H as ([] & E2 & H). rewrite E2. cbn [bind].
  apply bind_done in H. destruct H as (st1 & D & _). apply (reserve_without_choices _ _ _ _ W) in D.
  destruct D as (st2 & D). rewrite D. cbn [bind]. exact (commits_of_an_append_succeed cfg B_pos hs _ _ _ _ D).
Qed.

Lemma admit_without_choices : forall s query compute cut hits cs st st', well_kept st ->
  admit s query compute cut hits cs st = Done st' ->
    exists st'', admit s query compute cut hits [] st = Done st''.
Proof.
  intros s query compute cut hits cs st st' W H. apply (admit_accepted eqb cfg B_pos); [assumption|].
  rewrite admit_is in H.
  apply bind_done in H. destruct H as ([] & V & H). apply bind_done in H. destruct H as ([] & Q & H).
  apply bind_done in H. destruct H as ([] & L & H). apply bind_done in H. destruct H as ([] & Ad & H).
  apply require_done in V, Q, L, Ad. split; [unfold taken_name; congruence|]. split; [now intros ->|].
  split; [intro P; apply within_limit_false in P; congruence|]. split; [assumption|].
  apply admissible_hits_ok in Ad. destruct W as [S _].
  exact (admit_hits_done eqb cfg B_pos s query compute cut hits cs st Ad (sound_alone _ _ S) st' H).
Qed.

(* The same call without choices; the hits of an admission are part of what it asks. *)
Definition unchosen (o : op A) : op A :=
  match o with
  | Admit s query compute cut hits _ => Admit s query compute cut hits []
  | Reserve batch _ => Reserve batch []
  | Append batch _ => Append batch []
  | o => o
  end.

Theorem choices_do_not_decide : forall hs st o st', well_kept st ->
  step eqb cfg hs st o = Done st' -> exists st'', step eqb cfg hs st (unchosen o) = Done st''.
Proof.
  intros hs st o st' W H. destruct o; cbn [Machine.step unchosen] in *; try (now exists st').
  - exact (admit_without_choices _ _ _ _ _ _ _ _ W H).
  - exact (reserve_without_choices _ _ _ _ W H).
  - exact (append_without_choices _ _ _ _ _ W H).
Qed.

(* ---------- the start ---------- *)

Theorem init_is_well_kept : forall n, well_kept (init (A := A) cfg n).
Proof.
  intro n. split; [split; [|split]|].
  - apply seq_NoDup.
  - intros b _. apply get_all.
  - intro b. cbn. rewrite get_all. induction n as [|n IH]; [reflexivity|exact IH].
  - intros s q E. unfold is_seq, at_ in E. cbn in E. exfalso. revert E. generalize s. clear.
    induction n as [|n IH]; intros [|s] E; try discriminate. exact (IH s E).
Qed.

End Verdict.
