(* SPDX-License-Identifier: Apache-2.0 *)
(* The type of cells is told by what holds them: from here on nobody writes it. *)
From Kvpane Require Import Machine.

Arguments Key {A}. Arguments in_group {A}. Arguments content {A}. Arguments key_block {A}.
Arguments key_base {A}. Arguments Pool {A}. Arguments store {A}. Arguments refs {A}. Arguments pins {A}.
Arguments index {A}. Arguments free {A}. Arguments fenced {A}. Arguments open {A}. Arguments with_store {A}.
Arguments with_refs {A}. Arguments with_pins {A}. Arguments with_index {A}. Arguments with_free {A}.
Arguments with_fences {A}. Arguments State {A}. Arguments the_pool {A}. Arguments seqs {A}.
Arguments Work {A}. Arguments pool_of {A}. Arguments choices {A}. Arguments sources {A}.
Arguments takeable {A}. Arguments claim {A}. Arguments take {A}. Arguments give {A}. Arguments share {A}.
Arguments give_all {A}. Arguments share_all {A}. Arguments give_tables {A}. Arguments copy {A}.
Arguments forget {A}. Arguments slide {A}. Arguments slide_all {A}. Arguments open_tail {A}.
Arguments take_blocks {A}. Arguments extend {A}. Arguments extend_all {A}. Arguments reserve_one {A}.
Arguments reserve_batch {A}. Arguments write {A}. Arguments keeps_entry {A}. Arguments publish {A}.
Arguments publish_blocks {A}. Arguments commit_table {A}. Arguments commit_all {A}. Arguments commit_one {A}.
Arguments shrink {A}. Arguments publish_tails {A}. Arguments pin_one {A}. Arguments unpin_one {A}.
Arguments step_begin {A}. Arguments step_end {A}. Arguments cell {A}.
Arguments read {A}. Arguments read_from {A}.
Arguments window_of {A}. Arguments admit {A}. Arguments reserve {A}. Arguments history {A}.
Arguments commit {A}. Arguments commit_batch {A}. Arguments append {A}. Arguments cancel {A}.
Arguments truncate {A}. Arguments fork {A}. Arguments release {A}. Arguments on_pool {A}. Arguments room {A}.
Arguments step {A}. Arguments spec_commit {A}. Arguments spec_step {A}. Arguments both {A}. Arguments run {A}.
Arguments Admit {A}. Arguments Reserve {A}. Arguments Commit {A}. Arguments Append {A}. Arguments Cancel {A}.
Arguments Fork {A}. Arguments Truncate {A}. Arguments Release {A}. Arguments Begin {A}. Arguments End {A}.
Arguments Forget {A}. Arguments Pin {A}. Arguments Unpin {A}. Arguments is_prefix {A}. Arguments holds {A}.
Arguments hits_ok {A}. Arguments all_hits_ok {A}.
