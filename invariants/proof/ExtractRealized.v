(* SPDX-License-Identifier: Apache-2.0 *)
(* Writes oracle/realized.ml: the tested functions, with the realizers. *)
From Kvpane Require Import Realizers RealizersTested.

Extraction "realized.ml"
  digits of_digits tested_count_down tested_count_up tested_add tested_mul
  tested_minus tested_sub tested_div tested_modulo tested_eqb
  tested_leb tested_ltb tested_min tested_max tested_of_succ_nat.
