(* SPDX-License-Identifier: Apache-2.0 *)
(* The theorems speak of operations that the machine accepts. This file shows, by computation, that it
   accepts what it should: one life of a pool with hits, copies, a fork, windows, a sink, a device step and
   fences. Every operation of it is accepted. *)
From Coq Require Import List Arith Bool.
From Kvpane Require Import TotalMap Machine Interpreter Entries Invariant Pool Tables Hits Sequences Refinement.
Import ListNotations.

(* Two cells a block, 14 blocks; one group sees everything, the other 3 cells and the first one. *)
Definition small : config := {|
  B := 2; N := 14; groups := [Group 0 0; Group 3 1]; slack := 0; eager := true; limit := 0; watermark := 0;
  caching := true; tails := true |}.

Definition try (o : op nat) (c : state nat * histories nat) : result (state nat * histories nat) :=
  st <- step Nat.eqb small (snd c) (fst c) o ;; Done (st, spec_step (snd c) o).

(* Where operations lead to, if each is accepted. *)
Definition after (os : list (op nat)) : result (state nat * histories nat) :=
  fold_left (fun r o => c <- r ;; try o c) os (Done (init small 4, spec_init 4)).

(* What the groups of sequence s read back, and their tables. *)
Definition reads (s : nat) (c : state nat * histories nat) : list (list nat * list (option nat)) :=
  match at_ (seqs (fst c)) s with
  | Some q => map (fun '(gi, (g, t)) => (window_of small gi (the_pool (fst c)) g q t, entries t))
                  (combine [0; 1] (combine (groups small) (tables q)))
  | None => []
  end.

Definition shown {X} (f : state nat * histories nat -> X) (os : list (op nat)) : result X :=
  c <- after os ;; Done (f c).

(* The second sequence hits two blocks of each group. The third hits one and a half: the half one is
   copied, into blocks that it chose. *)
Definition admissions : list (op nat) := [
  Admit 0 [1; 2; 3; 4; 5] 5 0 [[]; []] [];
  Admit 1 [1; 2; 3; 4; 9] 5 4 [[Some 0; Some 1]; [Some 3; Some 4]] [];
  Admit 2 [1; 2; 3; 7] 4 3 [[Some 0; Some 1]; [Some 3; Some 4]] [13; 12]].

Example hits_share_blocks : shown (reads 1) admissions = Done [
  ([1; 2; 3; 4; 9], [Some 0; Some 1; Some 6]);
  ([3; 4; 9], [Some 3; Some 4; Some 7])].
Proof. vm_compute. reflexivity. Qed.

Example a_partial_hit_is_copied : shown (reads 2) admissions = Done [
  ([1; 2; 3; 7], [Some 0; Some 13]);
  ([2; 3; 7], [Some 3; Some 12])].
Proof. vm_compute. reflexivity. Qed.

(* A hit must be the query's own prefix. *)
Example another_prefix_is_no_hit :
  shown (fun c => c) (admissions ++ [Admit 3 [1; 8; 3; 4; 9] 5 4 [[Some 0; Some 1]; [Some 3; Some 4]] []])
  = Refused Bad_choice.
Proof. vm_compute. reflexivity. Qed.

(* The child shares all blocks; its first write copies the last ones. Then a device step begins, and the
   parent goes on: its window leaves a block between the sink and what it sees. *)
Definition growth : list (op nat) := admissions ++ [
  Fork 0 3 5; Append [(3, [6])] []; Begin 1; Reserve [(0, 3); (1, 1)] []; Commit 0 [6; 7]].

Example a_child_copies_what_it_writes : shown (reads 3) growth = Done [
  ([1; 2; 3; 4; 5; 6], [Some 0; Some 1; Some 8]);
  ([4; 5; 6], [Some 3; Some 4; Some 9])].
Proof. vm_compute. reflexivity. Qed.

Example a_window_slides_and_the_sink_stays : shown (reads 0) growth = Done [
  ([1; 2; 3; 4; 5; 6; 7], [Some 0; Some 1; Some 2; Some 10]);
  ([5; 6; 7], [Some 3; None; Some 5; Some 11])].
Proof. vm_compute. reflexivity. Qed.

(* What is given up while the step is in flight is fenced; it is free when the step has ended. After a
   truncation only what the next query sees is sure to be there. *)
Definition shorter : list (op nat) := growth ++ [Release 3 true; Release 2 true; Truncate 0 6].

Example a_truncated_window_holds_what_the_next_query_sees : shown (reads 0) shorter = Done [
  ([1; 2; 3; 4; 5; 6], [Some 0; Some 1; Some 2]);
  ([5; 6], [Some 3; None; Some 5])].
Proof. vm_compute. reflexivity. Qed.

Example given_up_in_flight_is_fenced :
  shown (fun c => (free (the_pool (fst c)), fenced (the_pool (fst c)))) shorter
  = Done ([], [(11, [1]); (10, [1]); (12, [1]); (13, [1]); (9, [1]); (8, [1])]).
Proof. vm_compute. reflexivity. Qed.

Example all_blocks_come_back :
  shown (fun c => (length (free (the_pool (fst c))), fenced (the_pool (fst c))))
        (shorter ++ [End 1; Cancel 1; Release 1 true; Release 0 true])
  = Done (14, []).
Proof. vm_compute. reflexivity. Qed.
