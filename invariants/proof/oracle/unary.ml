(* SPDX-License-Identifier: Apache-2.0 *)
(* Written by invariants/proof/oracle/generate, with Coq 8.16.1, from ExtractUnary.v (RealizersTested.v) in invariants/proof. *)

type nat =
| O
| S of nat

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y



(** val add : nat -> nat -> nat **)

let rec add n m =
  match n with
  | O -> m
  | S p -> S (add p m)

(** val mul : nat -> nat -> nat **)

let rec mul n m =
  match n with
  | O -> O
  | S p -> add m (mul p m)

(** val sub : nat -> nat -> nat **)

let rec sub n m =
  match n with
  | O -> n
  | S k -> (match m with
            | O -> n
            | S l -> sub k l)

module Nat =
 struct
  (** val sub : nat -> nat -> nat **)

  let rec sub n m =
    match n with
    | O -> n
    | S k -> (match m with
              | O -> n
              | S l -> sub k l)

  (** val eqb : nat -> nat -> bool **)

  let rec eqb n m =
    match n with
    | O -> (match m with
            | O -> true
            | S _ -> false)
    | S n' -> (match m with
               | O -> false
               | S m' -> eqb n' m')

  (** val leb : nat -> nat -> bool **)

  let rec leb n m =
    match n with
    | O -> true
    | S n' -> (match m with
               | O -> false
               | S m' -> leb n' m')

  (** val ltb : nat -> nat -> bool **)

  let ltb n m =
    leb (S n) m

  (** val max : nat -> nat -> nat **)

  let rec max n m =
    match n with
    | O -> m
    | S n' -> (match m with
               | O -> n
               | S m' -> S (max n' m'))

  (** val min : nat -> nat -> nat **)

  let rec min n m =
    match n with
    | O -> O
    | S n' -> (match m with
               | O -> O
               | S m' -> S (min n' m'))

  (** val divmod : nat -> nat -> nat -> nat -> nat * nat **)

  let rec divmod x y q u =
    match x with
    | O -> (q, u)
    | S x' ->
      (match u with
       | O -> divmod x' y (S q) y
       | S u' -> divmod x' y q u')

  (** val div : nat -> nat -> nat **)

  let div x y = match y with
  | O -> y
  | S y' -> fst (divmod x y' O y')

  (** val modulo : nat -> nat -> nat **)

  let modulo x = function
  | O -> x
  | S y' -> sub y' (snd (divmod x y' O y'))
 end

type positive =
| XI of positive
| XO of positive
| XH

module Pos =
 struct
  (** val succ : positive -> positive **)

  let rec succ = function
  | XI p -> XO (succ p)
  | XO p -> XI p
  | XH -> XO XH

  (** val of_succ_nat : nat -> positive **)

  let rec of_succ_nat = function
  | O -> XH
  | S x -> succ (of_succ_nat x)
 end

(** val digits : positive -> bool list **)

let rec digits = function
| XI p0 -> true :: (digits p0)
| XO p0 -> false :: (digits p0)
| XH -> []

(** val of_digits : bool list -> positive **)

let rec of_digits = function
| [] -> XH
| b :: bits0 -> if b then XI (of_digits bits0) else XO (of_digits bits0)

(** val tested_count_down : nat -> nat **)

let tested_count_down = function
| O -> O
| S n0 -> n0

(** val tested_count_up : nat -> nat **)

let tested_count_up n =
  S n

(** val tested_add : nat -> nat -> nat **)

let tested_add =
  add

(** val tested_mul : nat -> nat -> nat **)

let tested_mul =
  mul

(** val tested_minus : nat -> nat -> nat **)

let tested_minus =
  sub

(** val tested_sub : nat -> nat -> nat **)

let tested_sub =
  Nat.sub

(** val tested_div : nat -> nat -> nat **)

let tested_div =
  Nat.div

(** val tested_modulo : nat -> nat -> nat **)

let tested_modulo =
  Nat.modulo

(** val tested_eqb : nat -> nat -> bool **)

let tested_eqb =
  Nat.eqb

(** val tested_leb : nat -> nat -> bool **)

let tested_leb =
  Nat.leb

(** val tested_ltb : nat -> nat -> bool **)

let tested_ltb =
  Nat.ltb

(** val tested_min : nat -> nat -> nat **)

let tested_min =
  Nat.min

(** val tested_max : nat -> nat -> nat **)

let tested_max =
  Nat.max

(** val tested_of_succ_nat : nat -> positive **)

let tested_of_succ_nat =
  Pos.of_succ_nat
