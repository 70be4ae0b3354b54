// SPDX-License-Identifier: Apache-2.0
#include "support/kv.h"

#include <vector>

#include <kvpane/blocktable/exports.h>

namespace kvpane::testing {

using boost::test_tools::per_element;

namespace {

using Int32s = std::vector<std::int32_t>;
using Int64s = std::vector<std::int64_t>;

// Arrays of exactly the size that the export asks for, filled with what must not be seen afterwards.
struct Csr {
    Int32s indptr;
    Int32s indices;
    Int32s last_page_len;
    Int64s first_position;

    Csr(std::size_t sequences, std::size_t entries)
        : indptr(sequences + 1, -9), indices(entries, -9), last_page_len(sequences, -9), first_position(sequences, -9) {
    }
    CsrArrays arrays() { return {indptr, indices, last_page_len, first_position}; }
    bool untouched() const { return *this == Csr(last_page_len.size(), indices.size()); }
    friend bool operator==(const Csr&, const Csr&) = default;
};

Csr csr_of(const Manager& kv, const std::vector<SequenceHandle>& sequences, GroupId group = first_group) {
    const std::int64_t entries = must(csr_entries(kv, sequences, group));
    Csr csr(sequences.size(), static_cast<std::size_t>(entries));
    BOOST_TEST(must(export_csr(kv, sequences, group, csr.arrays())) == entries);
    return csr;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(csr)

BOOST_AUTO_TEST_CASE(a_full_last_block_reads_block_size_and_an_empty_sequence_has_no_page) {
    Manager kv(plain(4, 8));
    const SequenceHandle z = admit_empty(kv);
    const SequenceHandle a = admit(kv, 1);
    const SequenceHandle b = admit(kv, 4);
    const SequenceHandle c = admit(kv, 8);
    const SequenceHandle d = admit(kv, 9);
    const Csr csr = csr_of(kv, {z, a, b, c, d});
    BOOST_TEST(csr.indptr == Int32s({0, 0, 1, 2, 4, 7}), per_element());
    BOOST_TEST(csr.indices == Int32s({1, 2, 3, 4, 5, 6, 7}), per_element());
    BOOST_TEST(csr.last_page_len == Int32s({0, 1, 4, 4, 1}), per_element());
    BOOST_TEST(csr.first_position == Int64s({0, 0, 0, 0, 0}), per_element());

    append(kv, b, 1);
    const Csr some = csr_of(kv, {b, a});
    BOOST_TEST(some.indptr == Int32s({0, 2, 3}), per_element());
    BOOST_TEST(some.indices == Int32s({2, 8, 1}), per_element());
    BOOST_TEST(some.last_page_len == Int32s({1, 1}), per_element());

    must(kv.truncate(c, 4));
    BOOST_TEST(csr_of(kv, {c}).last_page_len == Int32s({4}), per_element());
}

BOOST_AUTO_TEST_CASE(reserved_cells_count) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 3);
    must(reserve(kv, a, 3));
    const Csr csr = csr_of(kv, {a});
    BOOST_TEST(csr.indices == Int32s({1, 2}), per_element());
    BOOST_TEST(csr.last_page_len == Int32s({2}), per_element());
    const SequenceHandle empty = admit_empty(kv);
    must(reserve(kv, empty, 1));
    BOOST_TEST(csr_of(kv, {empty}).last_page_len == Int32s({1}), per_element());
}

BOOST_AUTO_TEST_CASE(windows_drop_pages_and_the_first_position_says_where_the_run_begins) {
    Manager kv(windowed(4, 16, 6, 3));
    const SequenceHandle a = admit(kv, 18);  // 1 0 0 4 5
    const SequenceHandle b = admit(kv, 6);
    const Csr csr = csr_of(kv, {a, b});
    BOOST_TEST(csr.indptr == Int32s({0, 3, 5}), per_element());
    BOOST_TEST(std::vector(csr.indices.begin(), csr.indices.begin() + 3) == Int32s({1, 4, 5}), per_element());
    BOOST_TEST(csr.last_page_len == Int32s({2, 2}), per_element());
    BOOST_TEST(csr.first_position == Int64s({12, 0}), per_element());
}

BOOST_AUTO_TEST_CASE(each_group_has_its_own_arrays) {
    Config config = plain(4, 16);
    config.groups = {{"full", 0, 0}, {"swa", 4, 0}};
    Manager kv(config);
    const SequenceHandle a = admit(kv, 9);
    BOOST_TEST(csr_of(kv, {a}, first_group).indices == Int32s({1, 2, 3}), per_element());
    const Csr swa = csr_of(kv, {a}, second_group);
    BOOST_TEST(swa.indices == Int32s({5, 6}), per_element());
    BOOST_TEST(swa.first_position == Int64s({4}), per_element());
}

BOOST_AUTO_TEST_CASE(a_sequence_that_holds_nothing_of_its_history_has_no_page) {
    Manager kv(windowed(4, 16, 1));
    const SequenceHandle a = admit(kv, 9);
    must(kv.truncate(a, 6));
    const Csr csr = csr_of(kv, {a});
    BOOST_TEST(csr.indptr == Int32s({0, 0}), per_element());
    BOOST_TEST(csr.last_page_len == Int32s({0}), per_element());
    BOOST_TEST(csr.first_position == Int64s({6}), per_element());
}

BOOST_AUTO_TEST_CASE(where_only_sinks_are_held_the_last_page_is_theirs) {
    Manager kv(windowed(4, 16, 1, 4));
    const SequenceHandle a = admit(kv, 9);
    must(kv.truncate(a, 6));
    const Csr csr = csr_of(kv, {a});
    BOOST_TEST(csr.indices == Int32s({1}), per_element());
    BOOST_TEST(csr.last_page_len == Int32s({4}), per_element());
    BOOST_TEST(csr.first_position == Int64s({6}), per_element());
}

BOOST_AUTO_TEST_CASE(no_sequences_give_one_zero) {
    Manager kv(plain(4, 8));
    BOOST_TEST(csr_of(kv, {}).indptr == Int32s({0}), per_element());
}

BOOST_AUTO_TEST_CASE(arrays_may_be_larger_than_needed) {
    Manager kv(plain(4, 8));
    const SequenceHandle a = admit(kv, 5);
    Csr csr(3, 7);
    BOOST_TEST(must(export_csr(kv, std::vector{a}, first_group, csr.arrays())) == 2);
    BOOST_TEST(csr.indices == Int32s({1, 2, -9, -9, -9, -9, -9}), per_element());
}

BOOST_AUTO_TEST_CASE(arrays_that_are_too_small_are_refused_and_nothing_is_written) {
    Manager kv(plain(4, 8));
    const std::vector<SequenceHandle> both{admit(kv, 5), admit(kv, 5)};
    const auto refused = [&](auto shorten) {
        Csr csr(2, 4);
        CsrArrays arrays = csr.arrays();
        shorten(arrays);
        expect_refusal(kv, Error::invalid_argument, [&] { return export_csr(kv, both, first_group, arrays); });
        BOOST_TEST(csr.untouched());
    };
    refused([](CsrArrays& arrays) { arrays.indptr = arrays.indptr.first(2); });
    refused([](CsrArrays& arrays) { arrays.indices = arrays.indices.first(3); });
    refused([](CsrArrays& arrays) { arrays.last_page_len = arrays.last_page_len.first(1); });
    refused([](CsrArrays& arrays) { arrays.first_position = arrays.first_position.first(1); });
}

BOOST_AUTO_TEST_CASE(an_unknown_sequence_at_the_end_writes_nothing) {
    Manager kv(plain(4, 8));
    const std::vector<SequenceHandle> with_stale{admit(kv, 5), SequenceHandle{}};
    Csr csr(2, 4);
    expect_refusal(kv, Error::unknown_sequence, [&] { return export_csr(kv, with_stale, first_group, csr.arrays()); });
    BOOST_TEST(csr.untouched());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::testing
