(* SPDX-License-Identifier: Apache-2.0 *)
(* How numbers become OCaml's: what the oracle trusts beside Coq's extraction itself. Each line here is compared with
   the unary definition that it stands for, on all pairs 0 .. 300, by oracle/realizers_test.ml. *)
From Coq Require Import Arith PArith.
From Coq Require Export Extraction ExtrOcamlBasic ExtrOcamlNatInt.

(* nat is int: 63 bits, unchecked. What the oracle is asked stays far below: ids, lengths, counts and the numbers of
   cells are below 2^32. ExtrOcamlNatInt maps zero, successor, the case distinction, + and *; it leaves division unary,
   and its subtraction compares by a function that works on any type. The names without `Nat.` are those of the
   notations. *)
Extract Constant minus => "(fun (n : int) m -> if n <= m then 0 else n - m)".
Extract Constant Nat.sub => "(fun (n : int) m -> if n <= m then 0 else n - m)".
Extract Constant Nat.div => "(fun (n : int) m -> if m = 0 then 0 else n / m)".
Extract Constant Nat.modulo => "(fun (n : int) m -> if m = 0 then n else n mod m)".
Extract Constant Nat.eqb => "(fun (n : int) m -> n = m)".
Extract Constant Nat.leb => "(fun (n : int) m -> n <= m)".
Extract Constant Nat.ltb => "(fun (n : int) m -> n < m)".
Extract Constant Nat.min => "(fun (n : int) m -> if n <= m then n else m)".
Extract Constant Nat.max => "(fun (n : int) m -> if n <= m then m else n)".

(* positive is int, too, the least is 1: the keys of total maps, which are walked bit by bit. *)
Extract Inductive positive => int [ "(fun p -> 2 * p + 1)" "(fun p -> 2 * p)" "1" ]
  "(fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))".
Extract Constant Pos.of_succ_nat => "Stdlib.succ".
