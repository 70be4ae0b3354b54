# SPDX-License-Identifier: Apache-2.0
# Whether and how CUDA sources are compiled. KVPANE_WITH_CUDA says what KVPANE_CUDA came to.
include_guard(GLOBAL)
include(CheckLanguage)

set(KVPANE_CUDA AUTO CACHE STRING "Kernels for CUDA devices: AUTO (if a toolkit is found), ON, OFF")
set_property(CACHE KVPANE_CUDA PROPERTY STRINGS AUTO ON OFF)
set(KVPANE_CUDA_MOST_SPILLED 8 CACHE STRING "Bytes that a kernel may spill; more fail the build")
mark_as_advanced(KVPANE_CUDA_MOST_SPILLED)

set(KVPANE_WITH_CUDA OFF)
if(KVPANE_CUDA)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 90)  # one: each costs its compile time again
    endif()
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        enable_language(CUDA)
        find_package(CUDAToolkit REQUIRED)
        set(KVPANE_WITH_CUDA ON)
        set(KVPANE_CUDA_LIBS "-L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -ldl -lrt -lpthread")
    elseif(NOT KVPANE_CUDA STREQUAL "AUTO")
        message(FATAL_ERROR "KVPANE_CUDA=ON, but no CUDA compiler was found: "
            "name it with -DCMAKE_CUDA_COMPILER=, or leave the kernels out with -DKVPANE_CUDA=OFF.")
    endif()
endif()
message(STATUS "CUDA kernels: ${KVPANE_WITH_CUDA}")

# kvpane_add_cuda(<target> SOURCES <.cu>... HEADERS <their headers>... HOST_SOURCES <.cpp that call the runtime>...)
# nvcc compiles into objects of their own, away from the host compiler's warnings and sanitizers. The runtime is linked
# statically: a program runs its host paths where there is no driver.
function(kvpane_add_cuda target)
    cmake_parse_arguments(PARSE_ARGV 1 add "" "" "SOURCES;HEADERS;HOST_SOURCES")
    set(objects ${target}_cuda)
    add_library(${objects} OBJECT ${add_SOURCES} ${add_HEADERS})
    set_target_properties(${objects} PROPERTIES
        POSITION_INDEPENDENT_CODE ON
        CUDA_COMPILER_LAUNCHER
            "${CMAKE_CURRENT_SOURCE_DIR}/ptxas_report.sh;${CMAKE_CURRENT_BINARY_DIR};${KVPANE_CUDA_MOST_SPILLED}")
    # CMake 3.25 does not know how to ask nvcc for C++20; kernels.cu asserts that it got it. The formats and the window
    # rule are constexpr functions that host and device share.
    target_compile_options(${objects} PRIVATE -std=c++20 --expt-relaxed-constexpr -Xptxas=-v
        $<$<BOOL:${KVPANE_WERROR}>:-Werror=all-warnings>)
    target_include_directories(${objects} PRIVATE "${PROJECT_BINARY_DIR}/include/attention")
    target_link_libraries(${objects} PRIVATE kvpane)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}> ${add_HOST_SOURCES})
    target_link_libraries(${target} PRIVATE CUDA::cudart_static)
endfunction()
