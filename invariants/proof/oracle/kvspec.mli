(* SPDX-License-Identifier: Apache-2.0 *)
(* Written by invariants/proof/oracle/generate, with Coq 8.16.1, from Extract.v (all that it imports) in invariants/proof. *)

val negb : bool -> bool

val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> int

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val add : int -> int -> int

val mul : int -> int -> int

val sub : int -> int -> int

module type EqLtLe =
 sig
  type t
 end

module MakeOrderTac :
 functor (O:EqLtLe) ->
 functor (P:sig
 end) ->
 sig
 end

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

  val compare_cont : comparison -> int -> int -> comparison

  val compare : int -> int -> comparison

  val of_succ_nat : int -> int
 end

val nth : int -> 'a1 list -> 'a1 -> 'a1

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val find : ('a1 -> bool) -> 'a1 list -> 'a1 option

val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val firstn : int -> 'a1 list -> 'a1 list

val skipn : int -> 'a1 list -> 'a1 list

val seq : int -> int -> int list

val repeat : 'a1 -> int -> 'a1 list

type 'x compare0 =
| LT
| EQ
| GT

module type OrderedType =
 sig
  type t

  val compare : t -> t -> t compare0

  val eq_dec : t -> t -> bool
 end

module OrderedTypeFacts :
 functor (O:OrderedType) ->
 sig
  module TO :
   sig
    type t = O.t
   end

  module IsTO :
   sig
   end

  module OrderTac :
   sig
   end

  val eq_dec : O.t -> O.t -> bool

  val lt_dec : O.t -> O.t -> bool

  val eqb : O.t -> O.t -> bool
 end

module KeyOrderedType :
 functor (O:OrderedType) ->
 sig
  module MO :
   sig
    module TO :
     sig
      type t = O.t
     end

    module IsTO :
     sig
     end

    module OrderTac :
     sig
     end

    val eq_dec : O.t -> O.t -> bool

    val lt_dec : O.t -> O.t -> bool

    val eqb : O.t -> O.t -> bool
   end
 end

module PositiveOrderedTypeBits :
 sig
  type t = int

  val compare : t -> t -> int compare0

  val eq_dec : int -> int -> bool
 end

val append : int -> int -> int

module PositiveMap :
 sig
  module E :
   sig
    type t = int

    val compare : t -> t -> int compare0

    val eq_dec : int -> int -> bool
   end

  module ME :
   sig
    module MO :
     sig
      module TO :
       sig
        type t = int
       end

      module IsTO :
       sig
       end

      module OrderTac :
       sig
       end

      val eq_dec : int -> int -> bool

      val lt_dec : int -> int -> bool

      val eqb : int -> int -> bool
     end
   end

  type key = int

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  val empty : 'a1 t

  val is_empty : 'a1 t -> bool

  val find : key -> 'a1 t -> 'a1 option

  val mem : key -> 'a1 t -> bool

  val add : key -> 'a1 -> 'a1 t -> 'a1 t

  val remove : key -> 'a1 t -> 'a1 t

  val xelements : 'a1 t -> key -> (key * 'a1) list

  val elements : 'a1 t -> (key * 'a1) list

  val cardinal : 'a1 t -> int

  val xfind : key -> key -> 'a1 t -> 'a1 option

  val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t

  val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t

  val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t

  val xmap2_l : ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t

  val xmap2_r : ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t

  val _map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val xfoldi : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2

  val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2

  val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool
 end

module PM :
 sig
  module E :
   sig
    type t = int

    val compare : t -> t -> int compare0

    val eq_dec : int -> int -> bool
   end

  module ME :
   sig
    module MO :
     sig
      module TO :
       sig
        type t = int
       end

      module IsTO :
       sig
       end

      module OrderTac :
       sig
       end

      val eq_dec : int -> int -> bool

      val lt_dec : int -> int -> bool

      val eqb : int -> int -> bool
     end
   end

  type key = int

  type 'a tree = 'a PositiveMap.tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  val empty : 'a1 t

  val is_empty : 'a1 t -> bool

  val find : key -> 'a1 t -> 'a1 option

  val mem : key -> 'a1 t -> bool

  val add : key -> 'a1 -> 'a1 t -> 'a1 t

  val remove : key -> 'a1 t -> 'a1 t

  val xelements : 'a1 t -> key -> (key * 'a1) list

  val elements : 'a1 t -> (key * 'a1) list

  val cardinal : 'a1 t -> int

  val xfind : key -> key -> 'a1 t -> 'a1 option

  val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t

  val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t

  val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t

  val xmap2_l : ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t

  val xmap2_r : ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t

  val _map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val map2 :
    ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t

  val xfoldi : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2

  val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2

  val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool
 end

type 'x tmap = { default : 'x; tree0 : 'x PM.t }

val all : 'a1 -> 'a1 tmap

val get : 'a1 tmap -> int -> 'a1

val set : 'a1 tmap -> int -> 'a1 -> 'a1 tmap

type group = { window : int; sinks : int }

type config = { b : int; n : int; groups : group list; slack : int;
                eager : bool; limit : int; watermark : int; caching : 
                bool; tails : bool }

type refusal =
| Unknown
| Invalid
| Busy
| Not_reserved
| Evicted
| Too_long
| No_room
| Bad_choice

type 'x result =
| Done of 'x
| Refused of refusal

val bind : 'a1 result -> ('a1 -> 'a2 result) -> 'a2 result

val require : bool -> refusal -> unit result

val cdiv : config -> int -> int

val slot : config -> int -> int -> int

val need : group -> int -> int

val keep_from : config -> group -> int -> int

val keep_after_commit : config -> group -> int -> int

val sink_blocks : config -> group -> int

type 'a key0 = { in_group : int; content : 'a list }

val key_block : config -> 'a1 key0 -> int

type 'a pool = { store : (int * 'a) option tmap; refs : int tmap;
                 pins : int tmap; index : 'a key0 option tmap;
                 free : int list; fenced : (int * int list) list;
                 open0 : int list }

type table = { lo : int; entries : int option list }

type seq0 = { len : int; rsv : int; full : bool; tables : table list }

type 'a state = { the_pool : 'a pool; seqs : seq0 option list }

val with_store : 'a1 pool -> (int * 'a1) option tmap -> 'a1 pool

val with_refs : 'a1 pool -> int tmap -> 'a1 pool

val with_pins : 'a1 pool -> int tmap -> 'a1 pool

val with_index : 'a1 pool -> 'a1 key0 option tmap -> 'a1 pool

val with_free : 'a1 pool -> int list -> 'a1 pool

val with_fences : 'a1 pool -> (int * int list) list -> int list -> 'a1 pool

val at_ : 'a1 option list -> int -> 'a1 option

val upd : 'a1 list -> int -> 'a1 -> 'a1 list

val mem0 : int -> int list -> bool

val without : int -> int list -> int list

type 'a work = { pool_of : 'a pool; choices : int list; sources : int list }

val takeable : 'a1 work -> int -> bool

val room : 'a1 work -> int

val claim : 'a1 pool -> int -> 'a1 pool

val take : 'a1 work -> (int * 'a1 work) result

val give : 'a1 pool -> int -> 'a1 pool

val share : 'a1 pool -> int -> 'a1 pool

val give_all : 'a1 pool -> int option list -> 'a1 pool

val share_all : 'a1 pool -> int option list -> 'a1 pool

val copy : config -> 'a1 pool -> int -> int -> int -> 'a1 pool

val step_begin : int -> 'a1 pool -> 'a1 pool result

val lower : int -> 'a1 pool -> (int * int list) list

val has_passed : (int * int list) -> bool

val step_end : int -> 'a1 pool -> 'a1 pool result

val pin_one : 'a1 pool result -> int -> 'a1 pool result

val unpin_one : 'a1 pool result -> int -> 'a1 pool result

val forget : 'a1 pool -> int -> 'a1 pool

val slide : config -> group -> int -> ('a1 pool * table) -> 'a1 pool * table

val slide_all :
  config -> (group -> int) -> group list -> 'a1 pool -> table list -> 'a1
  pool * table list

val open_tail :
  config -> int -> bool -> ('a1 work * table) -> ('a1 work * table) result

val take_blocks : int -> 'a1 work -> ('a1 work * int option list) result

val extend :
  config -> int -> int -> bool -> ('a1 work * table) -> ('a1 work * table)
  result

val extend_all :
  config -> int -> int -> bool -> 'a1 work -> table list -> ('a1 work * table
  list) result

val within_limit : config -> int -> bool

val find_seq : seq0 option list -> int -> seq0 result

val reserve_one :
  config -> int -> int -> ('a1 work * seq0 option list) -> ('a1 work * seq0
  option list) result

val reserve_batch :
  config -> (int * int) list -> ('a1 work * seq0 option list) -> ('a1
  work * seq0 option list) result

val ask : seq0 option list -> int list -> (int * int) list -> unit result

val is_short_enough : config -> seq0 option list -> (int * int) -> bool

val write : config -> int -> 'a1 pool -> table -> int -> 'a1 list -> 'a1 pool

val keeps_entry : 'a1 pool -> int -> 'a1 list -> bool

val publish : int -> table -> 'a1 pool -> int -> 'a1 list -> 'a1 pool

val is_whole : config -> group -> table -> int -> bool

val publish_blocks :
  config -> int -> group -> table -> int -> int -> 'a1 list -> 'a1 pool ->
  'a1 pool

val publish_tails :
  config -> int -> int -> 'a1 list -> group list -> table list -> 'a1 pool ->
  'a1 pool

val commit_table :
  config -> int -> group -> int -> 'a1 list -> 'a1 list -> ('a1 pool * table)
  -> 'a1 pool * table

val commit_all :
  config -> int -> int -> 'a1 list -> 'a1 list -> group list -> 'a1 pool ->
  table list -> 'a1 pool * table list

val commit_one :
  config -> int -> 'a1 list -> 'a1 list -> 'a1 pool -> seq0 option list ->
  ('a1 pool * seq0 option list) result

val covers : config -> group -> table -> int -> int -> bool

val is_resident : config -> int -> group -> table -> bool

val all_resident : config -> int -> seq0 -> bool

val kept_entries : config -> group -> int -> table -> int

val cut_table : config -> int -> group -> table -> table

val tail_of : config -> int -> group -> table -> int option list

val with_groups : config -> (group -> table -> 'a1) -> table list -> 'a1 list

val give_tables : 'a1 pool -> int option list list -> 'a1 pool

val shrink : config -> int -> 'a1 pool -> seq0 -> 'a1 pool * seq0

val is_prefix : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> bool

val holds :
  ('a1 -> 'a1 -> bool) -> config -> 'a1 pool -> 'a1 list -> int -> int -> int
  -> int -> bool

val run_begin : int -> int option list -> int

val hits_ok :
  ('a1 -> 'a1 -> bool) -> config -> 'a1 pool -> 'a1 list -> int -> int ->
  group -> int option list -> bool

val all_hits_ok :
  ('a1 -> 'a1 -> bool) -> config -> 'a1 pool -> 'a1 list -> int -> int ->
  group list -> int option list list -> bool

val hit_table : config -> int option list -> table

val agreement : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> int

val candidates :
  ('a1 -> 'a1 -> bool) -> config -> 'a1 pool -> 'a1 list ->
  ((int * int) * int) list

val has_block : ((int * int) * int) list -> int -> int -> int -> bool

val needs_entry : config -> group -> int -> int -> bool

val can_hit :
  config -> ((int * int) * int) list -> int -> int -> group -> bool

val all_can_hit :
  config -> ((int * int) * int) list -> int -> int -> group list -> bool

val longest : config -> ((int * int) * int) list -> int -> int

val best_cut : ('a1 -> 'a1 -> bool) -> config -> 'a1 pool -> 'a1 list -> int

type 'a op =
| Admit of int * 'a list * int * int * int option list list * int list
| Reserve of (int * int) list * int list
| Commit of int * 'a list
| Append of (int * 'a list) list * int list
| Cancel of int
| Fork of int * int * int
| Truncate of int * int
| Release of int * bool
| Begin of int
| End of int
| Forget of int
| Pin of int list
| Unpin of int list

type 'a histories = 'a list option list

val history : 'a1 histories -> int -> 'a1 list

val spec_commit : 'a1 histories -> int -> 'a1 list -> 'a1 histories

val spec_step : 'a1 histories -> 'a1 op -> 'a1 histories

val spec_init : int -> 'a1 histories

val is_vacant : 'a1 option list -> int -> bool

val others_live : seq0 option list -> bool

val admit :
  ('a1 -> 'a1 -> bool) -> config -> int -> 'a1 list -> int -> int -> int
  option list list -> int list -> 'a1 state -> 'a1 state result

val reserve :
  config -> (int * int) list -> int list -> 'a1 state -> 'a1 state result

val commit :
  config -> 'a1 histories -> int -> 'a1 list -> 'a1 state -> 'a1 state result

val is_idle : seq0 option list -> int -> bool

val commit_batch :
  config -> 'a1 histories -> (int * 'a1 list) list -> 'a1 state -> 'a1 state
  result

val append0 :
  config -> 'a1 histories -> (int * 'a1 list) list -> int list -> 'a1 state
  -> 'a1 state result

val cancel : config -> int -> 'a1 state -> 'a1 state result

val truncate : config -> int -> int -> 'a1 state -> 'a1 state result

val fork : config -> int -> int -> int -> 'a1 state -> 'a1 state result

val release :
  config -> 'a1 histories -> int -> bool -> 'a1 state -> 'a1 state result

val on_pool : 'a1 state -> 'a1 pool result -> 'a1 state result

val step :
  ('a1 -> 'a1 -> bool) -> config -> 'a1 histories -> 'a1 state -> 'a1 op ->
  'a1 state result

val init : config -> int -> 'a1 state

val cell : config -> int -> 'a1 pool -> int -> int -> 'a1 option

val read : config -> int -> 'a1 pool -> table -> int -> 'a1 option

val read_from : config -> int -> 'a1 pool -> table -> int -> int -> 'a1 list

val seen_from : group -> seq0 -> int

val window_of :
  config -> int -> 'a1 pool -> group -> seq0 -> table -> 'a1 list

val alone : config -> 'a1 histories -> int list -> 'a1 state -> 'a1 state

val asked_alone : config -> 'a1 op -> 'a1 op

val who_asks : 'a1 op -> int list

val is_never :
  ('a1 -> 'a1 -> bool) -> config -> 'a1 histories -> 'a1 state -> 'a1 op ->
  bool

type name = int

type 'cell operation =
| New of name
| Append0 of name * 'cell list
| Fork0 of name * name * int
| Truncate0 of name * int
| Release0 of name

type 'cell history0 = { newest : 'cell list; count : int }

val push : 'a1 history0 -> 'a1 -> 'a1 history0

val append1 : 'a1 history0 -> 'a1 list -> 'a1 history0

val first : int -> 'a1 history0 -> 'a1 history0

val last_rev : int -> 'a1 list -> 'a1 list -> 'a1 list

val window0 : int -> 'a1 history0 -> 'a1 list

type 'cell fast = 'cell history0 PositiveMap.t

val fast_empty : 'a1 fast

val fast_step : 'a1 fast -> 'a1 operation -> 'a1 fast option

type oracle_cell = int

val oracle_step :
  config -> oracle_cell histories -> oracle_cell state -> oracle_cell op ->
  oracle_cell state result

val oracle_is_never :
  config -> oracle_cell histories -> oracle_cell state -> oracle_cell op ->
  bool

val oracle_best_cut : config -> oracle_cell pool -> oracle_cell list -> int

val fast_start : oracle_cell fast

val fast_step0 :
  oracle_cell fast -> oracle_cell operation -> oracle_cell fast option

val fast_last : int -> oracle_cell fast -> int -> oracle_cell list option
