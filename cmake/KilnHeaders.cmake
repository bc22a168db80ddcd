# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0

# Headers that only include others are written by the build, so that who adds a header edits no list.
# They are installed with the others.
set(KILN_WRITTEN_HEADERS "${PROJECT_BINARY_DIR}/include")

# Writes kiln/NAME, which includes all headers that match PATTERN below ROOT, a folder of public headers.
# SENTENCE says what that is for.
function(kiln_include_all name sentence root pattern)
  set(base "${PROJECT_SOURCE_DIR}/${root}")
  file(GLOB headers CONFIGURE_DEPENDS RELATIVE "${base}" "${base}/${pattern}")
  list(SORT headers)
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"")
  list(JOIN headers "\n" includes)
  file(CONFIGURE OUTPUT "${KILN_WRITTEN_HEADERS}/kiln/${name}" @ONLY CONTENT
"// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// @sentence@ Written by the build from the names of the files.
@includes@
")
endfunction()

# Writes kiln/plugins/fingerprint.h: a number that differs between builds whose public headers differ, so
# that a plug-in is never opened by a libkiln with other layouts of types. Written again whenever a header
# changes.
function(kiln_write_fingerprint target)
  set(headers "")
  foreach(root IN LISTS ARGN)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${root}/*.hpp"
         "${PROJECT_SOURCE_DIR}/${root}/*.h" "${PROJECT_SOURCE_DIR}/${root}/*.cuh")
    list(APPEND headers ${found})
  endforeach()
  list(SORT headers)
  set(list_file "${PROJECT_BINARY_DIR}/fingerprint_headers.txt")
  list(JOIN headers "\n" lines)
  file(CONFIGURE OUTPUT "${list_file}" CONTENT "@lines@\n" @ONLY)
  set(output "${KILN_WRITTEN_HEADERS}/kiln/plugins/fingerprint.h")
  set(script "${PROJECT_SOURCE_DIR}/cmake/WriteFingerprint.cmake")
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DHEADERS=${list_file}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DOUTPUT=${output}"
            "-DVERSION=${PROJECT_VERSION}" "-DBUILD=checked ${KILN_CHECKED}" -P "${script}"
    DEPENDS ${headers} "${list_file}" "${script}"
    COMMENT "Writing the fingerprint of the public headers"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()

# Adds embedded_header(), which has the texts of these headers, to a target. Each is written as its
# component and its path behind kiln/: "engine/device/dual.hpp".
function(kiln_embed_headers target)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_headers.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/EmbedHeaders.cmake")
  set(named "")
  set(paths "")
  foreach(header IN LISTS ARGN)
    string(REGEX MATCH "^([^/]*)/(.*)$" matched "${header}")
    set(path "${PROJECT_SOURCE_DIR}/${CMAKE_MATCH_1}/include/kiln/${CMAKE_MATCH_2}")
    string(APPEND named "|kiln/${CMAKE_MATCH_2}=${path}")
    list(APPEND paths "${path}")
  endforeach()
  string(SUBSTRING "${named}" 1 -1 named)
  add_custom_command(OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DHEADERS=${named}" -P "${script}"
    DEPENDS "${script}" ${paths}
    COMMENT "Embedding the headers of compiled objectives"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
