// SPDX-License-Identifier: Apache-2.0
#include <kvpane/invariants/payload_options.h>

#include <kvpane/invariants/text.h>

namespace kvpane::invariants {

CellShape shape_of(const Config& config, const PayloadOptions& options) noexcept {
    return {.blocks = config.blocks,
            .block_size = config.block_size,
            .kv_heads = options.kv_heads,
            .head_dim = options.head_dim,
            .dtype = options.dtype};
}

std::optional<std::string> find_wrong(const Config& config, const PayloadOptions& options) {
    const CellShape shape = shape_of(config, options);
    if (const auto wrong = kvpane::find_wrong(shape); !wrong) {
        return text("the payload has no such cells: ", to_string(wrong.error().fault));
    }
    const std::size_t bytes = bytes_of(shape);
    if (bytes > PayloadOptions::most_bytes / config.groups.size()) {
        return text("the payload needs ", bytes, " bytes in each of ", config.groups.size(),
                    " groups, more than 1 GiB in all: use fewer blocks, smaller cells, or no payload");
    }
    return std::nullopt;
}

}  // namespace kvpane::invariants
