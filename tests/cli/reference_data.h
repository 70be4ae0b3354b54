// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <boost/test/unit_test.hpp>

#include "cli/program.h"

// The committed reference data of kvpane article, and copies that are wrong in one place.
namespace kvpane::testing {

inline const std::string committed = KVPANE_SOURCE_DIR "/tests/data/seed2";

// A copy of the reference data in which one file is another.
inline std::string with(const Folder& folder, const std::string& name, const std::string& text) {
    for (const auto& entry : std::filesystem::directory_iterator(committed)) {
        folder.write(entry.path().filename().string(), text_of(entry.path().string()));
    }
    folder.write(name, text);
    return folder.path(".");
}

inline std::string replaced(const std::string& file, const std::string& old, const std::string& by) {
    std::string text = text_of(committed + "/" + file);
    const std::size_t at = text.find(old);
    BOOST_REQUIRE(at != std::string::npos);
    return text.replace(at, old.size(), by);
}

}  // namespace kvpane::testing
