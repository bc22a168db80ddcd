# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# cmake -DHEADERS=FILE -DROOT=DIR -DOUTPUT=FILE -DVERSION=V -DBUILD=TEXT -P WriteFingerprint.cmake
# HEADERS lists files, one per line. The hash is of their paths below ROOT and of their contents.
file(STRINGS "${HEADERS}" headers)
set(all "${VERSION} ${BUILD}")
foreach(header IN LISTS headers)
  file(SHA256 "${header}" hash)
  cmake_path(RELATIVE_PATH header BASE_DIRECTORY "${ROOT}" OUTPUT_VARIABLE name)
  string(APPEND all "\n${name} ${hash}")
endforeach()
string(SHA256 hash "${all}")
string(SUBSTRING "${hash}" 0 16 hash)
file(CONFIGURE OUTPUT "${OUTPUT}" @ONLY CONTENT
"/* SPDX-FileCopyrightText: The Kiln authors
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef KILN_PLUGINS_FINGERPRINT_H
#define KILN_PLUGINS_FINGERPRINT_H

/* Of the public headers of Kiln. Written by the build. */
#define KILN_FINGERPRINT UINT64_C(0x@hash@)
#define KILN_HEADERS_VERSION \"@VERSION@\"

#endif
")
