(* SPDX-License-Identifier: Apache-2.0 *)
(* What the proof needs of lists of entries and of division by the block size, and nothing about the
   machine's state: lists of blocks (`mem`, `without`), `count` (how often a block appears among entries),
   `at_` and `upd` (one entry, read and replaced), `cdiv`, `slot`. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine.
Import ListNotations.

(* ---------- lists of blocks ---------- *)

Lemma mem_in : forall b l, mem b l = true <-> In b l.
Proof.
  intros. unfold mem. rewrite existsb_exists. split.
  - intros (x & H & E). apply Nat.eqb_eq in E. now subst.
  - intros H. exists b. split; [exact H | apply Nat.eqb_refl].
Qed.

Lemma in_without : forall b x l, In x (without b l) <-> In x l /\ x <> b.
Proof.
  intros. unfold without. rewrite filter_In, negb_true_iff, Nat.eqb_neq. reflexivity.
Qed.

Lemma nodup_map_filter : forall X Y (f : X -> Y) (keep : X -> bool) l, NoDup (map f l) ->
  NoDup (map f (filter keep l)).
Proof.
  induction l as [|x l IH]; intros H; cbn in *; [constructor|]. inversion_clear H as [|? ? N D].
  destruct (keep x); [|auto]. cbn. constructor; [|auto].
  intros C. apply N. apply in_map_iff in C as (y & E & C). apply filter_In in C as [C _]. apply in_map_iff.
  eauto.
Qed.

(* ---------- appearances of a block among entries ---------- *)

Definition one (b x : nat) : nat := if b =? x then 1 else 0.

Fixpoint count (es : list (option nat)) (x : nat) : nat :=
  match es with
  | [] => 0
  | Some b :: es => one b x + count es x
  | None :: es => count es x
  end.

Definition named (e : option nat) (x : nat) : nat := match e with Some b => one b x | None => 0 end.

Lemma one_same : forall b, one b b = 1.
Proof. intros. unfold one. now rewrite Nat.eqb_refl. Qed.

Lemma one_other : forall b x, b <> x -> one b x = 0.
Proof. intros b x H. unfold one. now apply Nat.eqb_neq in H as ->. Qed.

Lemma one_cases : forall b x, (b = x /\ one b x = 1) \/ (b <> x /\ one b x = 0).
Proof. intros. destruct (Nat.eq_dec b x); [subst; left | right]; auto using one_same, one_other. Qed.

Lemma count_cons : forall e es x, count (e :: es) x = named e x + count es x.
Proof. now intros [b|] es x. Qed.

Lemma count_app : forall xs ys x, count (xs ++ ys) x = count xs x + count ys x.
Proof. induction xs as [|e xs IH]; intros; [reflexivity|]. cbn [app]. rewrite !count_cons, IH. lia. Qed.

Lemma count_in : forall es x, In (Some x) es <-> 0 < count es x.
Proof.
  induction es as [|e es IH]; intros x; [cbn; lia|]. rewrite count_cons. cbn [In]. rewrite IH.
  destruct e as [b|]; cbn [named].
  - destruct (one_cases b x) as [[-> ->] | [D ->]]; intuition (try lia; congruence).
  - intuition (try lia; congruence).
Qed.

Lemma count_holes : forall X (l : list X) x, count (map (fun _ => None) l) x = 0.
Proof. induction l; intros; [reflexivity|]. now cbn. Qed.

Lemma count_repeat : forall n x, count (repeat None n) x = 0.
Proof. induction n; intros; [reflexivity|]. now cbn. Qed.

Lemma count_none : forall es x, (forall b, ~ In (Some b) es) -> count es x = 0.
Proof.
  intros es x H. destruct (count es x) eqn:E; [reflexivity|]. exfalso. apply (H x), count_in. lia.
Qed.

Lemma count_split : forall n es x, count es x = count (firstn n es) x + count (skipn n es) x.
Proof. intros. rewrite <- count_app. now rewrite firstn_skipn. Qed.

(* ---------- one entry ---------- *)

Section Entries.
Variable X : Type.
Implicit Types (l : list (option X)) (i j : nat).

Lemma at_nil : forall i, at_ (@nil (option X)) i = None.
Proof. now intros [|i]. Qed.

Lemma at_some_length : forall l i x, at_ l i = Some x -> i < length l.
Proof.
  intros l i x H. destruct (Nat.lt_ge_cases i (length l)) as [L|L]; [exact L|].
  unfold at_ in H. rewrite nth_overflow in H by lia. discriminate.
Qed.

Lemma at_in : forall l i x, at_ l i = Some x -> In (Some x) l.
Proof. intros l i x H. pose proof (at_some_length _ _ _ H). rewrite <- H. now apply nth_In. Qed.

Lemma in_at : forall l x, In (Some x) l -> exists i, i < length l /\ at_ l i = Some x.
Proof. intros l x H. apply (In_nth _ _ None) in H as (i & L & E). eauto. Qed.

Lemma at_app_left : forall l l' i, i < length l -> at_ (l ++ l') i = at_ l i.
Proof. intros. now apply app_nth1. Qed.

Lemma at_app_right : forall l l' i, length l <= i -> at_ (l ++ l') i = at_ l' (i - length l).
Proof. intros. now apply app_nth2. Qed.

Lemma at_firstn : forall n l i, i < n -> at_ (firstn n l) i = at_ l i.
Proof.
  induction n as [|n IH]; intros l i L; [lia|]. destruct l as [|e l]; [reflexivity|].
  destruct i; [reflexivity|]. cbn. apply IH. lia.
Qed.

Lemma at_skipn : forall n l i, at_ (skipn n l) i = at_ l (n + i).
Proof.
  induction n as [|n IH]; intros l i; [reflexivity|]. destruct l as [|e l]; [now rewrite !at_nil|]. apply IH.
Qed.

Lemma at_all_none : forall Y (ys : list Y) i, at_ (map (fun _ => @None X) ys) i = None.
Proof. induction ys as [|y ys IH]; intros [|i]; [reflexivity..|]. apply IH. Qed.

Lemma length_upd : forall Y (ys : list Y) i y, length (upd ys i y) = length ys.
Proof. induction ys as [|z ys IH]; intros [|i] y; cbn; [reflexivity..|]. now rewrite IH. Qed.

Lemma at_upd_same : forall l i e, i < length l -> at_ (upd l i e) i = e.
Proof.
  induction l as [|x l IH]; intros [|i] e L; cbn in *; [lia|lia|reflexivity|]. apply IH. lia.
Qed.

Lemma at_upd_other : forall l i j e, i <> j -> at_ (upd l i e) j = at_ l j.
Proof.
  induction l as [|x l IH]; intros [|i] [|j] e D; cbn; try reflexivity; [lia|]. apply IH. lia.
Qed.

Lemma upd_same : forall l i e, at_ l i = e -> upd l i e = l.
Proof.
  induction l as [|x l IH]; intros [|i] e H; cbn in *; [reflexivity..| |]; [now subst|]. now rewrite IH.
Qed.

Lemma upd_twice : forall Y (ys : list Y) i x y, upd (upd ys i x) i y = upd ys i y.
Proof. induction ys as [|z ys IH]; intros [|i] x y; cbn; [reflexivity..|]. now rewrite IH. Qed.

Lemma at_repeat_none : forall n i, at_ (repeat (@None X) n) i = None.
Proof. induction n as [|n IH]; intros [|i]; [reflexivity..|]. apply IH. Qed.

End Entries.
Arguments at_some_length {X l i x}.
Arguments at_in {X l i x}.

Lemma count_at : forall es i x, at_ es i = Some x -> 0 < count es x.
Proof. intros. apply count_in. eapply at_in. eassumption. Qed.

Lemma count_upd : forall es i e x, i < length es ->
  count (upd es i e) x + named (at_ es i) x = count es x + named e x.
Proof.
  induction es as [|y es IH]; intros [|i] e x L; cbn [length] in L; [lia|lia| |].
  - cbn [upd at_ nth]. rewrite !count_cons. change (at_ (y :: es) 0) with y. lia.
  - cbn [upd]. rewrite !count_cons. change (at_ (y :: es) (S i)) with (at_ es i).
    specialize (IH i e x). lia.
Qed.

(* A block that appears once appears at one place. *)
Lemma count_two : forall es i j x, at_ es i = Some x -> at_ es j = Some x -> i <> j -> 2 <= count es x.
Proof.
  intros es i j x Hi Hj D. pose proof (count_upd es i None x (at_some_length Hi)) as E.
  rewrite Hi in E. cbn [named] in E. rewrite one_same in E.
  assert (0 < count (upd es i None) x) by (apply (count_at _ j); now rewrite at_upd_other). lia.
Qed.

(* A block that appears at one place only appears once. *)
Lemma count_once : forall es x, (forall i j, at_ es i = Some x -> at_ es j = Some x -> i = j) ->
  count es x <= 1.
Proof.
  induction es as [|e es IH]; intros x H; [cbn; lia|]. rewrite count_cons.
  assert (H1 : count es x <= 1).
  { apply IH. intros i j Hi Hj. specialize (H (S i) (S j) Hi Hj). lia. }
  destruct e as [b|]; cbn [named]; [|lia]. destruct (one_cases b x) as [[-> ->] | [_ ->]]; [|lia].
  destruct (count es x) eqn:C; [lia|]. exfalso.
  destruct (in_at _ es x) as (i & _ & Ei); [apply count_in; lia|]. discriminate (H 0 (S i) eq_refl Ei).
Qed.

Lemma skipn_nth : forall X k (l : list X) x, nth_error l k = Some x -> skipn k l = x :: skipn (S k) l.
Proof.
  induction k as [|k IH]; intros [|y l] x E; try discriminate; cbn in E |- *; [congruence|]. now apply IH.
Qed.

(* ---------- division by the block size ---------- *)

(* A block has a cell. A class, so that the lemmas below ask for it without a word. *)
Class positive (n : nat) : Prop := is_positive : 0 < n.

Section Division.
Variable cfg : config.
Notation B := (B cfg).
Context {block_size_positive : positive B}.

Lemma div_mod_eq : forall i, i = i / B * B + i mod B /\ i mod B < B.
Proof.
  intros i. pose proof is_positive as P. pose proof (Nat.div_mod i B ltac:(lia)).
  pose proof (Nat.mod_upper_bound i B ltac:(lia)). lia.
Qed.

Lemma lt_div : forall i j, i / B < j <-> i < j * B.
Proof. intros i j. destruct (div_mod_eq i). split; intros; nia. Qed.

Lemma le_div : forall i j, j <= i / B <-> j * B <= i.
Proof. intros i j. pose proof (lt_div i j). lia. Qed.

Lemma lt_cdiv : forall j n, j < cdiv cfg n <-> j * B < n.
Proof.
  intros j n. pose proof is_positive as P. unfold cdiv. pose proof (le_div (n + (B - 1)) (S j)). nia.
Qed.

Lemma div_lt_cdiv : forall i n, i < n -> i / B < cdiv cfg n.
Proof. intros i n L. apply lt_cdiv. destruct (div_mod_eq i). lia. Qed.

Lemma cdiv_mono : forall n m, n <= m -> cdiv cfg n <= cdiv cfg m.
Proof. intros n m L. pose proof is_positive as P. unfold cdiv. apply Nat.div_le_mono; lia. Qed.

Lemma same_position : forall i j, i / B = j / B -> i mod B = j mod B -> i = j.
Proof. intros i j D M. destruct (div_mod_eq i), (div_mod_eq j). congruence. Qed.

(* A position that is new, in a block that is not, lies in the partly filled block at the end. *)
Lemma in_tail_block : forall i n, n <= i -> i / B < cdiv cfg n -> i / B = n / B /\ n mod B <> 0.
Proof.
  intros i n L H. pose proof is_positive as P. apply lt_cdiv in H. destruct (div_mod_eq n) as [E M].
  assert (i / B <= n / B) by (apply le_div; lia).
  assert (n / B <= i / B) by (apply Nat.div_le_mono; lia). split; [lia|].
  replace (i / B) with (n / B) in H by lia. lia.
Qed.

Lemma slot_injective : forall b i b' i', slot cfg b i = slot cfg b' i' -> b = b' /\ i mod B = i' mod B.
Proof.
  intros b i b' i' E. unfold slot in E. pose proof (div_mod_eq i) as [_ H].
  pose proof (div_mod_eq i') as [_ H'].
  set (x := i mod B) in *. set (y := i' mod B) in *. clearbody x y. assert (b = b') by nia. subst. lia.
Qed.

End Division.
