// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

// A JSON file of any shape, read value by value. Whoever meets a value that is not what it must be refuses it by the way
// that leads to it ("rows[3].cut"): a file may be one long line.
namespace kvpane::cli {

class JsonFile;

// A value of a JsonFile, which must live as long. ERRORS of all that read it: InputError.
class JsonNode {
public:
    JsonNode at(std::string_view key) const;
    bool is_null() const;
    std::vector<JsonNode> items() const;
    std::vector<JsonNode> items(std::size_t count) const;  // exactly so many
    std::vector<std::string> keys() const;                 // of an object

    std::int64_t integer(std::int64_t min, std::int64_t max) const;
    double number() const;
    std::string text() const;

    // "'rows[3].cut' must be `what`, got `got`"; without `got` it is the value.
    [[noreturn]] void refuse(const std::string& what) const;
    [[noreturn]] void refuse(const std::string& what, const std::string& got) const;

private:
    friend class JsonFile;
    JsonNode(const JsonFile& file, const nlohmann::json& value, std::string way)
        : file_(&file), value_(&value), way_(std::move(way)) {}

    const JsonFile* file_;
    const nlohmann::json* value_;
    std::string way_;
};

class JsonFile {
public:
    // ERRORS InputError: what read_text() refuses, and what is no JSON, with its line and column.
    explicit JsonFile(std::string path);
    ~JsonFile();
    JsonFile(const JsonFile&) = delete;
    JsonFile& operator=(const JsonFile&) = delete;

    JsonNode root() const { return {*this, *json_, {}}; }
    const std::string& path() const noexcept { return path_; }

private:
    std::string path_;
    std::unique_ptr<nlohmann::json> json_;
};

}  // namespace kvpane::cli
