// SPDX-License-Identifier: Apache-2.0
#include "lint/rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <set>

namespace kvpane::lint {

namespace {

constexpr std::array<std::string_view, 5> layers{"allocator", "blocktable", "attention", "invariants", "cli"};
constexpr std::size_t longest_file = 500;

/// How far up the layers a folder stands; nothing for a folder that is no layer.
std::optional<std::size_t> height(std::string_view folder) {
    const auto found = std::ranges::find(layers, folder);
    if (found == layers.end()) {
        return std::nullopt;
    }
    return static_cast<std::size_t>(found - layers.begin());
}

/// Calls report(file, line number, included) for each #include in the files that belong to a layer.
template <class Report>
void for_each_include(const Tree& tree, Report report) {
    for (const File& file : tree) {
        if (!is_code(file) || !height(file.folder())) {
            continue;
        }
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            const std::string included = included_by(file.lines[i]);
            if (!included.empty()) {
                report(file, i + 1, included);
            }
        }
    }
}

/// The layer that an include names: "allocator" for "<kvpane/allocator/ids.h>", "" for other headers.
std::string layer_of(const std::string& included) {
    static const std::regex ours(R"(^<kvpane/([a-z]+)/.*>$)");
    std::smatch match;
    return std::regex_match(included, match, ours) ? match[1].str() : std::string{};
}

bool is_standard(const std::string& included) {
    static const std::regex standard(R"(^<[a-z_0-9]+>$)");
    return std::regex_match(included, standard);
}

std::set<std::string> matches(const std::string& line, const std::regex& pattern) {
    std::set<std::string> found;
    for (std::sregex_iterator it(line.begin(), line.end(), pattern), end; it != end; ++it) {
        found.insert(it->str());
    }
    return found;
}

/// Says `text` of each line that the pattern is found in.
Findings lines_with(const Tree& tree, const std::regex& pattern, const std::string& text) {
    Findings findings;
    for (const File& file : tree) {
        if (file.name() == "LICENSE") {
            continue;
        }
        for (std::size_t i = 0; i < file.lines.size(); ++i) {
            if (std::regex_search(file.lines[i], pattern)) {
                findings.push_back({file.path, i + 1, text});
            }
        }
    }
    return findings;
}

}  // namespace

Findings includes_point_down_the_layers(const Tree& tree) {
    Findings findings;
    for_each_include(tree, [&](const File& file, std::size_t line, const std::string& included) {
        if (included.starts_with('"')) {
            findings.push_back({file.path, line, "spell " + included + " as <kvpane/folder/name.h>"});
        }
        const std::string layer = layer_of(included);
        if (layer.empty()) {
            return;
        }
        const auto theirs = height(layer);
        if (!theirs || *theirs > *height(file.folder())) {
            findings.push_back({file.path, line, std::string(file.folder()) + "/ may not include " + included});
        }
    });
    return findings;
}

Findings heavy_libraries_stay_outside_the_core(const Tree& tree) {
    Findings findings;
    for_each_include(tree, [&](const File& file, std::size_t line, const std::string& included) {
        const bool ours = included.starts_with('"') || included.starts_with("<kvpane/");
        const bool light = is_standard(included) || included == "<tl/expected.hpp>";
        const bool checksum = included == "<xxhash.h>" && file.path == "invariants/checksum.cpp";
        // Bytes have to reach a file before the process dies: no standard stream promises that.
        static const std::set<std::string> posix = {"<fcntl.h>", "<sys/stat.h>", "<unistd.h>"};
        const bool last_bytes = posix.contains(included) && (file.path == "invariants/file_sink.cpp" ||
                                                             file.path == "invariants/last_words.cpp");
        const bool c = included.ends_with(".h>") && file.path == "invariants/proof/oracle/oracle.h";
        const bool vectors = (included == "<immintrin.h>" && file.path == "attention/host_kernels_avx2.cpp") ||
                             (included == "<emmintrin.h>" && file.path == "attention/streaming_copy.cpp");
        if (ours || light || checksum || last_bytes || c || vectors || file.folder() == "cli" ||
            file.path.starts_with("attention/cuda/")) {
            return;
        }
        findings.push_back({file.path, line, included + " belongs in cli/ or tests/"});
    });
    return findings;
}

Findings the_specification_includes_only_ids(const Tree& tree) {
    Findings findings;
    for_each_include(tree, [&](const File& file, std::size_t line, const std::string& included) {
        if (file.path != "invariants/spec.h") {
            return;
        }
        if (is_standard(included) || included == "<kvpane/allocator/ids.h>") {
            return;
        }
        findings.push_back({file.path, line, "the specification may not include " + included});
    });
    return findings;
}

Findings files_are_short(const Tree& tree) {
    Findings findings;
    for (const File& file : tree) {
        if (is_program(file) && file.lines.size() > longest_file) {
            findings.push_back({file.path, file.lines.size(), "more than 500 lines"});
        }
    }
    return findings;
}

Findings the_licence_comes_first(const Tree& tree) {
    static const std::regex licence(R"(^(//|#) SPDX-License-Identifier: Apache-2\.0$)");
    Findings findings;
    for (const File& file : tree) {
        if (!is_program(file)) {
            continue;
        }
        const std::size_t line = !file.lines.empty() && file.lines[0].starts_with("#!") ? 1 : 0;
        if (file.lines.size() <= line || !std::regex_match(file.lines[line], licence)) {
            findings.push_back({file.path, line + 1, "the SPDX line is missing"});
        }
    }
    return findings;
}

Findings headers_are_guarded(const Tree& tree) {
    Findings findings;
    for (const File& file : tree) {
        if (file.extension() == ".h" && std::ranges::find(file.lines, "#pragma once") == file.lines.end()) {
            findings.push_back({file.path, 1, "#pragma once is missing"});
        }
    }
    return findings;
}

Findings every_source_is_listed(const Tree& tree) {
    static const std::regex word(R"([^\s()]+)");
    Findings findings;
    for (const File& file : tree) {
        if (!is_code(file) || !height(file.folder())) {
            continue;
        }
        const std::string folder = file.path.substr(0, file.path.rfind('/'));
        std::set<std::string> listed;
        if (const File* list = find(tree, folder + "/CMakeLists.txt")) {
            for (const std::string& line : list->lines) {
                listed.merge(matches(line, word));
            }
        }
        if (!listed.contains(std::string(file.name()))) {
            findings.push_back({file.path, 1, "not listed in CMakeLists.txt"});
        }
    }
    return findings;
}

Findings every_invariant_is_broken_on_purpose(const Tree& tree) {
    static const std::regex test(R"(_TEST_CASE\(\s*breaking_([A-Z][0-9])_)");
    static const std::regex number(R"(\b[A-Z][0-9]\b)");
    std::set<std::string> broken;
    for (const File& file : tree) {
        if (file.folder() != "tests" || file.path.starts_with("tests/lint/")) {
            continue;  // the lint quotes such names
        }
        for (const std::string& line : file.lines) {
            std::smatch match;
            if (std::regex_search(line, match, test)) {
                broken.insert(match[1].str());
            }
        }
    }
    const File* catalogue = find(tree, "invariants/catalogue.h");
    if (catalogue == nullptr) {
        return {{"invariants/catalogue.h", 1, "is missing"}};
    }

    Findings findings;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < catalogue->lines.size(); ++i) {
        const std::string code = catalogue->lines[i].substr(0, catalogue->lines[i].find("//"));
        for (const std::string& name : matches(code, number)) {
            if (seen.insert(name).second && !broken.contains(name)) {
                findings.push_back({catalogue->path, i + 1, "no test is named breaking_" + name + "_..."});
            }
        }
    }
    if (seen.empty()) {
        findings.push_back({catalogue->path, 1, "names no invariant"});
    }
    return findings;
}

Findings the_document_shows_what_is_built(const Tree& tree, const std::string& document, const std::string& source) {
    const File* shown = find(tree, document);
    const File* built = find(tree, source);
    if (shown == nullptr || built == nullptr) {
        return {{document, 1, "it and " + source + " belong together, and one is missing"}};
    }
    std::size_t line = 0;
    while (line < shown->lines.size() && shown->lines[line] != "```cpp") {
        ++line;
    }
    const std::size_t begin = ++line;
    for (std::size_t i = 1; i < built->lines.size(); ++i, ++line) {  // behind the licence
        if (line >= shown->lines.size() || shown->lines[line] != built->lines[i]) {
            return {{document, line + 1, "differs from line " + std::to_string(i + 1) + " of " + source}};
        }
    }
    const bool ends = line < shown->lines.size() && shown->lines[line] == "```";
    return ends ? Findings{} : Findings{{document, begin + 1, "shows more than " + source}};
}

Findings no_machine_paths(const Tree& tree) {
    // In pieces, so that this file does not break its own rule.
    static const std::regex path(std::string("(^|[^A-Za-z0-9_.}/-])/(") + "home|root|tmp|work|farm|Users" +
                                 ")/[A-Za-z0-9_.$-]");
    return lines_with(tree, path, "an absolute path of one machine");
}

Findings nothing_is_left_over(const Tree& tree) {
    static const std::regex note(std::string("\\b(TO") + "DO|FIX" + "ME|X" + "XX|HA" + "CK)\\b");
    return lines_with(tree, note, "a note to oneself");
}

}  // namespace kvpane::lint
