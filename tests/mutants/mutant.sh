# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For tests/mutants/run and tests/mutants/shrink: the list of mutants, and programs with one of them inside.
# They set `root`, the sources, and `build`, a configured build whose kvpane is up to date.

fail() {
    printf 'mutants: %s\n' "$*" >&2
    exit 2
}

# --- the list ---------------------------------------------------------------------------------------------------------

# Hunks: a text that stands in the source exactly once (-), and what stands there instead (+).
# explorer_of: the exploration that finds it, or "no: reason"; empty where the list does not say.
ids=()
declare -A file_of sentence_of explorer_of removed_of added_of hunks_of

read_list() {
    local list=$1 line file="" id="" last="" n
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
            '#'*) ;;
            '= '*) file=${line#= } id="" ;;
            '['*']')
                id=${line:1:-1} last=""
                [ -n "$file" ] || fail "$list: [$id] belongs to no file"
                [ -z "${file_of[$id]:-}" ] || fail "$list: [$id] is there twice"
                ids+=("$id")
                file_of[$id]=$file sentence_of[$id]="" explorer_of[$id]="" hunks_of[$id]=0
                ;;
            '-'*)
                [ "$last" = - ] || hunks_of[$id]=$((hunks_of[$id] + 1))
                n=$id.${hunks_of[$id]}
                [ "$last" = - ] && removed_of[$n]+=$'\n'${line:1} || removed_of[$n]=${line:1}
                last=-
                ;;
            '+'*)
                n=$id.${hunks_of[$id]}
                [ "$last" = + ] && added_of[$n]+=$'\n'${line:1} || added_of[$n]=${line:1}
                last=+
                ;;
            '') ;;
            *)
                if [ -z "$id" ] || [ -n "$last" ]; then fail "$list: what is '$line'?"; fi
                case $line in
                    'explorer: '*) explorer_of[$id]=${line#explorer: } ;;
                    *) sentence_of[$id]+=${sentence_of[$id]:+ }$line ;;
                esac
                ;;
        esac
    done <"$list"
}

read_lists() {
    local list
    for list in "$root"/tests/mutants/*.mutants; do
        read_list "$list"
    done
}

# --- one mutated program ----------------------------------------------------------------------------------------------

# Prints the source with all hunks of a mutant applied.
mutated() {
    local id=$1 text n rest
    text=$(cat "$root/${file_of[$id]}" && printf x)
    text=${text%x}
    if [ "${hunks_of[$id]}" -eq 0 ] || [ -z "${sentence_of[$id]}" ]; then
        fail "[$id] has no sentence or changes nothing"
    fi
    for ((n = 1; n <= hunks_of[$id]; ++n)); do
        rest=${text//"${removed_of[$id.$n]}"/}
        [ $((${#text} - ${#rest})) -eq ${#removed_of[$id.$n]} ] ||
            fail "[$id] the text of hunk $n does not stand in ${file_of[$id]} exactly once: ${removed_of[$id.$n]}"
        text=${text/"${removed_of[$id.$n]}"/"${added_of[$id.$n]:-}"}
    done
    printf '%s' "$text"
}

# The objects of the build that depend on a header, one a line.
objects_with() {
    ninja -C "$build" -t deps | awk -v header="kvpane/$1" '
        /^[^ ]/ { object = substr($1, 1, length($1) - 1) }
        substr($0, length($0) - length(header) + 1) == header { print object }'
}

# Compiles what the mutant changes with the flags of the build and puts it in the place of what stands in a copy of its
# archive, the core's or that of attention/, so that nothing but the mutated code can be linked.
build_mutant() {
    local id=$1 work=$2 file=${file_of[$1]} object source command
    local include="" sources=("$file") archive=libkvpane.a
    [[ $file != attention/* ]] || archive=attention/libkvpane_attention.a
    rm -rf "$work"
    mkdir -p "$work/src" "$work/obj" "$work/include"
    if [[ $file == *.h ]]; then
        [[ $file != attention/* ]] || fail "[$id] the judge reads the headers of attention/, too"
        sources=()
        while read -r object; do
            [[ $object == CMakeFiles/kvpane.dir/* ]] || [[ $object != *.dir/*.o ]] || [[ $object == tests/* ]] ||
                [[ $object == attention/* ]] ||  # judges nothing; it keeps the unchanged header
                [[ $object == *_verify_interface_header_sets.dir/* ]] ||
                fail "[$id] $object includes $file, too: the judge would be mutated with what it judges"
            [[ $object == CMakeFiles/kvpane.dir/* ]] || continue
            object=${object#CMakeFiles/kvpane.dir/}
            sources+=("${object%.o}")
        done < <(objects_with "$file")
        [ ${#sources[@]} -gt 0 ] || fail "[$id] nothing includes $file"
        mkdir -p "$work/include/kvpane/$(dirname "$file")"
        mutated "$id" >"$work/include/kvpane/$file" || exit 2
        include="-I$work/include"
    fi
    for source in "${sources[@]}"; do
        command=$(sed -n "s|^ *\"command\": \"\(.* -c $root/$source\)\",\$|\1|p" "$build/compile_commands.json")
        [ -n "$command" ] || fail "[$id] the build does not compile $source"
        local copy=$root/$source
        if [ "$source" = "$file" ]; then
            copy=$work/src/$(basename "$source")
            mutated "$id" >"$copy" || exit 2
        fi
        object=$work/obj/$(basename "$source").o
        command=${command/ -I/ $include -I}  # first: it must hide the unchanged header
        command=${command% -o *}" -w -o $object -c $copy"  # -w: a fault may look odd
        (cd "$build" && eval "$command") || return 1
    done
    local copied=$work/mutated.a
    cp "$build/$archive" "$copied"
    ar r "$copied" "$work"/obj/*.o
    [ "$(ar t "$copied" | wc -l)" = "$(ar t "$build/$archive" | wc -l)" ] ||
        fail "[$id] the archive has another member instead of a changed one"
    command=$(ninja -C "$build" -t commands kvpane_cli | tail -n 1)
    command=${command/ -o kvpane / -o $work/kvpane }
    command=${command/ $archive / $copied }
    (cd "$build" && eval "$command")
}
