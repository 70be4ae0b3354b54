// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ranges>
#include <sstream>
#include <string>
#include <type_traits>

#include "properties/lockstep.h"
#include "support/printing.h"

// How a Lockstep compares; shared by its two source files.
namespace kvpane::testing {

template <class T>
void show(std::ostream& out, const T& value) {
    if constexpr (std::ranges::range<T> && !std::is_convertible_v<T, std::string>) {
        out << "[";
        const char* between = "";
        for (const auto& element : value) {
            out << between;
            show(out, element);
            between = ", ";
        }
        out << "]";
    } else {
        out << value;
    }
}

template <class T, class U>
void Lockstep::check_equal(const T& got, const U& wanted, const std::string& what) const {
    bool equal = false;
    if constexpr (std::ranges::range<T>) {
        equal = std::ranges::equal(got, wanted);
    } else {
        equal = got == wanted;
    }
    if (!equal) {
        std::ostringstream text;
        text << now_ << ": " << what << ": the contract says ";
        show(text, wanted);
        text << ", the Manager ";
        show(text, got);
        throw Disagreement(text.str());
    }
}

template <class T>
void Lockstep::check_error(const expected<T>& got, Error error) {
    check(!got.has_value(), "the contract says error " + std::string(to_string(error)) + ", the Manager succeeded");
    check_equal(got.error(), error, "error");
    reached_[std::string(to_string(error))] += 1;
}

template <class T>
void Lockstep::check_error(const expected<T>& got, const Answer& answer) {
    if (answer.error) {
        check_error(got, *answer.error);
    } else if (!got.has_value()) {
        check(false, "the contract says success, the Manager " + std::string(to_string(got.error())));
    }
}

template <class Call>
auto Lockstep::both(Call call) {
    const std::uint64_t before = kv_.digest();
    auto result = call(kv_);
    const auto of_twin = call(twin_);
    check_equal(of_twin.has_value(), result.has_value(), "success of an equal call");
    if (!result.has_value()) {
        check_equal(of_twin.error(), result.error(), "error of an equal call");
        check_equal(kv_.digest(), before, "digest after an error");
    }
    return result;
}

}  // namespace kvpane::testing
