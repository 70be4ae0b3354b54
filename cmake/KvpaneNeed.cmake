# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# kvpane_need(<package> <debian package> TARGET <imported target> [COMPONENTS ...] [OFF_BY <option>])
# Finds <package>, or stops with one sentence that says how to get it and, where that is possible, how to do without.
function(kvpane_need package debian_package)
    cmake_parse_arguments(PARSE_ARGV 2 need "" "TARGET;OFF_BY" "COMPONENTS")
    if(TARGET ${need_TARGET})
        return()
    endif()
    find_package(${package} QUIET CONFIG COMPONENTS ${need_COMPONENTS} GLOBAL)
    if(NOT TARGET ${need_TARGET})
        set(without "")
        if(need_OFF_BY)
            set(without ", or leave that part out with -D${need_OFF_BY}=OFF")
        endif()
        message(FATAL_ERROR "kvpane needs ${package}, which was not found: "
            "run ./bootstrap (it installs ${debian_package})${without}.")
    endif()
endfunction()
