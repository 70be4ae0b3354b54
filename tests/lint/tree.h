// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kvpane::lint {

/// One text file of the repository.
struct File {
    std::string path;                // relative to the root, with forward slashes
    std::vector<std::string> lines;  // without their line ends

    /// The first folder of the path, "" for a file in the root.
    std::string_view folder() const;
    /// The part of the path after the last slash.
    std::string_view name() const;
    /// The end of the name from its last dot on, "" without one.
    std::string_view extension() const;
};

/// What a rule complains about: printed as "path:line: text".
struct Finding {
    std::string path;
    std::size_t line;  // from 1
    std::string text;

    friend bool operator==(const Finding&, const Finding&) = default;
};

using Tree = std::vector<File>;
using Findings = std::vector<Finding>;

/// Every file below root, in the order of the paths, without build trees and hidden folders (.ci is read).
Tree read_tree(const std::filesystem::path& root);

/// The file with this path, or nullptr.
const File* find(const Tree& tree, std::string_view path);

/// C++ and CUDA: sources and headers.
bool is_code(const File& file);
/// Code, scripts and build files: whatever somebody has to read as a program.
bool is_program(const File& file);
/// What `#include` on this line names, with its brackets or quotes: "<vector>"; "" for any other line.
std::string included_by(std::string_view line);

}  // namespace kvpane::lint
