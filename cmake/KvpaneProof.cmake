# SPDX-License-Identifier: Apache-2.0
# The proof (invariants/proof) and the oracle that is extracted from it; both are off for users.
include_guard(GLOBAL)

option(KVPANE_ORACLE "Build the oracle: the extracted proof, which judges the Manager (needs ocamlopt)" OFF)
option(KVPANE_PROOF "Tests that check the proof (needs coqc)" OFF)

# kvpane_find_prover(<variable> <program> <option> <debian package>): the program, or one sentence on how to get it.
function(kvpane_find_prover variable program option debian_package)
    find_program(${variable} ${program})
    mark_as_advanced(${variable})
    if(NOT ${variable})
        message(FATAL_ERROR "${option} needs ${program}, which was not found: run ./bootstrap --with-proof "
            "(it installs ${debian_package}), or leave that part out with -D${option}=OFF.")
    endif()
endfunction()

if(KVPANE_ORACLE)
    kvpane_find_prover(KVPANE_OCAMLOPT ocamlopt KVPANE_ORACLE ocaml-nox)
endif()
if(KVPANE_PROOF)
    kvpane_find_prover(KVPANE_COQC coqc KVPANE_PROOF coq)
endif()

# kvpane_ocaml(<output> FLAGS <flag>... SOURCES <file>... DEPENDS <file>...): what ocamlopt makes of the sources. It
# leaves files beside them, so it works on copies, in one folder for each output.
function(kvpane_ocaml output)
    cmake_parse_arguments(PARSE_ARGV 1 ocaml "" "" "FLAGS;SOURCES;DEPENDS")
    set(work "${output}.work")
    add_custom_command(OUTPUT "${output}"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${work}"
        COMMAND "${CMAKE_COMMAND}" -E copy ${ocaml_SOURCES} ${ocaml_DEPENDS} "${work}"
        COMMAND "${CMAKE_COMMAND}" -E chdir "${work}"
            "${KVPANE_OCAMLOPT}" -w -a ${ocaml_FLAGS} -o "${output}" ${ocaml_SOURCES}
        DEPENDS ${ocaml_SOURCES} ${ocaml_DEPENDS}
        WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
        COMMENT "ocamlopt ${output}"
        VERBATIM)
endfunction()
