(* SPDX-License-Identifier: Apache-2.0 *)

(** * The specification of histories, plain and fast

    What a block table must read back as is said about histories alone: each living sequence has one, the
    list of its cells. The plain specification says it in the plainest way, oldest cell first, in a table
    that is a function.

    An oracle that runs beside a C++ manager cannot run that: appending costs the history, and a table of
    functions grows with every call. So here is a second one, written to be extracted. It keeps a history
    newest cell first, with its length. Appending costs the new cells; a fork of all of a history copies
    nothing, a shorter one and a truncation walk over the cells that they leave out; a window costs its own
    cells. What walks over a history is a loop, not a recursion that needs a stack. [oracle_correct] and
    [oracle_refuses_alike] say that after any operations the two show the same windows and lengths, and
    refuse the same operations.

    The operations are those of the C++ Manager as far as they concern histories: sequences begin, commit,
    fork, truncate and release (blocktable/manager.h). A refused operation changes nothing (invariant F2).
    W = 0 asks for everything, as in C++ ([visible], Window.v); sinks are not modelled. *)

From Coq Require Import List Arith PArith FMapPositive Lia.
From Kvpane Require Import Window.
Import ListNotations.

Section FastSpec.
  Context {Cell : Type}.
  Implicit Types (cells xs : list Cell) (a : Cell) (n w W : nat).

  (** ** Operations *)

  Definition name := positive.
  Implicit Types (s parent child : name).

  Inductive operation :=
  | New s
  | Append s cells
  | Fork parent child n  (* the child has the first [n] cells *)
  | Truncate s n  (* the first [n] cells stay *)
  | Release s.

  Implicit Type o : operation.

  (** ** The plain specification *)

  Definition plain := name -> option (list Cell).
  Implicit Type p : plain.

  Definition plain_empty : plain := fun _ => None.
  Definition set p s (xs : option (list Cell)) : plain := fun s' => if Pos.eqb s s' then xs else p s'.

  Definition plain_step p o : option plain :=
    match o with
    | New s => match p s with None => Some (set p s (Some [])) | Some _ => None end
    | Append s cells => match p s with Some xs => Some (set p s (Some (xs ++ cells))) | None => None end
    | Fork parent child n =>
        match p parent, p child with
        | Some xs, None => if n <=? length xs then Some (set p child (Some (firstn n xs))) else None
        | _, _ => None
        end
    | Truncate s n =>
        match p s with
        | Some xs => if n <=? length xs then Some (set p s (Some (firstn n xs))) else None
        | None => None
        end
    | Release s => match p s with Some _ => Some (set p s None) | None => None end
    end.

  (** ** A history, newest cell first *)

  Record history := History {
    newest : list Cell;
    count : nat;
  }.

  Implicit Type h : history.

  Definition push h a : history := History (a :: newest h) (S (count h)).
  Definition append h cells : history := fold_left push cells h.
  Definition first n h : history := History (skipn (count h - n) (newest h)) n.

  (** The first [w] cells of a list in reverse, before [tail]. *)
  Fixpoint last_rev w cells (tail : list Cell) : list Cell :=
    match w, cells with
    | S w, a :: cells => last_rev w cells (a :: tail)
    | _, _ => tail
    end.

  Definition window w h : list Cell := last_rev w (newest h) [].
  Definition window_or_all W h : list Cell := window (if W =? 0 then count h else W) h.

  Definition represents h xs : Prop := xs = rev (newest h) /\ count h = length xs.

  Lemma nothing_represents : represents (History [] 0) [].
  Proof. split; reflexivity. Qed.

  Lemma append_represents h xs cells : represents h xs -> represents (append h cells) (xs ++ cells).
  Proof.
    revert h xs; induction cells as [|a cells IH]; intros h xs [spelled counted]; simpl.
    - rewrite app_nil_r. split; assumption.
    - replace (xs ++ a :: cells) with ((xs ++ [a]) ++ cells) by (rewrite <- app_assoc; reflexivity).
      apply IH. split; simpl.
      + rewrite spelled. reflexivity.
      + rewrite counted, app_length. simpl. lia.
  Qed.

  Lemma first_represents n h xs : represents h xs -> n <= length xs -> represents (first n h) (firstn n xs).
  Proof.
    intros [spelled counted] inside. split; simpl.
    - rewrite counted, spelled, rev_length. apply firstn_rev.
    - rewrite firstn_length. lia.
  Qed.

  (** A fork of everything shares everything. *)
  Lemma first_all h : first (count h) h = h.
  Proof. unfold first. rewrite Nat.sub_diag. destruct h; reflexivity. Qed.

  Lemma last_rev_spec w cells tail : last_rev w cells tail = rev (firstn w cells) ++ tail.
  Proof.
    revert cells tail; induction w as [|w IH]; intros [|a cells] tail; simpl; auto.
    rewrite IH, <- app_assoc. reflexivity.
  Qed.

  Theorem last_window_rev w cells : last_rev w cells [] = last_window w (rev cells).
  Proof.
    rewrite last_rev_spec, app_nil_r. unfold last_window.
    rewrite skipn_rev, rev_length. f_equal.
    destruct (Nat.le_ge_cases w (length cells)).
    - f_equal. lia.
    - rewrite !firstn_all2 by lia. reflexivity.
  Qed.

  Lemma window_represents w h xs : represents h xs -> window w h = last_window w xs.
  Proof. intros [-> _]. apply last_window_rev. Qed.

  Lemma window_or_all_represents W h xs : represents h xs -> window_or_all W h = visible W xs.
  Proof.
    intros same. unfold window_or_all, visible. rewrite (window_represents _ _ _ same).
    destruct (W =? 0); auto.
    apply last_window_all. destruct same. lia.
  Qed.

  (** ** The fast specification *)

  Definition fast := PositiveMap.t history.
  Implicit Type f : fast.

  Definition fast_empty : fast := PositiveMap.empty history.

  Definition fast_step f o : option fast :=
    let find s := PositiveMap.find s f in
    let set s h := Some (PositiveMap.add s h f) in
    match o with
    | New s => match find s with None => set s (History [] 0) | Some _ => None end
    | Append s cells => match find s with Some h => set s (append h cells) | None => None end
    | Fork parent child n =>
        match find parent, find child with
        | Some h, None => if n <=? count h then set child (first n h) else None
        | _, _ => None
        end
    | Truncate s n =>
        match find s with
        | Some h => if n <=? count h then set s (first n h) else None
        | None => None
        end
    | Release s => match find s with Some _ => Some (PositiveMap.remove s f) | None => None end
    end.

  (** ** They agree *)

  Definition alike (h : option history) (xs : option (list Cell)) : Prop :=
    match h, xs with
    | Some h, Some xs => represents h xs
    | None, None => True
    | _, _ => False
    end.

  Definition agree f p : Prop := forall s, alike (PositiveMap.find s f) (p s).

  Lemma empty_agree : agree fast_empty plain_empty.
  Proof. intros s. unfold fast_empty. rewrite PositiveMap.gempty. exact I. Qed.

  Lemma add_agrees f p s h xs :
    agree f p -> represents h xs -> agree (PositiveMap.add s h f) (set p s (Some xs)).
  Proof.
    intros same new s'. unfold set. destruct (Pos.eqb_spec s s') as [<-|other].
    - rewrite PositiveMap.gss. exact new.
    - rewrite PositiveMap.gso by congruence. apply same.
  Qed.

  Lemma remove_agrees f p s : agree f p -> agree (PositiveMap.remove s f) (set p s None).
  Proof.
    intros same s'. unfold set. destruct (Pos.eqb_spec s s') as [<-|other].
    - rewrite PositiveMap.grs. exact I.
    - rewrite PositiveMap.gro by congruence. apply same.
  Qed.

  (** Both refuse, or both accept and agree again. *)
  Definition agree_or_refuse (f : option fast) (p : option plain) : Prop :=
    match f, p with
    | Some f, Some p => agree f p
    | None, None => True
    | _, _ => False
    end.

  Theorem step_agrees f p o : agree f p -> agree_or_refuse (fast_step f o) (plain_step p o).
  Proof.
    intros same. destruct o as [s|s cells|parent child n|s n|s]; simpl.
    - specialize (same s) as alike_s.
      destruct (PositiveMap.find s f), (p s); simpl in *; auto.
      apply add_agrees, nothing_represents. assumption.
    - specialize (same s) as alike_s.
      destruct (PositiveMap.find s f), (p s); simpl in *; auto.
      apply add_agrees, append_represents; assumption.
    - specialize (same parent) as alike_parent. specialize (same child) as alike_child.
      destruct (PositiveMap.find parent f) as [h|], (p parent) as [xs|]; simpl in *; try contradiction; auto.
      destruct (PositiveMap.find child f), (p child); simpl in *; try contradiction; auto.
      destruct alike_parent as [spelled counted]. rewrite counted.
      destruct (Nat.leb_spec n (length xs)); simpl; auto.
      apply add_agrees, first_represents; auto. split; assumption.
    - specialize (same s) as alike_s.
      destruct (PositiveMap.find s f) as [h|], (p s) as [xs|]; simpl in *; try contradiction; auto.
      destruct alike_s as [spelled counted]. rewrite counted.
      destruct (Nat.leb_spec n (length xs)); simpl; auto.
      apply add_agrees, first_represents; auto. split; assumption.
    - specialize (same s) as alike_s.
      destruct (PositiveMap.find s f), (p s); simpl in *; auto.
      apply remove_agrees. assumption.
  Qed.

  (** ** After any operations; refused ones are left out *)

  Definition or_stay {State : Type} (step : State -> operation -> option State) (state : State) o : State :=
    match step state o with Some next => next | None => state end.

  Definition plain_run (ops : list operation) : plain := fold_left (or_stay plain_step) ops plain_empty.
  Definition fast_run (ops : list operation) : fast := fold_left (or_stay fast_step) ops fast_empty.

  Lemma run_agrees ops : agree (fast_run ops) (plain_run ops).
  Proof.
    induction ops as [|o ops IH] using rev_ind; [apply empty_agree|].
    unfold fast_run, plain_run in *. rewrite !fold_left_app. simpl. unfold or_stay at 1 3.
    pose proof (step_agrees _ _ o IH) as same. unfold agree_or_refuse in same.
    destruct (fast_step _ o), (plain_step _ o); auto; contradiction.
  Qed.

  (** What the oracle is asked. *)
  Definition fast_visible W f s : option (list Cell) := option_map (window_or_all W) (PositiveMap.find s f).
  Definition fast_length f s : option nat := option_map count (PositiveMap.find s f).

  Theorem oracle_correct ops s W :
    fast_visible W (fast_run ops) s = option_map (visible W) (plain_run ops s) /\
    fast_length (fast_run ops) s = option_map (length (A:=Cell)) (plain_run ops s).
  Proof.
    pose proof (run_agrees ops s) as same. unfold fast_visible, fast_length.
    destruct (PositiveMap.find s (fast_run ops)) as [h|], (plain_run ops s) as [xs|]; try contradiction; auto.
    simpl in *. split; f_equal.
    - apply window_or_all_represents, same.
    - apply same.
  Qed.

  Theorem oracle_refuses_alike ops o :
    fast_step (fast_run ops) o = None <-> plain_step (plain_run ops) o = None.
  Proof.
    pose proof (step_agrees _ _ o (run_agrees ops)) as same. unfold agree_or_refuse in same.
    destruct (fast_step _ o), (plain_step _ o); try contradiction; split; congruence.
  Qed.
End FastSpec.

Arguments operation : clear implicits.
Arguments history : clear implicits.
Arguments plain : clear implicits.
Arguments fast : clear implicits.
