(* SPDX-License-Identifier: Apache-2.0 *)
(* What realizers_test.ml calls twice, extracted with the realizers and without. *)
From Coq Require Import List Arith PArith.
Import ListNotations.

(* A positive number taken apart and put together, the lowest digit first; the highest is left out. *)
Fixpoint digits (p : positive) : list bool :=
  match p with xH => [] | xO p => false :: digits p | xI p => true :: digits p end.
Fixpoint of_digits (bits : list bool) : positive :=
  match bits with [] => xH | false :: bits => xO (of_digits bits) | true :: bits => xI (of_digits bits) end.

(* zero, successor and the case distinction *)
Definition tested_count_down (n : nat) : nat := match n with 0 => 0 | S n => n end.
Definition tested_count_up (n : nat) : nat := S n.

Definition tested_add := plus.
Definition tested_mul := mult.
Definition tested_minus := minus.
Definition tested_sub := Nat.sub.
Definition tested_div := Nat.div.
Definition tested_modulo := Nat.modulo.
Definition tested_eqb := Nat.eqb.
Definition tested_leb := Nat.leb.
Definition tested_ltb := Nat.ltb.
Definition tested_min := Nat.min.
Definition tested_max := Nat.max.
Definition tested_of_succ_nat := Pos.of_succ_nat.
