(* SPDX-License-Identifier: Apache-2.0 *)
(* Total maps from numbers, with a default: what the C++ keeps in arrays [blocks] and [blocks * block_size]. A tree
   beneath, so that the extracted machine runs in O(log n). *)
From Coq Require Import Arith PArith FMapPositive.

Module PM := PositiveMap.

Record tmap (X : Type) : Type := TMap { default : X; tree : PM.t X }.
Arguments TMap {X}.
Arguments default {X}.
Arguments tree {X}.

Definition all {X} (x : X) : tmap X := TMap x (PM.empty X).

Definition get {X} (m : tmap X) (i : nat) : X :=
  match PM.find (Pos.of_succ_nat i) (tree m) with Some x => x | None => default m end.

Definition set {X} (m : tmap X) (i : nat) (x : X) : tmap X :=
  TMap (default m) (PM.add (Pos.of_succ_nat i) x (tree m)).

Lemma get_all : forall X (x : X) i, get (all x) i = x.
Proof. intros. unfold get, all. cbn. now rewrite PM.gempty. Qed.

Lemma get_set_same : forall X (m : tmap X) i x, get (set m i x) i = x.
Proof. intros. unfold get, set. cbn. now rewrite PM.gss. Qed.

Lemma get_set_other : forall X (m : tmap X) i j x, i <> j -> get (set m i x) j = get m j.
Proof.
  intros X m i j x H. unfold get, set. cbn. rewrite PM.gso; [reflexivity|].
  intro E. apply H. apply SuccNat2Pos.inj in E. congruence.
Qed.

Lemma get_set : forall X (m : tmap X) i j x, get (set m i x) j = if i =? j then x else get m j.
Proof.
  intros. destruct (Nat.eqb_spec i j); [subst; apply get_set_same | now apply get_set_other].
Qed.
