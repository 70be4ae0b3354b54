#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The CUDA kernels on a real device: checked against the host's functions, once more in compute-sanitizer, then timed.
# Takes less than four minutes; docs/attention-cuda.md says what the numbers are.
set -euo pipefail

usage() {
    cat <<'TEXT'
usage: attention/cuda/gpu_check.sh [--binary FILE] [--out FILE] [--no-gpu]

  --binary FILE  a kvpane_gpu_check that was built elsewhere; else it is built here, in build/gpu
  --out FILE     where the JSON goes; else to stdout
  --no-gpu       only what needs no device: the host's half of each check
TEXT
}

binary="" out="" no_gpu=""
while [ $# -gt 0 ]; do
    case $1 in
        --binary | --out) [ $# -ge 2 ] || { usage >&2; exit 2; } ;;&
        --binary) binary=$(realpath "$2"); shift 2 ;;
        --out) out=$(realpath -m "$2"); mkdir -p "$(dirname "$out")"; shift 2 ;;
        --no-gpu) no_gpu=--no-gpu; shift ;;
        --help | -h) usage; exit 0 ;;
        *) usage >&2; exit 2 ;;
    esac
done

cd "$(dirname "$0")/../.."
say() { printf 'gpu_check: %s\n' "$*" >&2; }

if [ -z "$binary" ]; then
    say "building kvpane_gpu_check"
    cmake --preset release -B build/gpu -D KVPANE_CUDA=ON >&2
    cmake --build build/gpu --target kvpane_gpu_check >&2
    binary=build/gpu/tests/gpu/kvpane_gpu_check
fi
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT

# Why torch has nothing to do; empty if it has.
no_torch=""
if [ -n "$no_gpu" ]; then
    no_torch=--no-gpu
elif ! python3 -c 'import torch; torch.cuda.init()' 2>/dev/null; then
    no_torch="no torch with CUDA on this machine"
fi

failed=0
say "checks${no_gpu:+, without a device}"
dump=(--dump "$results/decode")
[ -z "$no_torch" ] || dump=()
timeout 110 "$binary" $no_gpu "${dump[@]}" >"$results/gpu_check.json" || failed=$?

# memcheck: addresses; racecheck: shared memory. Each makes kernels some hundred times slower.
sanitize() {
    if [ -n "$no_gpu" ]; then
        echo '"not run: --no-gpu"'
    elif ! command -v compute-sanitizer >/dev/null; then
        echo '"not run: no compute-sanitizer on this machine"'
    elif timeout 30 compute-sanitizer --tool "$1" --error-exitcode 9 "$binary" --small --no-times \
        >"$results/$1" 2>&1; then
        echo '"ok"'
    else
        tail -20 "$results/$1" >&2
        echo '"failed"'
    fi
}

# A decode that was timed, by torch, on K and V that lie in one piece: what paging costs beside the best dense kernel.
torch_sdpa() {
    if [ -n "$no_torch" ]; then
        echo "\"not run: $no_torch\""
    elif [ ! -e "$results/decode/decode.json" ]; then
        echo '"not run: there is no dump of a decode"'
    else
        timeout 40 python3 attention/cuda/torch_decode.py "$results/decode" >"$results/torch" || true
        [ -s "$results/torch" ] && cat "$results/torch" || echo '"failed"'
    fi
}

memcheck=$(sanitize memcheck)
racecheck=$(sanitize racecheck)
torch=$(torch_sdpa)
case "$memcheck$racecheck$torch" in *'"failed"'* | *'"differs"'*) failed=1 ;; esac
[ -z "$out" ] || exec >"$out"
{
    printf '{\n"kernels": '
    [ -s "$results/gpu_check.json" ] && cat "$results/gpu_check.json" || echo null
    printf ',\n"memcheck": %s,\n"racecheck": %s,\n"torch": %s\n}\n' "$memcheck" "$racecheck" "$torch"
}
[ "$failed" = 0 ] || say "something is wrong: see the JSON"
exit "$failed"
