(* SPDX-License-Identifier: Apache-2.0 *)
(* When the operations that need no room are refused, and with which error, exactly (allocator/error.h;
   scenario-format.md, `expect.error` and "Smaller rules"): each theorem is an "if and only if" between a
   refusal and a condition on the state and the arguments. None of them holds No_room. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Results.
Import ListNotations.

Section Refusals.

Context {A : Type} (cfg : config).
Notation B := (B cfg).
Notation commit := (commit cfg).
Notation cancel := (cancel cfg).
Notation fork := (fork cfg).
Notation truncate := (truncate cfg).
Notation release := (release cfg).
Implicit Types (st : state A) (p : pool A).

(* ---------- conditions in plain words ---------- *)

Definition unknown (st : state A) (s : nat) : Prop := at_ (seqs st) s = None.
Definition is_seq (st : state A) (s : nat) (q : seq) : Prop := at_ (seqs st) s = Some q.

Definition taken_name (st : state A) (s : nat) : Prop := is_vacant (seqs st) s = false.

Definition past_limit (n : nat) : Prop := 0 < limit cfg /\ limit cfg < n.

(* A cell that the query at position n sees, outside the sinks, is no longer held. *)
Definition misses (n : nat) (q : seq) : Prop :=
  exists g t i, In (g, t) (combine (groups cfg) (tables q)) /\ need g n <= i < n /\
    sink_blocks cfg g * B <= i < lo t.

Lemma within_limit_false : forall n, within_limit cfg n = false <-> past_limit n.
Proof.
  intro n. unfold within_limit, past_limit. rewrite orb_false_iff, Nat.eqb_neq, Nat.leb_gt. lia.
Qed.

Lemma all_resident_false : forall n q, all_resident cfg n q = false <-> misses n q.
Proof.
  intros n q. unfold all_resident, misses. induction (combine (groups cfg) (tables q)) as [|[g t] l IH]; cbn.
  - split; [discriminate|intros (g & t & i & [] & _)].
  - rewrite andb_false_iff, IH. unfold is_resident, covers. rewrite orb_false_iff, !Nat.leb_gt. split.
    + intros [[H1 H2]|(g' & t' & i & I & H)].
      * exists g, t, (Nat.max (need g n) (sink_blocks cfg g * B)). split; [now left|]. lia.
      * exists g', t', i. split; [now right|exact H].
    + intros (g' & t' & i & [E|I] & H1 & H2).
      * injection E as <- <-. left. lia.
      * right. now exists g', t', i.
Qed.

(* ---------- sequences ---------- *)

Theorem commit_refused : forall hs s cells st why, commit hs s cells st = Refused why <->
  why = Unknown /\ unknown st s \/
  why = Not_reserved /\ exists q, is_seq st s q /\ rsv q < length cells.
Proof.
  intros hs s cells st why. unfold Machine.commit, commit_one, unknown, is_seq, find_seq.
  destruct (at_ (seqs st) s) as [q|]; cbn [bind].
  - destruct cells as [|c cells].
    + cbn. split; [discriminate|intros [[_ H]|(_ & q' & _ & H)]; [discriminate|lia]].
    + destruct (Nat.leb_spec (length (c :: cells)) (rsv q)) as [L|L]; cbn [bind require].
      * destruct (commit_all _ _ _ _ _ _ _ _) as [p ts]. cbn [bind].
        split; [discriminate|intros [[_ H]|(_ & q' & H & L')]; [discriminate|]]. injection H as <-. lia.
      * split.
        -- intro H. injection H as <-. right. split; [reflexivity|]. now exists q.
        -- intros [[_ H]|(-> & _)]; [discriminate|reflexivity].
  - split; [intro H; injection H as <-; now left|].
    intros [[-> _]|(_ & q' & H & _)]; [reflexivity|discriminate].
Qed.

Theorem cancel_refused : forall s st why, cancel s st = Refused why <-> why = Unknown /\ unknown st s.
Proof.
  intros s st why. unfold Machine.cancel, unknown. rewrite bind_refused, find_seq_refused. split.
  - intros [[H ->]|(q & _ & H)]; [now split|]. now destruct (rsv q =? 0).
  - intros [-> H]. now left.
Qed.

Theorem truncate_refused : forall s n st why, truncate s n st = Refused why <->
  why = Unknown /\ unknown st s \/
  exists q, is_seq st s q /\ (why = Invalid /\ len q < n \/ why = Evicted /\ n <= len q /\ misses n q).
Proof.
  intros s n st why. unfold Machine.truncate, unknown, is_seq, find_seq.
  destruct (at_ (seqs st) s) as [q|]; cbn [bind].
  - destruct (Nat.leb_spec n (len q)) as [L|L]; cbn [bind require].
    + destruct (all_resident cfg n q) eqn:R; cbn [bind require].
      * split; [discriminate|].
        intros [[_ H]|(q' & H & [[_ H1]|(_ & _ & M)])]; [discriminate| |]; injection H as <-; [lia|].
        apply all_resident_false in M. congruence.
      * apply all_resident_false in R. split.
        -- intro H. injection H as <-. right. exists q. tauto.
        -- intros [[_ H]|(q' & H & [[_ H1]|(-> & _)])]; [discriminate| |reflexivity]. injection H as <-. lia.
    + split.
      * intro H. injection H as <-. right. exists q. tauto.
      * intros [[_ H]|(q' & H & [[-> H1]|(_ & H1 & _)])]; [discriminate|reflexivity|]. injection H as <-. lia.
  - split; [intro H; injection H as <-; now left|].
    intros [[-> _]|(q & H & _)]; [reflexivity|discriminate].
Qed.

Theorem fork_refused : forall s t n st why, fork s t n st = Refused why <->
  why = Unknown /\ unknown st s \/
  exists q, is_seq st s q /\
    (why = Invalid /\ (taken_name st t \/ rsv q = 0 /\ len q < n) \/
     why = Busy /\ ~ taken_name st t /\ 0 < rsv q \/
     why = Evicted /\ ~ taken_name st t /\ rsv q = 0 /\ n <= len q /\ misses n q).
Proof.
  intros s t n st why. unfold Machine.fork, unknown, is_seq, find_seq, taken_name.
  destruct (at_ (seqs st) s) as [q|]; cbn [bind].
  - assert (X : forall P : seq -> Prop, (exists q', Some q = Some q' /\ P q') <-> P q).
    { intro P. split; [intros (q' & E & H); now injection E as ->|intro H; now exists q]. }
    rewrite X. rewrite <- all_resident_false.
    destruct (is_vacant (seqs st) t); cbn [bind require]; [|split; [intro H; injection H as <-; tauto|]].
    + destruct (Nat.eqb_spec (rsv q) 0) as [Z|Z]; cbn [bind require].
      * destruct (Nat.leb_spec n (len q)) as [L|L]; cbn [bind require].
        -- destruct (all_resident cfg n q); cbn [bind require]; split; try discriminate;
             try (intro H; injection H as <-);
             intuition (try discriminate; try lia; congruence).
        -- split; [intro H; injection H as <-|]; intuition (try discriminate; try lia; congruence).
      * split; [intro H; injection H as <-|]; intuition (try discriminate; try lia; congruence).
    + intuition congruence.
  - split; [intro H; injection H as <-; now left|].
    intros [[-> _]|(q & H & _)]; [reflexivity|discriminate].
Qed.

Theorem release_refused : forall hs s keep st why,
  release hs s keep st = Refused why <-> why = Unknown /\ unknown st s.
Proof.
  intros hs s keep st why. unfold Machine.release, unknown. rewrite bind_refused, find_seq_refused. split.
  - intros [[H ->]|(q & _ & H)]; [now split|discriminate].
  - intros [-> H]. now left.
Qed.

(* ---------- steps and pins ---------- *)

Theorem begin_refused : forall i p why, step_begin i p = Refused why <-> why = Invalid /\ In i (open p).
Proof.
  intros i p why. unfold step_begin. rewrite bind_refused, require_refused, negb_false_iff, mem_iff. split.
  - intros [[I ->]|(u & _ & H)]; [now split|discriminate].
  - intros [-> I]. now left.
Qed.

Theorem end_refused : forall i p why, step_end i p = Refused why <-> why = Invalid /\ ~ In i (open p).
Proof.
  intros i p why. unfold step_end. rewrite bind_refused, require_refused, mem_false_iff. split.
  - intros [[I ->]|(u & _ & H)]; [now split|discriminate].
  - intros [-> I]. now left.
Qed.

Lemma once_refused : forall (f : result (pool A) -> nat -> result (pool A)) bs why,
  (forall b, f (Refused why) b = Refused why) -> fold_left f bs (Refused why) = Refused why.
Proof. intros f bs why H. induction bs as [|b bs IH]; cbn; [reflexivity|]. now rewrite H. Qed.

Theorem pin_refused : forall bs p why, fold_left pin_one bs (Done p) = Refused why <->
  why = Bad_choice /\ exists b, In b bs /\ get (index p) b = None.
Proof.
  induction bs as [|b bs IH]; intros p why; cbn [fold_left].
  - split; [discriminate|intros (_ & b & [] & _)].
  - unfold pin_one at 2. cbn [bind]. destruct (get (index p) b) as [k|] eqn:E; cbn [bind require].
    + rewrite IH. cbn [with_pins index].
      split; intros (-> & c & I & H); (split; [reflexivity|]); exists c.
      * split; [now right|assumption].
      * destruct I as [<-|I]; [congruence|now split].
    + rewrite once_refused by reflexivity. split.
      * intro H. injection H as <-. split; [reflexivity|]. exists b. split; [now left|assumption].
      * now intros [-> _].
Qed.

Definition times (b : nat) (bs : list nat) : nat := count_occ Nat.eq_dec bs b.

Theorem unpin_refused : forall bs p why, fold_left unpin_one bs (Done p) = Refused why <->
  why = Invalid /\ exists b, get (pins p) b < times b bs.
Proof.
  unfold times. induction bs as [|b bs IH]; intros p why; cbn [fold_left].
  - split; [discriminate|intros (_ & b & H)]. cbn in H. lia.
  - unfold unpin_one at 2. cbn [bind].
    destruct (Nat.ltb_spec 0 (get (pins p) b)) as [L|L]; cbn [bind require].
    + rewrite IH. cbn [with_pins pins].
      split; intros (-> & c & H); (split; [reflexivity|]); exists c; rewrite get_set in *;
        cbn [count_occ] in *;
        destruct (Nat.eq_dec b c) as [E|E], (Nat.eqb_spec b c); subst; try contradiction; lia.
    + rewrite once_refused by reflexivity. split.
      * intro H. injection H as <-. split; [reflexivity|]. exists b. cbn [count_occ].
        destruct (Nat.eq_dec b b); [lia|contradiction].
      * now intros [-> _].
Qed.

End Refusals.
