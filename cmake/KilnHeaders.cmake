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
