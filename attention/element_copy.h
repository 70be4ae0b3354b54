// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include <kvpane/attention/dtype.h>

// Elements from one dtype to another. Equal dtypes: the bits as they are, the scale does not matter. Else by way of
// f32: what is stored times the scale is the value, rounded as number_formats.h says. Rows of fp8 have no way but into
// and out of a store of their own dtype.
namespace kvpane {

// Copies `n` elements. The two memories do not overlap.
using ElementCopy = void (*)(void* out, const void* in, std::size_t n, float scale) noexcept;

// Into a store: out = in / scale. nullptr where there is no way.
ElementCopy copy_into_store(DType rows, DType store) noexcept;

// Out of a store: out = in * scale. nullptr where there is no way.
ElementCopy copy_out_of_store(DType store, DType rows) noexcept;

}  // namespace kvpane
