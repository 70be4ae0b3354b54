(* SPDX-License-Identifier: Apache-2.0 *)
(* Written by invariants/proof/oracle/generate, with Coq 8.16.1, from ExtractUnary.v (RealizersTested.v) in invariants/proof. *)

type nat =
| O
| S of nat

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2



val add : nat -> nat -> nat

val mul : nat -> nat -> nat

val sub : nat -> nat -> nat

module Nat :
 sig
  val sub : nat -> nat -> nat

  val eqb : nat -> nat -> bool

  val leb : nat -> nat -> bool

  val ltb : nat -> nat -> bool

  val max : nat -> nat -> nat

  val min : nat -> nat -> nat

  val divmod : nat -> nat -> nat -> nat -> nat * nat

  val div : nat -> nat -> nat

  val modulo : nat -> nat -> nat
 end

type positive =
| XI of positive
| XO of positive
| XH

module Pos :
 sig
  val succ : positive -> positive

  val of_succ_nat : nat -> positive
 end

val digits : positive -> bool list

val of_digits : bool list -> positive

val tested_count_down : nat -> nat

val tested_count_up : nat -> nat

val tested_add : nat -> nat -> nat

val tested_mul : nat -> nat -> nat

val tested_minus : nat -> nat -> nat

val tested_sub : nat -> nat -> nat

val tested_div : nat -> nat -> nat

val tested_modulo : nat -> nat -> nat

val tested_eqb : nat -> nat -> bool

val tested_leb : nat -> nat -> bool

val tested_ltb : nat -> nat -> bool

val tested_min : nat -> nat -> nat

val tested_max : nat -> nat -> nat

val tested_of_succ_nat : nat -> positive
