// SPDX-License-Identifier: Apache-2.0
// planted_bug caught|agrees: compares kernels with the reference in a handful of problems, under several orders of
// threads. It is built once from the kernels as they are, where they have to agree, and once for each planted bug,
// which has to be caught (CMakeLists.txt plants them).
#include <cstdint>
#include <cstdio>
#include <string>

#include "attention/agreement.h"
#include "cuda/emulated_attention.h"
#include "emulator/emulator.h"

namespace kvpane::testing {

namespace {

bool agrees(const AttentionSizes& sizes, std::uint64_t order) {
    const AttentionCase problem(sizes, 1);
    const Answer expected = by_reference(problem.problem());
    const Answer found = by_emulator(problem.problem(), order);
    const bool is_close = norm_ratio(found.out, expected.out) < tolerance(DType::f32) &&
                          norm_ratio(found.lse, expected.lse) < lse_tolerance;
    if (!is_close) {
        std::printf("caught with order %llu in %s\n", static_cast<unsigned long long>(order), describe(sizes).c_str());
    }
    return is_close;
}

bool all_agree() {
    for (const std::uint64_t order : {1U, 2U, 3U}) {
        for (const Length window : {0, 5}) {
            const AttentionSizes decode{
                .block_size = 8, .kv_heads = 1, .group = 2, .window = window, .lengths = {16, 80, 3}};
            AttentionSizes prefill = decode;
            prefill.queries = {2, 60, 1};
            if (!agrees(decode, order) || !agrees(prefill, order)) {
                return false;
            }
        }
    }
    return true;
}

}  // namespace

}  // namespace kvpane::testing

int main(int argc, char** argv) {
    const std::string expected = argc == 2 ? argv[1] : "";
    try {
        return (kvpane::testing::all_agree() ? "agrees" : "caught") == expected ? 0 : 1;
    } catch (const kvpane::emulator::KernelFault& fault) {
        std::printf("caught: %s\n", fault.what());
        return expected == "caught" ? 0 : 1;
    }
}
