// SPDX-License-Identifier: Apache-2.0
// kvpane_gpu_check [--no-gpu] [--small] [--no-times] [--dump DIR]: the kernels on a real device, against the host; and
// their times. A decode that was timed goes into DIR (decode_dump.h) and is read back. One JSON object on stdout, a
// count of what was found on stderr. Exit code 0: nothing differs, 1: something does, 2: there is no device (see
// --no-gpu).
#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <kvpane/attention/cuda/device.h>

#include "gpu/decode_dump.h"
#include "gpu/gpu_check.h"

namespace {

using nlohmann::ordered_json;

int run(const std::vector<std::string>& options) {
    const auto has = [&](const char* option) { return std::ranges::find(options, option) != options.end(); };
    const auto available = kvpane::device_available();
    const bool has_device = available && !has("--no-gpu");
    ordered_json report;
    report["device"] = has_device;
    if (!available) {
        report["why"] = std::string(to_string(available.error().fault)) + ": " + available.error().where + " " +
                        std::to_string(available.error().code);
    }
    const bool wants_none = has("--no-gpu");
    if (!has_device && !wants_none) {
        std::printf("%s\n", report.dump(2).c_str());
        return 2;
    }
    kvpane::gpu::Checks checks(has_device);
    check_attention(checks, has("--small") || wants_none);
    check_cells(checks);
    check_tables(checks);
    ordered_json times;
    if (has_device && !has("--no-times")) {
        const auto dump = std::ranges::find(options, "--dump");
        const std::string folder = options.end() - dump > 1 ? dump[1] : "";
        times = kvpane::gpu::measure_all(has("--small"), folder);
        if (!folder.empty()) {
            kvpane::gpu::check_dump(checks, folder);
        }
    }
    report["summary"] = {{"ok", checks.ok()}, {"differ", checks.differ()}, {"not_run", checks.not_run()}};
    std::fprintf(stderr, "kvpane_gpu_check: %d ok, %d differ, %d not run\n", checks.ok(), checks.differ(),
                 checks.not_run());
    report["checks"] = checks.rows();
    if (!times.is_null()) {
        report["times"] = times;
    }
    std::printf("%s\n", report.dump(2).c_str());
    return checks.differ() == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        std::fprintf(stderr, "kvpane_gpu_check: %s\n", error.what());
        return 1;
    }
}
