(* SPDX-License-Identifier: Apache-2.0 *)
(* How the machine is taken apart: results that are bound one after the other, the record of a sequence that
   is looked up, membership that is decided. Nothing here is about blocks. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine.
Import ListNotations.

(* ---------- results ---------- *)

Lemma bind_done : forall X Y (r : result X) (f : X -> result Y) y,
  bind r f = Done y -> exists x, r = Done x /\ f x = Done y.
Proof. intros X Y [x|why] f y H; [now exists x | discriminate]. Qed.

Lemma bind_refused : forall X Y (r : result X) (f : X -> result Y) why,
  bind r f = Refused why <-> r = Refused why \/ exists x, r = Done x /\ f x = Refused why.
Proof.
  intros X Y [x|w] f why; cbn; split.
  - intro H. right. now exists x.
  - intros [H|(y & E & H)]; [discriminate|]. now injection E as ->.
  - intro H. left. congruence.
  - intros [H|(y & E & _)]; [congruence|discriminate].
Qed.

Lemma require_done : forall b why u, require b why = Done u -> b = true.
Proof. intros [|] why u H; [reflexivity|discriminate]. Qed.

Lemma require_refused : forall b why why', require b why = Refused why' <-> b = false /\ why' = why.
Proof.
  intros [|] why why'; cbn; split; try discriminate; try (now intros [? ?]).
  - intro H. injection H as <-. now split.
  - now intros [_ ->].
Qed.

(* Takes every bound result of an accepted operation apart. *)
Ltac take_apart :=
  repeat match goal with
  | H : bind _ _ = Done _ |- _ => apply bind_done in H; destruct H as (? & ? & H)
  | H : require _ _ = Done _ |- _ => apply require_done in H
  | H : Done _ = Done _ |- _ => injection H as H
  | H : (let '(_, _) := ?x in _) = Done _ |- _ => destruct x
  | H : Refused _ = Done _ |- _ => discriminate H
  end.

(* ---------- the record of a sequence ---------- *)

Lemma find_seq_done : forall sl s q, find_seq sl s = Done q <-> at_ sl s = Some q.
Proof.
  intros sl s q. unfold find_seq. destruct (at_ sl s) as [q'|]; split; intro H; try discriminate.
  - now injection H as ->.
  - now injection H as ->.
Qed.

Lemma find_seq_refused : forall sl s why, find_seq sl s = Refused why <-> at_ sl s = None /\ why = Unknown.
Proof.
  intros sl s why. unfold find_seq. destruct (at_ sl s) as [q'|]; split; try discriminate.
  - now intros [? ?].
  - intro H. injection H as <-. now split.
  - now intros [_ ->].
Qed.

(* ---------- membership ---------- *)

Lemma mem_iff : forall b l, mem b l = true <-> In b l.
Proof.
  intros b l. unfold mem. rewrite existsb_exists. split.
  - intros (c & I & E). apply Nat.eqb_eq in E. now subst c.
  - intro I. exists b. split; [exact I|]. apply Nat.eqb_refl.
Qed.

Lemma mem_false_iff : forall b l, mem b l = false <-> ~ In b l.
Proof. intros b l. rewrite <- mem_iff. now destruct (mem b l). Qed.

Lemma in_without : forall b c l, In c (without b l) <-> In c l /\ c <> b.
Proof.
  intros b c l. unfold without. rewrite filter_In. now rewrite negb_true_iff, Nat.eqb_neq.
Qed.
