// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The reader of the file format KILN_FORMAT, which the build names after the folder of its corpus.
#include <cstddef>
#include <cstdint>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const kiln::Format format = kiln::problems::format_by_name(KILN_FORMAT).value();
  kiln::test::check_reader(format, std::string(data, data + size));
  return 0;
}
