// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <kvpane/cli/input.h>
#include <kvpane/cli/stress_config.h>

// Words of the command line as values: the library's own conversion takes "-1" for 2^64 - 1. ERRORS of all: InputError.
namespace kvpane::cli {

template <class Number>
Number to_number(const char* option, std::string_view word, Number min, Number max) {
    Number value = 0;
    const char* end = word.data() + word.size();
    const auto [stopped, error] = std::from_chars(word.data(), end, value);
    if (error != std::errc{} || stopped != end || value < min || value > max) {
        throw InputError(fmt::format("{} must be a whole number {}..{}, got '{}'", option, min, max, word));
    }
    return value;
}

template <class Number>
std::optional<Number> number(const char* option, const std::optional<std::string>& word, Number min, Number max) {
    return word ? std::optional(to_number(option, *word, min, max)) : std::nullopt;
}

inline std::optional<invariants::CheckMode> check(const std::optional<std::string>& word) {
    if (!word) {
        return std::nullopt;
    }
    const auto mode = check_mode(*word);
    if (!mode) {
        throw InputError(fmt::format("--check must be off, sampled or every, got '{}'{}", *word,
                                     did_you_mean(*word, {"off", "sampled", "every"})));
    }
    return mode;
}

}  // namespace kvpane::cli
