// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lint/tree.h"

// The rules of the repository. Each looks at the whole tree and says where it is broken.
namespace kvpane::lint {

/// allocator <- blocktable <- attention <- invariants <- cli: a folder includes itself and what stands before it,
/// and spells it <kvpane/folder/name.h>.
Findings includes_point_down_the_layers(const Tree& tree);
/// Outside cli/ and tests/ only the standard library and <tl/expected.hpp>; attention/cuda/ may use CUDA's headers,
/// the checksum of journals XXH3, and what writes their last bytes POSIX.
Findings heavy_libraries_stay_outside_the_core(const Tree& tree);
/// invariants/spec.h takes nothing from what it judges but the ids.
Findings the_specification_includes_only_ids(const Tree& tree);
/// 500 lines at most in code, scripts and build files.
Findings files_are_short(const Tree& tree);
/// The licence is the first line, or the second after "#!".
Findings the_licence_comes_first(const Tree& tree);
/// Every header has "#pragma once".
Findings headers_are_guarded(const Tree& tree);
/// Every source and header of a source folder is named in the folder's CMakeLists.txt, which installs its headers.
Findings every_source_is_listed(const Tree& tree);
/// Each number of the enum in invariants/catalogue.h has a test that breaks it: BOOST_AUTO_TEST_CASE(breaking_P1_...).
Findings every_invariant_is_broken_on_purpose(const Tree& tree);
/// The first C++ block of a document is the source, behind its licence, that the consumer test builds and runs.
Findings the_document_shows_what_is_built(const Tree& tree, const std::string& document, const std::string& source);
/// No absolute path of somebody's machine.
Findings no_machine_paths(const Tree& tree);
/// No notes to oneself.
Findings nothing_is_left_over(const Tree& tree);

}  // namespace kvpane::lint
