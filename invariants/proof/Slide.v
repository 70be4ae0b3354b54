(* SPDX-License-Identifier: Apache-2.0 *)
(* What a slide does to one table, entry by entry (blocktable/window.h): those wholly below the first position
   to keep become holes, sinks aside, and all others stay. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results Room.
Import ListNotations.

Section Slide.

Context {A : Type} (cfg : config).
Notation B := (B cfg).
Implicit Types (p : pool A).

(* The two halves of slide: what is given back, and what the table is afterwards. *)
Definition dead (g : group) (keep : nat) (t : table) : list (option nat) :=
  skipn (Nat.min (sink_blocks cfg g) (keep / B)) (firstn (keep / B) (entries t)).

Definition slid (g : group) (keep : nat) (t : table) : table :=
  Table (Nat.max (lo t) (keep / B * B))
        (firstn (Nat.min (sink_blocks cfg g) (keep / B)) (entries t) ++
         map (fun _ => None) (dead g keep t) ++ skipn (keep / B) (entries t)).

Lemma slide_is : forall g keep p t, slide cfg g keep (p, t) = (give_all p (dead g keep t), slid g keep t).
Proof. reflexivity. Qed.

Lemma slid_length : forall g keep t, length (entries (slid g keep t)) = length (entries t).
Proof.
  intros g keep t. unfold slid, dead. cbn [entries].
  rewrite !app_length, map_length, !skipn_length, !firstn_length. lia.
Qed.

Lemma at_app : forall (l m : list (option nat)) j,
  at_ (l ++ m) j = if j <? length l then at_ l j else at_ m (j - length l).
Proof.
  intros l m j. unfold at_. destruct (Nat.ltb_spec j (length l)).
  - now apply app_nth1.
  - now apply app_nth2.
Qed.

Lemma at_firstn_if : forall n (l : list (option nat)) j,
  at_ (firstn n l) j = if j <? n then at_ l j else None.
Proof.
  unfold at_. induction n as [|n IH]; intros [|e l] [|j]; try reflexivity.
  - cbn [firstn nth]. now destruct (S j <? S n).
  - cbn [firstn nth]. rewrite IH. reflexivity.
Qed.

Lemma at_past : forall (l : list (option nat)) j, length l <= j -> at_ l j = None.
Proof. intros. unfold at_. now apply nth_overflow. Qed.

Theorem slid_at : forall g keep t j, at_ (entries (slid g keep t)) j =
  if (sink_blocks cfg g <=? j) && (j <? keep / B) then None else at_ (entries t) j.
Proof.
  intros g keep t j. unfold slid, dead. cbn [entries].
  set (f := keep / B). set (s := Nat.min (sink_blocks cfg g) f). set (es := entries t).
  rewrite !at_app, at_all_none, map_length, skipn_length, !firstn_length, at_firstn_if, at_skipn.
  destruct (Nat.lt_ge_cases j (length es)) as [Hj|Hj].
  - destruct (Nat.ltb_spec j (Nat.min s (length es))) as [H1|H1].
    + destruct (Nat.ltb_spec j s); [|lia]. destruct (Nat.leb_spec (sink_blocks cfg g) j); [lia|reflexivity].
    + destruct (Nat.leb_spec (sink_blocks cfg g) j), (Nat.ltb_spec j f); cbn [andb];
        destruct (Nat.ltb_spec (j - Nat.min s (length es)) (Nat.min f (length es) - s)); try lia;
          try reflexivity;
        f_equal; lia.
  - rewrite !(at_past es) by lia.
    repeat match goal with |- context [if ?b then _ else _] => destruct b end; reflexivity.
Qed.

Corollary slid_at_above : forall g keep t j, keep / B <= j ->
  at_ (entries (slid g keep t)) j = at_ (entries t) j.
Proof.
  intros g keep t j H. rewrite slid_at. destruct (Nat.ltb_spec j (keep / B)); [lia|].
  now rewrite andb_false_r.
Qed.

(* What is given back and what stays are all there was. *)
Lemma count_slid : forall g keep t b,
  count (dead g keep t) b + count (entries (slid g keep t)) b = count (entries t) b.
Proof.
  intros g keep t b. unfold slid, dead. cbn [entries]. rewrite !count_app, count_holes.
  set (f := keep / B). set (s := Nat.min (sink_blocks cfg g) f).
  rewrite (count_split f (entries t)), (count_split s (firstn f (entries t))).
  rewrite firstn_firstn. replace (Nat.min s f) with s by lia. lia.
Qed.

(* ---------- what a reservation keeps ---------- *)

Lemma need_le : forall g n, need g n <= n.
Proof. intros g n. unfold need. destruct (window g); lia. Qed.

Lemma keep_from_le : forall g n, keep_from cfg g n <= n.
Proof. intros g n. unfold keep_from. pose proof (need_le g n). lia. Qed.

Lemma slide_all_eq : forall keep gs p ts, snd (slide_all cfg keep gs p ts) =
  map (fun gt => slid (fst gt) (keep (fst gt)) (snd gt)) (combine gs ts) ++ skipn (length gs) ts.
Proof.
  intros keep. induction gs as [|g gs IH]; intros p [|t ts]; try reflexivity.
  cbn [slide_all]. rewrite slide_is. specialize (IH (give_all p (dead g (keep g) t)) ts).
  destruct (slide_all cfg keep gs _ ts) as [p' ts']. cbn in *. now rewrite IH.
Qed.

End Slide.
