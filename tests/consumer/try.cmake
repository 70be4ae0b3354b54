# SPDX-License-Identifier: Apache-2.0
# cmake -D WAY=... -D KVPANE_SOURCE=... -D KVPANE_BUILD=... -D WORK=... -D COMPILER=... -P try.cmake
# Builds the consumer in an empty folder in one WAY and runs it; in the WAY find_core its part without the judge and the
# payload. WAY=install puts kvpane where find_package and pkg_config look for it: installed under one prefix, then moved
# to another, so that nothing may remember the first.
cmake_minimum_required(VERSION 3.25)

set(prefix "${WORK}/moved")
set(build "${WORK}/${WAY}")
set(source "${CMAKE_CURRENT_LIST_DIR}")

function(run)
    execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Every public header of the source folders is there, and nothing but them and version.h.
function(check_headers)
    file(GLOB_RECURSE installed RELATIVE "${prefix}/include/kvpane" "${prefix}/include/kvpane/*")
    file(GLOB expected RELATIVE "${KVPANE_SOURCE}"
        "${KVPANE_SOURCE}/allocator/*.h" "${KVPANE_SOURCE}/blocktable/*.h" "${KVPANE_SOURCE}/attention/*.h"
        "${KVPANE_SOURCE}/attention/cuda/device*.h"
        "${KVPANE_SOURCE}/invariants/*.h")
    list(REMOVE_ITEM expected  # what a folder keeps to itself
        attention/host_item.h attention/host_kernels.h attention/host_workspace.h attention/workspace_cutter.h
        attention/cuda/device_problem.h)
    list(APPEND expected version.h)
    list(SORT installed)
    list(SORT expected)
    if(NOT installed STREQUAL expected)
        message(FATAL_ERROR "Installed headers: ${installed}\nexpected: ${expected}")
    endif()
endfunction()

function(check_no_build_path)
    file(GLOB_RECURSE texts "${prefix}/*.cmake" "${prefix}/*.pc")
    foreach(text IN LISTS texts)
        file(READ "${text}" content)
        foreach(path IN ITEMS "${KVPANE_SOURCE}" "${KVPANE_BUILD}" "${WORK}")
            string(FIND "${content}" "${path}" position)
            if(NOT position EQUAL -1)
                message(FATAL_ERROR "${text} names ${path}")
            endif()
        endforeach()
    endforeach()
endfunction()

function(pkg_config_flags result)
    set(ENV{PKG_CONFIG_PATH} "${pkgconfig_dir}")
    execute_process(COMMAND pkg-config --cflags --libs ${ARGN}
        OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    set(${result} ${flags} PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${build}")
if(WAY STREQUAL "install")
    file(REMOVE_RECURSE "${WORK}")
    run("${CMAKE_COMMAND}" --install "${KVPANE_BUILD}" --prefix "${WORK}/first")
    file(RENAME "${WORK}/first" "${prefix}")
    check_headers()
    check_no_build_path()
    run("${prefix}/bin/kvpane" --version)
    return()
endif()

file(MAKE_DIRECTORY "${build}")
if(WAY STREQUAL "pkg_config")
    file(GLOB_RECURSE pc "${prefix}/*/kvpane.pc")
    cmake_path(GET pc PARENT_PATH pkgconfig_dir)
    pkg_config_flags(core kvpane)
    pkg_config_flags(attention kvpane-attention)
    pkg_config_flags(judged kvpane-invariants)
    run("${COMPILER}" -std=c++20 "${source}/core.cpp" -o "${build}/consumer_core" ${core})
    run("${COMPILER}" -std=c++20 "${source}/readme.cpp" -o "${build}/consumer_readme" ${core})
    run("${COMPILER}" -std=c++20 "${source}/attention.cpp" -o "${build}/consumer_attention" ${attention})
    run("${COMPILER}" -std=c++20 "${source}/judged.cpp" -o "${build}/consumer_judged" ${judged})
    run("${COMPILER}" -std=c++20 "${source}/journal.cpp" -o "${build}/consumer_journal" ${judged})
else()
    set(options "")
    if(WAY STREQUAL "fetch_content")
        set(options -DKVPANE_CUDA=OFF)  # nvcc takes a minute, and add_subdirectory has shown that it works
    elseif(WAY STREQUAL "find_core")
        set(options -DCMAKE_DISABLE_FIND_PACKAGE_CUDAToolkit=ON)  # as if there were none
    endif()
    run("${CMAKE_COMMAND}" -G Ninja -S "${source}" -B "${build}" "-DWAY=${WAY}" "-DKVPANE_SOURCE=${KVPANE_SOURCE}"
        "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${COMPILER}" ${options})
    run("${CMAKE_COMMAND}" --build "${build}")
endif()
run("${build}/consumer_core")
run("${build}/consumer_readme")
if(WAY STREQUAL "find_core")
    return()
endif()
run("${build}/consumer_attention")
run("${build}/consumer_judged")
run("${CMAKE_COMMAND}" -E chdir "${build}" "${build}/consumer_journal")
