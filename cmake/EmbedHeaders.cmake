# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Writes OUTPUT, the definition of embedded_header(), with the texts of HEADERS:
#   cmake -DOUTPUT=FILE -DHEADERS="NAME=PATH|NAME=PATH" -P EmbedHeaders.cmake

string(REPLACE "|" ";" headers "${HEADERS}")
set(cases "")
foreach(header IN LISTS headers)
  string(REGEX MATCH "^([^=]*)=(.*)$" matched "${header}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" text)
  string(APPEND cases "  if (name == \"${name}\") return R\"kiln(${text})kiln\";\n")
endforeach()
file(WRITE "${OUTPUT}.new" "// Written by cmake/EmbedHeaders.cmake.
#include \"compiled/embedded_headers.hpp\"

#include <stdexcept>
#include <string>

namespace kiln::problems::detail {

std::string_view embedded_header(std::string_view name) {
${cases}  throw std::logic_error(\"the header \" + std::string(name) + \" is not embedded\");
}

}  // namespace kiln::problems::detail
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
