(* SPDX-License-Identifier: Apache-2.0 *)
(* Written by invariants/proof/oracle/generate, with Coq 8.16.1, from Extract.v (all that it imports) in invariants/proof. *)

(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

(** val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option **)

let option_map f = function
| Some a -> Some (f a)
| None -> None

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> int **)

let rec length = function
| [] -> 0
| _ :: l' -> Stdlib.Int.succ (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

module Coq__1 = struct
 (** val add : int -> int -> int **)let rec add = (+)
end
include Coq__1

(** val mul : int -> int -> int **)

let rec mul = ( * )

(** val sub : int -> int -> int **)

let rec sub = (fun (n : int) m -> if n <= m then 0 else n - m)

module type EqLtLe =
 sig
  type t
 end

module MakeOrderTac =
 functor (O:EqLtLe) ->
 functor (P:sig
 end) ->
 struct
 end

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

  (** val compare_cont : comparison -> int -> int -> comparison **)

  let rec compare_cont r x y =
    (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
      (fun p ->
      (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
        (fun q -> compare_cont r p q)
        (fun q -> compare_cont Gt p q)
        (fun _ -> Gt)
        y)
      (fun p ->
      (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
        (fun q -> compare_cont Lt p q)
        (fun q -> compare_cont r p q)
        (fun _ -> Gt)
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
        (fun _ -> Lt)
        (fun _ -> Lt)
        (fun _ -> r)
        y)
      x

  (** val compare : int -> int -> comparison **)

  let compare =
    compare_cont Eq

  (** val of_succ_nat : int -> int **)

  let rec of_succ_nat = Stdlib.succ
 end

(** val nth : int -> 'a1 list -> 'a1 -> 'a1 **)

let rec nth n0 l default0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> match l with
              | [] -> default0
              | x :: _ -> x)
    (fun m -> match l with
              | [] -> default0
              | _ :: t0 -> nth m t0 default0)
    n0

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t0 -> (f a) :: (map f t0)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t0 -> app (f x) (flat_map f t0)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b0 :: t0 -> fold_left f t0 (f a0 b0)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val find : ('a1 -> bool) -> 'a1 list -> 'a1 option **)

let rec find f = function
| [] -> None
| x :: tl -> if f x then Some x else find f tl

(** val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec combine l l' =
  match l with
  | [] -> []
  | x :: tl ->
    (match l' with
     | [] -> []
     | y :: tl' -> (x, y) :: (combine tl tl'))

(** val firstn : int -> 'a1 list -> 'a1 list **)

let rec firstn n0 l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun n1 -> match l with
               | [] -> []
               | a :: l0 -> a :: (firstn n1 l0))
    n0

(** val skipn : int -> 'a1 list -> 'a1 list **)

let rec skipn n0 l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> l)
    (fun n1 -> match l with
               | [] -> []
               | _ :: l0 -> skipn n1 l0)
    n0

(** val seq : int -> int -> int list **)

let rec seq start len0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun len1 -> start :: (seq (Stdlib.Int.succ start) len1))
    len0

(** val repeat : 'a1 -> int -> 'a1 list **)

let rec repeat x n0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun k -> x :: (repeat x k))
    n0

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

module OrderedTypeFacts =
 functor (O:OrderedType) ->
 struct
  module TO =
   struct
    type t = O.t
   end

  module IsTO =
   struct
   end

  module OrderTac = MakeOrderTac(TO)(IsTO)

  (** val eq_dec : O.t -> O.t -> bool **)

  let eq_dec =
    O.eq_dec

  (** val lt_dec : O.t -> O.t -> bool **)

  let lt_dec x y =
    match O.compare x y with
    | LT -> true
    | _ -> false

  (** val eqb : O.t -> O.t -> bool **)

  let eqb x y =
    if eq_dec x y then true else false
 end

module KeyOrderedType =
 functor (O:OrderedType) ->
 struct
  module MO = OrderedTypeFacts(O)
 end

module PositiveOrderedTypeBits =
 struct
  type t = int

  (** val compare : t -> t -> int compare0 **)

  let rec compare p y =
    (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
      (fun p0 ->
      (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
        (fun p1 -> compare p0 p1)
        (fun _ -> GT)
        (fun _ -> GT)
        y)
      (fun p0 ->
      (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
        (fun _ -> LT)
        (fun p1 -> compare p0 p1)
        (fun _ -> LT)
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
        (fun _ -> LT)
        (fun _ -> GT)
        (fun _ -> EQ)
        y)
      p

  (** val eq_dec : int -> int -> bool **)

  let eq_dec x y =
    match Pos.compare x y with
    | Eq -> true
    | _ -> false
 end

(** val append : int -> int -> int **)

let rec append i j =
  (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
    (fun ii -> (fun p -> 2 * p + 1) (append ii j))
    (fun ii -> (fun p -> 2 * p) (append ii j))
    (fun _ -> j)
    i

module PositiveMap =
 struct
  module E = PositiveOrderedTypeBits

  module ME = KeyOrderedType(E)

  type key = int

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  (** val empty : 'a1 t **)

  let empty =
    Leaf

  (** val is_empty : 'a1 t -> bool **)

  let rec is_empty = function
  | Leaf -> true
  | Node (l, o, r) ->
    (match o with
     | Some _ -> false
     | None -> (&&) (is_empty l) (is_empty r))

  (** val find : key -> 'a1 t -> 'a1 option **)

  let rec find i = function
  | Leaf -> None
  | Node (l, o, r) ->
    ((fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
       (fun ii -> find ii r)
       (fun ii -> find ii l)
       (fun _ -> o)
       i)

  (** val mem : key -> 'a1 t -> bool **)

  let rec mem i = function
  | Leaf -> false
  | Node (l, o, r) ->
    ((fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
       (fun ii -> mem ii r)
       (fun ii -> mem ii l)
       (fun _ -> match o with
                 | Some _ -> true
                 | None -> false)
       i)

  (** val add : key -> 'a1 -> 'a1 t -> 'a1 t **)

  let rec add i v = function
  | Leaf ->
    ((fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
       (fun ii -> Node (Leaf, None, (add ii v Leaf)))
       (fun ii -> Node ((add ii v Leaf), None, Leaf))
       (fun _ -> Node (Leaf, (Some v), Leaf))
       i)
  | Node (l, o, r) ->
    ((fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
       (fun ii -> Node (l, o, (add ii v r)))
       (fun ii -> Node ((add ii v l), o, r))
       (fun _ -> Node (l, (Some v), r))
       i)

  (** val remove : key -> 'a1 t -> 'a1 t **)

  let rec remove i m =
    (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
      (fun ii ->
      match m with
      | Leaf -> Leaf
      | Node (l, o, r) ->
        (match l with
         | Leaf ->
           (match o with
            | Some _ -> Node (l, o, (remove ii r))
            | None ->
              (match remove ii r with
               | Leaf -> Leaf
               | Node (t0, o0, t1) -> Node (Leaf, None, (Node (t0, o0, t1)))))
         | Node (_, _, _) -> Node (l, o, (remove ii r))))
      (fun ii ->
      match m with
      | Leaf -> Leaf
      | Node (l, o, r) ->
        (match o with
         | Some _ -> Node ((remove ii l), o, r)
         | None ->
           (match r with
            | Leaf ->
              (match remove ii l with
               | Leaf -> Leaf
               | Node (t0, o0, t1) -> Node ((Node (t0, o0, t1)), None, Leaf))
            | Node (_, _, _) -> Node ((remove ii l), o, r))))
      (fun _ ->
      match m with
      | Leaf -> Leaf
      | Node (l, _, r) ->
        (match l with
         | Leaf ->
           (match r with
            | Leaf -> Leaf
            | Node (_, _, _) -> Node (l, None, r))
         | Node (_, _, _) -> Node (l, None, r)))
      i

  (** val xelements : 'a1 t -> key -> (key * 'a1) list **)

  let rec xelements m i =
    match m with
    | Leaf -> []
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         app (xelements l (append i ((fun p -> 2 * p) 1))) ((i,
           x) :: (xelements r (append i ((fun p -> 2 * p + 1) 1))))
       | None ->
         app (xelements l (append i ((fun p -> 2 * p) 1)))
           (xelements r (append i ((fun p -> 2 * p + 1) 1))))

  (** val elements : 'a1 t -> (key * 'a1) list **)

  let elements m =
    xelements m 1

  (** val cardinal : 'a1 t -> int **)

  let rec cardinal = function
  | Leaf -> 0
  | Node (l, o, r) ->
    (match o with
     | Some _ -> Stdlib.Int.succ (Coq__1.add (cardinal l) (cardinal r))
     | None -> Coq__1.add (cardinal l) (cardinal r))

  (** val xfind : key -> key -> 'a1 t -> 'a1 option **)

  let rec xfind i j m =
    (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
      (fun ii ->
      (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
        (fun jj -> xfind ii jj m)
        (fun _ -> None)
        (fun _ -> find i m)
        j)
      (fun ii ->
      (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
        (fun _ -> None)
        (fun jj -> xfind ii jj m)
        (fun _ -> find i m)
        j)
      (fun _ ->
      (fun f2p1 f2p f1 p -> if p <= 1 then f1 () else if p land 1 = 0 then f2p (p lsr 1) else f2p1 (p lsr 1))
        (fun _ -> None)
        (fun _ -> None)
        (fun _ -> find i m)
        j)
      i

  (** val xmapi : (key -> 'a1 -> 'a2) -> 'a1 t -> key -> 'a2 t **)

  let rec xmapi f m i =
    match m with
    | Leaf -> Leaf
    | Node (l, o, r) ->
      Node ((xmapi f l (append i ((fun p -> 2 * p) 1))),
        (option_map (f i) o), (xmapi f r (append i ((fun p -> 2 * p + 1) 1))))

  (** val mapi : (key -> 'a1 -> 'a2) -> 'a1 t -> 'a2 t **)

  let mapi f m =
    xmapi f m 1

  (** val map : ('a1 -> 'a2) -> 'a1 t -> 'a2 t **)

  let map f m =
    mapi (fun _ -> f) m

  (** val xmap2_l :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a3 t **)

  let rec xmap2_l f = function
  | Leaf -> Leaf
  | Node (l, o, r) -> Node ((xmap2_l f l), (f o None), (xmap2_l f r))

  (** val xmap2_r :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a2 t -> 'a3 t **)

  let rec xmap2_r f = function
  | Leaf -> Leaf
  | Node (l, o, r) -> Node ((xmap2_r f l), (f None o), (xmap2_r f r))

  (** val _map2 :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t **)

  let rec _map2 f m1 m2 =
    match m1 with
    | Leaf -> xmap2_r f m2
    | Node (l1, o1, r1) ->
      (match m2 with
       | Leaf -> xmap2_l f m1
       | Node (l2, o2, r2) ->
         Node ((_map2 f l1 l2), (f o1 o2), (_map2 f r1 r2)))

  (** val map2 :
      ('a1 option -> 'a2 option -> 'a3 option) -> 'a1 t -> 'a2 t -> 'a3 t **)

  let map2 f =
    _map2 (fun o1 o2 ->
      match o1 with
      | Some _ -> f o1 o2
      | None -> (match o2 with
                 | Some _ -> f o1 o2
                 | None -> None))

  (** val xfoldi :
      (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2 **)

  let rec xfoldi f m v i =
    match m with
    | Leaf -> v
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         xfoldi f r (f i x (xfoldi f l v (append i ((fun p -> 2 * p) 1))))
           (append i ((fun p -> 2 * p + 1) 1))
       | None ->
         xfoldi f r (xfoldi f l v (append i ((fun p -> 2 * p) 1)))
           (append i ((fun p -> 2 * p + 1) 1)))

  (** val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2 **)

  let fold f m i =
    xfoldi f m i 1

  (** val equal : ('a1 -> 'a1 -> bool) -> 'a1 t -> 'a1 t -> bool **)

  let rec equal cmp m1 m2 =
    match m1 with
    | Leaf -> is_empty m2
    | Node (l1, o1, r1) ->
      (match m2 with
       | Leaf -> is_empty m1
       | Node (l2, o2, r2) ->
         (&&)
           ((&&)
             (match o1 with
              | Some v1 ->
                (match o2 with
                 | Some v2 -> cmp v1 v2
                 | None -> false)
              | None -> (match o2 with
                         | Some _ -> false
                         | None -> true)) (equal cmp l1 l2)) (equal cmp r1 r2))
 end

module PM = PositiveMap

type 'x tmap = { default : 'x; tree0 : 'x PM.t }

(** val all : 'a1 -> 'a1 tmap **)

let all x =
  { default = x; tree0 = PM.empty }

(** val get : 'a1 tmap -> int -> 'a1 **)

let get m i =
  match PM.find (Pos.of_succ_nat i) m.tree0 with
  | Some x -> x
  | None -> m.default

(** val set : 'a1 tmap -> int -> 'a1 -> 'a1 tmap **)

let set m i x =
  { default = m.default; tree0 = (PM.add (Pos.of_succ_nat i) x m.tree0) }

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

(** val bind : 'a1 result -> ('a1 -> 'a2 result) -> 'a2 result **)

let bind r f =
  match r with
  | Done x -> f x
  | Refused why -> Refused why

(** val require : bool -> refusal -> unit result **)

let require b0 why =
  if b0 then Done () else Refused why

(** val cdiv : config -> int -> int **)

let cdiv cfg n0 =
  Nat.div (add n0 (sub cfg.b (Stdlib.Int.succ 0))) cfg.b

(** val slot : config -> int -> int -> int **)

let slot cfg b0 i =
  add (mul b0 cfg.b) (Nat.modulo i cfg.b)

(** val need : group -> int -> int **)

let need g n0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> 0)
    (fun n1 -> sub (add n0 (Stdlib.Int.succ 0)) (Stdlib.Int.succ n1))
    g.window

(** val keep_from : config -> group -> int -> int **)

let keep_from cfg g n0 =
  sub (need g n0) cfg.slack

(** val keep_after_commit : config -> group -> int -> int **)

let keep_after_commit cfg g n0 =
  keep_from cfg g (sub n0 (Stdlib.Int.succ 0))

(** val sink_blocks : config -> group -> int **)

let sink_blocks cfg g =
  cdiv cfg g.sinks

type 'a key0 = { in_group : int; content : 'a list }

(** val key_block : config -> 'a1 key0 -> int **)

let key_block cfg k =
  Nat.div (sub (length k.content) (Stdlib.Int.succ 0)) cfg.b

type 'a pool = { store : (int * 'a) option tmap; refs : int tmap;
                 pins : int tmap; index : 'a key0 option tmap;
                 free : int list; fenced : (int * int list) list;
                 open0 : int list }

type table = { lo : int; entries : int option list }

type seq0 = { len : int; rsv : int; full : bool; tables : table list }

type 'a state = { the_pool : 'a pool; seqs : seq0 option list }

(** val with_store : 'a1 pool -> (int * 'a1) option tmap -> 'a1 pool **)

let with_store p x =
  { store = x; refs = p.refs; pins = p.pins; index = p.index; free = p.free;
    fenced = p.fenced; open0 = p.open0 }

(** val with_refs : 'a1 pool -> int tmap -> 'a1 pool **)

let with_refs p x =
  { store = p.store; refs = x; pins = p.pins; index = p.index; free = p.free;
    fenced = p.fenced; open0 = p.open0 }

(** val with_pins : 'a1 pool -> int tmap -> 'a1 pool **)

let with_pins p x =
  { store = p.store; refs = p.refs; pins = x; index = p.index; free = p.free;
    fenced = p.fenced; open0 = p.open0 }

(** val with_index : 'a1 pool -> 'a1 key0 option tmap -> 'a1 pool **)

let with_index p x =
  { store = p.store; refs = p.refs; pins = p.pins; index = x; free = p.free;
    fenced = p.fenced; open0 = p.open0 }

(** val with_free : 'a1 pool -> int list -> 'a1 pool **)

let with_free p x =
  { store = p.store; refs = p.refs; pins = p.pins; index = p.index; free = x;
    fenced = p.fenced; open0 = p.open0 }

(** val with_fences :
    'a1 pool -> (int * int list) list -> int list -> 'a1 pool **)

let with_fences p x y =
  { store = p.store; refs = p.refs; pins = p.pins; index = p.index; free =
    p.free; fenced = x; open0 = y }

(** val at_ : 'a1 option list -> int -> 'a1 option **)

let at_ l i =
  nth i l None

(** val upd : 'a1 list -> int -> 'a1 -> 'a1 list **)

let rec upd l i x =
  match l with
  | [] -> []
  | y :: l' ->
    ((fun fO fS n -> if n=0 then fO () else fS (n-1))
       (fun _ -> x :: l')
       (fun i' -> y :: (upd l' i' x))
       i)

(** val mem0 : int -> int list -> bool **)

let mem0 b0 l =
  existsb (Nat.eqb b0) l

(** val without : int -> int list -> int list **)

let without b0 l =
  filter (fun x -> negb (Nat.eqb x b0)) l

type 'a work = { pool_of : 'a pool; choices : int list; sources : int list }

(** val takeable : 'a1 work -> int -> bool **)

let takeable w b0 =
  (&&) ((&&) (mem0 b0 w.pool_of.free) (Nat.eqb (get w.pool_of.pins b0) 0))
    (negb (mem0 b0 w.sources))

(** val room : 'a1 work -> int **)

let room w =
  length (filter (takeable w) w.pool_of.free)

(** val claim : 'a1 pool -> int -> 'a1 pool **)

let claim p b0 =
  with_free
    (with_index (with_refs p (set p.refs b0 (Stdlib.Int.succ 0)))
      (set p.index b0 None)) (without b0 p.free)

(** val take : 'a1 work -> (int * 'a1 work) result **)

let take w =
  match w.choices with
  | [] ->
    (match find (takeable w) w.pool_of.free with
     | Some b0 ->
       Done (b0, { pool_of = (claim w.pool_of b0); choices = []; sources =
         w.sources })
     | None -> Refused No_room)
  | b0 :: rest ->
    if takeable w b0
    then Done (b0, { pool_of = (claim w.pool_of b0); choices = rest;
           sources = w.sources })
    else Refused Bad_choice

(** val give : 'a1 pool -> int -> 'a1 pool **)

let give p b0 =
  let p' =
    with_refs p (set p.refs b0 (sub (get p.refs b0) (Stdlib.Int.succ 0)))
  in
  if Nat.eqb (get p.refs b0) (Stdlib.Int.succ 0)
  then (match p.open0 with
        | [] -> with_free p' (b0 :: p'.free)
        | n0 :: l -> with_fences p' ((b0, (n0 :: l)) :: p'.fenced) p'.open0)
  else p'

(** val share : 'a1 pool -> int -> 'a1 pool **)

let share p b0 =
  let p' = with_refs p (set p.refs b0 (Stdlib.Int.succ (get p.refs b0))) in
  if Nat.eqb (get p.refs b0) 0
  then with_fences (with_free p' (without b0 p'.free))
         (filter (fun f -> negb (Nat.eqb (fst f) b0)) p'.fenced) p'.open0
  else p'

(** val give_all : 'a1 pool -> int option list -> 'a1 pool **)

let give_all p bs =
  fold_left (fun p0 ob -> match ob with
                          | Some b0 -> give p0 b0
                          | None -> p0) bs p

(** val share_all : 'a1 pool -> int option list -> 'a1 pool **)

let share_all p bs =
  fold_left (fun p0 ob -> match ob with
                          | Some b0 -> share p0 b0
                          | None -> p0) bs p

(** val copy : config -> 'a1 pool -> int -> int -> int -> 'a1 pool **)

let copy cfg p a b0 n0 =
  with_store p
    (fold_left (fun st i ->
      set st (add (mul b0 cfg.b) i) (get st (add (mul a cfg.b) i)))
      (seq 0 n0) p.store)

(** val step_begin : int -> 'a1 pool -> 'a1 pool result **)

let step_begin step0 p =
  bind (require (negb (mem0 step0 p.open0)) Invalid) (fun _ -> Done
    (with_fences p p.fenced (step0 :: p.open0)))

(** val lower : int -> 'a1 pool -> (int * int list) list **)

let lower step0 p =
  map (fun f -> ((fst f), (without step0 (snd f)))) p.fenced

(** val has_passed : (int * int list) -> bool **)

let has_passed f =
  match snd f with
  | [] -> true
  | _ :: _ -> false

(** val step_end : int -> 'a1 pool -> 'a1 pool result **)

let step_end step0 p =
  bind (require (mem0 step0 p.open0) Invalid) (fun _ ->
    let fs = lower step0 p in
    Done
    (with_free
      (with_fences p (filter (fun f -> negb (has_passed f)) fs)
        (without step0 p.open0))
      (app (map fst (filter has_passed fs)) p.free)))

(** val pin_one : 'a1 pool result -> int -> 'a1 pool result **)

let pin_one r b0 =
  bind r (fun p ->
    bind
      (require (match get p.index b0 with
                | Some _ -> true
                | None -> false) Bad_choice) (fun _ -> Done
      (with_pins p (set p.pins b0 (Stdlib.Int.succ (get p.pins b0))))))

(** val unpin_one : 'a1 pool result -> int -> 'a1 pool result **)

let unpin_one r b0 =
  bind r (fun p ->
    bind (require (Nat.ltb 0 (get p.pins b0)) Invalid) (fun _ -> Done
      (with_pins p (set p.pins b0 (sub (get p.pins b0) (Stdlib.Int.succ 0))))))

(** val forget : 'a1 pool -> int -> 'a1 pool **)

let forget p b0 =
  with_pins (with_index p (set p.index b0 None)) (set p.pins b0 0)

(** val slide :
    config -> group -> int -> ('a1 pool * table) -> 'a1 pool * table **)

let slide cfg g keep = function
| (p, t0) ->
  let first0 = Nat.div keep cfg.b in
  let s = Nat.min (sink_blocks cfg g) first0 in
  let dead = skipn s (firstn first0 t0.entries) in
  ((give_all p dead), { lo = (Nat.max t0.lo (mul first0 cfg.b)); entries =
  (app (firstn s t0.entries)
    (app (map (fun _ -> None) dead) (skipn first0 t0.entries))) })

(** val slide_all :
    config -> (group -> int) -> group list -> 'a1 pool -> table list -> 'a1
    pool * table list **)

let rec slide_all cfg keep gs p ts =
  match gs with
  | [] -> (p, ts)
  | g :: gs' ->
    (match ts with
     | [] -> (p, ts)
     | t0 :: ts' ->
       let (p0, t1) = slide cfg g (keep g) (p, t0) in
       let (p1, ts'0) = slide_all cfg keep gs' p0 ts' in (p1, (t1 :: ts'0)))

(** val open_tail :
    config -> int -> bool -> ('a1 work * table) -> ('a1 work * table) result **)

let open_tail cfg begin0 always_copy = function
| (w, t0) ->
  if Nat.eqb (Nat.modulo begin0 cfg.b) 0
  then Done (w, t0)
  else (match at_ t0.entries (Nat.div begin0 cfg.b) with
        | Some a ->
          if (&&)
               ((&&) (negb always_copy)
                 (Nat.eqb (get w.pool_of.refs a) (Stdlib.Int.succ 0)))
               (Nat.eqb (get w.pool_of.pins a) 0)
          then Done ({ pool_of =
                 (with_index w.pool_of (set w.pool_of.index a None));
                 choices = w.choices; sources = w.sources }, t0)
          else bind (take w) (fun x ->
                 let (b0, w0) = x in
                 let p =
                   give (copy cfg w0.pool_of a b0 (Nat.modulo begin0 cfg.b)) a
                 in
                 Done ({ pool_of = p; choices = w0.choices; sources =
                 (a :: w0.sources) }, { lo = t0.lo; entries =
                 (upd t0.entries (Nat.div begin0 cfg.b) (Some b0)) }))
        | None ->
          bind (take w) (fun x ->
            let (b0, w0) = x in
            Done (w0, { lo = t0.lo; entries =
            (upd t0.entries (Nat.div begin0 cfg.b) (Some b0)) })))

(** val take_blocks :
    int -> 'a1 work -> ('a1 work * int option list) result **)

let rec take_blocks n0 w =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> Done (w, []))
    (fun n1 ->
    bind (take w) (fun x ->
      let (b0, w0) = x in
      bind (take_blocks n1 w0) (fun x0 ->
        let (w1, bs) = x0 in Done (w1, ((Some b0) :: bs)))))
    n0

(** val extend :
    config -> int -> int -> bool -> ('a1 work * table) -> ('a1 work * table)
    result **)

let extend cfg begin0 k always_copy wt =
  bind (open_tail cfg begin0 always_copy wt) (fun x ->
    let (w, t0) = x in
    bind (take_blocks (sub (cdiv cfg (add begin0 k)) (length t0.entries)) w)
      (fun x0 ->
      let (w0, bs) = x0 in
      Done (w0, { lo = t0.lo; entries = (app t0.entries bs) })))

(** val extend_all :
    config -> int -> int -> bool -> 'a1 work -> table list -> ('a1
    work * table list) result **)

let rec extend_all cfg begin0 k always_copy w = function
| [] -> Done (w, [])
| t0 :: ts0 ->
  bind (extend cfg begin0 k always_copy (w, t0)) (fun x ->
    let (w0, t1) = x in
    bind (extend_all cfg begin0 k always_copy w0 ts0) (fun x0 ->
      let (w1, ts1) = x0 in Done (w1, (t1 :: ts1))))

(** val within_limit : config -> int -> bool **)

let within_limit cfg n0 =
  (||) (Nat.eqb cfg.limit 0) (Nat.leb n0 cfg.limit)

(** val find_seq : seq0 option list -> int -> seq0 result **)

let find_seq st s =
  match at_ st s with
  | Some q -> Done q
  | None -> Refused Unknown

(** val reserve_one :
    config -> int -> int -> ('a1 work * seq0 option list) -> ('a1 work * seq0
    option list) result **)

let reserve_one cfg s k = function
| (w, sl) ->
  bind (find_seq sl s) (fun q ->
    let (p, ts) =
      slide_all cfg (fun g -> keep_from cfg g q.len) cfg.groups w.pool_of
        q.tables
    in
    bind
      (extend_all cfg (add q.len q.rsv) k false { pool_of = p; choices =
        w.choices; sources = w.sources } ts) (fun x ->
      let (w0, ts0) = x in
      Done (w0,
      (upd sl s (Some { len = q.len; rsv = (add q.rsv k); full = false;
        tables = ts0 })))))

(** val reserve_batch :
    config -> (int * int) list -> ('a1 work * seq0 option list) -> ('a1
    work * seq0 option list) result **)

let rec reserve_batch cfg batch wq =
  match batch with
  | [] -> Done wq
  | p :: rest ->
    let (s, k) = p in
    bind (reserve_one cfg s k wq) (fun wq0 -> reserve_batch cfg rest wq0)

(** val ask :
    seq0 option list -> int list -> (int * int) list -> unit result **)

let rec ask sl seen = function
| [] -> Done ()
| p :: rest ->
  let (s, k) = p in
  bind (find_seq sl s) (fun _ ->
    bind (require ((&&) (Nat.ltb 0 k) (negb (mem0 s seen))) Invalid)
      (fun _ -> ask sl (s :: seen) rest))

(** val is_short_enough :
    config -> seq0 option list -> (int * int) -> bool **)

let is_short_enough cfg sl sk =
  match at_ sl (fst sk) with
  | Some q -> within_limit cfg (add (add q.len q.rsv) (snd sk))
  | None -> true

(** val write :
    config -> int -> 'a1 pool -> table -> int -> 'a1 list -> 'a1 pool **)

let rec write cfg gi p t0 i = function
| [] -> p
| a :: rest ->
  let p0 =
    match at_ t0.entries (Nat.div i cfg.b) with
    | Some b0 -> with_store p (set p.store (slot cfg b0 i) (Some (gi, a)))
    | None -> p
  in
  write cfg gi p0 t0 (Stdlib.Int.succ i) rest

(** val keeps_entry : 'a1 pool -> int -> 'a1 list -> bool **)

let keeps_entry p b0 h =
  match get p.index b0 with
  | Some k ->
    (||) (Nat.leb (length h) (length k.content))
      (negb (Nat.eqb (get p.pins b0) 0))
  | None -> false

(** val publish : int -> table -> 'a1 pool -> int -> 'a1 list -> 'a1 pool **)

let publish gi t0 p j h =
  match at_ t0.entries j with
  | Some b0 ->
    if keeps_entry p b0 h
    then p
    else with_index p (set p.index b0 (Some { in_group = gi; content = h }))
  | None -> p

(** val is_whole : config -> group -> table -> int -> bool **)

let is_whole cfg g t0 j =
  (||) (Nat.leb t0.lo (mul j cfg.b)) (Nat.ltb j (sink_blocks cfg g))

(** val publish_blocks :
    config -> int -> group -> table -> int -> int -> 'a1 list -> 'a1 pool ->
    'a1 pool **)

let publish_blocks cfg gi g t0 from to0 h p =
  fold_left (fun p0 j ->
    if is_whole cfg g t0 j
    then publish gi t0 p0 j (firstn (mul (add j (Stdlib.Int.succ 0)) cfg.b) h)
    else p0) (seq from (sub to0 from)) p

(** val publish_tails :
    config -> int -> int -> 'a1 list -> group list -> table list -> 'a1 pool
    -> 'a1 pool **)

let rec publish_tails cfg gi n0 h gs ts p =
  match gs with
  | [] -> p
  | g :: gs0 ->
    (match ts with
     | [] -> p
     | t0 :: ts0 ->
       let p0 =
         if is_whole cfg g t0 (Nat.div n0 cfg.b)
         then publish gi t0 p (Nat.div n0 cfg.b) h
         else p
       in
       publish_tails cfg (Stdlib.Int.succ gi) n0 h gs0 ts0 p0)

(** val commit_table :
    config -> int -> group -> int -> 'a1 list -> 'a1 list -> ('a1
    pool * table) -> 'a1 pool * table **)

let commit_table cfg gi g n0 cells h = function
| (p, t0) ->
  let p0 = write cfg gi p t0 n0 cells in
  let m = add n0 (length cells) in
  let p1 =
    if cfg.caching
    then publish_blocks cfg gi g t0 (Nat.div n0 cfg.b) (Nat.div m cfg.b) h p0
    else p0
  in
  if cfg.eager
  then slide cfg g (keep_after_commit cfg g m) (p1, t0)
  else (p1, t0)

(** val commit_all :
    config -> int -> int -> 'a1 list -> 'a1 list -> group list -> 'a1 pool ->
    table list -> 'a1 pool * table list **)

let rec commit_all cfg gi n0 cells h gs p ts =
  match gs with
  | [] -> (p, ts)
  | g :: gs' ->
    (match ts with
     | [] -> (p, ts)
     | t0 :: ts' ->
       let (p0, t1) = commit_table cfg gi g n0 cells h (p, t0) in
       let (p1, ts'0) =
         commit_all cfg (Stdlib.Int.succ gi) n0 cells h gs' p0 ts'
       in
       (p1, (t1 :: ts'0)))

(** val commit_one :
    config -> int -> 'a1 list -> 'a1 list -> 'a1 pool -> seq0 option list ->
    ('a1 pool * seq0 option list) result **)

let commit_one cfg s cells h p sl =
  bind (find_seq sl s) (fun q ->
    match cells with
    | [] -> Done (p, sl)
    | _ :: _ ->
      bind (require (Nat.leb (length cells) q.rsv) Not_reserved) (fun _ ->
        let (p0, ts) =
          commit_all cfg 0 q.len cells (app h cells) cfg.groups p q.tables
        in
        Done (p0,
        (upd sl s (Some { len = (add q.len (length cells)); rsv =
          (sub q.rsv (length cells)); full = true; tables = ts })))))

(** val covers : config -> group -> table -> int -> int -> bool **)

let covers cfg g t0 from to0 =
  let start = Nat.max from (mul (sink_blocks cfg g) cfg.b) in
  (||) (Nat.leb to0 start) (Nat.leb t0.lo start)

(** val is_resident : config -> int -> group -> table -> bool **)

let is_resident cfg n0 g t0 =
  covers cfg g t0 (need g n0) n0

(** val all_resident : config -> int -> seq0 -> bool **)

let all_resident cfg n0 q =
  forallb (fun gt -> is_resident cfg n0 (fst gt) (snd gt))
    (combine cfg.groups q.tables)

(** val kept_entries : config -> group -> int -> table -> int **)

let kept_entries cfg g n0 t0 =
  if Nat.ltb t0.lo n0
  then cdiv cfg n0
  else Nat.min (sink_blocks cfg g) (cdiv cfg n0)

(** val cut_table : config -> int -> group -> table -> table **)

let cut_table cfg n0 g t0 =
  let k = kept_entries cfg g n0 t0 in
  { lo = (Nat.min t0.lo n0); entries =
  (app (firstn k t0.entries) (repeat None (sub (cdiv cfg n0) k))) }

(** val tail_of : config -> int -> group -> table -> int option list **)

let tail_of cfg n0 g t0 =
  skipn (kept_entries cfg g n0 t0) t0.entries

(** val with_groups :
    config -> (group -> table -> 'a1) -> table list -> 'a1 list **)

let with_groups cfg f ts =
  map (fun gt -> f (fst gt) (snd gt)) (combine cfg.groups ts)

(** val give_tables : 'a1 pool -> int option list list -> 'a1 pool **)

let give_tables p tss =
  fold_left give_all tss p

(** val shrink : config -> int -> 'a1 pool -> seq0 -> 'a1 pool * seq0 **)

let shrink cfg n0 p q =
  ((give_tables p (with_groups cfg (tail_of cfg n0) q.tables)), { len = n0;
    rsv = 0; full = ((&&) q.full (Nat.eqb n0 q.len)); tables =
    (with_groups cfg (cut_table cfg n0) q.tables) })

(** val is_prefix : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> bool **)

let rec is_prefix eqb0 a b0 =
  match a with
  | [] -> true
  | x :: a0 ->
    (match b0 with
     | [] -> false
     | y :: b1 -> (&&) (eqb0 x y) (is_prefix eqb0 a0 b1))

(** val holds :
    ('a1 -> 'a1 -> bool) -> config -> 'a1 pool -> 'a1 list -> int -> int ->
    int -> int -> bool **)

let holds eqb0 cfg p query cut gi j b0 =
  match get p.index b0 with
  | Some k ->
    (&&) ((&&) (Nat.eqb k.in_group gi) (Nat.eqb (key_block cfg k) j))
      (let m = Nat.min (mul (add j (Stdlib.Int.succ 0)) cfg.b) cut in
       (&&) (Nat.leb m (length k.content))
         (is_prefix eqb0 (firstn m query) k.content))
  | None -> false

(** val run_begin : int -> int option list -> int **)

let rec run_begin j = function
| [] -> j
| o :: es0 ->
  (match o with
   | Some _ ->
     if forallb (fun e -> match e with
                          | Some _ -> true
                          | None -> false) es0
     then j
     else run_begin (Stdlib.Int.succ j) es0
   | None -> run_begin (Stdlib.Int.succ j) es0)

(** val hits_ok :
    ('a1 -> 'a1 -> bool) -> config -> 'a1 pool -> 'a1 list -> int -> int ->
    group -> int option list -> bool **)

let hits_ok eqb0 cfg p query cut gi g es =
  (&&)
    ((&&) (Nat.eqb (length es) (cdiv cfg cut))
      (forallb (fun j ->
        match at_ es j with
        | Some b0 ->
          (&&) (Nat.ltb b0 cfg.n) (holds eqb0 cfg p query cut gi j b0)
        | None -> negb (Nat.ltb j (sink_blocks cfg g))) (seq 0 (length es))))
    ((||) (Nat.eqb cut 0)
      ((&&) (Nat.ltb (mul (run_begin 0 es) cfg.b) cut)
        (Nat.leb (mul (run_begin 0 es) cfg.b) (need g cut))))

(** val all_hits_ok :
    ('a1 -> 'a1 -> bool) -> config -> 'a1 pool -> 'a1 list -> int -> int ->
    group list -> int option list list -> bool **)

let rec all_hits_ok eqb0 cfg p query cut gi gs ess =
  match gs with
  | [] -> (match ess with
           | [] -> true
           | _ :: _ -> false)
  | g :: gs0 ->
    (match ess with
     | [] -> false
     | es :: ess0 ->
       (&&) (hits_ok eqb0 cfg p query cut gi g es)
         (all_hits_ok eqb0 cfg p query cut (Stdlib.Int.succ gi) gs0 ess0))

(** val hit_table : config -> int option list -> table **)

let hit_table cfg es =
  { lo = (mul (run_begin 0 es) cfg.b); entries = es }

(** val agreement : ('a1 -> 'a1 -> bool) -> 'a1 list -> 'a1 list -> int **)

let rec agreement eqb0 a b0 =
  match a with
  | [] -> 0
  | x :: a0 ->
    (match b0 with
     | [] -> 0
     | y :: b1 ->
       if eqb0 x y then Stdlib.Int.succ (agreement eqb0 a0 b1) else 0)

(** val candidates :
    ('a1 -> 'a1 -> bool) -> config -> 'a1 pool -> 'a1 list ->
    ((int * int) * int) list **)

let candidates eqb0 cfg p query =
  flat_map (fun b0 ->
    match get p.index b0 with
    | Some k ->
      ((k.in_group, (key_block cfg k)),
        (agreement eqb0 query k.content)) :: []
    | None -> []) (seq 0 cfg.n)

(** val has_block : ((int * int) * int) list -> int -> int -> int -> bool **)

let has_block cs gi j m =
  existsb (fun c ->
    let (y, m') = c in
    let (gi', j') = y in
    (&&) ((&&) (Nat.eqb gi' gi) (Nat.eqb j' j)) (Nat.leb m m')) cs

(** val needs_entry : config -> group -> int -> int -> bool **)

let needs_entry cfg g cut j =
  (||) (Nat.ltb j (sink_blocks cfg g))
    (Nat.leb
      (Nat.div (Nat.min (need g cut) (sub cut (Stdlib.Int.succ 0))) cfg.b) j)

(** val can_hit :
    config -> ((int * int) * int) list -> int -> int -> group -> bool **)

let can_hit cfg cs cut gi g =
  forallb (fun j ->
    (||) (negb (needs_entry cfg g cut j))
      (has_block cs gi j
        (Nat.min (mul (add j (Stdlib.Int.succ 0)) cfg.b) cut)))
    (seq 0 (cdiv cfg cut))

(** val all_can_hit :
    config -> ((int * int) * int) list -> int -> int -> group list -> bool **)

let rec all_can_hit cfg cs cut gi = function
| [] -> true
| g :: gs0 ->
  (&&) (can_hit cfg cs cut gi g)
    (all_can_hit cfg cs cut (Stdlib.Int.succ gi) gs0)

(** val longest : config -> ((int * int) * int) list -> int -> int **)

let rec longest cfg cs below =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> 0)
    (fun n0 ->
    if (&&) ((||) cfg.tails (Nat.eqb (Nat.modulo below cfg.b) 0))
         (all_can_hit cfg cs below 0 cfg.groups)
    then below
    else longest cfg cs n0)
    below

(** val best_cut :
    ('a1 -> 'a1 -> bool) -> config -> 'a1 pool -> 'a1 list -> int **)

let best_cut eqb0 cfg p query =
  if cfg.caching
  then longest cfg (candidates eqb0 cfg p query)
         (sub (length query) (Stdlib.Int.succ 0))
  else 0

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

(** val history : 'a1 histories -> int -> 'a1 list **)

let history hs s =
  match at_ hs s with
  | Some h -> h
  | None -> []

(** val spec_commit : 'a1 histories -> int -> 'a1 list -> 'a1 histories **)

let spec_commit hs s cells =
  match at_ hs s with
  | Some h -> upd hs s (Some (app h cells))
  | None -> hs

(** val spec_step : 'a1 histories -> 'a1 op -> 'a1 histories **)

let spec_step hs = function
| Admit (s, q, compute, cut, _, _) ->
  upd hs s (Some (firstn (add cut (Nat.min compute (sub (length q) cut))) q))
| Commit (s, cells) -> spec_commit hs s cells
| Append (batch, _) ->
  fold_left (fun hs0 sc -> spec_commit hs0 (fst sc) (snd sc)) batch hs
| Fork (s, t0, n0) ->
  (match at_ hs s with
   | Some h -> upd hs t0 (Some (firstn n0 h))
   | None -> hs)
| Truncate (s, n0) ->
  (match at_ hs s with
   | Some h -> upd hs s (Some (firstn n0 h))
   | None -> hs)
| Release (s, _) -> upd hs s None
| _ -> hs

(** val spec_init : int -> 'a1 histories **)

let spec_init n_seqs =
  repeat None n_seqs

(** val is_vacant : 'a1 option list -> int -> bool **)

let is_vacant l s =
  (&&) (Nat.ltb s (length l))
    (match at_ l s with
     | Some _ -> false
     | None -> true)

(** val others_live : seq0 option list -> bool **)

let others_live sl =
  existsb (fun o -> match o with
                    | Some _ -> true
                    | None -> false) sl

(** val admit :
    ('a1 -> 'a1 -> bool) -> config -> int -> 'a1 list -> int -> int -> int
    option list list -> int list -> 'a1 state -> 'a1 state result **)

let admit eqb0 cfg s query compute cut hits cs st =
  let p = st.the_pool in
  bind (require (is_vacant st.seqs s) Invalid) (fun _ ->
    bind (require (Nat.ltb 0 (length query)) Invalid) (fun _ ->
      bind (require (within_limit cfg (length query)) Too_long) (fun _ ->
        bind
          (require
            ((&&)
              ((&&) (Nat.ltb cut (length query))
                ((||) cfg.caching (Nat.eqb cut 0)))
              (all_hits_ok eqb0 cfg p query cut 0 cfg.groups hits))
            Bad_choice) (fun _ ->
          let k = Nat.min compute (sub (length query) cut) in
          let p0 = fold_left share_all hits p in
          let ts = map (hit_table cfg) hits in
          let (p1, ts0) =
            if Nat.eqb k 0
            then (p0, ts)
            else slide_all cfg (fun g -> keep_from cfg g cut) cfg.groups p0 ts
          in
          bind
            (extend_all cfg cut k true { pool_of = p1; choices = cs;
              sources = [] } ts0) (fun x ->
            let (w, ts1) = x in
            bind
              (require
                ((||) (negb (others_live st.seqs))
                  (Nat.leb cfg.watermark (room w))) No_room) (fun _ ->
              let sl =
                upd st.seqs s (Some { len = cut; rsv = k; full = false;
                  tables = ts1 })
              in
              bind
                (commit_one cfg s (firstn k (skipn cut query))
                  (firstn cut query) w.pool_of sl) (fun x0 ->
                let (p2, sl0) = x0 in Done { the_pool = p2; seqs = sl0 })))))))

(** val reserve :
    config -> (int * int) list -> int list -> 'a1 state -> 'a1 state result **)

let reserve cfg batch cs st =
  bind (require (negb (Nat.eqb (length batch) 0)) Invalid) (fun _ ->
    bind (ask st.seqs [] batch) (fun _ ->
      bind (require (forallb (is_short_enough cfg st.seqs) batch) Too_long)
        (fun _ ->
        bind
          (reserve_batch cfg batch ({ pool_of = st.the_pool; choices = cs;
            sources = [] }, st.seqs)) (fun x ->
          let (w, sl) = x in Done { the_pool = w.pool_of; seqs = sl }))))

(** val commit :
    config -> 'a1 histories -> int -> 'a1 list -> 'a1 state -> 'a1 state
    result **)

let commit cfg hs s cells st =
  bind (commit_one cfg s cells (history hs s) st.the_pool st.seqs) (fun x ->
    let (p, sl) = x in Done { the_pool = p; seqs = sl })

(** val is_idle : seq0 option list -> int -> bool **)

let is_idle sl s =
  match at_ sl s with
  | Some q -> Nat.eqb q.rsv 0
  | None -> true

(** val commit_batch :
    config -> 'a1 histories -> (int * 'a1 list) list -> 'a1 state -> 'a1
    state result **)

let rec commit_batch cfg hs batch st =
  match batch with
  | [] -> Done st
  | p :: rest ->
    let (s, cells) = p in
    bind (commit cfg hs s cells st) (fun st0 -> commit_batch cfg hs rest st0)

(** val append0 :
    config -> 'a1 histories -> (int * 'a1 list) list -> int list -> 'a1 state
    -> 'a1 state result **)

let append0 cfg hs batch cs st =
  let cells = map (fun sc -> ((fst sc), (length (snd sc)))) batch in
  bind (require (negb (Nat.eqb (length batch) 0)) Invalid) (fun _ ->
    bind (ask st.seqs [] cells) (fun _ ->
      bind
        (require (forallb (fun sc -> is_idle st.seqs (fst sc)) batch) Busy)
        (fun _ ->
        bind (reserve cfg cells cs st) (fun st0 ->
          commit_batch cfg hs batch st0))))

(** val cancel : config -> int -> 'a1 state -> 'a1 state result **)

let cancel cfg s st =
  bind (find_seq st.seqs s) (fun q ->
    if Nat.eqb q.rsv 0
    then Done st
    else let (p, q0) = shrink cfg q.len st.the_pool q in
         Done { the_pool = p; seqs = (upd st.seqs s (Some q0)) })

(** val truncate : config -> int -> int -> 'a1 state -> 'a1 state result **)

let truncate cfg s n0 st =
  bind (find_seq st.seqs s) (fun q ->
    bind (require (Nat.leb n0 q.len) Invalid) (fun _ ->
      bind (require (all_resident cfg n0 q) Evicted) (fun _ ->
        let (p, q0) = shrink cfg n0 st.the_pool q in
        Done { the_pool = p; seqs = (upd st.seqs s (Some q0)) })))

(** val fork :
    config -> int -> int -> int -> 'a1 state -> 'a1 state result **)

let fork cfg s t0 n0 st =
  bind (find_seq st.seqs s) (fun q ->
    bind (require (is_vacant st.seqs t0) Invalid) (fun _ ->
      bind (require (Nat.eqb q.rsv 0) Busy) (fun _ ->
        bind (require (Nat.leb n0 q.len) Invalid) (fun _ ->
          bind (require (all_resident cfg n0 q) Evicted) (fun _ ->
            let ts = with_groups cfg (cut_table cfg n0) q.tables in
            Done { the_pool =
            (fold_left share_all (map (fun t1 -> t1.entries) ts) st.the_pool);
            seqs =
            (upd st.seqs t0 (Some { len = n0; rsv = 0; full =
              ((&&) q.full (Nat.eqb n0 q.len)); tables = ts })) })))))

(** val release :
    config -> 'a1 histories -> int -> bool -> 'a1 state -> 'a1 state result **)

let release cfg hs s keep st =
  bind (find_seq st.seqs s) (fun q ->
    let p = st.the_pool in
    let p0 =
      if (&&) ((&&) ((&&) keep cfg.caching) cfg.tails)
           (negb (Nat.eqb (Nat.modulo q.len cfg.b) 0))
      then publish_tails cfg 0 q.len (history hs s) cfg.groups q.tables p
      else p
    in
    Done { the_pool = (give_tables p0 (map (fun t0 -> t0.entries) q.tables));
    seqs = (upd st.seqs s None) })

(** val on_pool : 'a1 state -> 'a1 pool result -> 'a1 state result **)

let on_pool st r =
  bind r (fun p -> Done { the_pool = p; seqs = st.seqs })

(** val step :
    ('a1 -> 'a1 -> bool) -> config -> 'a1 histories -> 'a1 state -> 'a1 op ->
    'a1 state result **)

let step eqb0 cfg hs st = function
| Admit (s, q, compute, cut, hits, cs) ->
  admit eqb0 cfg s q compute cut hits cs st
| Reserve (batch, cs) -> reserve cfg batch cs st
| Commit (s, cells) -> commit cfg hs s cells st
| Append (batch, cs) -> append0 cfg hs batch cs st
| Cancel s -> cancel cfg s st
| Fork (s, t0, n0) -> fork cfg s t0 n0 st
| Truncate (s, n0) -> truncate cfg s n0 st
| Release (s, keep) -> release cfg hs s keep st
| Begin i -> on_pool st (step_begin i st.the_pool)
| End i -> on_pool st (step_end i st.the_pool)
| Forget b0 -> Done { the_pool = (forget st.the_pool b0); seqs = st.seqs }
| Pin bs -> on_pool st (fold_left pin_one bs (Done st.the_pool))
| Unpin bs -> on_pool st (fold_left unpin_one bs (Done st.the_pool))

(** val init : config -> int -> 'a1 state **)

let init cfg n_seqs =
  { the_pool = { store = (all None); refs = (all 0); pins = (all 0); index =
    (all None); free = (seq 0 cfg.n); fenced = []; open0 = [] }; seqs =
    (repeat None n_seqs) }

(** val cell : config -> int -> 'a1 pool -> int -> int -> 'a1 option **)

let cell cfg gi p b0 i =
  match get p.store (slot cfg b0 i) with
  | Some p0 -> let (g, a) = p0 in if Nat.eqb g gi then Some a else None
  | None -> None

(** val read : config -> int -> 'a1 pool -> table -> int -> 'a1 option **)

let read cfg gi p t0 i =
  match at_ t0.entries (Nat.div i cfg.b) with
  | Some b0 -> cell cfg gi p b0 i
  | None -> None

(** val read_from :
    config -> int -> 'a1 pool -> table -> int -> int -> 'a1 list **)

let read_from cfg gi p t0 from to0 =
  flat_map (fun i ->
    match read cfg gi p t0 i with
    | Some a -> a :: []
    | None -> []) (seq from (sub to0 from))

(** val seen_from : group -> seq0 -> int **)

let seen_from g q =
  if q.full
  then ((fun fO fS n -> if n=0 then fO () else fS (n-1))
          (fun _ -> 0)
          (fun n0 -> sub q.len (Stdlib.Int.succ n0))
          g.window)
  else need g q.len

(** val window_of :
    config -> int -> 'a1 pool -> group -> seq0 -> table -> 'a1 list **)

let window_of cfg gi p g q t0 =
  read_from cfg gi p t0 (seen_from g q) q.len

(** val alone :
    config -> 'a1 histories -> int list -> 'a1 state -> 'a1 state **)

let alone cfg hs keep st =
  let ended =
    fold_left (fun st0 s ->
      if mem0 s keep
      then st0
      else (match release cfg hs s false st0 with
            | Done st' -> st'
            | Refused _ -> st0)) (seq 0 (length st.seqs)) st
  in
  let p = fold_left forget (seq 0 cfg.n) ended.the_pool in
  { the_pool =
  (fold_left (fun p0 i ->
    match step_end i p0 with
    | Done p' -> p'
    | Refused _ -> p0) p.open0 p); seqs = ended.seqs }

(** val asked_alone : config -> 'a1 op -> 'a1 op **)

let asked_alone cfg o = match o with
| Admit (s, q, compute, _, _, _) ->
  Admit (s, q, compute, 0, (map (fun _ -> []) cfg.groups), [])
| Reserve (batch, _) -> Reserve (batch, [])
| Append (batch, _) -> Append (batch, [])
| _ -> o

(** val who_asks : 'a1 op -> int list **)

let who_asks = function
| Reserve (batch, _) -> map fst batch
| Append (batch, _) -> map fst batch
| _ -> []

(** val is_never :
    ('a1 -> 'a1 -> bool) -> config -> 'a1 histories -> 'a1 state -> 'a1 op ->
    bool **)

let is_never eqb0 cfg hs st o =
  match step eqb0 cfg hs (alone cfg hs (who_asks o) st) (asked_alone cfg o) with
  | Done _ -> false
  | Refused _ -> true

type name = int

type 'cell operation =
| New of name
| Append0 of name * 'cell list
| Fork0 of name * name * int
| Truncate0 of name * int
| Release0 of name

type 'cell history0 = { newest : 'cell list; count : int }

(** val push : 'a1 history0 -> 'a1 -> 'a1 history0 **)

let push h a =
  { newest = (a :: h.newest); count = (Stdlib.Int.succ h.count) }

(** val append1 : 'a1 history0 -> 'a1 list -> 'a1 history0 **)

let append1 h cells =
  fold_left push cells h

(** val first : int -> 'a1 history0 -> 'a1 history0 **)

let first n0 h =
  { newest = (skipn (sub h.count n0) h.newest); count = n0 }

(** val last_rev : int -> 'a1 list -> 'a1 list -> 'a1 list **)

let rec last_rev w cells tail =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> tail)
    (fun w0 ->
    match cells with
    | [] -> tail
    | a :: cells0 -> last_rev w0 cells0 (a :: tail))
    w

(** val window0 : int -> 'a1 history0 -> 'a1 list **)

let window0 w h =
  last_rev w h.newest []

type 'cell fast = 'cell history0 PositiveMap.t

(** val fast_empty : 'a1 fast **)

let fast_empty =
  PositiveMap.empty

(** val fast_step : 'a1 fast -> 'a1 operation -> 'a1 fast option **)

let fast_step f o =
  let find0 = fun s -> PositiveMap.find s f in
  let set0 = fun s h -> Some (PositiveMap.add s h f) in
  (match o with
   | New s ->
     (match find0 s with
      | Some _ -> None
      | None -> set0 s { newest = []; count = 0 })
   | Append0 (s, cells) ->
     (match find0 s with
      | Some h -> set0 s (append1 h cells)
      | None -> None)
   | Fork0 (parent, child, n0) ->
     (match find0 parent with
      | Some h ->
        (match find0 child with
         | Some _ -> None
         | None ->
           if Nat.leb n0 h.count then set0 child (first n0 h) else None)
      | None -> None)
   | Truncate0 (s, n0) ->
     (match find0 s with
      | Some h -> if Nat.leb n0 h.count then set0 s (first n0 h) else None
      | None -> None)
   | Release0 s ->
     (match find0 s with
      | Some _ -> Some (PositiveMap.remove s f)
      | None -> None))

type oracle_cell = int

(** val oracle_step :
    config -> oracle_cell histories -> oracle_cell state -> oracle_cell op ->
    oracle_cell state result **)

let oracle_step =
  step Nat.eqb

(** val oracle_is_never :
    config -> oracle_cell histories -> oracle_cell state -> oracle_cell op ->
    bool **)

let oracle_is_never =
  is_never Nat.eqb

(** val oracle_best_cut :
    config -> oracle_cell pool -> oracle_cell list -> int **)

let oracle_best_cut =
  best_cut Nat.eqb

(** val fast_start : oracle_cell fast **)

let fast_start =
  fast_empty

(** val fast_step0 :
    oracle_cell fast -> oracle_cell operation -> oracle_cell fast option **)

let fast_step0 =
  fast_step

(** val fast_last :
    int -> oracle_cell fast -> int -> oracle_cell list option **)

let fast_last n0 f s =
  option_map (window0 n0) (PositiveMap.find s f)
