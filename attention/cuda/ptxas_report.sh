#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ptxas_report.sh FOLDER MOST_SPILLED COMMAND... -o OBJECT ...: runs the compiler, and writes what ptxas says of each
# kernel as a table: registers, bytes on the stack, bytes spilled; FOLDER/kernels.cu.txt for kernels.cu.o. Fails if a
# kernel spills more than MOST_SPILLED bytes.
set -eu

folder=$1
most=$2
shift 2
object=""
previous=""
for argument in "$@"; do
    [ "$previous" != -o ] || object=$argument
    previous=$argument
done
[ -n "$object" ] || exec "$@"  # whatever it is, it compiles nothing
table=$folder/$(basename "$object" .o).txt
log=$table.log

if ! "$@" 2>"$log"; then
    cat "$log" >&2
    exit 1
fi
# What ptxas says stays in the log; warnings are for the reader.
grep -v -e '^ptxas info' -e 'bytes stack frame' "$log" >&2 || true

awk -v most="$most" '
    /Compiling entry function/ { split($0, part, "\047"); kernel = part[2] }
    /bytes stack frame/ { stack = $1; spilled = $5 + $9 }
    /Used [0-9]+ registers/ {
        match($0, /Used [0-9]+/)
        printf "%s registers %d stack %d spilled %d\n", kernel, substr($0, RSTART + 5), stack, spilled
        if (spilled > most) {
            printf "ptxas: %s spills %d bytes, at most %d are allowed\n", kernel, spilled, most > "/dev/stderr"
            failed = 1
        }
    }
    END { exit failed }
' "$log" >"$table.mangled"
c++filt -p <"$table.mangled" | sed 's/kvpane::cuda:://g' >"$table"
rm "$table.mangled"
