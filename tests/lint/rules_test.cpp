// SPDX-License-Identifier: Apache-2.0
// Each rule reports a tree that breaks it, at the right place, and lets the neighbouring good line pass.
#include "lint/rules.h"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <ostream>

namespace kvpane::lint {

// For Boost.Test's messages.
std::ostream& operator<<(std::ostream& out, const Finding& finding) {
    return out << finding.path << ":" << finding.line << ": " << finding.text;
}

namespace {

const std::string licence = "// SPDX-License-Identifier: Apache-2.0";

void must_be(const Findings& found, const Findings& expected) {
    BOOST_TEST(found == expected, boost::test_tools::per_element());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_rule)

BOOST_AUTO_TEST_CASE(reports_a_layer_that_includes_the_one_above_it) {
    const Tree tree{
        {"allocator/pool.h", {"#include <kvpane/allocator/ids.h>", "#include <kvpane/blocktable/manager.h>"}},
        {"blocktable/plan.h", {"#include <kvpane/allocator/ids.h>", "#  include <kvpane/invariants/spec.h>"}},
        {"blocktable/row.h", {"#include \"plan.h\""}},
        {"cli/main.cpp", {"#include <kvpane/invariants/spec.h>"}},
        {"invariants/audit.h", {"#include <kvpane/typo/spec.h>", "#include <kvpane/version.h>"}}};
    must_be(includes_point_down_the_layers(tree),
            {{"allocator/pool.h", 2, "allocator/ may not include <kvpane/blocktable/manager.h>"},
             {"blocktable/plan.h", 2, "blocktable/ may not include <kvpane/invariants/spec.h>"},
             {"blocktable/row.h", 1, "spell \"plan.h\" as <kvpane/folder/name.h>"},
             {"invariants/audit.h", 1, "invariants/ may not include <kvpane/typo/spec.h>"}});
}

BOOST_AUTO_TEST_CASE(reports_a_heavy_library_in_the_core_and_in_the_judge) {
    const Tree tree{{"allocator/pool.h", {"#include <vector>", "#include <fmt/core.h>"}},
                    {"attention/cuda/paged.cu", {"#include <cuda_runtime.h>"}},
                    {"blocktable/plan.h", {"#include <tl/expected.hpp>"}},
                    {"cli/main.cpp", {"#include <CLI/CLI.hpp>"}},
                    {"invariants/checksum.cpp", {"#include <xxhash.h>"}},
                    {"invariants/runner.cpp", {"#include <toml++/toml.h>", "#include <xxhash.h>"}},
                    {"tests/cli/a.cpp", {"#include <boost/test/unit_test.hpp>"}}};
    must_be(heavy_libraries_stay_outside_the_core({{"invariants/file_sink.cpp", {"#include <unistd.h>"}}}), {});
    must_be(heavy_libraries_stay_outside_the_core(tree),
            {{"allocator/pool.h", 2, "<fmt/core.h> belongs in cli/ or tests/"},
             {"invariants/runner.cpp", 1, "<toml++/toml.h> belongs in cli/ or tests/"},
             {"invariants/runner.cpp", 2, "<xxhash.h> belongs in cli/ or tests/"}});
}

BOOST_AUTO_TEST_CASE(reports_a_specification_that_looks_at_what_it_judges) {
    const Tree tree{
        {"invariants/audit.h", {"#include <kvpane/blocktable/window.h>"}},
        {"invariants/spec.h",
         {"#include <cstdint>", "#include <kvpane/allocator/ids.h>", "#include <kvpane/blocktable/window.h>"}}};
    must_be(the_specification_includes_only_ids(tree),
            {{"invariants/spec.h", 3, "the specification may not include <kvpane/blocktable/window.h>"}});
}

BOOST_AUTO_TEST_CASE(reports_a_file_of_501_lines_but_not_of_500) {
    const Tree tree{{"README.md", std::vector<std::string>(501)},
                    {"cli/a.cpp", std::vector<std::string>(500)},
                    {"cli/b.cpp", std::vector<std::string>(501)}};
    must_be(files_are_short(tree), {{"cli/b.cpp", 501, "more than 500 lines"}});
}

BOOST_AUTO_TEST_CASE(reports_a_program_without_its_licence_line) {
    const Tree tree{{".ci/run", {"#!/bin/sh", "# SPDX-License-Identifier: Apache-2.0"}},
                    {"CMakeLists.txt", {"project(x)"}},
                    {"bootstrap", {"#!/bin/sh", "set -e"}},
                    {"cli/a.cpp", {licence}},
                    {"cli/b.cpp", {"", licence}},
                    {"cli/empty.h", {}}};
    must_be(the_licence_comes_first(tree), {{"CMakeLists.txt", 1, "the SPDX line is missing"},
                                            {"bootstrap", 2, "the SPDX line is missing"},
                                            {"cli/b.cpp", 1, "the SPDX line is missing"},
                                            {"cli/empty.h", 1, "the SPDX line is missing"}});
}

BOOST_AUTO_TEST_CASE(reports_a_header_that_may_be_read_twice) {
    const Tree tree{{"cli/a.h", {licence, "#pragma once"}}, {"cli/b.h", {licence}}};
    must_be(headers_are_guarded(tree), {{"cli/b.h", 1, "#pragma once is missing"}});
}

BOOST_AUTO_TEST_CASE(reports_a_source_that_no_list_names) {
    const Tree tree{
        {"allocator/CMakeLists.txt", {"kvpane_add_folder(kvpane", "    HEADERS pool.h", "    SOURCES pool.cpp)"}},
        {"allocator/ool.h", {}},
        {"allocator/pool.cpp", {}},
        {"allocator/pool.h", {}},
        {"attention/view.h", {}}};
    must_be(every_source_is_listed(tree), {{"allocator/ool.h", 1, "not listed in CMakeLists.txt"},
                                           {"attention/view.h", 1, "not listed in CMakeLists.txt"}});
}

BOOST_AUTO_TEST_CASE(reports_an_invariant_that_no_test_breaks) {
    const Tree tree{
        {"invariants/catalogue.h", {"// X1 comes later", "enum class Invariant { P1, T2, A2 };", "return \"T2\";"}},
        {"tests/invariants/a.cpp",
         {"BOOST_AUTO_TEST_CASE(breaking_P1_is_caught) {}", "BOOST_FIXTURE_TEST_CASE(breaking_A2_is_caught, F) {}",
          "// breaking_T2_is_not_a_test"}},
        {"tests/lint/b.cpp", {"BOOST_AUTO_TEST_CASE(breaking_T2_is_only_quoted) {}"}}};
    must_be(every_invariant_is_broken_on_purpose(tree),
            {{"invariants/catalogue.h", 2, "no test is named breaking_T2_..."}});
}

BOOST_AUTO_TEST_CASE(reports_a_catalogue_without_invariants) {
    must_be(every_invariant_is_broken_on_purpose({}), {{"invariants/catalogue.h", 1, "is missing"}});
    must_be(every_invariant_is_broken_on_purpose({{"invariants/catalogue.h", {"enum class Invariant {};"}}}),
            {{"invariants/catalogue.h", 1, "names no invariant"}});
}

BOOST_AUTO_TEST_CASE(reports_a_path_of_one_machine_in_any_file) {
    const std::string root = "/ho" + std::string("me/");
    const Tree tree{{"README.md", {"see " + root + "someone/kvpane", "see docs" + root + "someone"}},
                    {"cli/a.cpp", {"open(\"/tm" + std::string("p/x\")"), "a / tmp / b"}}};
    must_be(no_machine_paths(tree),
            {{"README.md", 1, "an absolute path of one machine"}, {"cli/a.cpp", 1, "an absolute path of one machine"}});
}

BOOST_AUTO_TEST_CASE(reports_a_document_that_shows_other_code_than_is_built) {
    const std::string source = "tests/consumer/readme.cpp";
    const File built{source, {licence, "int main() {", "}"}};
    const auto found = [&](const Tree& tree) { return the_document_shows_what_is_built(tree, "README.md", source); };
    must_be(found({{"README.md", {"text", "```cpp", "int main() {", "}", "```"}}, built}), {});
    must_be(found({{"README.md", {"```cpp", "int main() {}", "```"}}, built}),
            {{"README.md", 2, "differs from line 2 of tests/consumer/readme.cpp"}});
    must_be(found({{"README.md", {"```cpp", "int main() {", "}", "//", "```"}}, built}),
            {{"README.md", 2, "shows more than tests/consumer/readme.cpp"}});
    must_be(found({built}), {{"README.md", 1, "it and tests/consumer/readme.cpp belong together, and one is missing"}});
}

BOOST_AUTO_TEST_CASE(reports_a_note_to_oneself) {
    const std::string note = "TO" + std::string("DO");
    const Tree tree{{"cli/a.cpp", {"// " + note + ": later", "// " + note + "S"}}};
    must_be(nothing_is_left_over(tree), {{"cli/a.cpp", 1, "a note to oneself"}});
}

BOOST_AUTO_TEST_CASE(reads_the_files_of_a_tree_but_not_its_builds) {
    const std::filesystem::path root = std::filesystem::temp_directory_path() / "kvpane-lint-tree";
    std::filesystem::remove_all(root);
    for (const char* path : {"cli/a.cpp", ".ci/run", ".git/config", "build/release/b.cpp", "bootstrap"}) {
        std::filesystem::create_directories((root / path).parent_path());
        std::ofstream(root / path) << "first\nsecond\n";
    }
    std::vector<std::string> paths;
    for (const File& file : read_tree(root)) {
        paths.push_back(file.path);
        BOOST_TEST(file.lines == (std::vector<std::string>{"first", "second"}), boost::test_tools::per_element());
    }
    std::filesystem::remove_all(root);
    BOOST_TEST(paths == (std::vector<std::string>{".ci/run", "bootstrap", "cli/a.cpp"}),
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace kvpane::lint
