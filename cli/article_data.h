// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <kvpane/invariants/article_data.h>

namespace kvpane::cli {

// The reference data in a folder: cases.json, expected_S.json, probes.json, exp05.json, exp06.json, exp08.json and the
// weights_S.hex of each seed S (docs/article.md). ERRORS InputError with the file's name: missing, no JSON, a value that
// is missing or out of range, weights that are not 2048 finite numbers.
invariants::article::Data read_article_data(const std::string& folder);

// The weights in a file: IEEE-754 bit patterns of 16 hex digits, separated by blanks or line ends.
invariants::article::Weights read_weights(const std::string& file);

}  // namespace kvpane::cli
