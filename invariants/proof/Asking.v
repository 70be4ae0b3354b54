(* SPDX-License-Identifier: Apache-2.0 *)
(* What is wrong with a batch before any block is looked at, and what is known of a state in which room is
   counted (Manager::reserve, append_batch; scenario-format.md, "Smaller rules"). *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results Room Demand Choices Reservation Refusals.
Import ListNotations.

Section Asking.

Context {A : Type} (cfg : config).
Notation past_limit := (past_limit cfg).
Implicit Types (st : state A) (p : pool A).

(* A batch that is wrong whatever the state: empty, no cells for one, or one twice. *)
Definition wrong_batch (batch : list (nat * nat)) : Prop :=
  batch = [] \/ (exists s, In (s, 0) batch) \/ ~ NoDup (map fst batch).

Lemma ask_refused : forall sl batch seen why, ask sl seen batch = Refused why ->
  why = Unknown /\ (exists s, In s (map fst batch) /\ at_ sl s = None) \/
  why = Invalid /\ ((exists s, In (s, 0) batch) \/ ~ NoDup (map fst batch) \/
                    exists s, In s seen /\ In s (map fst batch)).
Proof.
  intros sl. induction batch as [|[s k] rest IH]; intros seen why H; cbn [ask] in H; [discriminate|].
  cbn [map fst]. apply bind_refused in H. destruct H as [H|(q & _ & H)].
  - apply find_seq_refused in H. destruct H as [E ->]. left. split; [reflexivity|]. exists s.
    split; [now left|assumption].
  - apply bind_refused in H. destruct H as [H|([] & _ & H)].
    + apply require_refused in H. destruct H as [H ->]. right. split; [reflexivity|].
      apply andb_false_iff in H. destruct H as [H|H].
      * apply Nat.ltb_ge in H. left. exists s. replace k with 0 by lia. now left.
      * apply negb_false_iff, mem_iff in H. right. right. exists s. split; [assumption|now left].
    + apply IH in H. destruct H as [(-> & s' & I & E)|(-> & [(s' & I)|[N|(s' & I & I')]])].
      * left. split; [reflexivity|]. exists s'. split; [now right|assumption].
      * right. split; [reflexivity|]. left. exists s'. now right.
      * right. split; [reflexivity|]. right. left. intro N'. inversion_clear N'. contradiction.
      * right. split; [reflexivity|]. right. destruct I as [<-|I].
        -- left. intro N. inversion_clear N. contradiction.
        -- right. exists s'. split; [assumption|now right].
Qed.

Lemma ask_done : forall sl batch seen, ask sl seen batch = Done tt <->
  (forall s, In s (map fst batch) -> exists q, at_ sl s = Some q) /\ (forall s, ~ In (s, 0) batch) /\
  NoDup (map fst batch) /\ forall s, In s seen -> ~ In s (map fst batch).
Proof.
  intros sl. induction batch as [|[s k] rest IH]; intros seen; cbn [ask map fst].
  - split; [intros _|reflexivity]. split; [intros s []|]. split; [intros s []|].
    split; [constructor|intros s _ []].
  - unfold find_seq. destruct (at_ sl s) as [q|] eqn:E; cbn [bind].
    + destruct (Nat.ltb_spec 0 k) as [K|K]; cbn [bind require andb].
      * destruct (mem s seen) eqn:M; cbn [bind require negb].
        -- apply mem_iff in M. split; [discriminate|]. intros (_ & _ & _ & D).
           now destruct (D s M (or_introl eq_refl)).
        -- apply mem_false_iff in M. rewrite IH. split.
           ++ intros (L & Z & N & D). split; [|split; [|split]].
              ** intros s' [<-|I]; [now exists q|auto].
              ** intros s' [I|I]; [injection I as _ ->; lia|now apply (Z s')].
              ** constructor; [|assumption]. apply D. now left.
              ** intros s' I [<-|I']; [contradiction|]. apply (D s'); [now right|assumption].
           ++ intros (L & Z & N & D). inversion_clear N as [|? ? Ns Nr]. split; [|split; [|split]]; trivial.
              ** intros s' I. apply L. now right.
              ** intros s' I. apply (Z s'). now right.
              ** intros s' [<-|I] I'; [contradiction|]. apply (D s' I). now right.
      * split; [discriminate|]. intros (_ & Z & _). destruct (Z s). replace k with 0 by lia. now left.
    + split; [discriminate|]. intros (L & _). destruct (L s (or_introl eq_refl)) as [q H]. congruence.
Qed.

(* What the refinement invariant knows about references and last blocks, as far as room needs it. *)
Definition well_kept (st : state A) : Prop :=
  sound (the_pool st) (all_named (seqs st)) /\ forall s q, is_seq st s q -> own_tails cfg q.

Lemma well_kept_batch : forall st (batch : list (nat * nat)), well_kept st -> NoDup (map fst batch) ->
  sound (the_pool st) (flat_map (held (seqs st)) (map fst batch) ++ []).
Proof.
  intros st batch [S _] N. revert S. apply sound_less. intro b. rewrite app_nil_r. now apply count_of_some.
Qed.

Lemma asked_is_askable : forall st batch, well_kept st -> ask (seqs st) [] batch = Done tt ->
  askable cfg batch (seqs st).
Proof.
  intros st batch [_ T] H. apply ask_done in H. destruct H as (L & _ & N & _). split; [assumption|].
  intros s I. destruct (L s I) as [q E]. exists q. split; [assumption|]. now apply (T s).
Qed.

(* A batch lacks room: one of its sequences does, after those before it have been served. *)
Definition batch_lacks_room (batch : list (nat * nat)) (cs : list nat) (st : state A) : Prop :=
  one_lacks_room cfg batch (Work (the_pool st) cs []) (seqs st).

Definition one_too_long (batch : list (nat * nat)) (st : state A) : Prop :=
  exists s k q, In (s, k) batch /\ is_seq st s q /\ past_limit (len q + rsv q + k).

Lemma is_short_enough_false : forall batch st, forallb (is_short_enough cfg (seqs st)) batch = false <->
  one_too_long batch st.
Proof.
  intros batch st. unfold one_too_long, is_seq.
  induction batch as [|[s k] rest IH]; cbn [forallb]; [split; [discriminate|intros (s & k & q & [] & _)]|].
  rewrite andb_false_iff, IH. unfold is_short_enough. cbn [fst snd]. split.
  - intros [H|(s' & k' & q & I & H)].
    + destruct (at_ (seqs st) s) as [q|] eqn:E; [|discriminate].
      apply within_limit_false in H. exists s, k, q. split; [now left|]. now split.
    + exists s', k', q. split; [now right|exact H].
  - intros (s' & k' & q & [I|I] & E & P).
    + injection I as <- <-. left. rewrite E. now apply within_limit_false.
    + right. now exists s', k', q.
Qed.

End Asking.
