(* SPDX-License-Identifier: Apache-2.0 *)
(* The theorems that README.md names, and what each rests on: nothing but Coq. The test proof.headlines counts a
   "Closed under the global context" for each line. *)
From Kvpane Require Window Ring Reuse FastSpec.
From Kvpane Require Refinement Correctness Operations Slack Lookup Frame Demand RoomRefusals Verdict RunBound Reached.

(* The window and the list model *)
Print Assumptions Window.window_zero.
Print Assumptions Window.last_window_app.
Print Assumptions Window.core_equation.
Print Assumptions Window.step_preserves_valid.
Print Assumptions Window.run_correct.
Print Assumptions Window.length_bound.
Print Assumptions Window.run_batches_correct.
Print Assumptions Window.any_split_is_the_same.
Print Assumptions Window.position_invariant.
Print Assumptions Window.drop_append_of_ge.
Print Assumptions Window.article_drop_append_of_ge_false.
Print Assumptions Window.article_base_false.
Print Assumptions Window.article_base_off_by_one.
Print Assumptions Window.need_spec.
Print Assumptions Window.next_query_sees.
Print Assumptions Window.kept_after_commit_is_enough.

(* The ring buffer *)
Print Assumptions Ring.ring_run_correct.
Print Assumptions Ring.ring_filling.
Print Assumptions Ring.ring_slot_is_pos_mod_w.
Print Assumptions Ring.article_ring_to_list_false.
Print Assumptions Ring.push_refines.

(* Reuse of a cached prefix *)
Print Assumptions Reuse.reuse_sound.
Print Assumptions Reuse.reuse_necessary.
Print Assumptions Reuse.reuse_exact_iff.
Print Assumptions Reuse.resident_mono.
Print Assumptions Reuse.best_cut_iff.
Print Assumptions Reuse.reuse_leaves_an_output.
Print Assumptions Reuse.conservative_rule.
Print Assumptions Reuse.shorter_cut_not_resident.
Print Assumptions Reuse.lookup_maximal.

(* The fast specification *)
Print Assumptions FastSpec.step_agrees.
Print Assumptions FastSpec.oracle_correct.
Print Assumptions FastSpec.oracle_refuses_alike.

(* The paged machine: what holds in every state that any operations reach, with any choices *)
Print Assumptions Refinement.step_ok.
Print Assumptions Refinement.run_ok.
Print Assumptions Correctness.run_correct.
Print Assumptions Correctness.in_flight_sees.
Print Assumptions Correctness.reserved_exclusive.
Print Assumptions Correctness.entries_for_each_cell.
Print Assumptions Correctness.table_distinct.
Print Assumptions Correctness.references_exact.
Print Assumptions Correctness.free_list_exact.
Print Assumptions Correctness.pool_partition.
Print Assumptions Correctness.no_leak.
Print Assumptions Correctness.fenced_in_no_table_and_no_queue.
Print Assumptions Correctness.no_reuse_in_flight.
Print Assumptions Correctness.index_sound.
Print Assumptions Correctness.pinned_is_indexed.
Print Assumptions Correctness.lives_alike.
Print Assumptions Correctness.length_exact.

(* What one operation promises *)
Print Assumptions Operations.hit_exact.
Print Assumptions Operations.others_untouched.
Print Assumptions Frame.others_keep_their_record.
Print Assumptions Operations.refused_changes_nothing.
Print Assumptions Operations.reserve_all_or_nothing.
Print Assumptions Operations.append_all_or_nothing.
Print Assumptions Operations.given_up_in_flight.
Print Assumptions Operations.fence_ends.
Print Assumptions Slack.slack_is_kept.

(* The lookup, the demand, the verdicts, the bound *)
Print Assumptions Lookup.best_cut_sound.
Print Assumptions Lookup.best_cut_leaves_a_cell.
Print Assumptions Lookup.best_cut_maximal.
Print Assumptions Lookup.accepted_hit_is_the_query.
Print Assumptions Lookup.accepted_hit_is_enough.
Print Assumptions Demand.takes_its_demand.
Print Assumptions Demand.room_needed.
Print Assumptions RoomRefusals.batch_accepted.
Print Assumptions RoomRefusals.append_accepted.
Print Assumptions RoomRefusals.admit_accepted.
Print Assumptions Verdict.refused_only_for_a_reason.
Print Assumptions Verdict.no_room_only_for_takers.
Print Assumptions Verdict.without_choices_no_bad_choice.
Print Assumptions Verdict.choices_do_not_decide.
Print Assumptions Reached.verdict.
Print Assumptions Reached.no_choice_decides.
Print Assumptions RunBound.reservation_bound.
Print Assumptions RunBound.admission_bound.
Print Assumptions RunBound.append_bound.
Print Assumptions RunBound.plain_bound.
Print Assumptions RunBound.eager_commit_bound.
Print Assumptions RunBound.eager_append_bound.
Print Assumptions RunBound.the_bounds_are_met.
