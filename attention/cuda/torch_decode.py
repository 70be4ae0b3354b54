# SPDX-License-Identifier: Apache-2.0
# usage: torch_decode.py DIR
# The decode that kvpane_gpu_check --dump DIR has left (tests/gpu/decode_dump.h), by torch's
# scaled_dot_product_attention on the gathered K and V: how far the outputs are from kvpane's, and how long it takes.
# Prints one JSON object. Exit code 1: an output differs.
import json
import math
import pathlib
import sys
import time

import torch

ROUNDS = 20


def seconds_of(call):
    call()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(ROUNDS):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / ROUNDS


def main(folder):
    dump = json.loads((folder / "decode.json").read_text())
    n_seqs, head_dim = dump["n_seqs"], dump["head_dim"]

    def read(name, *shape):
        numbers = torch.frombuffer(bytearray((folder / name).read_bytes()), dtype=torch.float16)
        return numbers.reshape(n_seqs, *shape, head_dim).cuda()

    def as_timed(rows):
        return rows.repeat(dump["copies"], 1, 1, 1)

    # [n_seqs, heads, positions, head_dim], as torch wants them.
    k, v = (as_timed(read(name, dump["length"], dump["kv_heads"]).transpose(1, 2)) for name in ("k", "v"))
    rows = []
    for decode in dump["decodes"]:
        group = decode["group"]
        row = {"name": f"decode f16, G {group}"}
        rows.append(row)
        expected = read(f"out_{group}", dump["kv_heads"] * group).float()
        q = as_timed(read(f"queries_{group}", dump["kv_heads"] * group, 1))

        def attention():
            options = {"enable_gqa": True} if group > 1 else {}
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)

        try:
            found = attention()[:n_seqs].reshape(expected.shape).float()
            seconds = seconds_of(attention)
        except (RuntimeError, TypeError) as why:  # too little memory; a torch before 2.5, without enable_gqa
            row["result"] = f"not run: {why}"
            continue
        error = float((found - expected).norm() / expected.norm())
        row["result"] = "ok" if error < dump["tolerance"] else "differs"
        row["error"] = error if math.isfinite(error) else None
        row["microseconds"] = seconds * 1e6
        row["gb_per_s"] = 2 * k.numel() * k.element_size() / seconds / 1e9
        row["kvpane_to_torch"] = decode["microseconds"] / (seconds * 1e6)
    print(json.dumps({"version": torch.__version__, "decodes": rows}))
    return any(row["result"] == "differs" for row in rows)


sys.exit(main(pathlib.Path(sys.argv[1])))
