#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ptxas_report.sh TABLE MOST_SPILLED COMMAND...: runs the compiler, and writes what ptxas says of each kernel (registers,
# bytes on the stack, bytes spilled) as a table. Fails if a kernel spills more than MOST_SPILLED bytes.
set -eu

table=$1
most=$2
shift 2
log=$table.log

if ! "$@" 2>"$log"; then
    cat "$log" >&2
    exit 1
fi
# What ptxas says stays in the log; warnings are for the reader.
grep -v -e '^ptxas info' -e 'bytes stack frame' "$log" >&2 || true

awk -v most="$most" -v table="$table" '
    /Compiling entry function/ { split($0, part, "\047"); kernel = part[2] }
    /bytes stack frame/ { stack = $1; spilled = $5 + $9 }
    /Used [0-9]+ registers/ {
        match($0, /Used [0-9]+/)
        printf "%s registers %d stack %d spilled %d\n", kernel, substr($0, RSTART + 5), stack, spilled > table
        if (spilled > most) {
            printf "ptxas: %s spills %d bytes, at most %d are allowed\n", kernel, spilled, most > "/dev/stderr"
            failed = 1
        }
    }
    END { exit failed }
' "$log"
