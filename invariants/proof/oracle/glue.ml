(* SPDX-License-Identifier: Apache-2.0 *)
(* Between kvspec.ml and C: machines by number, arguments as lists, answers as arrays of numbers. It decides nothing. *)
open Kvspec

(* seen: the entries of the index when blocks were last told, each with a number of its own; 0 for none. *)
type machine = { cfg : config; st : oracle_cell state; hs : oracle_cell histories; fast : oracle_cell fast;
                 seen : (oracle_cell key0 option * int) array }

let machines : machine option array ref = ref (Array.make 64 None)
let vacant = ref (List.init 64 Fun.id)

let find id = match !machines.(id) with Some m -> m | None -> failwith "no such machine"
let put id m = !machines.(id) <- Some m

let add m =
  if !vacant = [] then begin
    let n = Array.length !machines in
    machines := Array.append !machines (Array.make n None);
    vacant := List.init n (fun i -> n + i)
  end;
  let id = List.hd !vacant in
  vacant := List.tl !vacant;
  put id m;
  id

let free id = !machines.(id) <- None; vacant := id :: !vacant

let configure numbers eager caching tails windows sinks =
  match numbers with
  | [ block_size; blocks; slack; limit; watermark; sequences ] ->
    let cfg = { b = block_size; n = blocks; groups = List.map2 (fun window sinks -> { window; sinks }) windows sinks;
                slack; eager; limit; watermark; caching; tails } in
    add { cfg; st = init cfg sequences; hs = spec_init sequences; fast = fast_start;
          seen = Array.make blocks (None, 0) }
  | _ -> failwith "a configuration of another shape"

(* As if there had been more slots from the start. *)
let add_sequences id more =
  let m = find id in
  let longer l = l @ List.init more (fun _ -> None) in
  put id { m with st = { m.st with seqs = longer m.st.seqs }; hs = longer m.hs }

(* The numbers of KvOracleVerdict. *)
let verdict m o = function
  | Unknown -> 1
  | Invalid -> 2
  | Busy -> 3
  | Not_reserved -> 4
  | Evicted -> 5
  | Too_long -> 6
  | No_room -> if oracle_is_never m.cfg m.hs m.st o then 8 else 7
  | Bad_choice -> 9

(* What an accepted operation is to the fast specification; its names count from 1. *)
let to_fast = function
  | Admit (s, query, compute, cut, _, _) ->
    [ New (s + 1); Append0 (s + 1, firstn (cut + min compute (List.length query - cut)) query) ]
  | Commit (s, cells) -> [ Append0 (s + 1, cells) ]
  | Append (batch, _) -> List.map (fun (s, cells) -> Append0 (s + 1, cells)) batch
  | Fork (s, t, n) -> [ Fork0 (s + 1, t + 1, n) ]
  | Truncate (s, n) -> [ Truncate0 (s + 1, n) ]
  | Release (s, _) -> [ Release0 (s + 1) ]
  | _ -> []

let fast_run fast o =
  match fast_step0 fast o with Some fast -> fast | None -> failwith "the fast specification refuses"

let run id o =
  let m = find id in
  match oracle_step m.cfg m.hs m.st o with
  | Done st -> put id { m with st; hs = spec_step m.hs o; fast = List.fold_left fast_run m.fast (to_fast o) }; 0
  | Refused why -> verdict m o why

let rec split n l = if n = 0 then ([], l) else
  match l with
  | x :: l -> let a, b = split (n - 1) l in (x :: a, b)
  | [] -> failwith "too few numbers"

let optional b = if b < 0 then None else Some b
let rec rows n_rows l =
  let n = List.length l / max 1 n_rows in
  if n_rows = 0 then [] else let row, l = split n l in List.map optional row :: rows (n_rows - 1) l

let admit id s query compute cut hits choices =
  run id (Admit (s, query, compute, cut, rows (List.length (find id).cfg.groups) hits, choices))
let reserve id ss ks choices = run id (Reserve (List.combine ss ks, choices))
let commit id s cells = run id (Commit (s, cells))

let rec dealt ss ks cells = match ss, ks with
  | s :: ss, k :: ks -> let mine, cells = split k cells in (s, mine) :: dealt ss ks cells
  | _, _ -> []
let append id ss ks cells choices = run id (Append (dealt ss ks cells, choices))

(* The operations whose arguments are numbers. *)
let simple id verb x y z = run id (match verb with
  | 0 -> Cancel x
  | 1 -> Fork (x, y, z)
  | 2 -> Truncate (x, y)
  | 3 -> Release (x, y <> 0)
  | 4 -> Begin x
  | 5 -> End x
  | 6 -> Forget x
  | _ -> failwith "no such operation")
let pin id blocks = run id (Pin blocks)
let unpin id blocks = run id (Unpin blocks)

(* --- questions --- *)

(* All that was ever set in a total map, in one walk. *)
let each f map =
  let rec walk low bit = function
    | PositiveMap.Leaf -> ()
    | PositiveMap.Node (even, x, odd) ->
      Option.iter (f (low + bit - 1)) x;
      walk low (2 * bit) even;
      walk (low + bit) (2 * bit) odd in
  walk 0 1 map.tree0

let last_stamp = ref 0
let stamped (known, stamp) key =
  if key == known then (known, stamp)
  else if key = None then (None, 0)
  else begin incr last_stamp; (key, !last_stamp) end

let blocks id =
  let m = find id in
  let p = m.st.the_pool in
  let out = Array.make (5 * m.cfg.n) 0 in
  let keys = Array.make m.cfg.n None in
  each (fun b refs -> out.(5 * b) <- refs) p.refs;
  each (fun b pins -> out.(5 * b + 3) <- pins) p.pins;
  each (fun b key -> keys.(b) <- key) p.index;
  let seen = Array.map2 stamped m.seen keys in
  Array.iteri (fun b (_, stamp) ->
    out.(5 * b + 1) <- if out.(5 * b) > 0 then 1 else 3;
    out.(5 * b + 4) <- stamp) seen;
  (* A block that is in two places is in none. *)
  let place b state = out.(5 * b + 1) <- if out.(5 * b + 1) = 3 then state else 4 in
  List.iter (fun b -> place b 0) p.free;
  List.iter (fun (b, steps) -> place b 2; out.(5 * b + 2) <- List.length steps) p.fenced;
  put id { m with seen };
  out

let key id block =
  match get (find id).st.the_pool.index block with
  | Some k -> Array.of_list (k.in_group :: k.content)
  | None -> [||]

let entry = function Some b -> b | None -> -1

let sequence id s =
  match List.nth_opt (find id).st.seqs s with
  | None | Some None -> [||]
  | Some (Some q) ->
    let table t = t.lo :: List.length t.entries :: List.map entry t.entries in
    Array.of_list (q.len :: q.rsv :: List.concat_map table q.tables)

let window id s group =
  let m = find id in
  match List.nth m.st.seqs s, List.nth m.hs s with
  | Some q, Some history ->
    let g = List.nth m.cfg.groups group in
    let from = seen_from g q in
    let fast = Option.value (fast_last (List.length history - from) m.fast (s + 1)) ~default:[] in
    Array.of_list (from :: window_of m.cfg group m.st.the_pool g q (List.nth q.tables group) @ skipn from history @ fast)
  | _ -> failwith "no such sequence lives"

let best_cut id query = let m = find id in oracle_best_cut m.cfg m.st.the_pool query

let () =
  let register name f = Callback.register ("kv_oracle_" ^ name) f in
  register "configure" (Obj.repr configure);
  register "copy" (Obj.repr (fun id -> add (find id)));
  register "assign" (Obj.repr (fun id other -> put id (find other)));
  register "free" (Obj.repr free);
  register "add_sequences" (Obj.repr add_sequences);
  register "admit" (Obj.repr admit);
  register "reserve" (Obj.repr reserve);
  register "commit" (Obj.repr commit);
  register "append" (Obj.repr append);
  register "simple" (Obj.repr simple);
  register "pin" (Obj.repr pin);
  register "unpin" (Obj.repr unpin);
  register "blocks" (Obj.repr blocks);
  register "key" (Obj.repr key);
  register "sequence" (Obj.repr sequence);
  register "window" (Obj.repr window);
  register "best_cut" (Obj.repr best_cut)
