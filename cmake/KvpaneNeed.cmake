# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# kvpane_need(<package> <debian package> TARGET <imported target> [COMPONENTS ...] [HEADER <name>] [OFF_BY <option>])
# Finds <package>, or stops with one sentence that says how to get it and, where that is possible, how to do without.
# A package that comes without a CMake file is found by its HEADER: its target gives the include directory, no library.
function(kvpane_need package debian_package)
    cmake_parse_arguments(PARSE_ARGV 2 need "" "TARGET;HEADER;OFF_BY" "COMPONENTS")
    if(TARGET ${need_TARGET})
        return()
    endif()
    if(need_HEADER)
        find_path(KVPANE_${package}_INCLUDE_DIR "${need_HEADER}")
        mark_as_advanced(KVPANE_${package}_INCLUDE_DIR)
        if(KVPANE_${package}_INCLUDE_DIR)
            add_library(${need_TARGET} INTERFACE IMPORTED GLOBAL)
            set_target_properties(${need_TARGET} PROPERTIES
                INTERFACE_INCLUDE_DIRECTORIES "${KVPANE_${package}_INCLUDE_DIR}")
        endif()
    else()
        find_package(${package} QUIET CONFIG COMPONENTS ${need_COMPONENTS} GLOBAL)
    endif()
    if(NOT TARGET ${need_TARGET})
        set(without "")
        if(need_OFF_BY)
            set(without ", or leave that part out with -D${need_OFF_BY}=OFF")
        endif()
        message(FATAL_ERROR "kvpane needs ${package}, which was not found: "
            "run ./bootstrap (it installs ${debian_package})${without}.")
    endif()
endfunction()
