(* SPDX-License-Identifier: Apache-2.0 *)
(* How many blocks can be taken, and what taking and giving back do to that number (allocator/block_pool.h;
   the arithmetic beneath invariant A1).

   `room` counts takeable blocks. A block that is taken makes it smaller by one, whichever it is; a block that
   is given back makes it larger by what `gain` says. That needs three facts about references, part of P2 and
   P3: no block stands twice in the free list, a free block has no reference, and a block has at least the
   references that the tables in question make (`sound`). *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine Entries Results.
Import ListNotations.

Section Room.

Context {A : Type} (cfg : config).

(* ---------- what is known of references ---------- *)

(* Enough for the arithmetic of room. *)
Definition sound (p : pool A) (es : list (option nat)) : Prop :=
  NoDup (free p) /\ (forall b, In b (free p) -> get (refs p) b = 0) /\
  (forall b, count es b <= get (refs p) b).

Lemma sound_less : forall p es es', (forall b, count es' b <= count es b) -> sound p es -> sound p es'.
Proof.
  intros p es es' H (N & F & U). repeat split; [assumption|assumption|].
  intro b. etransitivity; [apply H | apply U].
Qed.

Lemma sound_alone : forall p es, sound p es -> sound p [].
Proof. intros p es. apply sound_less. cbn. lia. Qed.

Lemma used_is_not_free : forall p es b, sound p es -> 0 < count es b -> ~ In b (free p).
Proof. intros p es b (_ & F & U) H I. specialize (F b I). specialize (U b). lia. Qed.

(* ---------- takeable ---------- *)

Lemma takeable_iff : forall (w : work A) b, takeable w b = true <->
  In b (free (pool_of w)) /\ get (pins (pool_of w)) b = 0 /\ ~ In b (sources w).
Proof.
  intros w b. unfold takeable.
  rewrite !andb_true_iff, mem_iff, Nat.eqb_eq, negb_true_iff, mem_false_iff. tauto.
Qed.

Lemma no_room_iff : forall w : work A,
  room w = 0 <-> forall b, In b (free (pool_of w)) -> takeable w b = false.
Proof.
  intro w. unfold room. rewrite length_zero_iff_nil. split.
  - intros H b I. destruct (takeable w b) eqn:E; [|reflexivity].
    assert (I' : In b []) by (rewrite <- H; apply filter_In; now split). destruct I'.
  - intro H. destruct (filter _ _) as [|b l] eqn:E; [reflexivity|].
    assert (I : In b (b :: l)) by now left. rewrite <- E in I. apply filter_In in I.
    destruct I as [I T]. rewrite (H b I) in T. discriminate.
Qed.

(* Room depends on the takeable blocks only, not on the order of the free list. *)
Lemma room_eq : forall w w' : work A, NoDup (free (pool_of w)) -> NoDup (free (pool_of w')) ->
  (forall b, takeable w b = takeable w' b) -> room w = room w'.
Proof.
  assert (Le : forall w w' : work A, NoDup (free (pool_of w)) -> (forall b, takeable w b = takeable w' b) ->
    room w <= room w').
  { intros w w' N H. unfold room. apply NoDup_incl_length; [now apply NoDup_filter|].
    intros b I. apply filter_In in I. destruct I as [_ T]. rewrite H in T. apply filter_In. split; [|exact T].
    now apply takeable_iff in T. }
  intros w w' N N' H. apply Nat.le_antisymm; apply Le; auto.
Qed.

(* One takeable block more: room is one larger. *)
Lemma room_succ : forall (w w' : work A) b, NoDup (free (pool_of w)) -> NoDup (free (pool_of w')) ->
  takeable w b = false -> takeable w' b = true ->
  (forall c, c <> b -> takeable w c = takeable w' c) -> room w' = S (room w).
Proof.
  intros w w' b N N' F T H. unfold room.
  set (l := filter (takeable w) (free (pool_of w))). set (l' := filter (takeable w') (free (pool_of w'))).
  assert (I : forall (v : work A) c, In c (filter (takeable v) (free (pool_of v))) <-> takeable v c = true).
  { intros v c. rewrite filter_In. split; [tauto|]. intro E. split; [|exact E]. now apply takeable_iff in E. }
  assert (Nl : NoDup l) by now apply NoDup_filter.
  assert (Nl' : NoDup l') by now apply NoDup_filter.
  assert (Nb : NoDup (b :: l)) by (constructor; [unfold l; rewrite I; congruence | assumption]).
  change (S (length l)) with (length (b :: l)).
  apply Nat.le_antisymm; apply NoDup_incl_length; trivial; intros c Ic.
  - destruct (Nat.eq_dec c b) as [->|Hc]; [now left|]. right. apply I. apply I in Ic. now rewrite H.
  - apply I. destruct Ic as [->|Ic]; [assumption|]. apply I in Ic.
    destruct (Nat.eq_dec c b) as [->|Hc]; [assumption|]. now rewrite <- H.
Qed.

(* ---------- taking ---------- *)

Lemma take_done : forall (w : work A) b w', take w = Done (b, w') ->
  takeable w b = true /\ w' = Work (claim (pool_of w) b) (tl (choices w)) (sources w).
Proof.
  intros w b w' H. unfold take in H. destruct (choices w) as [|c cs].
  - destruct (find (takeable w) (free (pool_of w))) as [c|] eqn:E; [|discriminate].
    injection H as <- <-. apply find_some in E. now split.
  - destruct (takeable w c) eqn:E; [|discriminate]. injection H as <- <-. now split.
Qed.

Lemma take_refused : forall (w : work A) why, take w = Refused why ->
  why = Bad_choice /\ choices w <> [] \/
  why = No_room /\ choices w = [] /\ forall b, In b (free (pool_of w)) -> takeable w b = false.
Proof.
  intros w why H. unfold take in H. destruct (choices w) as [|c cs].
  - destruct (find (takeable w) (free (pool_of w))) as [c|] eqn:E; [discriminate|].
    injection H as <-. right. repeat split. now apply find_none.
  - destruct (takeable w c); [discriminate|]. injection H as <-. left. now split.
Qed.

(* No room: the choices are used up, and nothing can be taken. *)
Theorem take_no_room : forall w : work A, take w = Refused No_room <->
  choices w = [] /\ forall b, In b (free (pool_of w)) -> takeable w b = false.
Proof.
  intro w. split.
  - intro H. apply take_refused in H. destruct H as [[H _]|(_ & C & N)]; [discriminate|now split].
  - intros [C N]. destruct (take w) as [[b w']|why] eqn:E.
    + apply take_done in E. destruct E as [T _]. pose proof T as I. apply takeable_iff in I.
      rewrite N in T by tauto. discriminate.
    + apply take_refused in E. destruct E as [[_ E]|(-> & _)]; [contradiction|reflexivity].
Qed.

(* Without choices a block is taken if there is room. *)
Lemma take_succeeds : forall (w : work A), choices w = [] -> 0 < room w ->
  exists b w', take w = Done (b, w') /\ choices w' = [].
Proof.
  intros w C R. destruct (take w) as [[b w']|why] eqn:E.
  - exists b, w'. split; [reflexivity|]. apply take_done in E. destruct E as [_ ->]. cbn. now rewrite C.
  - apply take_refused in E. destruct E as [[_ E]|(_ & _ & E)]; [congruence|].
    apply no_room_iff in E. lia.
Qed.

Lemma takeable_claim : forall (w : work A) cs b c, takeable (Work (claim (pool_of w) b) cs (sources w)) c =
  takeable w c && negb (c =? b).
Proof.
  intros w cs b c. apply eq_true_iff_eq. rewrite andb_true_iff, !takeable_iff, negb_true_iff, Nat.eqb_neq.
  cbn.
  rewrite in_without. tauto.
Qed.

(* Whichever block is taken, room is one smaller, and nothing else changes for those who hold blocks. *)
Lemma take_step : forall (w : work A) b w' es, sound (pool_of w) es -> take w = Done (b, w') ->
  sound (pool_of w') es /\ room w = S (room w') /\ count es b = 0 /\
  (forall c, c <> b -> get (refs (pool_of w')) c = get (refs (pool_of w)) c) /\ ~ In b (free (pool_of w')) /\
  pins (pool_of w') = pins (pool_of w) /\ open (pool_of w') = open (pool_of w) /\ sources w' = sources w.
Proof.
  intros w b w' es S H. apply take_done in H. destruct H as [T ->].
  pose proof S as (N & F & U). pose proof T as T'. apply takeable_iff in T'. destruct T' as (I & _ & _).
  assert (U0 : count es b = 0) by (specialize (U b); rewrite (F b I) in U; lia).
  assert (N' : NoDup (without b (free (pool_of w)))) by now apply NoDup_filter.
  repeat split; cbn [pool_of free refs claim with_free with_index with_refs].
  - assumption.
  - intros c Ic. apply in_without in Ic. destruct Ic as [Ic Hc]. rewrite get_set_other by congruence.
    now apply F.
  - intro c. destruct (Nat.eq_dec b c) as [<-|Hc]; [lia|]. rewrite get_set_other by congruence. apply U.
  - apply room_succ with (b := b); try assumption.
    + rewrite takeable_claim, Nat.eqb_refl. apply andb_false_r.
    + intros c Hc. apply Nat.eqb_neq in Hc. rewrite takeable_claim, Hc. apply andb_true_r.
  - assumption.
  - intros c Hc. now rewrite get_set_other by congruence.
  - rewrite in_without. tauto.
Qed.

(* ---------- giving back ---------- *)

(* What a block that is given back adds to the room: one, if it was the last reference, no device step is
   open, nobody pins it, and it is no source of a copy of this call. *)
Definition gain (w : work A) (b : nat) : nat :=
  if (get (refs (pool_of w)) b =? 1) && (length (open (pool_of w)) =? 0) &&
     (get (pins (pool_of w)) b =? 0) && negb (mem b (sources w)) then 1 else 0.

Definition give_w (w : work A) (b : nat) : work A := Work (give (pool_of w) b) (choices w) (sources w).

Lemma free_give : forall (p : pool A) b, free (give p b) =
  if (get (refs p) b =? 1) && (length (open p) =? 0) then b :: free p else free p.
Proof.
  intros p b. unfold give. destruct (get (refs p) b =? 1); [destruct (open p)|]; reflexivity.
Qed.

Lemma refs_give : forall (p : pool A) b, refs (give p b) = set (refs p) b (get (refs p) b - 1).
Proof.
  intros p b. unfold give. destruct (get (refs p) b =? 1); [destruct (open p)|]; reflexivity.
Qed.

Lemma pins_give : forall (p : pool A) b, pins (give p b) = pins p.
Proof.
  intros p b. unfold give. destruct (get (refs p) b =? 1); [destruct (open p)|]; reflexivity.
Qed.

Lemma open_give : forall (p : pool A) b, open (give p b) = open p.
Proof.
  intros p b. unfold give.
  destruct (get (refs p) b =? 1); [destruct (open p) eqn:E|]; cbn; congruence.
Qed.

Lemma sound_give : forall p b es, sound p (Some b :: es) -> sound (give p b) es.
Proof.
  intros p b es S. assert (Ub : 0 < count (Some b :: es) b) by (cbn; rewrite one_same; lia).
  pose proof (used_is_not_free _ _ _ S Ub) as Nb. destruct S as (N & F & U).
  repeat split; rewrite ?free_give, ?refs_give.
  - destruct (_ && _); [constructor|]; assumption.
  - intros c I. destruct (Nat.eq_dec b c) as [<-|Hc].
    + rewrite get_set_same. destruct (Nat.eqb_spec (get (refs p) b) 1) as [->|]; [reflexivity|]. cbn in I.
      tauto.
    + rewrite get_set_other by assumption. apply F.
      destruct (_ && _); [destruct I as [I|I]; [congruence|]|]; assumption.
  - intro c. specialize (U c). cbn [count] in U. unfold one in U. rewrite get_set.
    destruct (Nat.eqb_spec b c) as [E|E]; [subst c|]; lia.
Qed.

Lemma takeable_give_other : forall (w : work A) b c, c <> b -> takeable (give_w w b) c = takeable w c.
Proof.
  intros w b c H. apply eq_true_iff_eq. rewrite !takeable_iff. cbn. rewrite free_give, pins_give.
  destruct (_ && _); cbn; intuition congruence.
Qed.

Lemma takeable_give_same : forall w b, ~ In b (free (pool_of w)) ->
  takeable (give_w w b) b = negb (gain w b =? 0).
Proof.
  intros w b N. unfold gain. apply eq_true_iff_eq. rewrite takeable_iff. cbn. rewrite free_give, pins_give.
  destruct ((get (refs (pool_of w)) b =? 1) && _); cbn.
  - destruct (Nat.eqb_spec (get (pins (pool_of w)) b) 0) as [E|E]; cbn; [|intuition discriminate].
    destruct (mem b (sources w)) eqn:M; cbn.
    + apply mem_iff in M. intuition discriminate.
    + apply mem_false_iff in M. intuition.
  - intuition discriminate.
Qed.

Lemma room_give : forall w b es, sound (pool_of w) (Some b :: es) ->
  room (give_w w b) = room w + gain w b.
Proof.
  intros w b es S. pose proof (sound_give _ _ _ S) as (N' & _).
  assert (Nb : ~ In b (free (pool_of w)))
    by (apply (used_is_not_free _ _ _ S); cbn; rewrite one_same; lia).
  pose proof (takeable_give_same w b Nb) as T. destruct S as (N & _).
  assert (Fb : takeable w b = false).
  { destruct (takeable w b) eqn:E; [|reflexivity]. apply takeable_iff in E. tauto. }
  unfold gain in *. destruct (_ && _ && _ && _).
  - rewrite Nat.add_1_r. apply room_succ with (b := b); trivial.
    intros c Hc. symmetry. now apply takeable_give_other.
  - rewrite Nat.add_0_r. apply room_eq; trivial. intro c.
    destruct (Nat.eq_dec c b) as [->|Hc]; [now rewrite T|]. now apply takeable_give_other.
Qed.

(* The source of a copy is given back too, but this call cannot take it: room stays. *)
Definition give_source (w : work A) (a b n : nat) : work A :=
  Work (give (copy cfg (pool_of w) a b n) a) (choices w) (a :: sources w).

Lemma room_give_source : forall w a b n es, sound (pool_of w) (Some a :: es) ->
  room (give_source w a b n) = room w.
Proof.
  intros w a b n es S. assert (Na : ~ In a (free (pool_of w)))
    by (apply (used_is_not_free _ _ _ S); cbn; rewrite one_same; lia).
  change (sound (copy cfg (pool_of w) a b n) (Some a :: es)) in S.
  pose proof (sound_give _ _ _ S) as (N' & _).
  destruct S as (N & _). apply room_eq; trivial. intro c. apply eq_true_iff_eq. rewrite !takeable_iff. cbn.
  rewrite free_give, pins_give. cbn. destruct (_ && _); cbn; intuition congruence.
Qed.

End Room.
