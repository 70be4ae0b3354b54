(* SPDX-License-Identifier: Apache-2.0 *)
(* The prefix lookup is right (blocktable/prefix_search.h; invariant X2, and "Identity is equality").

   `best_cut` says how many cells a new sequence would find. It is sound: there are hits of that length which
   an admission accepts. It is maximal: no hits that an admission accepts are longer. And what an admission
   accepts agrees with the query: every block that is hit is known by a content that equals the query from
   position 0 on, as far as the block reaches; no hash occurs in the statement. *)
From Coq Require Import List Arith Bool Lia.
From Kvpane Require Import TotalMap Machine.
Import ListNotations.

Section Lookup.

Context {A : Type} (eqb : A -> A -> bool) (cfg : config).
Hypothesis eqb_ok : forall x y, eqb x y = true <-> x = y.

Notation B := (B cfg).
Hypothesis B_pos : 0 < B.

Notation key_block := (key_block cfg).
Notation agreement := (agreement eqb).
Notation is_prefix := (is_prefix eqb).
Notation holds := (holds eqb cfg).
Notation hits_ok := (hits_ok eqb cfg).
Notation all_hits_ok := (all_hits_ok eqb cfg).
Notation candidates := (candidates eqb cfg).
Notation best_cut := (best_cut eqb cfg).

(* ---------- prefixes ---------- *)

Lemma is_prefix_iff : forall a b, is_prefix a b = true <-> firstn (length a) b = a.
Proof.
  induction a as [|x a IH]; intros [|y b]; cbn; split; intro H; try reflexivity; try discriminate.
  - apply andb_true_iff in H. destruct H as [E H]. apply eqb_ok in E. apply IH in H. now rewrite E, H.
  - injection H as E H. apply andb_true_iff. split; [now apply eqb_ok | now apply IH].
Qed.

Lemma agreement_le_content : forall a b, agreement a b <= length b.
Proof.
  induction a as [|x a IH]; intros [|y b]; cbn; try lia. destruct (eqb x y); [specialize (IH b)|]; lia.
Qed.

Lemma agreement_iff : forall m q c, m <= length q ->
  (m <= agreement q c <-> m <= length c /\ is_prefix (firstn m q) c = true).
Proof.
  induction m as [|m IH]; intros q c Hm.
  - cbn. split; [split; [lia | reflexivity] | lia].
  - destruct q as [|x q], c as [|y c]; cbn in *; try lia.
    destruct (eqb x y); cbn.
    + rewrite <- Nat.succ_le_mono, (IH q c) by lia. intuition lia.
    + split; [lia | intros [_ H]; discriminate].
Qed.

(* ---------- what a hit says ---------- *)

(* How far entry j of a prefix of `cut` cells reaches. *)
Definition reach (cut j : nat) : nat := Nat.min ((j + 1) * B) cut.

(* Identity is equality: block b is known by a content of this group that ends in entry j and equals the query
   from position 0 to the end of what the entry holds of the prefix. *)
Definition known_for (p : pool A) (query : list A) (cut gi j b : nat) : Prop :=
  exists k, get (index p) b = Some k /\ in_group k = gi /\ key_block k = j /\
    reach cut j <= length (content k) /\ firstn (reach cut j) (content k) = firstn (reach cut j) query.

Lemma holds_iff : forall p query cut gi j b, cut <= length query ->
  (holds p query cut gi j b = true <-> known_for p query cut gi j b).
Proof.
  intros p query cut gi j b Hcut. unfold Prefix.holds, known_for. fold (reach cut j).
  assert (Hr : length (firstn (reach cut j) query) = reach cut j)
    by (rewrite firstn_length; unfold reach; lia).
  destruct (get (index p) b) as [k|]; cbn.
  - rewrite !andb_true_iff, !Nat.eqb_eq, Nat.leb_le, is_prefix_iff, Hr. split.
    + intros [[G K] [L P]]. now exists k.
    + intros (k' & E & G & K & L & P). injection E as <-. auto.
  - split; [discriminate | intros (k & E & _); discriminate].
Qed.

Lemma has_block_iff : forall p query cut gi j, cut <= length query ->
  (has_block (candidates p query) gi j (reach cut j) = true <->
   exists b, b < N cfg /\ holds p query cut gi j b = true).
Proof.
  intros p query cut gi j Hcut. unfold has_block, Prefix.candidates.
  assert (Hr : reach cut j <= length query) by (unfold reach; lia).
  rewrite existsb_exists. split.
  - intros (((gi', j'), m') & I & E). apply in_flat_map in I. destruct I as (b & Ib & I).
    apply in_seq in Ib. exists b. split; [lia|].
    unfold Prefix.holds. fold (reach cut j). destruct (get (index p) b) as [k|]; [|contradiction].
    destruct I as [I|[]]. injection I as <- <- <-.
    apply andb_true_iff in E. destruct E as [E M]. apply andb_true_iff in E. destruct E as [G J].
    apply Nat.leb_le, agreement_iff in M; [|assumption]. destruct M as [L P].
    apply Nat.leb_le in L. now rewrite G, J, L, P.
  - intros (b & Ib & H). unfold Prefix.holds in H. fold (reach cut j) in H.
    destruct (get (index p) b) as [k|] eqn:Ek; [|discriminate].
    rewrite !andb_true_iff in H. destruct H as [[G J] [L P]].
    exists (in_group k, key_block k, agreement query (content k)). split.
    + apply in_flat_map. exists b. split; [apply in_seq; lia|]. rewrite Ek. now left.
    + rewrite G, J. cbn. apply Nat.leb_le, agreement_iff; [assumption|]. now apply Nat.leb_le in L.
Qed.

(* ---------- the run of held entries that ends at the last one ---------- *)

Lemma all_held_iff : forall es : list (option nat),
  forallb (fun e => match e with Some _ => true | None => false end) es = true <->
  forall i, i < length es -> at_ es i <> None.
Proof.
  induction es as [|e es IH]; cbn; [split; [intros; lia | reflexivity]|].
  rewrite andb_true_iff, IH. unfold at_. split.
  - intros [E H] [|i] Hi; cbn; [now destruct e | apply H; lia].
  - intro H. split.
    + specialize (H 0 ltac:(lia)). cbn in H. now destruct e.
    + intros i Hi. apply (H (S i)). lia.
Qed.

Lemma after_run_begin_is_held : forall es n i, run_begin n es <= n + i -> i < length es -> at_ es i <> None.
Proof.
  unfold at_. induction es as [|[b|] es IH]; cbn; intros n i H Hi; [lia| |].
  - destruct (forallb _ es) eqn:E.
    + destruct i as [|i]; [discriminate|]. now apply (proj1 (all_held_iff es) E i ltac:(lia)).
    + destruct i as [|i]; [discriminate|]. apply (IH (S n)); lia.
  - destruct i as [|i].
    + assert (G : forall es n, n <= run_begin n es).
      { clear. induction es as [|[b|] es IH]; cbn; intro n; [lia| |].
        - destruct (forallb _ es); [lia|]. specialize (IH (S n)). lia.
        - specialize (IH (S n)). lia. }
      specialize (G es (S n)). lia.
    + apply (IH (S n)); lia.
Qed.

Lemma run_begin_le : forall es n f, f <= length es ->
  (forall i, f <= i < length es -> at_ es i <> None) -> run_begin n es <= n + f.
Proof.
  unfold at_. induction es as [|e es IH]; cbn; intros n f Hf H; [lia|].
  destruct f as [|f].
  - destruct e as [b|]; [|now destruct (H 0 ltac:(lia))].
    replace (forallb _ es) with true; [lia|]. symmetry. apply all_held_iff.
    intros i Hi. apply (H (S i)). lia.
  - assert (G : run_begin (S n) es <= S n + f).
    { apply IH; [lia|]. intros i Hi. apply (H (S i)). lia. }
    destruct e as [b|]; [destruct (forallb _ es)|]; lia.
Qed.

(* ---------- a cut can be hit: there are hits that an admission accepts ---------- *)

Lemma last_entry : forall cut, 0 < cut -> (cut - 1) / B < cdiv cfg cut.
Proof.
  intros cut H. unfold cdiv. replace (cut + (B - 1)) with (cut - 1 + 1 * B) by lia.
  rewrite Nat.div_add by lia. lia.
Qed.

Lemma cdiv_zero : cdiv cfg 0 = 0.
Proof. unfold cdiv. apply Nat.div_small. lia. Qed.

(* The entries that hold what the sinks, the next query and the end of the prefix need. *)
Lemma needed_entry_is_held : forall p query cut gi g es j,
  hits_ok p query cut gi g es = true -> j < cdiv cfg cut -> needs_entry cfg g cut j = true ->
  exists b, at_ es j = Some b /\ b < N cfg /\ holds p query cut gi j b = true.
Proof.
  intros p query cut gi g es j H Hj Hn. unfold Prefix.hits_ok in H.
  rewrite !andb_true_iff, Nat.eqb_eq in H. destruct H as [[L F] R].
  rewrite forallb_forall in F. specialize (F j). rewrite in_seq in F. specialize (F ltac:(lia)).
  destruct (at_ es j) as [b|] eqn:E.
  - apply andb_true_iff in F. destruct F as [F Hb]. apply Nat.ltb_lt in F. now exists b.
  - exfalso. unfold needs_entry in Hn. apply negb_true_iff in F. rewrite F in Hn. cbn in Hn.
    apply Nat.leb_le in Hn. apply orb_true_iff in R. destruct R as [Z|R].
    + apply Nat.eqb_eq in Z. subst cut. rewrite cdiv_zero in Hj. lia.
    + rewrite andb_true_iff, Nat.ltb_lt, Nat.leb_le in R.
      apply (after_run_begin_is_held es 0 j); [|lia|assumption]. cbn.
      etransitivity; [|exact Hn]. apply Nat.div_le_lower_bound; lia.
Qed.

Definition found (p : pool A) (query : list A) (cut gi : nat) (g : group) : list (option nat) :=
  map (fun j => if needs_entry cfg g cut j then find (holds p query cut gi j) (List.seq 0 (N cfg)) else None)
      (List.seq 0 (cdiv cfg cut)).

Lemma found_at : forall p query cut gi g j, j < cdiv cfg cut ->
  at_ (found p query cut gi g) j =
  if needs_entry cfg g cut j then find (holds p query cut gi j) (List.seq 0 (N cfg)) else None.
Proof.
  intros p query cut gi g j Hj. unfold at_, found. set (f := fun j => _).
  rewrite nth_indep with (d' := f 0) by now rewrite map_length, seq_length.
  rewrite map_nth, seq_nth by assumption. reflexivity.
Qed.

Lemma can_hit_iff : forall p query cut gi g, cut <= length query ->
  (can_hit cfg (candidates p query) cut gi g = true <-> exists es, hits_ok p query cut gi g es = true).
Proof.
  intros p query cut gi g Hcut. unfold can_hit. rewrite forallb_forall. split.
  - intro H. exists (found p query cut gi g).
    assert (F : forall j, j < cdiv cfg cut -> needs_entry cfg g cut j = true ->
                exists b, at_ (found p query cut gi g) j = Some b /\ b < N cfg /\
                  holds p query cut gi j b = true).
    { intros j Hj Hn. rewrite found_at, Hn by assumption. specialize (H j). rewrite in_seq, Hn in H.
      specialize (H ltac:(lia)). apply has_block_iff in H; [|assumption]. destruct H as (b & Hb & Hh).
      destruct (find _ _) as [c|] eqn:E.
      - apply find_some in E. destruct E as [I E]. apply in_seq in I. exists c.
        repeat split; [lia|assumption].
      - rewrite (find_none _ _ E b) in Hh; [discriminate|]. apply in_seq. lia. }
    unfold Prefix.hits_ok.
    assert (L : length (found p query cut gi g) = cdiv cfg cut)
      by (unfold found; now rewrite map_length, seq_length).
    rewrite L. rewrite !andb_true_iff, Nat.eqb_eq. repeat split.
    + apply forallb_forall. intros j Ij. apply in_seq in Ij.
      destruct (at_ (found p query cut gi g) j) as [b|] eqn:E.
      * destruct (needs_entry cfg g cut j) eqn:Hn.
        -- destruct (F j ltac:(lia) Hn) as (b' & E' & Hb & Hh). rewrite E in E'. injection E' as <-.
           rewrite Hh. apply Nat.ltb_lt in Hb. now rewrite Hb.
        -- rewrite found_at, Hn in E by lia. discriminate.
      * apply negb_true_iff. destruct (j <? sink_blocks cfg g) eqn:S; [|reflexivity].
        destruct (F j) as (b & E' & _); [lia| unfold needs_entry; now rewrite S | congruence].
    + destruct (Nat.eqb_spec cut 0) as [|Hpos]; [reflexivity|]. cbn [orb].
      set (f := Nat.min (need g cut) (cut - 1) / B).
      assert (Hf : f <= (cut - 1) / B) by (apply Nat.div_le_mono; lia).
      pose proof (last_entry cut ltac:(lia)) as Hlast.
      assert (Hrun : run_begin 0 (found p query cut gi g) <= f).
      { apply (run_begin_le _ 0 f); [lia|]. rewrite L. intros i Hi E.
        destruct (F i) as (b & E' & _); [lia| |congruence].
        unfold needs_entry. fold f. apply orb_true_iff. right. apply Nat.leb_le. lia. }
      pose proof (Nat.mul_div_le (Nat.min (need g cut) (cut - 1)) B ltac:(lia)) as Hfb. fold f in Hfb.
      apply andb_true_iff. rewrite Nat.ltb_lt, Nat.leb_le. nia.
  - intros [es H] j Ij. apply in_seq in Ij. destruct (needs_entry cfg g cut j) eqn:Hn; [|reflexivity]. cbn.
    destruct (needed_entry_is_held _ _ _ _ _ _ j H ltac:(lia) Hn) as (b & _ & Hb & Hh).
    apply has_block_iff; [assumption|]. now exists b.
Qed.

Lemma all_can_hit_iff : forall p query cut gs gi, cut <= length query ->
  (all_can_hit cfg (candidates p query) cut gi gs = true <->
   exists ess, all_hits_ok p query cut gi gs ess = true).
Proof.
  intros p query cut gs gi Hcut. revert gi. induction gs as [|g gs IH]; intro gi; cbn [all_can_hit].
  - split; [now exists []|reflexivity].
  - rewrite andb_true_iff, can_hit_iff, IH by assumption. split.
    + intros [[es H] [ess Hs]]. exists (es :: ess). cbn. now rewrite H, Hs.
    + intros [[|es ess] H]; [discriminate|]. cbn in H. apply andb_true_iff in H. destruct H as [H Hs].
      split; [now exists es | now exists ess].
Qed.

(* ---------- the longest one ---------- *)

(* Without tails a prefix ends with a block. *)
Definition may_end_at (cut : nat) : bool := tails cfg || (cut mod B =? 0).

Lemma longest_sound : forall cs below, longest cfg cs below = 0 \/
  longest cfg cs below <= below /\ may_end_at (longest cfg cs below) = true /\
  all_can_hit cfg cs (longest cfg cs below) 0 (groups cfg) = true.
Proof.
  intros cs below. induction below as [|n IH]; cbn [longest]; [now left|].
  fold (may_end_at (S n)). destruct (may_end_at (S n) && _) eqn:E.
  - right. apply andb_true_iff in E. now repeat split.
  - destruct IH as [IH|(L & M & H)]; [now left|]. right. now repeat split; [lia| |].
Qed.

Lemma longest_maximal : forall cs below cut, cut <= below -> may_end_at cut = true ->
  all_can_hit cfg cs cut 0 (groups cfg) = true -> cut <= longest cfg cs below.
Proof.
  intros cs below cut Hb Hm Hh. induction below as [|n IH]; cbn [longest]; [lia|].
  fold (may_end_at (S n)). destruct (may_end_at (S n) && _) eqn:E; [lia|].
  destruct (Nat.eq_dec cut (S n)) as [->|Hne]; [now rewrite Hm, Hh in E|]. apply IH. lia.
Qed.

(* What `admit` in Machine.v asks of the hits that come with it. *)
Definition admissible (p : pool A) (query : list A) (cut : nat) (hits : list (list (option nat))) : bool :=
  (cut <? length query) && (caching cfg || (cut =? 0)) && all_hits_ok p query cut 0 (groups cfg) hits.

Lemma no_hits_are_admissible : forall p query, 0 < length query ->
  admissible p query 0 (map (fun _ => []) (groups cfg)) = true.
Proof.
  intros p query H. unfold admissible. rewrite orb_true_r. apply Nat.ltb_lt in H. rewrite H. cbn [andb].
  generalize 0 at 2. induction (groups cfg) as [|g gs IH]; intro gi; cbn [Prefix.all_hits_ok map];
    [reflexivity|].
  rewrite IH. unfold Prefix.hits_ok. now rewrite cdiv_zero.
Qed.

(* One cell at least is left to compute. *)
Theorem best_cut_leaves_a_cell : forall p query, best_cut p query <= length query - 1.
Proof.
  intros p query. unfold Prefix.best_cut. destruct (caching cfg); [|lia].
  destruct (longest_sound (candidates p query) (length query - 1)) as [->|[H _]]; [lia|exact H].
Qed.

Theorem best_cut_sound : forall p query, 0 < length query ->
  may_end_at (best_cut p query) = true /\ exists hits, admissible p query (best_cut p query) hits = true.
Proof.
  intros p query Hq. pose proof (best_cut_leaves_a_cell p query) as Hle.
  assert (Z : best_cut p query = 0 -> may_end_at (best_cut p query) = true /\
              exists hits, admissible p query (best_cut p query) hits = true).
  { intros ->. split; [|eexists; now apply no_hits_are_admissible].
    unfold may_end_at. rewrite Nat.mod_0_l by lia. apply orb_true_r. }
  unfold admissible in *. unfold Prefix.best_cut in *.
  destruct (caching cfg) eqn:Hc; [|now apply Z].
  destruct (longest_sound (candidates p query) (length query - 1)) as [E|(L & M & H)]; [now apply Z|].
  split; [assumption|]. apply all_can_hit_iff in H; [|lia]. destruct H as [hits H]. exists hits.
  rewrite H. cbn [orb]. rewrite !andb_true_r. apply Nat.ltb_lt. lia.
Qed.

Theorem best_cut_maximal : forall p query cut hits, may_end_at cut = true ->
  admissible p query cut hits = true -> cut <= best_cut p query.
Proof.
  intros p query cut hits Hm H. unfold admissible in H. rewrite !andb_true_iff, Nat.ltb_lt in H.
  destruct H as [[L C] H]. unfold Prefix.best_cut. destruct (caching cfg); cbn [orb] in C.
  - apply longest_maximal; [lia|assumption|]. apply all_can_hit_iff; [lia|]. now exists hits.
  - apply Nat.eqb_eq in C. lia.
Qed.

(* ---------- an accepted hit is the query's own beginning ---------- *)

Lemma all_hits_ok_at : forall p query cut gs gi ess, all_hits_ok p query cut gi gs ess = true ->
  length ess = length gs /\
  forall i g es, nth_error gs i = Some g -> nth_error ess i = Some es ->
    hits_ok p query cut (gi + i) g es = true.
Proof.
  intros p query cut. induction gs as [|g gs IH]; intros gi [|es ess] H; try discriminate.
  - split; [reflexivity|]. intros [|i]; discriminate.
  - cbn in H. apply andb_true_iff in H. destruct H as [H Hs]. destruct (IH _ _ Hs) as [L F].
    split; [cbn; now rewrite L|]. intros [|i] g' es' Eg Ee; cbn in Eg, Ee.
    + injection Eg as <-. injection Ee as <-. now rewrite Nat.add_0_r.
    + rewrite <- Nat.add_succ_comm. now apply F.
Qed.

Theorem accepted_hit_is_the_query : forall p query cut hits gi es j b,
  admissible p query cut hits = true -> nth_error hits gi = Some es -> at_ es j = Some b ->
  j < cdiv cfg cut /\ b < N cfg /\ known_for p query cut gi j b.
Proof.
  intros p query cut hits gi es j b H He Hb. unfold admissible in H. rewrite !andb_true_iff, Nat.ltb_lt in H.
  destruct H as [[L _] H]. destruct (all_hits_ok_at _ _ _ _ _ _ H) as [Hlen F].
  destruct (nth_error (groups cfg) gi) as [g|] eqn:Eg.
  - specialize (F gi g es Eg He). cbn [plus] in F. unfold Prefix.hits_ok in F.
    rewrite !andb_true_iff, Nat.eqb_eq in F. destruct F as [[Le F] _].
    assert (Hj : j < length es).
    { destruct (Nat.lt_ge_cases j (length es)) as [|Hge]; [assumption|]. unfold at_ in Hb.
      rewrite nth_overflow in Hb by assumption. discriminate. }
    rewrite forallb_forall in F. specialize (F j). rewrite in_seq, Hb, andb_true_iff, Nat.ltb_lt in F.
    destruct (F ltac:(lia)) as [HN Hh]. apply holds_iff in Hh; [|lia].
    repeat split; [lia|assumption|assumption].
  - apply nth_error_None in Eg. assert (Hin : nth_error hits gi <> None) by congruence.
    apply nth_error_Some in Hin. lia.
Qed.

(* Every cell that the next query sees is in an accepted hit, those of the sinks too, and the last one. *)
Theorem accepted_hit_is_enough : forall p query cut hits gi g es i,
  admissible p query cut hits = true -> nth_error (groups cfg) gi = Some g -> nth_error hits gi = Some es ->
  i < cut -> need g cut <= i \/ i < sinks g \/ i = cut - 1 ->
  exists b, at_ es (i / B) = Some b /\ known_for p query cut gi (i / B) b.
Proof.
  intros p query cut hits gi g es i H Eg Ee Hi Hseen.
  pose proof H as H'. unfold admissible in H'. rewrite !andb_true_iff, Nat.ltb_lt in H'.
  destruct H' as [[L _] H']. destruct (all_hits_ok_at _ _ _ _ _ _ H') as [_ F].
  specialize (F gi g es Eg Ee). cbn [plus] in F.
  assert (Hlast : i / B <= (cut - 1) / B) by (apply Nat.div_le_mono; lia).
  pose proof (last_entry cut ltac:(lia)).
  destruct (needed_entry_is_held _ _ _ _ _ _ (i / B) F ltac:(lia)) as (b & E & _ & Hh).
  - unfold needs_entry. apply orb_true_iff. rewrite Nat.ltb_lt, Nat.leb_le. destruct Hseen as [Hs|[Hs|Hs]].
    + right. apply Nat.div_le_mono; lia.
    + left. unfold sink_blocks. apply Nat.div_lt_upper_bound; [lia|]. unfold cdiv.
      pose proof (Nat.div_mod (sinks g + (B - 1)) B ltac:(lia)).
      pose proof (Nat.mod_upper_bound (sinks g + (B - 1)) B ltac:(lia)). lia.
    + right. subst i. apply Nat.div_le_mono; lia.
  - exists b. split; [assumption|]. apply holds_iff; [lia|assumption].
Qed.

End Lookup.
