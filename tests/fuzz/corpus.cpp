// SPDX-License-Identifier: Apache-2.0
// fuzz_corpus: one target over files, without a fuzzer, with any compiler.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <kvpane/cli/journal_file.h>

#include "fuzz/operation_stream.h"
#include "fuzz/target.h"

namespace {

using namespace kvpane;

constexpr const char* usage =
    "usage: fuzz_corpus TARGET PATH...          every file below the paths\n"
    "       fuzz_corpus --journal F.kvj INPUT   an input of `operations`, kept as a journal for `kvpane shrink`\n"
    "Exit codes: 0 all properties hold; 1 one is broken; 2 no such target, or no input.\n";

std::vector<std::filesystem::path> files_below(const std::vector<std::string>& paths) {
    std::vector<std::filesystem::path> files;
    for (const std::string& path : paths) {
        if (std::filesystem::is_directory(path)) {
            for (const auto& entry : std::filesystem::recursive_directory_iterator(path)) {
                if (entry.is_regular_file()) {
                    files.push_back(entry.path());
                }
            }
        } else {
            files.emplace_back(path);
        }
    }
    std::ranges::sort(files);
    return files;
}

std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        throw std::runtime_error("cannot be opened");
    }
    return {std::istreambuf_iterator<char>(stream), {}};
}

int run(const fuzz::Target& target, const std::vector<std::filesystem::path>& files) {
    int broken = 0;
    for (const std::filesystem::path& file : files) {
        try {
            const std::string bytes = bytes_of(file);
            target.run(std::as_bytes(std::span(bytes)));
        } catch (const std::exception& error) {
            std::printf("%s: %s\n", file.c_str(), error.what());
            ++broken;
        }
    }
    std::printf("%s: %zu inputs, %d broken\n", std::string(target.name).c_str(), files.size(), broken);
    return files.empty() ? 2 : broken == 0 ? 0 : 1;
}

int keep(const std::string& journal, const std::string& input) {
    const std::string bytes = bytes_of(input);
    const fuzz::Input stream = std::as_bytes(std::span(bytes));
    cli::JournalRecording recording(
        journal, {fuzz::OperationStream(stream).config(), invariants::CheckMode::every, false, 0, 0});
    int code = 0;
    try {
        fuzz::run_operations(stream, &recording.writer());
    } catch (const fuzz::Broken& broken) {
        std::printf("%s\n", broken.what());
        code = 1;
    }
    std::printf("%s\n", recording.finish().c_str());
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    const std::vector<std::string> words(argv + 1, argv + argc);
    const auto target = std::ranges::find(fuzz::targets, words.empty() ? "" : words[0], &fuzz::Target::name);
    try {
        if (words.size() == 3 && words[0] == "--journal") {
            return keep(words[1], words[2]);
        }
        if (words.size() >= 2 && target != fuzz::targets.end()) {
            return run(*target, files_below({words.begin() + 1, words.end()}));
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "fuzz_corpus: %s\n", error.what());
        return 2;
    }
    std::fputs(usage, stderr);
    return 2;
}
