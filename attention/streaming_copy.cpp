// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/streaming_copy.h>

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#    include <emmintrin.h>
#endif

namespace kvpane {

#if defined(__SSE2__)

namespace {

// A line that is not written whole in one go costs more than it saves.
constexpr std::size_t cache_line = 64;

}  // namespace

void stream_bytes(void* out, const void* in, std::size_t bytes) noexcept {
    if (reinterpret_cast<std::uintptr_t>(out) % cache_line != 0 || bytes % cache_line != 0) {
        std::memcpy(out, in, bytes);
        return;
    }
    const auto* from = static_cast<const __m128i*>(in);
    auto* to = static_cast<__m128i*>(out);
    for (const auto* const end = from + bytes / sizeof *from; from != end; from += 4, to += 4) {
        const __m128i a = _mm_loadu_si128(from);
        const __m128i b = _mm_loadu_si128(from + 1);
        const __m128i c = _mm_loadu_si128(from + 2);
        const __m128i d = _mm_loadu_si128(from + 3);
        _mm_stream_si128(to, a);
        _mm_stream_si128(to + 1, b);
        _mm_stream_si128(to + 2, c);
        _mm_stream_si128(to + 3, d);
    }
}

void finish_streams() noexcept { _mm_sfence(); }

#else

void stream_bytes(void* out, const void* in, std::size_t bytes) noexcept { std::memcpy(out, in, bytes); }

void finish_streams() noexcept {}

#endif

}  // namespace kvpane
