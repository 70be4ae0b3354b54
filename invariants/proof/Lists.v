(* SPDX-License-Identifier: Apache-2.0 *)

(** * Lists: what the standard library of Coq 8.16 lacks

    Two lists are compared position by position throughout this development, so nearly everything here says
    what [nth_error] finds in a list that was cut, joined or written to. *)

From Coq Require Import List Lia.
Import ListNotations.

Section Lists.
  Context {A : Type}.
  Implicit Types (xs ys : list A) (a : A) (i n : nat).

  (** ** Positions *)

  Lemma nth_error_ext xs ys : (forall i, nth_error xs i = nth_error ys i) -> xs = ys.
  Proof.
    revert ys; induction xs as [|x xs IH]; intros [|y ys] same; auto.
    - discriminate (same 0).
    - discriminate (same 0).
    - injection (same 0) as ->. f_equal. apply IH. intros i. exact (same (S i)).
  Qed.

  Lemma nth_error_at xs i : i < length xs -> exists a, nth_error xs i = Some a.
  Proof.
    intros inside. destruct (nth_error xs i) as [a|] eqn:found; eauto.
    apply nth_error_None in found. lia.
  Qed.

  Lemma nth_error_end xs ys a : nth_error (xs ++ a :: ys) (length xs) = Some a.
  Proof. rewrite nth_error_app2, PeanoNat.Nat.sub_diag; auto. Qed.

  (** ** Cutting *)

  Lemma nth_error_skipn n xs i : nth_error (skipn n xs) i = nth_error xs (n + i).
  Proof.
    revert xs; induction n as [|n IH]; intros [|x xs]; simpl; auto.
    destruct i; auto.
  Qed.

  Lemma nth_error_firstn n xs i : i < n -> nth_error (firstn n xs) i = nth_error xs i.
  Proof.
    revert xs i; induction n as [|n IH]; intros [|x xs] [|i] inside; simpl; auto; try lia.
    apply IH. lia.
  Qed.

  Lemma skipn_skipn n m xs : skipn n (skipn m xs) = skipn (n + m) xs.
  Proof. apply nth_error_ext. intros i. rewrite !nth_error_skipn. f_equal. lia. Qed.

  Lemma skipn_app_le n xs ys : n <= length xs -> skipn n (xs ++ ys) = skipn n xs ++ ys.
  Proof. intros inside. rewrite skipn_app. replace (n - length xs) with 0 by lia. reflexivity. Qed.

  Lemma firstn_snoc n xs a : nth_error xs n = Some a -> firstn (S n) xs = firstn n xs ++ [a].
  Proof.
    revert xs; induction n as [|n IH]; intros [|x xs] found; try discriminate.
    - injection found as ->. reflexivity.
    - simpl. f_equal. apply IH, found.
  Qed.

  (** ** Tabulating: a function over positions spells a list *)

  Lemma map_seq_spells (f : nat -> A) start xs :
    (forall i a, nth_error xs i = Some a -> f (start + i) = a) -> map f (seq start (length xs)) = xs.
  Proof.
    revert start; induction xs as [|x xs IH]; intros start spells; simpl; auto.
    f_equal.
    - rewrite <- (PeanoNat.Nat.add_0_r start). apply (spells 0). reflexivity.
    - apply IH. intros i a found. rewrite PeanoNat.Nat.add_succ_comm. apply spells, found.
  Qed.

  (** ** Writing at a position; past the end nothing is written *)

  Fixpoint update xs i a : list A :=
    match xs, i with
    | [], _ => []
    | _ :: rest, 0 => a :: rest
    | x :: rest, S i => x :: update rest i a
    end.

  Lemma length_update xs i a : length (update xs i a) = length xs.
  Proof. revert i; induction xs as [|x xs IH]; intros [|i]; simpl; auto. Qed.

  Lemma nth_error_update_same xs i a : i < length xs -> nth_error (update xs i a) i = Some a.
  Proof.
    revert i; induction xs as [|x xs IH]; intros [|i] inside; simpl in *; auto; try lia.
    apply IH. lia.
  Qed.

  Lemma nth_error_update_other xs i j a : i <> j -> nth_error (update xs i a) j = nth_error xs j.
  Proof. revert i j; induction xs as [|x xs IH]; intros [|i] [|j] other; simpl; auto; try lia. Qed.
End Lists.
