// SPDX-License-Identifier: Apache-2.0
#include "lint/tree.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <regex>

namespace kvpane::lint {

namespace {

template <std::size_t N>
bool is_one_of(std::string_view word, const std::array<std::string_view, N>& words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_left_out(const std::filesystem::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if (!entry.is_directory()) {
        return false;
    }
    return name.starts_with("build") || (name.starts_with(".") && name != ".ci");
}

File read_file(const std::filesystem::path& root, const std::filesystem::path& path) {
    File file{.path = path.lexically_relative(root).generic_string(), .lines = {}};
    std::ifstream stream(path, std::ios::binary);
    for (std::string line; std::getline(stream, line);) {
        file.lines.push_back(line);
    }
    return file;
}

}  // namespace

std::string_view File::folder() const {
    const std::string_view all = path;
    const std::size_t slash = all.find('/');
    return slash == std::string_view::npos ? std::string_view{} : all.substr(0, slash);
}

std::string_view File::name() const {
    const std::string_view all = path;
    return all.substr(all.rfind('/') + 1);  // npos + 1 == 0
}

std::string_view File::extension() const {
    const std::size_t dot = name().rfind('.');
    return dot == std::string_view::npos ? std::string_view{} : name().substr(dot);
}

Tree read_tree(const std::filesystem::path& root) {
    Tree tree;
    std::filesystem::recursive_directory_iterator entry(root);
    for (; entry != std::filesystem::recursive_directory_iterator(); ++entry) {
        if (is_left_out(*entry)) {
            entry.disable_recursion_pending();
        }
        if (entry->is_regular_file()) {
            tree.push_back(read_file(root, entry->path()));
        }
    }
    std::ranges::sort(tree, {}, &File::path);
    return tree;
}

const File* find(const Tree& tree, std::string_view path) {
    const auto found = std::ranges::find(tree, path, &File::path);
    return found == tree.end() ? nullptr : &*found;
}

bool is_code(const File& file) {
    return is_one_of(file.extension(), std::array<std::string_view, 5>{".h", ".hpp", ".cpp", ".cu", ".cuh"});
}

bool is_program(const File& file) {
    return is_code(file) || is_one_of(file.extension(), std::array<std::string_view, 3>{".cmake", ".in", ".sh"}) ||
           file.name() == "CMakeLists.txt" || file.path == "bootstrap" || file.path == ".ci/run" ||
           file.path == "tests/mutants/run" || file.path == "tests/mutants/shrink" ||
           file.path == "tests/mutants/diverge" || file.path == "invariants/proof/check" ||
           file.path == "invariants/proof/oracle/generate" || file.extension() == ".mutants";
}

std::string included_by(std::string_view line) {
    static const std::regex include(R"re(^\s*#\s*include\s*(<[^>]*>|"[^"]*"))re");
    std::match_results<std::string_view::const_iterator> match;
    return std::regex_search(line.begin(), line.end(), match, include) ? match[1].str() : std::string{};
}

}  // namespace kvpane::lint
