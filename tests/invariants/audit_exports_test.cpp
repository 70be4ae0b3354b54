// SPDX-License-Identifier: Apache-2.0
// What the judge says of exported arrays. They are made from the tables, so it is the judge's record that is bent here.
#include "invariants/breaking.h"

#include <kvpane/invariants/audit.h>

namespace kvpane::invariants {

namespace {

using namespace kvpane::testing;

// Seven tokens in blocks of two behind a window of four: those from position 2 on are held.
struct Exported {
    Exported() {
        const spec::Rule rule{4, 0, 0, 2};
        sequence = must(kv.admit({.tokens = Tokens{1, 2, 3, 4, 5, 6, 7}})).sequence;
        start(record, 0, sequence, 0, {&rule, 1});
        spec::Holding& holding = record.groups.front().holding;
        holding.end = 7;
        holding.release_before(6);
    }

    Found look() {
        const std::vector<const Record*> living = {&record};
        return find_wrong_exports({kv, shadow, living, spellings});
    }
    void expect(const std::string& what) {
        const Found finding = look();
        BOOST_TEST_REQUIRE(finding.has_value());
        BOOST_TEST(number(finding->invariant) == number(Invariant::T1));
        BOOST_TEST(finding->what == what);
    }

    Manager kv{windowed(2, 12, 4)};
    SequenceHandle sequence;
    Record record;
    ShadowCells shadow{12, 2};
    std::vector<std::string> spellings;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(audit_exports)

BOOST_AUTO_TEST_CASE(what_the_tables_say_is_sound) {
    Exported exported;
    const Found finding = exported.look();
    BOOST_TEST(!finding.has_value(), (finding ? finding->what : ""));
}

BOOST_AUTO_TEST_CASE(breaking_T1_a_last_page_of_another_length) {
    Exported exported;
    exported.record.groups.front().holding.end = 8;
    exported.expect("sequence #0, group swa: the last page has 2 cells and the run begins at 2, 1 and 2 were exported");
}

BOOST_AUTO_TEST_CASE(breaking_T1_a_run_that_begins_elsewhere) {
    Exported exported;
    exported.record.groups.front().holding.low = 4;
    exported.expect("sequence #0, group swa: the last page has 1 cells and the run begins at 4, 1 and 2 were exported");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::invariants
