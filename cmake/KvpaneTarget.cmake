# SPDX-License-Identifier: Apache-2.0
# How every target of kvpane is compiled, and how a source folder becomes <kvpane/folder/...>.
include_guard(GLOBAL)

# Warnings, language level and sanitizers for one target.
function(kvpane_target_defaults target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
        $<$<BOOL:${KVPANE_WERROR}>:-Werror>)
    if(KVPANE_FUZZ)
        # What was covered, for the fuzzers to see; only they are linked with libFuzzer and its main().
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
        target_link_options(${target} PUBLIC -fsanitize=fuzzer-no-link)
    endif()
    if(KVPANE_SANITIZE)
        set(sanitize -fsanitize=${KVPANE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
        target_compile_options(${target} PRIVATE ${sanitize})
        target_link_options(${target} PUBLIC ${sanitize})
    endif()
endfunction()

# Counts in the core never wrap around. Only clang can check that; code that wraps by design (hashing) says so with
# an attribute, and the standard library's headers are left out by the list.
function(kvpane_check_unsigned_wrap target)
    if(KVPANE_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        set(ignore_list "${PROJECT_SOURCE_DIR}/cmake/unsigned-wrap-ignore.txt")
        target_compile_options(${target} PRIVATE
            -fsanitize=unsigned-integer-overflow "-fsanitize-ignorelist=${ignore_list}")
        target_link_options(${target} PUBLIC -fsanitize=unsigned-integer-overflow)
    endif()
endfunction()

# kvpane_add_library(<target> LAYER <layer> [EXPORT_NAME <name>] [HEADERS <generated header>...])
# A library whose headers are found below include/<layer> of the build tree, so that a target sees only the layers
# that it links: the core cannot include the judge even by mistake. Folders add their sources with kvpane_add_folder.
function(kvpane_add_library target)
    cmake_parse_arguments(PARSE_ARGV 1 library "" "LAYER;EXPORT_NAME" "HEADERS")
    if(NOT library_EXPORT_NAME)
        set(library_EXPORT_NAME ${target})
    endif()
    add_library(${target})
    add_library(kvpane::${library_EXPORT_NAME} ALIAS ${target})
    set_target_properties(${target} PROPERTIES
        EXPORT_NAME ${library_EXPORT_NAME}
        POSITION_INDEPENDENT_CODE ON
        VERIFY_INTERFACE_HEADER_SETS ON
        VERSION ${PROJECT_VERSION}
        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    target_sources(${target} PUBLIC
        FILE_SET HEADERS BASE_DIRS "${PROJECT_BINARY_DIR}/include/${library_LAYER}" FILES ${library_HEADERS})
    kvpane_target_defaults(${target})
    # No program replaces a function of the library by its own of the same name, so that calls within a source may be
    # inlined. Clang takes that for granted; g++ does with -fPIC only when told: a decode step takes a tenth less.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
endfunction()

# kvpane_add_folder(<target> LAYER <layer> HEADERS <name>... SOURCES <name>...)
# Called by a source folder: says what it gives to <target>, and spells it <kvpane/folder/...>.
# The headers that it names are public: they are installed, and the lint compiles each of them alone.
function(kvpane_add_folder target)
    cmake_parse_arguments(PARSE_ARGV 1 add "" "LAYER" "HEADERS;SOURCES")
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
    set(spelled "${PROJECT_BINARY_DIR}/include/${add_LAYER}/kvpane/${folder}")
    cmake_path(GET spelled PARENT_PATH links)
    file(MAKE_DIRECTORY "${links}")
    file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${spelled}" SYMBOLIC)
    list(TRANSFORM add_HEADERS PREPEND "${spelled}/")
    target_sources(${target} PRIVATE ${add_SOURCES} PUBLIC FILE_SET HEADERS FILES ${add_HEADERS})
endfunction()
