// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <kvpane/cli/input.h>

// What the tests of the command line need: a folder of their own, and the program itself.
namespace kvpane::testing {

// A folder that goes with its owner.
class Folder {
public:
    Folder();
    ~Folder();
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    // Writes a file and returns its path.
    std::string write(const std::string& name, std::string_view text) const;
    std::string path(const std::string& name) const { return (root_ / name).string(); }
    // The names of all that is in it, sorted.
    std::vector<std::string> names() const;

private:
    std::filesystem::path root_;
};

struct Ran {
    int code = -1;
    std::string out;
    std::string err;
};

// Runs the kvpane program; neither stdout nor stderr is a terminal.
Ran run_kvpane(const std::vector<std::string>& arguments);

std::vector<std::string> lines_of(const std::string& text);
std::string text_of(const std::string& file);

// The message of the InputError that `work` ends with; empty when it does not.
template <class Work>
std::string refusal_of(Work work) {
    try {
        work();
    } catch (const cli::InputError& error) {
        return error.what();
    }
    return {};
}

}  // namespace kvpane::testing
