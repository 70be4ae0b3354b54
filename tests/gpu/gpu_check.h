// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

namespace kvpane::gpu {

// What a device gave beside what the host gave.
struct Outcome {
    bool agrees = false;
    nlohmann::ordered_json error = nullptr;  // norm ratio, of what is not compared bit by bit
};

// A row for each check: {"name", "result": "ok", "differs" or "not run", "error": norm ratio or null}.
class Checks {
public:
    explicit Checks(bool has_device) : has_device_(has_device) {}

    // check() computes on the device and gives an Outcome. Without a device it is not called: the host's half has run,
    // so that the arguments are sound, but nothing is compared.
    template <class Check>
    void add(const std::string& name, Check check) {
        if (has_device_) {
            const Outcome found = check();
            add_row(name, found.agrees ? "ok" : "differs", found.agrees ? ok_ : differ_, found.error);
        } else {
            add_row(name, "not run", not_run_, nullptr);
        }
    }

    const nlohmann::ordered_json& rows() const { return rows_; }
    int ok() const { return ok_; }
    int differ() const { return differ_; }
    int not_run() const { return not_run_; }

private:
    void add_row(const std::string& name, const char* result, int& count, const nlohmann::ordered_json& error) {
        rows_.push_back({{"name", name}, {"result", result}, {"error", error}});
        ++count;
    }

    bool has_device_;
    nlohmann::ordered_json rows_ = nlohmann::ordered_json::array();
    int ok_ = 0;
    int differ_ = 0;
    int not_run_ = 0;
};

// Every operation on the device against the host's function, the same arguments for both. `small`: a handful, for a
// checker that makes them a hundred times slower.
void check_attention(Checks& checks, bool small);
void check_cells(Checks& checks);
void check_tables(Checks& checks);

// Times, as a share of the copy bandwidth. Gives {"name", "microseconds", "gb_per_s", "share_of_copy"} of each.
// `small`: of a handful of cells, whose times say nothing. Leaves a DecodeDump in the folder, unless its name is empty.
nlohmann::ordered_json measure_all(bool small, const std::filesystem::path& dump_folder);

}  // namespace kvpane::gpu
