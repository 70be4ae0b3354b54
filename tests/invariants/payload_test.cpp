// SPDX-License-Identifier: Apache-2.0
// Real cells under the judge: tables are right, and what an engine does with them is wrong.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <kvpane/invariants/stress.h>

#include "attention/stores.h"
#include "invariants/expect_sound.h"
#include "invariants/faulty_engines.h"
#include "invariants/loads.h"
#include "invariants/operations.h"
#include "support/kv.h"
#include "support/seed.h"
#include "support/tamper.h"

namespace kvpane::invariants {

using testing::plain;

namespace {

// Where sequence #1 writes, `Off` slots behind.
template <Slot Off>
struct WritesBeside : Payload {
    using Payload::Payload;
    void written(const Record& record, std::uint32_t group, Length first, std::span<const Slot> slots) override {
        std::vector<Slot> beside(slots.begin(), slots.end());
        std::ranges::for_each(beside, [&](Slot& slot) { slot += record.name == 1 ? Off : 0; });
        Payload::written(record, group, first, beside);
    }
};

struct WritesOnlyForTheFirst : Payload {
    using Payload::Payload;
    void written(const Record& record, std::uint32_t group, Length first, std::span<const Slot> slots) override {
        if (record.name == 0) {
            Payload::written(record, group, first, slots);
        }
    }
};

template <class Fault>
struct Exports : Payload {
    using Payload::Payload;
    Found read_exports(const Scene& scene, const Record& record, std::uint32_t group,
                       PayloadExports& out) const override {
        Found finding = Payload::read_exports(scene, record, group, out);
        Fault{}(out);
        return finding;
    }
};
struct RowOneOff {
    void operator()(PayloadExports& out) const {
        std::rotate(out.padded.begin(), out.padded.begin() + 1, out.padded.end());
    }
};
struct PagesOneOff {
    void operator()(PayloadExports& out) const {
        std::rotate(out.pages.begin(), out.pages.begin() + 1, out.pages.end());
    }
};
struct SlotsOneOff {
    void operator()(PayloadExports& out) const {
        std::ranges::for_each(out.slots, [](Slot& slot) { ++slot; });
    }
};

// A fork whose first write copies two cells of block 2 to block 3.
const std::vector<Operation> forked = {admit(0, {1, 2, 3, 4, 5, 6}), fork(0, 1), append(1, {9})};

template <class Engine>
Violation violation_of(const PayloadOptions& options, const std::vector<Operation>& operations,
                       const Config& config = plain(4, 8)) {
    CheckedManager checked(config, CheckMode::every);
    Tamper::play_on(checked, std::make_unique<Engine>(config, options));
    for (const Operation& operation : operations) {
        BOOST_TEST_REQUIRE(!checked.apply(operation).error.has_value());
    }
    BOOST_TEST_REQUIRE(checked.violation().has_value());
    return *checked.violation();
}

void expect(const Violation& violation, Invariant invariant, std::int64_t operation, const std::string& what) {
    BOOST_TEST(number(violation.invariant) == number(invariant), violation.what);
    BOOST_TEST(violation.operation == operation, violation.what);
    BOOST_TEST(violation.what.find(what) != std::string::npos, violation.what);
}

// Calls `work` with each layout of each dtype.
template <class Work>
void in_each_layout_and_dtype(Work work) {
    for (const testing::Layout& layout : testing::layouts) {
        for (const DType dtype : testing::dtypes) {
            BOOST_TEST_CONTEXT(testing::name_of(layout, dtype)) {
                work(PayloadOptions{.order = layout.order, .interleaved = layout.interleaved, .dtype = dtype});
            }
        }
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(payload)

BOOST_AUTO_TEST_CASE(a_stress_run_on_real_cells_finds_nothing_in_any_layout_and_dtype) {
    std::uint64_t seed = testing::seed();
    in_each_layout_and_dtype([&](const PayloadOptions& options) {
        StressConfig config = every_kind(++seed, 150);
        config.check = CheckMode::every;
        config.payload = options;
        const StressReport report = stress(config);
        expect_sound(report.violation);
        BOOST_TEST(report.statistics.copies > 0U);
    });
}

BOOST_AUTO_TEST_CASE(a_copy_that_is_not_run_is_found) {
    in_each_layout_and_dtype([](const PayloadOptions& options) {
        expect(violation_of<SkipsCopies>(options, forked), Invariant::T3, 3,
               "sequence #1, group full, position 4, block 3: payload: K, head 0, element 0 is ");
    });
}

BOOST_AUTO_TEST_CASE(a_copy_of_one_cell_too_few_is_found) {
    in_each_layout_and_dtype([](const PayloadOptions& options) {
        expect(violation_of<CopiesOneCellTooFew>(options, forked), Invariant::T3, 3,
               "sequence #1, group full, position 5, block 3: payload: ");
    });
}

BOOST_AUTO_TEST_CASE(a_write_one_slot_off_is_found) {
    in_each_layout_and_dtype([](const PayloadOptions& options) {
        expect(violation_of<WritesBeside<1>>(options, forked), Invariant::T3, 3,
               "sequence #1, group full, position 6, block 3: payload: ");
        expect(violation_of<WritesBeside<-1>>(options, forked), Invariant::T4, 3,
               "the payload of sequence #1, group full, position 6, stands there");
    });
}

BOOST_AUTO_TEST_CASE(a_write_into_the_block_of_another_sequence_is_found_there) {
    const Violation violation = violation_of<WritesBeside<-4>>({}, {admit(0, {1, 2, 3}), admit(1, {4, 5})});
    expect(violation, Invariant::F1, 2, "sequence #0, group full, position 0, block 1: payload: ");
    expect(violation, Invariant::F1, 2, "(the operation worked on sequence #1)");
}

BOOST_AUTO_TEST_CASE(exports_that_are_one_off_are_found) {
    in_each_layout_and_dtype([](const PayloadOptions& options) {
        const std::string found = "sequence #0, group full, position 0, block 2: payload: ";
        const std::string left_by = "the payload of sequence #0, group full, position ";
        const std::vector<Operation> two_blocks = {admit(0, {1, 2, 3, 4, 5, 6, 7, 8})};
        for (const Violation& violation : {violation_of<Exports<RowOneOff>>(options, two_blocks),
                                           violation_of<Exports<PagesOneOff>>(options, two_blocks)}) {
            expect(violation, Invariant::T4, 1, found);
            expect(violation, Invariant::T4, 1, left_by + "4, stands there");
        }
        expect(violation_of<Exports<SlotsOneOff>>(options, two_blocks), Invariant::T4, 1, left_by + "1, stands there");
    });
}

BOOST_AUTO_TEST_CASE(a_cell_that_holds_its_text_from_before_the_block_was_free_is_found) {
    const std::vector<Operation> twice = {admit(0, {1, 2, 3}), release(0), check(), admit(1, {1, 2, 3})};
    expect(violation_of<WritesOnlyForTheFirst>({}, twice, plain(4, 1)), Invariant::T3, 4,
           "nobody wrote there since the block was given up");
}

BOOST_AUTO_TEST_CASE(what_a_store_refuses_is_found) {
    const std::vector<Operation> one = {admit(1, {1, 2, 3})};
    expect(violation_of<WritesBeside<-4>>({}, one), Invariant::T3, 1,
           "payload: write_slots was refused: out_of_range (slots)");
}

BOOST_AUTO_TEST_CASE(what_an_operation_touched_is_read_back_in_mode_sampled) {
    const Config config = plain(4, 8);
    CheckedManager checked(config, CheckMode::sampled, {.touched_every = 4, .all_every = 0}, PayloadOptions{});
    Tamper::play_on(checked, std::make_unique<SkipsCopies>(config, PayloadOptions{}));
    std::ranges::for_each(forked, [&](const Operation& operation) { checked.apply(operation); });
    expect_sound(checked.violation());
    checked.apply(append(1, {10}));
    BOOST_TEST_REQUIRE(checked.violation().has_value());
    expect(*checked.violation(), Invariant::T3, 4, "sequence #1, group full, position 4");
}

BOOST_AUTO_TEST_CASE(a_payload_that_is_too_large_or_has_no_shape_is_refused_with_a_sentence) {
    const Config large = plain(16, 4'000'000);
    const auto what = find_wrong(large, {});
    BOOST_TEST(what.value_or("") ==
               "the payload takes 4096001024 bytes for each group, more than 1 GiB in all: use "
               "fewer blocks, smaller cells, or no payload");
    BOOST_CHECK_EXCEPTION(Payload(large, {}), std::invalid_argument,
                          [&](const std::invalid_argument& error) { return error.what() == what; });
    BOOST_TEST(find_wrong(plain(4, 8), {.head_dim = 12}).value_or("") ==
               "the payload has no such cells: head_dim_out_of_range");
    BOOST_TEST(!find_wrong(plain(4, 8), {}).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants
