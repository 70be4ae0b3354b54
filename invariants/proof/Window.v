(* SPDX-License-Identifier: Apache-2.0 *)

(** * The window: the last w cells of a history

    A history is the list of all cells that a sequence ever got, oldest first. What a sliding window must
    show is [last_window w history], and this file proves that a cache which sees one cell at a time, and
    drops at most one for it, shows just that ([step_preserves_valid], [run_correct]); that it never holds
    more than w cells ([length_bound]); where in the history its cells stand ([position_invariant]); that
    cells may come in batches, split in any way ([last_window_app], [run_batches_correct]); and that a
    window of no cells is no special case ([window_zero]).

    The names are those of an article that states these theorems. Two of its formulas are wrong. Both are
    refuted here, for every input, beside what is true: [article_drop_append_of_ge_false] and
    [article_base_false]. (The third is the way it reads a ring: Ring.v.)

    The last section is about [need], the window rule of the C++ core (blocktable/window.h). A query sees
    itself and the W - 1 cells before it: W cells are what a history shows after a commit, W - 1 of them
    are what the next query asks for. All confusion about windows is confusion of these two numbers; each
    lemma there says which one it means.

    One convention differs: in the list model a window of 0 cells is empty, in C++ [window = 0] means full
    attention. [visible] (invariants/spec.h, without sinks) and [need] take the number in the sense of C++. *)

From Coq Require Import List Arith Lia.
From Kvpane Require Import Lists.
Import ListNotations.

(** ** The list model *)

Section Window.
  Context {A : Type}.
  Implicit Types (xs ys : list A) (a : A) (w n : nat).

  Definition last_window w xs : list A := skipn (length xs - w) xs.

  Lemma length_last_window w xs : length (last_window w xs) = min w (length xs).
  Proof. unfold last_window. rewrite skipn_length. lia. Qed.

  Lemma last_window_all w xs : length xs <= w -> last_window w xs = xs.
  Proof. intros fits. unfold last_window. replace (length xs - w) with 0 by lia. reflexivity. Qed.

  Theorem window_zero xs : last_window 0 xs = [].
  Proof. apply skipn_all2. lia. Qed.

  (** What has left a window never comes back, so a batch of cells may be given to the window alone. *)
  Theorem last_window_app w xs ys : last_window w (last_window w xs ++ ys) = last_window w (xs ++ ys).
  Proof.
    unfold last_window at 1 2.
    rewrite <- skipn_app_le by lia.
    unfold last_window. rewrite skipn_skipn, skipn_length, !app_length. f_equal. lia.
  Qed.
End Window.

(** ** A cache that sees one cell at a time *)

Section Cache.
  Context {A : Type}.
  Implicit Types (xs held : list A) (a : A) (w : nat).

  (** One cell comes in; when that makes one too many, the oldest goes. *)
  Definition slide w held a : list A :=
    let grown := held ++ [a] in if w <? length grown then tl grown else grown.

  Lemma slide_is_last_window w held a : length held <= w -> slide w held a = last_window w (held ++ [a]).
  Proof.
    intros bound. unfold slide, last_window.
    destruct (Nat.ltb_spec w (length (held ++ [a]))) as [over|fits]; rewrite app_length in *; simpl in *.
    - replace (length held + 1 - w) with 1 by lia. destruct (held ++ [a]); reflexivity.
    - replace (length held + 1 - w) with 0 by lia. reflexivity.
  Qed.

  (** The window of a longer history is the window of the shorter one, slid by one cell. *)
  Theorem core_equation w xs a : last_window w (xs ++ [a]) = slide w (last_window w xs) a.
  Proof.
    rewrite slide_is_last_window, last_window_app; auto.
    rewrite length_last_window. lia.
  Qed.

  Record cache := Cache {
    cells : list A;  (* oldest first *)
    total : nat;     (* cells ever seen *)
  }.

  Definition empty : cache := Cache [] 0.
  Definition step w (c : cache) a : cache := Cache (slide w (cells c) a) (S (total c)).
  Definition run w xs : cache := fold_left (step w) xs empty.

  Definition Valid w xs (c : cache) : Prop := cells c = last_window w xs /\ total c = length xs.

  Lemma empty_valid w : Valid w [] empty.
  Proof. split; reflexivity. Qed.

  Theorem step_preserves_valid w xs c a : Valid w xs c -> Valid w (xs ++ [a]) (step w c a).
  Proof.
    intros [window count]. split; simpl.
    - rewrite window. symmetry. apply core_equation.
    - rewrite count, app_length. simpl. lia.
  Qed.

  Theorem run_correct w xs : Valid w xs (run w xs).
  Proof.
    induction xs as [|a xs IH] using rev_ind; [apply empty_valid|].
    unfold run in *. rewrite fold_left_app. apply step_preserves_valid, IH.
  Qed.

  Corollary run_shows_last_window w xs : cells (run w xs) = last_window w xs.
  Proof. apply run_correct. Qed.

  Theorem length_bound w xs : length (cells (run w xs)) <= w.
  Proof. rewrite run_shows_last_window, length_last_window. lia. Qed.

  (** Batches: however a history is cut into pieces, the window is the same. *)
  Definition run_batches w (batches : list (list A)) : list A :=
    fold_left (fun held batch => last_window w (held ++ batch)) batches [].

  Theorem run_batches_correct w batches : run_batches w batches = last_window w (concat batches).
  Proof.
    induction batches as [|batch batches IH] using rev_ind; [reflexivity|].
    unfold run_batches in *. rewrite fold_left_app. simpl.
    rewrite IH, concat_app. simpl. rewrite app_nil_r. apply last_window_app.
  Qed.

  Corollary any_split_is_the_same w batches batches' :
    concat batches = concat batches' -> run_batches w batches = run_batches w batches'.
  Proof. intros same. rewrite !run_batches_correct, same. reflexivity. Qed.
End Cache.

Arguments cache : clear implicits.

(** ** Where the cells of a window stand in the history *)

Section Positions.
  Context {A : Type}.
  Implicit Types (xs : list A) (w n i : nat).

  (** The position, counted from 0, of the first cell of the window of n cells. *)
  Definition base w n : nat := n - min w n.

  Lemma last_window_skips_base w xs : last_window w xs = skipn (base w (length xs)) xs.
  Proof. unfold last_window, base. f_equal. lia. Qed.

  Theorem position_invariant w xs i : nth_error (last_window w xs) i = nth_error xs (base w (length xs) + i).
  Proof. rewrite last_window_skips_base. apply nth_error_skipn. Qed.

  (** The same for the cache, which knows nothing but its cells and their total: its positions are
      [base], [base + 1], ..., [total - 1], none of them missing. *)
  Definition positions w (c : cache A) : list nat := seq (base w (total c)) (length (cells c)).

  Theorem run_positions_correct w xs i p :
    nth_error (positions w (run w xs)) i = Some p -> nth_error (cells (run w xs)) i = nth_error xs p.
  Proof.
    destruct (run_correct w xs) as [window count]. unfold positions. rewrite window, count. intros found.
    assert (inside : i < length (seq (base w (length xs)) (length (last_window w xs))))
      by (apply nth_error_Some; congruence).
    rewrite seq_length in inside.
    apply nth_error_nth with (d := 0) in found. rewrite seq_nth in found by assumption.
    subst p. apply position_invariant.
  Qed.

  Theorem run_positions_reach_the_end w xs :
    base w (total (run w xs)) + length (cells (run w xs)) = length xs.
  Proof.
    destruct (run_correct w xs) as [window count]. rewrite window, count, length_last_window.
    unfold base. lia.
  Qed.
End Positions.

(** ** Two formulas of the article, and what is true instead *)

Section Article.
  Context {A : Type}.
  Implicit Types (xs : list A) (a : A) (w i : nat).

  (** The article's central lemma lacks the [skipn 1]: *)
  Theorem drop_append_of_ge w xs a :
    w <= length xs -> skipn (length xs + 1 - w) (xs ++ [a]) = skipn 1 (skipn (length xs - w) xs ++ [a]).
  Proof.
    intros full. rewrite <- skipn_app_le by lia. rewrite skipn_skipn. f_equal. lia.
  Qed.

  (** without it the left side has w cells and the right side w + 1, whatever the input. *)
  Theorem article_drop_append_of_ge_false w xs a :
    w <= length xs -> skipn (length xs + 1 - w) (xs ++ [a]) <> skipn (length xs - w) xs ++ [a].
  Proof.
    intros full equal. apply (f_equal (@length A)) in equal.
    rewrite app_length, !skipn_length, app_length in equal. simpl in equal. lia.
  Qed.

  (** The article's first position of the window, [totalLen - w + 1] (in natural numbers: never below 1). The
      right one, counted from 0, is [base]: [position_invariant]. *)
  Definition article_base w n : nat := n - w + 1.

  (** It is one too high for every history and window that are not empty ... *)
  Theorem article_base_off_by_one w n : article_base w n = S (base w n).
  Proof. unfold article_base, base. lia. Qed.

  (** ... and so names, for the last cell of the window, a position behind the end of the history. *)
  Theorem article_base_false w xs :
    0 < w -> xs <> [] ->
    let last := length (last_window w xs) - 1 in
    nth_error (last_window w xs) last <> nth_error xs (article_base w (length xs) + last).
  Proof.
    intros positive some last equal.
    assert (length xs <> 0) by (destruct xs; simpl; congruence).
    assert (inside : last < length (last_window w xs))
      by (subst last; rewrite length_last_window; lia).
    destruct (nth_error_at _ _ inside) as [a found]. rewrite found in equal. symmetry in equal.
    assert (article_base w (length xs) + last < length xs) by (apply nth_error_Some; congruence).
    subst last. rewrite length_last_window in *. unfold article_base in *. lia.
  Qed.
End Article.

(** ** The window rule of the C++ core: W cells and W - 1 cells *)

Section Need.
  Context {A : Type}.
  Implicit Types (h : list A) (a : A) (W n p : nat).

  (** The first position that the query at position n sees; 0 = everything. C++: [need(n, W)] = max(0, n -
      W + 1). *)
  Definition need W n : nat := if W =? 0 then 0 else n + 1 - W.

  (** What the history of a group reads back as. C++: [spec::visible] without sinks. *)
  Definition visible W h : list A := if W =? 0 then h else last_window W h.

  Lemma need_full n : need 0 n = 0.
  Proof. reflexivity. Qed.

  Lemma need_windowed W n : 0 < W -> need W n = n + 1 - W.
  Proof. unfold need. destruct (Nat.eqb_spec W 0); lia. Qed.

  (** The sentence that everything follows from: a query at position n sees the positions > n - W. *)
  Theorem need_spec W n p : 0 < W -> (need W n <= p <-> n < p + W).
  Proof. intros windowed. rewrite need_windowed by assumption. lia. Qed.

  Lemma need_mono W n n' : n <= n' -> need W n <= need W n'.
  Proof. unfold need. destruct (W =? 0); lia. Qed.

  Lemma need_le W n : need W n <= n.
  Proof. unfold need. destruct (Nat.eqb_spec W 0); lia. Qed.

  (** Only a window of one does not see the cell before the query. *)
  Lemma need_sees_predecessor W n : W <> 1 -> 0 < n -> need W n < n.
  Proof. unfold need. destruct (Nat.eqb_spec W 0); lia. Qed.

  (** W - 1: of the committed cells, the next query sees the last W - 1 ... *)
  Theorem next_query_sees W h : 0 < W -> skipn (need W (length h)) h = last_window (W - 1) h.
  Proof. intros windowed. rewrite need_windowed by assumption. unfold last_window. f_equal. lia. Qed.

  (** W: ... and, with its own cell, the last W of the history that its commit makes. *)
  Theorem query_sees_itself_too W h a : skipn (need W (length h)) (h ++ [a]) = visible W (h ++ [a]).
  Proof.
    unfold need, visible. destruct (Nat.eqb_spec W 0) as [_|windowed]; [reflexivity|].
    unfold last_window. rewrite app_length. reflexivity.
  Qed.

  (** So what is kept after a commit, the last W, is what the query before it saw. C++:
      [keep_from_after_commit]. *)
  Theorem kept_after_commit W n : 0 < W -> 0 < n -> need W (n - 1) = base W n.
  Proof. intros windowed some. rewrite need_windowed by assumption. unfold base. lia. Qed.

  (** It is enough for the next query, and at most one cell more. *)
  Theorem kept_after_commit_is_enough W n : 0 < W -> base W n <= need W n <= base W n + 1.
  Proof. intros windowed. rewrite need_windowed by assumption. unfold base. lia. Qed.

  (** Cells kept for truncate() are a wider window. C++: [keep_from] here, [spec::is_kept] in the
      specification. *)
  Theorem slack_widens_the_window W slack n : 0 < W -> need W n - slack = need (W + slack) n.
  Proof. intros windowed. rewrite !need_windowed by lia. lia. Qed.
End Need.
