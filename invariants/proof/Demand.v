(* SPDX-License-Identifier: Apache-2.0 *)
(* The demand of a reservation, as a number computed before it (the planner; invariant A1: what an operation
   takes is what its plan said).

   For one sequence: a block for each table whose last block is shared, pinned, indexed by a hit or gone, and
   the blocks that the new cells need beyond those there are. The reservation takes exactly so many, whatever
   the choices say, and without choices it succeeds if and only if there is room for them. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results Room.
Import ListNotations.

Section Demand.

Context {A : Type} (cfg : config).
Notation B := (B cfg).
Implicit Types (w : work A) (p : pool A).
Notation open_tail := (open_tail cfg).
Notation extend := (extend cfg).
Notation extend_all := (extend_all cfg).

Section Arguments_of_a_reservation.

(* k cells from position `begin` on; `hit`: the last block is one that was hit, and stays as it is. *)
Variables (begin k : nat) (hit : bool).

(* The block that the first new cell falls into, if it does not start one. *)
Definition tail (t : table) : list nat :=
  if begin mod B =? 0 then [] else
  match at_ (entries t) (begin / B) with Some a => [a] | None => [] end.

(* Who holds it alone writes into it. *)
Definition writes_in_place (p : pool A) (a : nat) : bool :=
  negb hit && (get (refs p) a =? 1) && (get (pins p) a =? 0).

Definition tail_demand (p : pool A) (t : table) : nat :=
  if begin mod B =? 0 then 0 else
  match at_ (entries t) (begin / B) with
  | None => 1
  | Some a => if writes_in_place p a then 0 else 1
  end.

Definition new_blocks (t : table) : nat := cdiv cfg (begin + k) - length (entries t).

Fixpoint demand (p : pool A) (ts : list table) : nat :=
  match ts with [] => 0 | t :: ts => tail_demand p t + new_blocks t + demand p ts end.

Definition named (ts : list table) : list (option nat) := flat_map entries ts.
Definition tails_of (ts : list table) : list nat := flat_map tail ts.

(* ---------- new blocks ---------- *)

(* Nothing but room has changed for those who hold the blocks `es`, except those in `but`. *)
Definition kept (es : list (option nat)) (but : list nat) (w w' : work A) : Prop :=
  (forall c, 0 < count es c -> ~ In c but -> get (refs (pool_of w')) c = get (refs (pool_of w)) c) /\
  pins (pool_of w') = pins (pool_of w) /\ (choices w = [] -> choices w' = []).

Lemma kept_trans : forall es b1 b2 w1 w2 w3, kept es b1 w1 w2 -> kept es b2 w2 w3 -> kept es (b1 ++ b2) w1 w3.
Proof.
  intros es b1 b2 w1 w2 w3 (R1 & P1 & C1) (R2 & P2 & C2). split; [|split; [congruence|auto]].
  intros c U N. rewrite in_app_iff in N. rewrite R2, R1; tauto.
Qed.

Lemma take_keeps : forall w b w' es, sound (pool_of w) es -> take w = Done (b, w') ->
  sound (pool_of w') es /\ room w = S (room w') /\ kept es [] w w'.
Proof.
  intros w b w' es S H. destruct (take_step _ _ _ _ S H) as (S' & R & U & F & _ & P & _).
  split; [assumption|split; [assumption|split; [|split; [assumption|]]]].
  - intros c Uc _. apply F. intros ->. lia.
  - intro C. apply take_done in H. destruct H as [_ ->]. cbn. now rewrite C.
Qed.

Lemma take_blocks_takes : forall n w w' bs es, sound (pool_of w) es -> take_blocks n w = Done (w', bs) ->
  sound (pool_of w') es /\ room w = n + room w' /\ kept es [] w w' /\ length bs = n.
Proof.
  induction n as [|n IH]; intros w w' bs es S H; cbn in H.
  - take_apart. subst. repeat split; auto; apply S.
  - apply bind_done in H. destruct H as ([b w1] & T & H). apply bind_done in H.
    destruct H as ([w2 bs2] & T2 & H).
    injection H as <- <-. destruct (take_keeps _ _ _ _ S T) as (S1 & R1 & K1).
    destruct (IH _ _ _ _ S1 T2) as (S2 & R2 & K2 & L). split; [assumption|]. split; [lia|].
    split; [exact (kept_trans _ _ _ _ _ _ K1 K2)|]. cbn. now rewrite L.
Qed.

(* Why a call that takes blocks is refused: a choice is not legal, or less can be taken than it needs. *)
Definition short_of (needed : nat) (w : work A) (why : refusal) : Prop :=
  why = Bad_choice /\ choices w <> [] \/ why = No_room /\ room w < needed.

Lemma short_of_later : forall es but n m w w' why, kept es but w w' -> room w = n + room w' ->
  short_of m w' why -> short_of (n + m) w why.
Proof.
  intros es but n m w w' why (_ & _ & C) R [[E Ch]|[E L]]; [left|right]; (split; [assumption|]); [auto|lia].
Qed.

Lemma take_is_short : forall w why, take w = Refused why -> short_of 1 w why.
Proof.
  intros w why H. apply take_refused in H. destruct H as [H|(E & _ & N)]; [now left|]. right.
  apply no_room_iff in N. split; [assumption|lia].
Qed.

Lemma short_of_more : forall n m w why, n <= m -> short_of n w why -> short_of m w why.
Proof. intros n m w why H [[E C]|[E L]]; [left|right]; (split; [assumption|]); [assumption|lia]. Qed.

Lemma take_blocks_refused : forall n w es why, sound (pool_of w) es -> take_blocks n w = Refused why ->
  short_of n w why.
Proof.
  induction n as [|n IH]; intros w es why S H; cbn in H; [discriminate|].
  apply bind_refused in H. destruct H as [H|([b w1] & T & H)].
  - apply take_is_short in H. revert H. apply short_of_more. lia.
  - destruct (take_keeps _ _ _ _ S T) as (S1 & R1 & K1).
    apply bind_refused in H. destruct H as [H|([w2 bs] & _ & H)]; [|discriminate].
    apply (short_of_later es [] 1 n w w1); trivial. now apply (IH w1 es).
Qed.

(* ---------- the block that is there already ---------- *)

Lemma sound_without_entry : forall p t es a j, at_ (entries t) j = Some a ->
  sound p (entries t ++ es) -> sound p (Some a :: es).
Proof.
  intros p t es a j E. apply sound_less. intro b. rewrite count_app. cbn [count].
  destruct (one_cases a b) as [[-> ->]|[_ ->]]; [|lia]. pose proof (count_at _ _ _ E). lia.
Qed.

Lemma sound_tail : forall p es es', sound p (es ++ es') -> sound p es'.
Proof. intros p es es'. apply sound_less. intro b. rewrite count_app. lia. Qed.

Lemma open_tail_takes : forall w t w' t' es, sound (pool_of w) (entries t ++ es) ->
  open_tail begin hit (w, t) = Done (w', t') ->
  sound (pool_of w') es /\ room w = tail_demand (pool_of w) t + room w' /\ kept es (tail t) w w' /\
  length (entries t') = length (entries t).
Proof.
  intros w t w' t' es S H. pose proof (sound_tail _ _ _ S) as Se.
  unfold Growth.open_tail in H. unfold tail_demand, tail.
  destruct (begin mod B =? 0); [take_apart; subst; repeat split; auto; apply Se|].
  destruct (at_ (entries t) (begin / B)) as [a|] eqn:Ea.
  - unfold writes_in_place. destruct (negb hit && _ && _).
    + take_apart. subst. cbn. repeat split; auto; apply Se.
    + apply bind_done in H. destruct H as ([b w1] & T & H). injection H as <- <-.
      pose proof (sound_without_entry _ _ _ _ _ Ea S) as Sa.
      destruct (take_keeps _ _ _ _ Sa T) as (S1 & R1 & K1 & P1 & C1).
      pose proof (room_give_source cfg w1 a b (begin mod B) es S1) as R2. unfold give_source in R2.
      cbn [entries]. rewrite length_upd. split; [|split; [|split; [|reflexivity]]].
      * now apply (sound_give (copy cfg (pool_of w1) a b (begin mod B))).
      * lia.
      * split; [|split; [|exact C1]]; cbn [pool_of]; rewrite ?refs_give, ?pins_give; [|assumption].
        intros c U N. cbn in N. cbn [copy with_store refs].
        rewrite get_set_other by tauto. apply K1; [|tauto]. cbn [count]. lia.
  - apply bind_done in H. destruct H as ([b w1] & T & H). injection H as <- <-.
    destruct (take_keeps _ _ _ _ Se T) as (S1 & R1 & K1). cbn [entries]. rewrite length_upd.
    now (split; [|split; [|split]]).
Qed.

Lemma open_tail_refused : forall w t why, open_tail begin hit (w, t) = Refused why ->
  short_of (tail_demand (pool_of w) t) w why.
Proof.
  intros w t why H. unfold tail_demand. unfold Growth.open_tail in H.
  destruct (begin mod B =? 0); [discriminate|].
  destruct (at_ (entries t) (begin / B)) as [a|].
  - unfold writes_in_place. destruct (negb hit && _ && _); [discriminate|].
    apply bind_refused in H. destruct H as [H|([b w1] & _ & H)]; [now apply take_is_short|discriminate].
  - apply bind_refused in H. destruct H as [H|([b w1] & _ & H)]; [now apply take_is_short|discriminate].
Qed.

(* ---------- one table, all tables ---------- *)

Lemma extend_takes : forall w t w' t' es, sound (pool_of w) (entries t ++ es) ->
  extend begin k hit (w, t) = Done (w', t') ->
  sound (pool_of w') es /\ room w = tail_demand (pool_of w) t + new_blocks t + room w' /\
    kept es (tail t) w w'.
Proof.
  intros w t w' t' es S H. unfold Growth.extend in H. apply bind_done in H. destruct H as ([w1 t1] & O & H).
  apply bind_done in H. destruct H as ([w2 bs] & T & H). injection H as <- <-.
  destruct (open_tail_takes _ _ _ _ _ S O) as (S1 & R1 & K1 & L1).
  destruct (take_blocks_takes _ _ _ _ _ S1 T) as (S2 & R2 & K2 & _). unfold new_blocks. rewrite L1 in R2.
  split; [assumption|]. split; [lia|]. rewrite <- (app_nil_r (tail t)). exact (kept_trans _ _ _ _ _ _ K1 K2).
Qed.

Lemma extend_refused : forall w t es why, sound (pool_of w) (entries t ++ es) ->
  extend begin k hit (w, t) = Refused why -> short_of (tail_demand (pool_of w) t + new_blocks t) w why.
Proof.
  intros w t es why S H. unfold Growth.extend in H. apply bind_refused in H.
  destruct H as [H|([w1 t1] & O & H)].
  - apply open_tail_refused in H. revert H. apply short_of_more. lia.
  - destruct (open_tail_takes _ _ _ _ _ S O) as (S1 & R1 & K1 & L1).
    apply (short_of_later _ _ _ _ _ _ _ K1 R1).
    apply bind_refused in H. destruct H as [H|([w2 bs] & _ & H)]; [|discriminate].
    unfold new_blocks. rewrite <- L1. exact (take_blocks_refused _ _ _ _ S1 H).
Qed.

(* What the other tables need is not touched by what the first one takes. *)
Lemma demand_kept : forall es but w w' ts, kept es but w w' ->
  (forall c, In c (tails_of ts) -> 0 < count es c /\ ~ In c but) ->
  demand (pool_of w') ts = demand (pool_of w) ts.
Proof.
  intros es but w w' ts (R & P & _). induction ts as [|t ts IH]; intro H; [reflexivity|].
  cbn [demand]. rewrite IH by (intros c I; apply H; unfold tails_of; cbn; rewrite in_app_iff; now right).
  enough (E : tail_demand (pool_of w') t = tail_demand (pool_of w) t) by now rewrite E.
  unfold tail_demand. destruct (begin mod B =? 0) eqn:M; [reflexivity|].
  destruct (at_ (entries t) (begin / B)) as [a|] eqn:Ea; [|reflexivity].
  unfold writes_in_place. rewrite P. destruct (H a) as [U N].
  { unfold tails_of. cbn. rewrite in_app_iff. left. unfold tail. rewrite M, Ea. now left. }
  now rewrite R.
Qed.

Lemma tails_are_named : forall ts c, In c (tails_of ts) -> 0 < count (named ts) c.
Proof.
  induction ts as [|t ts IH]; intros c I; [destruct I|]. unfold tails_of in I. cbn in *.
  rewrite count_app. apply in_app_iff in I.
  destruct I as [I|I]; [|specialize (IH c I); unfold named in IH; lia].
  unfold tail in I. destruct (begin mod B =? 0); [destruct I|].
  destruct (at_ (entries t) (begin / B)) as [a|] eqn:E; [|destruct I]. destruct I as [<-|[]].
  pose proof (count_at _ _ _ E). lia.
Qed.

Lemma demand_of_the_rest : forall t ts w w', NoDup (tails_of (t :: ts)) -> kept (named ts) (tail t) w w' ->
  demand (pool_of w') ts = demand (pool_of w) ts.
Proof.
  intros t ts w w' N K. apply (demand_kept _ _ _ _ _ K). intros c I. split; [now apply tails_are_named|].
  intro It. change (NoDup (tail t ++ tails_of ts)) in N. clear K.
  induction (tail t) as [|a l IH]; [destruct It|].
  inversion_clear N as [|? ? Na Nl].
  destruct It as [<-|It]; [apply Na, in_app_iff; now right | now apply IH].
Qed.

Lemma NoDup_tails_rest : forall t ts, NoDup (tails_of (t :: ts)) -> NoDup (tails_of ts).
Proof.
  intros t ts. unfold tails_of. cbn. induction (tail t) as [|a l IH]; [trivial|]. intro N.
  inversion_clear N. now apply IH.
Qed.

(* What a reservation takes is its demand, whatever the choices. *)
Theorem takes_its_demand : forall ts w w' ts', sound (pool_of w) (named ts) -> NoDup (tails_of ts) ->
  extend_all begin k hit w ts = Done (w', ts') -> room w = demand (pool_of w) ts + room w'.
Proof.
  induction ts as [|t ts IH]; intros w w' ts' S N H; cbn [Growth.extend_all] in H.
  - take_apart. now subst.
  - apply bind_done in H. destruct H as ([w1 t1] & E & H). apply bind_done in H.
    destruct H as ([w2 ts2] & Es & H).
    injection H as <- <-. destruct (extend_takes _ _ _ _ _ S E) as (S1 & R1 & K1).
    specialize (IH _ _ _ S1 (NoDup_tails_rest _ _ N) Es). rewrite (demand_of_the_rest _ _ _ _ N K1) in IH.
    cbn [demand]. lia.
Qed.

Lemma extend_all_refused : forall ts w why, sound (pool_of w) (named ts) -> NoDup (tails_of ts) ->
  extend_all begin k hit w ts = Refused why -> short_of (demand (pool_of w) ts) w why.
Proof.
  induction ts as [|t ts IH]; intros w why S N H; cbn [Growth.extend_all] in H; [discriminate|].
  apply bind_refused in H. destruct H as [H|([w1 t1] & E & H)].
  - apply (extend_refused _ _ _ _ S) in H. revert H. apply short_of_more. cbn [demand]. lia.
  - destruct (extend_takes _ _ _ _ _ S E) as (S1 & R1 & K1). cbn [demand].
    apply (short_of_later _ _ _ _ _ _ _ K1 R1). rewrite <- (demand_of_the_rest _ _ _ _ N K1).
    apply bind_refused in H. destruct H as [H|([w2 ts2] & _ & H)]; [|discriminate].
    exact (IH _ _ S1 (NoDup_tails_rest _ _ N) H).
Qed.

(* Without choices it succeeds if and only if there is room for the demand. *)
Theorem room_needed : forall ts w, sound (pool_of w) (named ts) -> NoDup (tails_of ts) -> choices w = [] ->
  ((exists r, extend_all begin k hit w ts = Done r) <-> demand (pool_of w) ts <= room w).
Proof.
  intros ts w S N C. split.
  - intros [[w' ts'] H]. apply takes_its_demand in H; [lia|assumption|assumption].
  - intro R. destruct (extend_all begin k hit w ts) as [r|why] eqn:E; [now exists r|].
    apply extend_all_refused in E; trivial. destruct E as [[_ E]|[_ E]]; [contradiction|lia].
Qed.

Lemma extend_all_sound : forall ts w w' ts' es, sound (pool_of w) (named ts ++ es) ->
  extend_all begin k hit w ts = Done (w', ts') -> sound (pool_of w') es.
Proof.
  induction ts as [|t ts IH]; intros w w' ts' es S H; cbn [Growth.extend_all] in H.
  - take_apart. now subst.
  - apply bind_done in H. destruct H as ([w1 t1] & E & H). apply bind_done in H.
    destruct H as ([w2 ts2] & Es & H).
    injection H as <- <-. unfold named in S. cbn [flat_map] in S. rewrite <- app_assoc in S.
    destruct (extend_takes _ _ _ _ _ S E) as (S1 & _ & _). exact (IH _ _ _ _ S1 Es).
Qed.

End Arguments_of_a_reservation.
End Demand.
