// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <array>

#include <kvpane/blocktable/exports.h>

namespace kvpane::testing {

namespace {

// Every call that takes a handle must answer unknown_sequence and leave no trace.
void expect_unknown(Manager& kv, SequenceHandle handle) {
    const Tokens one{1};
    const std::array<SequenceHandle, 1> handles{handle};
    const std::array<Reservation, 1> asked{Reservation{handle, 1}};
    std::array<std::int32_t, 8> row{};
    std::array<std::int64_t, 1> first{};
    const auto refuses = [&](auto call) { expect_refusal(kv, Error::unknown_sequence, call); };
    refuses([&] { return kv.reserve(asked); });
    refuses([&] { return kv.commit(handle, one); });
    refuses([&] { return kv.commit(handle, {}); });
    refuses([&] { return kv.cancel(handle); });
    refuses([&] { return kv.append(handle, one); });
    refuses([&] { return kv.append_batch(handles, one); });
    refuses([&] { return kv.fork(handle); });
    refuses([&] { return kv.truncate(handle, 0); });
    refuses([&] { return kv.release(handle); });
    refuses([&] { return kv.plan(asked); });
    refuses([&] { return kv.length(handle); });
    refuses([&] { return kv.reserved(handle); });
    refuses([&] { return kv.table(handle, first_group); });
    refuses([&] { return kv.bind_row(handle, first_group, row); });
    refuses([&] { return kv.unbind_row(handle, first_group); });
    refuses([&] { return kv.take_row_change(handle, first_group); });
    refuses([&] { return csr_entries(kv, handles, first_group); });
    refuses([&] {
        return export_csr(kv, handles, first_group,
                          {std::span(row).first(2), std::span(row).subspan(2), std::span(row).first(1), first});
    });
    refuses([&] { return export_padded(kv, handles, first_group, 8, row); });
    refuses([&] { return export_slots(kv, handle, first_group, 0, std::span<Slot>(first)); });
    BOOST_TEST(!kv.is_alive(handle));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(handles)

BOOST_AUTO_TEST_CASE(a_living_handle_is_alive_and_no_other_sequence_has_it) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    const SequenceHandle b = admit(kv, 3);
    BOOST_TEST(kv.is_alive(a));
    BOOST_TEST(kv.is_alive(b));
    BOOST_TEST(a != b);
    BOOST_TEST(kv.sequences() == 2U);
}

BOOST_AUTO_TEST_CASE(a_default_made_handle_is_unknown) {
    Manager kv(plain(4, 8));
    expect_unknown(kv, SequenceHandle{});
    admit(kv, 3);
    expect_unknown(kv, SequenceHandle{});
}

BOOST_AUTO_TEST_CASE(a_handle_dies_with_its_sequence_also_when_its_place_is_used_again) {
    Manager kv(plain(4, 8));
    const SequenceHandle old = admit(kv, 3);
    must(kv.release(old));
    expect_unknown(kv, old);
    const SequenceHandle fresh = admit(kv, 3);
    BOOST_TEST(fresh != old);
    BOOST_TEST(kv.is_alive(fresh));
    expect_unknown(kv, old);
    BOOST_TEST(kv.length(fresh).value() == 3);
}

BOOST_AUTO_TEST_CASE(a_handle_that_points_beyond_all_sequences_is_unknown) {
    Manager kv(plain(4, 8));
    SequenceHandle wild = admit(kv, 3);
    wild.index = 0xffff'fff0U;
    expect_unknown(kv, wild);
}

BOOST_AUTO_TEST_CASE(a_handle_of_a_generation_to_come_is_unknown) {
    Manager kv(plain(4, 8));
    SequenceHandle wild = admit(kv, 3);
    wild.generation += 1;
    expect_unknown(kv, wild);
    wild.generation += 1;
    expect_unknown(kv, wild);
}

BOOST_AUTO_TEST_CASE(a_handle_of_another_manager_is_unknown) {
    Config config = plain(4, 8);
    config.instance = 1;
    Manager one(config);
    config.instance = 2;
    Manager two(config);
    const SequenceHandle of_one = admit(one, 3);
    const SequenceHandle of_two = admit(two, 3);
    BOOST_TEST(of_one.instance == 1U);
    expect_unknown(two, of_one);
    expect_unknown(one, of_two);
}

BOOST_AUTO_TEST_CASE(one_unknown_sequence_refuses_the_whole_batch) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 4);
    const std::array<SequenceHandle, 2> handles{a, SequenceHandle{}};
    expect_refusal(kv, Error::unknown_sequence, [&] { return kv.append_batch(handles, tokens(1, 2)); });
    const std::array<Reservation, 2> asked{Reservation{a, 1}, Reservation{}};
    expect_refusal(kv, Error::unknown_sequence, [&] { return kv.reserve(asked); });
    BOOST_TEST(kv.reserved(a).value() == 0);
}

BOOST_AUTO_TEST_CASE(a_group_that_does_not_exist_is_an_invalid_argument) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    std::array<std::int32_t, 4> row{};
    std::array<Slot, 1> slot{};
    const std::array<SequenceHandle, 1> handles{a};
    const auto refuses = [&](auto call) { expect_refusal(kv, Error::invalid_argument, call); };
    refuses([&] { return kv.table(a, second_group); });
    refuses([&] { return kv.bind_row(a, second_group, row); });
    refuses([&] { return kv.unbind_row(a, second_group); });
    refuses([&] { return kv.take_row_change(a, second_group); });
    refuses([&] { return csr_entries(kv, handles, second_group); });
    refuses([&] { return export_padded(kv, handles, second_group, 4, row); });
    refuses([&] { return export_slots(kv, a, second_group, 0, std::span<Slot>(slot)); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing
