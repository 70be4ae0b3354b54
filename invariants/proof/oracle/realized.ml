(* SPDX-License-Identifier: Apache-2.0 *)
(* Written by invariants/proof/oracle/generate, with Coq 8.16.1, from ExtractRealized.v (RealizersTested.v, Realizers.v) in invariants/proof. *)

(** val add : int -> int -> int **)

let rec add = (+)

(** val mul : int -> int -> int **)

let rec mul = ( * )

(** val sub : int -> int -> int **)

let rec sub = (fun (n : int) m -> if n <= m then 0 else n - m)

module Nat =
 struct
  (** val sub : int -> int -> int **)

  let rec sub = (fun (n : int) m -> if n <= m then 0 else n - m)

  (** val eqb : int -> int -> bool **)

  let rec eqb = (fun (n : int) m -> n = m)

  (** val leb : int -> int -> bool **)

  let rec leb = (fun (n : int) m -> n <= m)

  (** val ltb : int -> int -> bool **)

  let ltb = (fun (n : int) m -> n < m)

  (** val max : int -> int -> int **)

  let rec max = (fun (n : int) m -> if n <= m then m else n)

  (** val min : int -> int -> int **)

  let rec min = (fun (n : int) m -> if n <= m then n else m)

  (** val divmod : int -> int -> int -> int -> int * int **)

  let rec divmod x y q u =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> (q, u))
      (fun x' ->
      (fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> divmod x' y (Stdlib.Int.succ q) y)
        (fun u' -> divmod x' y q u')
        u)
      x

  (** val div : int -> int -> int **)

  let div = (fun (n : int) m -> if m = 0 then 0 else n / m)

  (** val modulo : int -> int -> int **)

  let modulo = (fun (n : int) m -> if m = 0 then n else n mod m)
 end

module Pos =
 struct
  (** val succ : int -> int **)

  let rec succ x =
    (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
      (fun p -> (fun p -> 2 * p) (succ p))
      (fun p -> (fun p -> 2 * p + 1) p)
      (fun _ -> (fun p -> 2 * p) 1)
      x

  (** val of_succ_nat : int -> int **)

  let rec of_succ_nat = Stdlib.succ
 end

(** val digits : int -> bool list **)

let rec digits p =
  (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
    (fun p0 -> true :: (digits p0))
    (fun p0 -> false :: (digits p0))
    (fun _ -> [])
    p

(** val of_digits : bool list -> int **)

let rec of_digits = function
| [] -> 1
| b :: bits0 ->
  if b
  then (fun p -> 2 * p + 1) (of_digits bits0)
  else (fun p -> 2 * p) (of_digits bits0)

(** val tested_count_down : int -> int **)

let tested_count_down n =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> 0)
    (fun n0 -> n0)
    n

(** val tested_count_up : int -> int **)

let tested_count_up n =
  Stdlib.Int.succ n

(** val tested_add : int -> int -> int **)

let tested_add =
  add

(** val tested_mul : int -> int -> int **)

let tested_mul =
  mul

(** val tested_minus : int -> int -> int **)

let tested_minus =
  sub

(** val tested_sub : int -> int -> int **)

let tested_sub =
  Nat.sub

(** val tested_div : int -> int -> int **)

let tested_div =
  Nat.div

(** val tested_modulo : int -> int -> int **)

let tested_modulo =
  Nat.modulo

(** val tested_eqb : int -> int -> bool **)

let tested_eqb =
  Nat.eqb

(** val tested_leb : int -> int -> bool **)

let tested_leb =
  Nat.leb

(** val tested_ltb : int -> int -> bool **)

let tested_ltb =
  Nat.ltb

(** val tested_min : int -> int -> int **)

let tested_min =
  Nat.min

(** val tested_max : int -> int -> int **)

let tested_max =
  Nat.max

(** val tested_of_succ_nat : int -> int **)

let tested_of_succ_nat =
  Pos.of_succ_nat
