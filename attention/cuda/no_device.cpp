// SPDX-License-Identifier: Apache-2.0
#include <kvpane/attention/cuda/copy_question.h>
#include <kvpane/attention/cuda/device.h>
#include <kvpane/attention/cuda/on_device.h>

// A build without CUDA: callers link all the same, and are told.
namespace kvpane {

namespace {

tl::unexpected<PayloadError> none() noexcept { return refuse(PayloadFault::no_device, "built without CUDA"); }

payload_expected<void> copy(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    return find_wrong_copy(to, from).and_then([] { return payload_expected<void>(none()); });
}

}  // namespace

payload_expected<void> device_available() noexcept { return none(); }

DeviceMemory::~DeviceMemory() = default;  // there is never any
payload_expected<DeviceMemory> DeviceMemory::allocate(std::size_t) noexcept { return none(); }

payload_expected<void> clear_device(std::span<std::byte>) noexcept { return none(); }
payload_expected<void> copy_to_device(std::span<std::byte> to, std::span<const std::byte> from, void*) noexcept {
    return copy(to, from);
}
payload_expected<void> copy_from_device(std::span<std::byte> to, std::span<const std::byte> from, void*) noexcept {
    return copy(to, from);
}
payload_expected<void> copy_within_device(std::span<std::byte> to, std::span<const std::byte> from, void*) noexcept {
    return copy(to, from);
}
payload_expected<void> wait_for(void*) noexcept { return none(); }

namespace on_device {

Done attention(const AttentionProblem&, const DeviceBounds&, std::span<std::byte>, const AttentionResult&,
               void*) noexcept {
    return none();
}
Done cascade_attention(const AttentionProblem&, const SharedPrefixes&, const CascadeBounds&, std::span<std::byte>,
                       const AttentionResult&, void*) noexcept {
    return none();
}
Done find_wrong_entry(const AttentionProblem&, std::uint64_t*, WrongEntry*, void*) noexcept { return none(); }
Done merge_parts(const AttentionParts&, const AttentionResult&, void*) noexcept { return none(); }
Done write_slots(const CellStore&, std::span<const Slot>, const CellRows&, void*) noexcept { return none(); }
Done gather_cells(const CellStore&, const CellRange&, const CellRowsOut&, void*) noexcept { return none(); }
Done scatter_cells(const CellStore&, const CellRange&, const CellRows&, void*) noexcept { return none(); }
Done copy_blocks(const CellStore&, GroupId, std::span<const BlockCopy>, void*) noexcept { return none(); }
Done swap_blocks(const CellStore&, const CellStore&, std::span<const BlockPair>, void*) noexcept { return none(); }
Done fingerprint_blocks(const CellStore&, std::span<const FilledBlock>, std::span<std::uint64_t>, void*) noexcept {
    return none();
}
Done compare_cells(const CellStore&, const CellRange&, const CellRows&, std::optional<float>, std::uint64_t*,
                   CellMismatch*, void*) noexcept {
    return none();
}
Done tables_to_csr(const PaddedTables&, std::span<const Length>, const SeenRule&, const CsrArrays&,
                   std::span<std::byte>, void*) noexcept {
    return none();
}
Done csr_to_tables(const CsrTables&, std::size_t, std::span<std::int32_t>, void*) noexcept { return none(); }
Done slots_of_positions(const PaddedTables&, std::span<const std::int32_t>, std::span<const Length>, std::span<Slot>,
                        void*) noexcept {
    return none();
}
payload_expected<std::size_t> running_sum_bytes(std::size_t) noexcept { return none(); }

}  // namespace on_device

}  // namespace kvpane
