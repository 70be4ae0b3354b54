// SPDX-License-Identifier: Apache-2.0
// The repository keeps its own rules.
#include "lint/rules.h"

#include <boost/test/unit_test.hpp>

namespace kvpane::lint {

namespace {

const Tree& repository() {
    static const Tree tree = read_tree(KVPANE_SOURCE_DIR);
    return tree;
}

void must_be_empty(const Findings& findings) {
    for (const Finding& finding : findings) {
        BOOST_ERROR(finding.path << ":" << finding.line << ": " << finding.text);
    }
    BOOST_TEST(findings.empty());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(the_repository)

BOOST_AUTO_TEST_CASE(was_found) { BOOST_TEST(find(repository(), "allocator/ids.h") != nullptr); }

BOOST_AUTO_TEST_CASE(includes_point_down_the_layers) {
    must_be_empty(lint::includes_point_down_the_layers(repository()));
}

BOOST_AUTO_TEST_CASE(keeps_heavy_libraries_outside_the_core) {
    must_be_empty(heavy_libraries_stay_outside_the_core(repository()));
}

BOOST_AUTO_TEST_CASE(has_a_specification_that_includes_only_ids) {
    BOOST_TEST(find(repository(), "invariants/spec.h") != nullptr);
    must_be_empty(the_specification_includes_only_ids(repository()));
}

BOOST_AUTO_TEST_CASE(has_no_file_over_500_lines) { must_be_empty(files_are_short(repository())); }

BOOST_AUTO_TEST_CASE(names_its_licence_first_in_every_file) { must_be_empty(the_licence_comes_first(repository())); }

BOOST_AUTO_TEST_CASE(guards_every_header) { must_be_empty(headers_are_guarded(repository())); }

BOOST_AUTO_TEST_CASE(builds_every_source_and_installs_every_header) {
    must_be_empty(every_source_is_listed(repository()));
}

BOOST_AUTO_TEST_CASE(breaks_every_invariant_on_purpose) {
    must_be_empty(every_invariant_is_broken_on_purpose(repository()));
}

BOOST_AUTO_TEST_CASE(builds_the_examples_of_its_documents) {
    must_be_empty(the_document_shows_what_is_built(repository(), "README.md", "tests/consumer/readme.cpp"));
    must_be_empty(the_document_shows_what_is_built(repository(), "docs/journal.md", "tests/consumer/journal.cpp"));
}

BOOST_AUTO_TEST_CASE(names_no_path_of_one_machine) { must_be_empty(no_machine_paths(repository())); }

BOOST_AUTO_TEST_CASE(has_nothing_left_over) { must_be_empty(nothing_is_left_over(repository())); }

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::lint
