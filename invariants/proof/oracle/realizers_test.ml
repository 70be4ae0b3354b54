(* SPDX-License-Identifier: Apache-2.0 *)
(* The trusted base of the oracle: each realizer (../Realizers.v) gives what the unary definition gives, for all numbers
   0 .. 300 and all pairs of them. Prints what was compared; ends with 1 at the first difference. *)
module R = Realized
module U = Unary

let most = 300
let compared = ref 0

let unary = Array.make (most * most + 1) U.O
let () = for i = 1 to most * most do unary.(i) <- U.S unary.(i - 1) done

(* Tail recursive: products are counted with it. *)
let rec count n = function U.O -> n | U.S m -> count (n + 1) m
let number = count 0

let agree name arguments realized unary =
  incr compared;
  if realized <> unary then begin
    Printf.printf "%s %s: the realizer gives %s, the definition %s\n" name
      (String.concat " " (List.map string_of_int arguments)) realized unary;
    exit 1
  end

let for_one name realized defined =
  for n = 0 to most do agree name [ n ] (realized n) (defined unary.(n)) done
let for_two name realized defined =
  for n = 0 to most do
    for m = 0 to most do agree name [ n; m ] (realized n m) (defined unary.(n) unary.(m)) done
  done

let numbers name realized defined =
  for_two name (fun n m -> string_of_int (realized n m)) (fun n m -> string_of_int (number (defined n m)))
let answers name realized defined =
  for_two name (fun n m -> string_of_bool (realized n m)) (fun n m -> string_of_bool (defined n m))

let spelled digits = String.concat "" (List.map (fun one -> if one then "1" else "0") digits)

let () =
  let for_one_number name realized defined =
    for_one name (fun n -> string_of_int (realized n)) (fun n -> string_of_int (number (defined n))) in
  for_one_number "predecessor" R.tested_count_down U.tested_count_down;
  for_one_number "successor" R.tested_count_up U.tested_count_up;
  numbers "plus" R.tested_add U.tested_add;
  numbers "mult" R.tested_mul U.tested_mul;
  numbers "minus" R.tested_minus U.tested_minus;
  numbers "Nat.sub" R.tested_sub U.tested_sub;
  numbers "Nat.div" R.tested_div U.tested_div;
  numbers "Nat.modulo" R.tested_modulo U.tested_modulo;
  numbers "Nat.min" R.tested_min U.tested_min;
  numbers "Nat.max" R.tested_max U.tested_max;
  answers "Nat.eqb" R.tested_eqb U.tested_eqb;
  answers "Nat.leb" R.tested_leb U.tested_leb;
  answers "Nat.ltb" R.tested_ltb U.tested_ltb;
  for_one "Pos.of_succ_nat, taken apart" (fun n -> spelled (R.digits (R.tested_of_succ_nat n)))
    (fun n -> spelled (U.digits (U.tested_of_succ_nat n)));
  (* Putting together is compared through taking apart: the digits come back, and the number is the one they spell. *)
  for_one "positive, put together"
    (fun n ->
      let p = R.of_digits (R.digits (n + 1)) in
      Printf.sprintf "%d %s" p (spelled (R.digits p)))
    (fun n ->
      let p = U.of_digits (U.digits (U.tested_of_succ_nat n)) in
      Printf.sprintf "%d %s" (number n + 1) (spelled (U.digits p)));
  Printf.printf "%d results of 15 realizers agree with the unary definitions, on 0 .. %d\n" !compared most
