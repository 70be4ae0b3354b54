# SPDX-License-Identifier: Apache-2.0
# Times torch's scaled_dot_product_attention for the decode that tests/gpu/measures.cpp times, with K and V gathered.
# Prints one JSON object.
import json
import time

import torch

SEQUENCES, LENGTH, KV_HEADS, HEAD_DIM, ROUNDS = 64, 8192, 8, 128, 20


def seconds_of(call):
    call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(ROUNDS):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / ROUNDS


def main():
    shape = (SEQUENCES, KV_HEADS, LENGTH, HEAD_DIM)
    k = torch.zeros(shape, dtype=torch.float16, device="cuda")
    v = torch.zeros_like(k)
    rows = []
    for group in (1, 4, 8):
        q = torch.zeros((SEQUENCES, KV_HEADS * group, 1, HEAD_DIM), dtype=torch.float16, device="cuda")
        seconds = seconds_of(
            lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=group > 1)
        )
        read = 2 * k.numel() * k.element_size()
        rows.append({"name": f"decode f16, G {group}", "microseconds": seconds * 1e6, "gb_per_s": read / seconds / 1e9})
    print(json.dumps({"version": torch.__version__, "times": rows}))


main()
