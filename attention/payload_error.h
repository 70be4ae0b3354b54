// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <tl/expected.hpp>

namespace kvpane {

// Why an operation on cells did nothing. The set is closed.
enum class PayloadFault : std::uint8_t {
    bad_shape,              // a size of 0, or one that does not fit another argument
    heads_do_not_divide,    // query heads are not a multiple of the KV heads
    head_dim_out_of_range,  // 0, more than 256, or not a multiple of 8
    misaligned,             // an address or a stride is no multiple of the element
    overlapping,            // an output shares memory with an input
    buffer_too_small,       // an output, or a table row that ends before its sequence does
    workspace_too_small,
    out_of_range,       // a slot, block, position or scale that there is not
    hole,               // a position that has to be read has no block
    unsupported_dtype,  // this path has no code for it
    no_device,          // built without CUDA, or the machine has no device that works
    cuda_error,         // `call` failed with `code`
};

constexpr std::string_view to_string(PayloadFault fault) noexcept {
    switch (fault) {
        case PayloadFault::bad_shape: return "bad_shape";
        case PayloadFault::heads_do_not_divide: return "heads_do_not_divide";
        case PayloadFault::head_dim_out_of_range: return "head_dim_out_of_range";
        case PayloadFault::misaligned: return "misaligned";
        case PayloadFault::overlapping: return "overlapping";
        case PayloadFault::buffer_too_small: return "buffer_too_small";
        case PayloadFault::workspace_too_small: return "workspace_too_small";
        case PayloadFault::out_of_range: return "out_of_range";
        case PayloadFault::hole: return "hole";
        case PayloadFault::unsupported_dtype: return "unsupported_dtype";
        case PayloadFault::no_device: return "no_device";
        case PayloadFault::cuda_error: return "cuda_error";
    }
    return "";
}

// An error is a value that costs nothing to make: both texts are literals.
struct PayloadError {
    PayloadFault fault;
    const char* where = "";  // the argument, as the contract calls it; of a cuda_error the CUDA call
    int code = 0;            // of a cuda_error: cudaError_t

    friend bool operator==(const PayloadError& a, const PayloadError& b) noexcept {
        return a.fault == b.fault && a.code == b.code && std::string_view(a.where) == b.where;
    }
};

template <class T>
using payload_expected = tl::expected<T, PayloadError>;

inline tl::unexpected<PayloadError> refuse(PayloadFault fault, const char* where) noexcept {
    return tl::unexpected<PayloadError>(PayloadError{fault, where});
}

}  // namespace kvpane
