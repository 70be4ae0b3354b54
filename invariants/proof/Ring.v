(* SPDX-License-Identifier: Apache-2.0 *)

(** * The ring buffer: the window in w slots that never move

    A cell of position p goes to slot p mod w, over whatever was there. The ring shows the last w cells of
    its history in both of its phases, while it is filling and once it is full ([ring_run_correct]); each
    push does to what it shows what the list model's step does ([push_refines]); and w = 0, a ring of no
    slots, needs no case of its own.

    An article reads the ring by all of its slots, beginning with the one that is next to be written. Once
    the ring is full this is right ([article_ring_to_list_full]), before that it is wrong for every history
    ([article_ring_to_list_false]): slots that were never written are read as cells. The C++ core has no
    ring: its tables name a block for each position, and a cell that was never written is poison
    (invariants/shadow_cells.h), so that such a read would be found. *)

From Coq Require Import List Arith Lia.
From Kvpane Require Import Lists Window.
Import ListNotations.

Section Ring.
  Context {A : Type}.
  Variable w : nat.  (* slots *)
  Variable junk : A.  (* what a slot holds that was never written *)
  Implicit Types (xs : list A) (a : A) (p n : nat).

  Record ring := Ring {
    slots : list A;
    pushed : nat;  (* cells ever pushed; their positions are 0, 1, ..., pushed - 1 *)
  }.

  Implicit Type r : ring.

  Definition ring_empty : ring := Ring (repeat junk w) 0.
  Definition push r a : ring := Ring (update (slots r) (pushed r mod w) a) (S (pushed r)).
  Definition ring_run xs : ring := fold_left push xs ring_empty.

  (** Read by position: from the first position of the window to the last that was pushed. *)
  Definition ring_to_list r : list A :=
    map (fun p => nth (p mod w) (slots r) junk) (seq (base w (pushed r)) (min w (pushed r))).

  (** ** The invariant *)

  Definition Holds r xs : Prop :=
    length (slots r) = w /\ pushed r = length xs /\
    forall p, base w (length xs) <= p < length xs -> nth_error (slots r) (p mod w) = nth_error xs p.

  Lemma ring_empty_holds : Holds ring_empty [].
  Proof.
    split; [apply repeat_length|]. split; [reflexivity|].
    simpl. lia.
  Qed.

  (** Positions that are less than w apart have different slots. *)
  Lemma mod_distinct p n : p < n < p + w -> p mod w <> n mod w.
  Proof.
    intros near same.
    pose proof (Nat.div_mod_eq p w). pose proof (Nat.div_mod_eq n w).
    assert (above : w * (p / w) < w * (n / w)) by lia.
    assert (below : w * (n / w) < w * S (p / w)) by lia.
    apply Nat.mul_lt_mono_pos_l in above, below; lia.
  Qed.

  Lemma push_holds r xs a : Holds r xs -> Holds (push r a) (xs ++ [a]).
  Proof.
    intros (size & count & held). unfold Holds, push. simpl.
    rewrite length_update, app_length, count. simpl.
    split; [assumption|]. split; [lia|].
    unfold base in *. intros p inside.
    destruct (Nat.eq_dec p (length xs)) as [->|earlier].
    - rewrite nth_error_end, nth_error_update_same; auto.
      rewrite size. apply Nat.mod_upper_bound. lia.
    - rewrite nth_error_app1, nth_error_update_other by (try (apply not_eq_sym, mod_distinct); lia).
      apply held. lia.
  Qed.

  Lemma ring_run_holds xs : Holds (ring_run xs) xs.
  Proof.
    induction xs as [|a xs IH] using rev_ind; [apply ring_empty_holds|].
    unfold ring_run in *. rewrite fold_left_app. apply push_holds, IH.
  Qed.

  (** ** What it means *)

  Theorem ring_shows_last_window r xs : Holds r xs -> ring_to_list r = last_window w xs.
  Proof.
    intros (size & count & held). unfold ring_to_list.
    rewrite count, <- length_last_window. apply map_seq_spells. intros i a found.
    assert (inside : i < length (last_window w xs)) by (apply nth_error_Some; congruence).
    rewrite length_last_window in inside. rewrite position_invariant in found.
    apply nth_error_nth. rewrite held; auto. unfold base in *. lia.
  Qed.

  Theorem ring_run_correct xs : ring_to_list (ring_run xs) = last_window w xs.
  Proof. apply ring_shows_last_window, ring_run_holds. Qed.

  (** The ring refines the list model: a push slides what the ring shows. *)
  Theorem push_refines r xs a : Holds r xs -> ring_to_list (push r a) = slide w (ring_to_list r) a.
  Proof.
    intros holds.
    rewrite (ring_shows_last_window _ _ (push_holds _ _ a holds)), (ring_shows_last_window _ _ holds).
    apply core_equation.
  Qed.

  Theorem ring_slot_is_pos_mod_w xs p :
    base w (length xs) <= p < length xs -> nth_error (slots (ring_run xs)) (p mod w) = nth_error xs p.
  Proof. apply ring_run_holds. Qed.

  (** ** The two phases *)

  (** While it fills, the ring shows everything that was pushed. *)
  Theorem ring_filling xs : length xs <= w -> ring_to_list (ring_run xs) = xs.
  Proof. intros fits. rewrite ring_run_correct. apply last_window_all, fits. Qed.

  (** The article's reading: all slots, from the one that is next to be written. *)
  Definition article_ring_to_list r : list A :=
    let next := pushed r mod w in skipn next (slots r) ++ firstn next (slots r).

  Lemma length_article_ring_to_list r : length (article_ring_to_list r) = length (slots r).
  Proof. unfold article_ring_to_list. rewrite app_length, skipn_length, firstn_length. lia. Qed.

  (** Slots one after the other, around the end, are those of positions one after the other. *)
  Lemma mod_around n i : i < w ->
    (n + i) mod w = if i <? w - n mod w then n mod w + i else n mod w + i - w.
  Proof.
    intros inside.
    assert (n mod w < w) by (apply Nat.mod_upper_bound; lia).
    rewrite <- Nat.add_mod_idemp_l by lia.
    destruct (Nat.ltb_spec i (w - n mod w)).
    - apply Nat.mod_small. lia.
    - symmetry. apply Nat.mod_unique with (q := 1); lia.
  Qed.

  (** Once the ring is full it is right, and the window is a rotation of the slots. *)
  Theorem article_ring_to_list_full r xs :
    Holds r xs -> w <= length xs -> article_ring_to_list r = last_window w xs.
  Proof.
    intros (size & count & held) full. apply nth_error_ext. intros i.
    destruct (Nat.lt_ge_cases i w) as [inside|outside].
    2: { transitivity (@None A); [|symmetry]; apply nth_error_None;
         rewrite ?length_article_ring_to_list, ?length_last_window; lia. }
    rewrite position_invariant, <- held by (unfold base; lia).
    replace ((base w (length xs) + i) mod w) with ((pushed r + i) mod w).
    2: { rewrite count. replace (length xs + i) with (base w (length xs) + i + 1 * w) by (unfold base; lia).
         apply Nat.mod_add. lia. }
    assert (pushed r mod w < w) by (apply Nat.mod_upper_bound; lia).
    unfold article_ring_to_list. rewrite mod_around by assumption.
    destruct (Nat.ltb_spec i (w - pushed r mod w)).
    - rewrite nth_error_app1 by (rewrite skipn_length; lia). apply nth_error_skipn.
    - rewrite nth_error_app2 by (rewrite skipn_length; lia).
      rewrite skipn_length, nth_error_firstn by lia. f_equal. lia.
  Qed.

  (** Until then it is wrong for every history: it has w cells, of which fewer were pushed. *)
  Theorem article_ring_to_list_false r xs :
    Holds r xs -> length xs < w -> article_ring_to_list r <> last_window w xs.
  Proof.
    intros (size & _) filling equal. apply (f_equal (@length A)) in equal.
    rewrite length_article_ring_to_list, length_last_window in equal. lia.
  Qed.
End Ring.
