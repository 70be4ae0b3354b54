(* SPDX-License-Identifier: Apache-2.0 *)
(* Written by invariants/proof/oracle/generate, with Coq 8.16.1, from ExtractRealized.v (RealizersTested.v, Realizers.v) in invariants/proof. *)

val add : int -> int -> int

val mul : int -> int -> int

val sub : int -> int -> int

module Nat :
 sig
  val sub : int -> int -> int

  val eqb : int -> int -> bool

  val leb : int -> int -> bool

  val ltb : int -> int -> bool

  val max : int -> int -> int

  val min : int -> int -> int

  val divmod : int -> int -> int -> int -> int * int

  val div : int -> int -> int

  val modulo : int -> int -> int
 end

module Pos :
 sig
  val succ : int -> int

  val of_succ_nat : int -> int
 end

val digits : int -> bool list

val of_digits : bool list -> int

val tested_count_down : int -> int

val tested_count_up : int -> int

val tested_add : int -> int -> int

val tested_mul : int -> int -> int

val tested_minus : int -> int -> int

val tested_sub : int -> int -> int

val tested_div : int -> int -> int

val tested_modulo : int -> int -> int

val tested_eqb : int -> int -> bool

val tested_leb : int -> int -> bool

val tested_ltb : int -> int -> bool

val tested_min : int -> int -> int

val tested_max : int -> int -> int

val tested_of_succ_nat : int -> int
