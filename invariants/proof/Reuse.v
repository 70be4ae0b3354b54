(* SPDX-License-Identifier: Apache-2.0 *)

(** * When a cached prefix may be reused exactly

    A cache has kept cells of some tokens under some signature (model, adapter, ... : whatever the cells
    depend on beside tokens and positions). A query comes with its own signature and tokens; a prefix of
    [cut] tokens is to be taken from the cache and the rest computed. When does this give what a full
    recompute gives?

    The model is any causal decoder, [F] standing for all of its layers: the state of a token is a function
    of the signature, the absolute position, the token, and the earlier states that its query sees. Which
    it sees is the window rule of the C++ core ([need], Window.v): W = 0 all of them, else the last W - 1.

    The answer is [Reusable]: equal signatures, equal tokens before the cut, the new tokens numbered from
    the cut on, and everything that the query at the cut sees still held.
    - Sound ([reuse_sound]): then the rest is exact for every [F].
    - Necessary ([reuse_necessary]): for a model that forgets nothing, each of the four is needed, even for
      a single new token. So the two are one ([reuse_exact_iff]).
    - At least one token must be left to compute: cut <= length q - 1 ([reuse_leaves_an_output]).
    - The best cut is min(common prefix, length q - 1), no larger one is reusable ([best_cut_iff],
      [lookup_maximal]).
    - A window holds a tail of its entry. If the best cut is not resident in a tail, no shorter one is
      ([resident_mono]): nothing is to be searched. (Where whole blocks of an entry may be missing anywhere,
      there is: the lemma is about tails.) To ask that all of the entry match is a safe special case
      ([conservative_rule]); once all is gone that the next query does not see, it is the only one
      ([shorter_cut_not_resident]).

    A caveat: the states of the model that forgets nothing are terms which contain the states that they
    saw, down to the first token, a decoder of unbounded depth. With L layers and a window W the last state
    depends on the last L (W - 1) + 1 tokens only: a cache could serve states behind other tokens than those
    before them. None here does, a prefix is compared from its first token on.

    In C++ these are prefix hits (blocktable/prefix_search.h, whose [serves] asks for residency, and
    invariants X1, X2) and [Manager::fork] and [Manager::truncate], which refuse with [window_evicted] what
    is not resident; `kvpane article` computes the errors of breaking each condition. Tenants are part of
    the scope there although equal cells would do: a policy of isolation, not a condition of exactness. *)

From Coq Require Import List Arith Lia.
From Kvpane Require Import Lists Window.
Import ListNotations.

(** ** What the query at the end of a list of states sees of it *)

Section Seen.
  Context {X : Type}.
  Variable W : nat.
  Implicit Types (past other : list X) (x : X).

  Definition seen past : list X := skipn (need W (length past)) past.

  Lemma seen_eq_iff past other :
    length past = length other ->
    seen past = seen other <-> (forall p, need W (length past) <= p -> nth_error past p = nth_error other p).
  Proof.
    intros size. unfold seen. rewrite <- size. split.
    - intros equal p inside.
      replace p with (need W (length past) + (p - need W (length past))) by lia.
      rewrite <- !nth_error_skipn, equal. reflexivity.
    - intros equal. apply nth_error_ext. intros i. rewrite !nth_error_skipn. apply equal. lia.
  Qed.

  (** What one query did not see, no later one sees: what counts about a past is what is seen of it. *)
  Lemma seen_snoc past other x : seen past = seen other -> seen (past ++ [x]) = seen (other ++ [x]).
  Proof.
    unfold seen. intros equal. destruct (Nat.eq_dec W 0) as [full|windowed].
    - rewrite full in *. simpl in *. rewrite equal. reflexivity.
    - rewrite !next_query_sees in * by lia. rewrite <- (last_window_app _ past), <- (last_window_app _ other).
      rewrite equal. reflexivity.
  Qed.
End Seen.

(** ** The decoder *)

Section Decoder.
  Context {Signature Token : Type}.
  Implicit Types (s : Signature) (t : Token) (ts q : list Token) (pos cut next p : nat).

  (** Signature, absolute position, token, earlier states that are seen: the state of the token. *)
  Definition model (X : Type) := Signature -> nat -> Token -> list X -> X.

  Section States.
    Context {X : Type}.
    Variable F : model X.
    Variable W : nat.
    Implicit Types (past other : list X).

    (** The states of [ts] behind [past], the first of them at position [pos]. *)
    Fixpoint extend s pos past ts : list X :=
      match ts with
      | [] => []
      | t :: rest => let x := F s pos t (seen W past) in x :: extend s (S pos) (past ++ [x]) rest
      end.

    (** A full recompute. *)
    Definition states s ts : list X := extend s 0 [] ts.

    Lemma length_extend s pos past ts : length (extend s pos past ts) = length ts.
    Proof. revert pos past; induction ts as [|t ts IH]; intros; simpl; auto. Qed.

    Lemma length_states s ts : length (states s ts) = length ts.
    Proof. apply length_extend. Qed.

    Lemma extend_app s pos past ts ts' :
      extend s pos past (ts ++ ts') =
      extend s pos past ts ++ extend s (pos + length ts) (past ++ extend s pos past ts) ts'.
    Proof.
      revert pos past; induction ts as [|t ts IH]; intros pos past; simpl.
      - rewrite Nat.add_0_r, app_nil_r. reflexivity.
      - rewrite IH, <- app_assoc, Nat.add_succ_r. reflexivity.
    Qed.

    Lemma extend_seen s pos past other ts :
      seen W past = seen W other -> extend s pos past ts = extend s pos other ts.
    Proof.
      revert pos past other; induction ts as [|t ts IH]; intros pos past other equal; simpl; auto.
      rewrite equal. f_equal. apply IH, seen_snoc, equal.
    Qed.

    (** Causality: the first states are those of the first tokens. *)
    Lemma firstn_states s cut ts : cut <= length ts -> firstn cut (states s ts) = states s (firstn cut ts).
    Proof.
      intros inside. unfold states. rewrite <- (firstn_skipn cut ts) at 1. rewrite extend_app.
      assert (size : length (extend s 0 [] (firstn cut ts)) = cut)
        by (rewrite length_extend, firstn_length; lia).
      rewrite firstn_app, size, Nat.sub_diag, firstn_O, app_nil_r. apply firstn_all2. lia.
    Qed.

    (** The others follow from them. *)
    Lemma skipn_states s cut ts :
      cut <= length ts -> skipn cut (states s ts) = extend s cut (firstn cut (states s ts)) (skipn cut ts).
    Proof.
      intros inside. rewrite firstn_states by assumption.
      unfold states. rewrite <- (firstn_skipn cut ts) at 1. rewrite extend_app.
      assert (size : length (extend s 0 [] (firstn cut ts)) = cut)
        by (rewrite length_extend, firstn_length; lia).
      rewrite skipn_app, size, Nat.sub_diag, skipn_all2 by lia. simpl.
      f_equal. rewrite firstn_length. lia.
    Qed.

    Lemma nth_error_states s ts p t :
      nth_error ts p = Some t ->
      nth_error (states s ts) p = Some (F s p t (seen W (firstn p (states s ts)))).
    Proof.
      intros found. assert (inside : p < length ts) by (apply nth_error_Some; congruence).
      rewrite <- (Nat.add_0_r p) in found. rewrite <- nth_error_skipn in found.
      rewrite <- (Nat.add_0_r p) at 1. rewrite <- nth_error_skipn, skipn_states by lia.
      destruct (skipn p ts) as [|t' rest]; [discriminate|].
      injection found as ->. reflexivity.
    Qed.
  End States.

  (** ** A cache entry, and what is reused of it *)

  Record entry := Entry {
    signature : Signature;
    tokens : list Token;
    held : nat -> bool;  (* whether the cell at a position is still there *)
  }.

  Implicit Type e : entry.

  (** What the first [cut] cells of the cache may read as: held cells are right, the others anything at
      all. *)
  Definition readable {X} (F : model X) W e cut (past : list X) : Prop :=
    length past = cut /\
    forall p, p < cut -> held e p = true ->
      nth_error past p = nth_error (states F W (signature e) (tokens e)) p.

  (** Reuse of [cut] cells for the query [q], whose other tokens get the positions [next], [next + 1], ...,
      is exact: it gives what a full recompute gives, whatever the cells read as that are not held. *)
  Definition exact {X} (F : model X) W e s q cut next : Prop :=
    forall past, readable F W e cut past -> extend F W s next past (skipn cut q) = skipn cut (states F W s q).

  (** What the query at position [cut] sees is held. C++: [BlockTable::holds_cells] from [need] on. *)
  Definition resident W e cut : Prop := forall p, need W cut <= p < cut -> held e p = true.

  Record Reusable W e s q cut next : Prop := {
    same_signature : signature e = s;
    same_tokens : firstn cut (tokens e) = firstn cut q;
    right_position : next = cut;
    seen_is_held : resident W e cut;
  }.

  (** ** Sound: for every model *)

  Theorem reuse_sound {X} (F : model X) W e s q cut next :
    cut <= length (tokens e) -> cut <= length q -> Reusable W e s q cut next -> exact F W e s q cut next.
  Proof.
    intros in_entry in_query [<- same -> resident] past [size right].
    rewrite skipn_states by assumption. apply extend_seen, seen_eq_iff.
    - rewrite size, firstn_length, length_states. lia.
    - rewrite size. intros p inside. destruct (Nat.lt_ge_cases p cut) as [before|behind].
      + rewrite firstn_states, <- same, <- firstn_states, nth_error_firstn by assumption.
        apply right; auto.
      + transitivity (@None X); [|symmetry]; apply nth_error_None; rewrite ?firstn_length; lia.
  Qed.

  (** With a window of one nothing is seen of what is cached; only the positions count. C++ asks for the
      block before the cut all the same, as a witness of the tokens (blocktable/prefix_search.cpp). *)
  Theorem window_of_one {X} (F : model X) e s q cut : cut <= length q -> exact F 1 e s q cut cut.
  Proof.
    intros in_query past [size _]. rewrite skipn_states by assumption. apply extend_seen.
    unfold seen. rewrite !skipn_all2; auto; unfold need; simpl; lia.
  Qed.

  (** Nothing reused is always exact. C++: truncate to 0 always works. *)
  Theorem reuse_nothing {X} (F : model X) W e s q : exact F W e s q 0 0.
  Proof. intros past [size _]. destruct past; [reflexivity|discriminate]. Qed.

  (** ** At least one token must be left, or no state comes out that the next token could be drawn from *)

  Theorem reuse_leaves_an_output {X} (F : model X) W s q cut next past :
    0 < length q -> (cut <= length q - 1 <-> extend F W s next past (skipn cut q) <> []).
  Proof.
    intros some. rewrite <- length_zero_iff_nil, length_extend, skipn_length. lia.
  Qed.

  (** ** Necessary: for the model that forgets nothing *)

  (** Its state is the tree of all that went into it. *)
  Inductive tree := Tree (s : Signature) (pos : nat) (t : Token) (earlier : list tree).

  Definition another (x : tree) : tree := let (s, pos, t, earlier) := x in Tree s (S pos) t earlier.

  Lemma another_differs x : another x <> x.
  Proof. destruct x as [s pos t earlier]. intros [= same]. apply (Nat.neq_succ_diag_l _ same). Qed.

  (** The worst that the cache may read as: where no cell is held, not what is wanted. *)
  Lemma worst_past W e (wanted : list tree) cut :
    cut <= length (tokens e) -> cut <= length wanted ->
    exists past, readable Tree W e cut past /\
      forall p, p < cut -> held e p = false -> nth_error past p <> nth_error wanted p.
  Proof.
    induction cut as [|cut IH]; intros in_entry in_wanted.
    - exists []. repeat split; intros; lia.
    - destruct IH as (past & [size right] & wrong); [lia..|].
      destruct (nth_error_at (states Tree W (signature e) (tokens e)) cut) as [cell kept];
        [rewrite length_states; lia|].
      destruct (nth_error_at wanted cut) as [want wants]; [lia|].
      set (read := if held e cut then cell else another want).
      pose proof (nth_error_end past [] read) as at_cut. rewrite size in at_cut.
      exists (past ++ [read]).
      split; [split; [rewrite app_length; simpl; lia|]|].
      all: intros p inside is_held; destruct (Nat.eq_dec p cut) as [->|earlier].
      + subst read. rewrite at_cut, is_held, kept. reflexivity.
      + rewrite nth_error_app1 by lia. apply right; auto; lia.
      + subst read. rewrite at_cut, is_held, wants. intros [= same]. apply (another_differs _ same).
      + rewrite nth_error_app1 by lia. apply wrong; auto; lia.
  Qed.

  (** One equal state: all that went before is equal, as far as windows pass it on, which is to the first
      token. *)
  Lemma equal_state_equal_past W s s' ts ts' p :
    W <> 1 -> p < length ts -> p < length ts' ->
    nth_error (states Tree W s ts) p = nth_error (states Tree W s' ts') p ->
    s = s' /\ firstn (S p) ts = firstn (S p) ts'.
  Proof.
    intros deep. induction p as [p IH] using lt_wf_ind. intros inside inside' equal.
    destruct (nth_error_at _ _ inside) as [t found], (nth_error_at _ _ inside') as [t' found'].
    rewrite (nth_error_states _ _ _ _ _ _ found), (nth_error_states _ _ _ _ _ _ found') in equal.
    injection equal as <- <- same. split; [reflexivity|].
    rewrite (firstn_snoc _ _ _ found), (firstn_snoc _ _ _ found'). f_equal.
    destruct p as [|p]; [reflexivity|].
    rewrite seen_eq_iff in same by (rewrite !firstn_length, !length_states; lia).
    rewrite firstn_length, length_states, Nat.min_l in same by lia.
    apply IH; [lia..|].
    specialize (same p). rewrite !nth_error_firstn in same by lia. apply same.
    pose proof (need_sees_predecessor W (S p) deep). lia.
  Qed.

  Theorem reuse_necessary W e s q cut next :
    W <> 1 -> 0 < cut <= length (tokens e) -> cut < length q ->
    exact Tree W e s q cut next -> Reusable W e s q cut next.
  Proof.
    intros deep [some in_entry] in_query is_exact.
    set (wanted := states Tree W s q).
    assert (firstn_size : length (firstn cut wanted) = cut)
      by (unfold wanted; rewrite firstn_length, length_states; lia).
    destruct (worst_past W e (firstn cut wanted) cut) as (past & can_be & wrong); [lia..|].
    specialize (is_exact past can_be). destruct can_be as [size right].
    rewrite skipn_states in is_exact by lia. fold wanted in is_exact.
    destruct (skipn cut q) as [|t rest] eqn:tail.
    { apply (f_equal (@length _)) in tail. rewrite skipn_length in tail. simpl in tail. lia. }
    injection is_exact as position same _.
    rewrite seen_eq_iff in same by lia. rewrite size in same.
    assert (is_resident : resident W e cut).
    { intros p inside. destruct (held e p) eqn:is_held; auto.
      exfalso. apply (wrong p); auto; [lia|]. apply same. lia. }
    assert (last_seen : need W cut <= cut - 1)
      by (pose proof (need_sees_predecessor W cut deep); lia).
    destruct (equal_state_equal_past W (signature e) s (tokens e) q (cut - 1)) as [signatures prefixes].
    1-3: lia.
    { rewrite <- right by (try apply is_resident; lia).
      rewrite same by lia. rewrite nth_error_firstn by lia. reflexivity. }
    replace (S (cut - 1)) with cut in prefixes by lia.
    constructor; auto.
  Qed.

  (** The four conditions are exactness itself: for all models at once, and for each query that has one new
      token or more. *)
  Theorem reuse_exact_iff W e s q cut next :
    W <> 1 -> 0 < cut <= length (tokens e) -> cut < length q ->
    (forall (X : Type) (F : model X), exact F W e s q cut next) <-> Reusable W e s q cut next.
  Proof.
    intros deep in_entry in_query. split.
    - intros always. apply reuse_necessary; auto.
    - intros reusable X F. apply reuse_sound; auto; lia.
  Qed.

  (** ** Entries of which a window has left a tail *)

  Section Tail.
    Variable W : nat.
    Implicit Types lo : nat.

    (** Held is what stands at the position [lo] or later. *)
    Definition tail_of s ts lo : entry := Entry s ts (fun p => lo <=? p).

    Lemma resident_tail_iff s ts lo cut :
      W <> 1 -> 0 < cut -> (resident W (tail_of s ts lo) cut <-> lo <= need W cut).
    Proof.
      intros deep some. pose proof (need_sees_predecessor W cut deep some). split.
      - intros is_resident. apply Nat.leb_le, (is_resident (need W cut)). lia.
      - intros low p inside. apply Nat.leb_le. lia.
    Qed.

    (** The longer the cut, the later begins what is needed. *)
    Theorem resident_mono s ts lo cut cut' :
      W <> 1 -> 0 < cut <= cut' -> resident W (tail_of s ts lo) cut -> resident W (tail_of s ts lo) cut'.
    Proof.
      intros deep [some longer]. rewrite !resident_tail_iff by lia.
      pose proof (need_mono W cut cut' longer). lia.
    Qed.

    (** The conservative rule: all tokens of the entry are the beginning of the query. It is safe for an
        entry that holds what its next query would have seen, and so for one that holds its last W cells (a
        commit keeps them). *)
    Theorem conservative_rule {X} (F : model X) s ts rest lo :
      lo <= need W (length ts) -> exact F W (tail_of s ts lo) s (ts ++ rest) (length ts) (length ts).
    Proof.
      intros low. apply reuse_sound; simpl; [lia|rewrite app_length; lia|].
      constructor; simpl; auto.
      - rewrite firstn_app, Nat.sub_diag, firstn_O, app_nil_r. reflexivity.
      - intros p inside. apply Nat.leb_le. lia.
    Qed.

    (** Once something is gone and everything that can go, no shorter cut is resident; *)
    Theorem shorter_cut_not_resident s ts cut :
      1 < W -> 0 < cut < length ts -> 0 < need W (length ts) ->
      ~ resident W (tail_of s ts (need W (length ts))) cut.
    Proof.
      intros deep shorter gone. rewrite resident_tail_iff by lia.
      rewrite !need_windowed in * by lia. lia.
    Qed.

    (** [slack] more cells allow cuts that are so much shorter. C++: [rewind_slack]; and the one cell more
        that a commit keeps ([kept_after_commit_is_enough]) is a slack of one. *)
    Theorem slack_allows_shorter_cuts s ts slack back :
      back <= slack -> resident W (tail_of s ts (need W (length ts) - slack)) (length ts - back).
    Proof.
      intros within p inside. apply Nat.leb_le.
      unfold need in *. destruct (W =? 0); lia.
    Qed.
  End Tail.

  (** ** The best cut *)

  Section Lookup.
    Variable token_eq_dec : forall t t' : Token, {t = t'} + {t <> t'}.

    Fixpoint common_prefix ts ts' : nat :=
      match ts, ts' with
      | t :: ts, t' :: ts' => if token_eq_dec t t' then S (common_prefix ts ts') else 0
      | _, _ => 0
      end.

    Lemma common_prefix_iff cut ts ts' :
      cut <= common_prefix ts ts' <-> cut <= length ts /\ cut <= length ts' /\ firstn cut ts = firstn cut ts'.
    Proof.
      revert ts ts'; induction cut as [|cut IH]; intros ts ts'.
      - split; [|lia]. intros _. repeat split; lia.
      - destruct ts as [|t ts], ts' as [|t' ts']; simpl; [lia..|].
        destruct (token_eq_dec t t') as [<-|differ].
        + rewrite <- !Nat.succ_le_mono, IH. intuition congruence.
        + split; [lia|]. intros (_ & _ & [= same _]). contradiction.
    Qed.

    Definition best_cut ts q : nat := min (common_prefix ts q) (length q - 1).

    (** The cuts up to the best one are those whose tokens are equal and which leave a token to compute. *)
    Theorem best_cut_iff ts q cut :
      0 < length q ->
      (cut <= best_cut ts q <-> cut <= length ts /\ cut < length q /\ firstn cut ts = firstn cut q).
    Proof.
      intros some. unfold best_cut. rewrite Nat.min_glb_iff, common_prefix_iff. intuition lia.
    Qed.

    (** What a lookup in one entry says: the best cut if what it needs is still there, else nothing at all. *)
    Definition lookup W lo ts q : nat :=
      let cut := best_cut ts q in if lo <=? need W cut then cut else 0.

    Theorem lookup_sound {X} (F : model X) W s lo ts q :
      0 < length q ->
      let cut := lookup W lo ts q in exact F W (tail_of s ts lo) s q cut cut /\ cut < length q.
    Proof.
      intros some. unfold lookup. destruct (Nat.leb_spec lo (need W (best_cut ts q))) as [low|gone].
      - destruct (proj1 (best_cut_iff ts q _ some) (le_n _)) as (in_entry & in_query & same).
        split; [|assumption]. apply reuse_sound; simpl; [lia..|].
        constructor; simpl; auto. intros p inside. apply Nat.leb_le. lia.
      - split; [apply reuse_nothing|assumption].
    Qed.

    (** No other cut that is exact for all models, and leaves a token to compute, is longer. *)
    Theorem lookup_maximal W s lo ts q cut next :
      W <> 1 -> cut <= length ts -> cut < length q -> Reusable W (tail_of s ts lo) s q cut next ->
      cut <= lookup W lo ts q.
    Proof.
      intros deep in_entry in_query [_ same _ is_resident]. simpl in same.
      destruct (Nat.eq_dec cut 0) as [->|some]; [lia|].
      assert (below : cut <= best_cut ts q) by (apply best_cut_iff; auto; lia).
      apply (resident_mono W s ts lo cut (best_cut ts q) deep) in is_resident; [|lia].
      rewrite resident_tail_iff in is_resident by lia.
      unfold lookup. destruct (Nat.leb_spec lo (need W (best_cut ts q))); lia.
    Qed.
  End Lookup.
End Decoder.
