// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>

#include <kvpane/attention/cuda/kernel_env.cuh>

// Runs kernels on the CPU: one fiber a thread, one block after the other. Fibers change at barriers, shuffles and ends
// only, in an order that the seed decides (thread_order.h): warps advance side by side, or one of them runs far ahead.
// So a result that depends on a barrier that is not there depends on the seed.
// Shared memory is allocated to the byte, for AddressSanitizer to see, and filled with ones: NaN, or -1.
namespace kvpane::emulator {

enum class Fault : std::uint8_t {
    divergent_barrier,  // threads of a block wait at different barriers, or have ended
    inactive_lane,      // a shuffle or ballot names a lane that has ended
    bad_mask,           // a shuffle whose mask lacks the lane itself or the lane that it reads
    deadlock,           // every thread waits for another one
    misaligned,         // a vector load or store
};

// Says which threads of which block wait where.
class KernelFault : public std::runtime_error {
public:
    KernelFault(Fault fault, const std::string& text) : std::runtime_error(text), fault_(fault) {}
    Fault fault() const noexcept { return fault_; }

private:
    Fault fault_;
};

struct Launch {
    cuda::Index3 grid = {};
    unsigned threads = cuda::warp_size;
    std::size_t shared_bytes = 0;
    std::uint64_t seed = 1;
};

// Calls `kernel` once in each thread of each block. What it throws is thrown from here.
// Throws KernelFault; the other threads of that block are then left where they were, without unwinding.
void run(const Launch& launch, const std::function<void()>& kernel);

// While it lives, kernels that this thread of the host runs do without one of their barriers, as if its line were not
// there; and the barriers that they come to are noted. Places are "prefill.cuh:117".
class BarrierProbe {
public:
    explicit BarrierProbe(std::string left_out = "");
    BarrierProbe(const BarrierProbe&) = delete;
    BarrierProbe& operator=(const BarrierProbe&) = delete;
    ~BarrierProbe();

    const std::set<std::string>& reached() const { return reached_; }

    // Called by the emulator at each barrier.
    bool leaves_out(const cuda::emulated::Where& where);

private:
    std::string left_out_;
    std::set<std::string> reached_;
    BarrierProbe* before_;
};

}  // namespace kvpane::emulator
