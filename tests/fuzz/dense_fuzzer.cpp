// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(data, data + size);
  kiln::test::check_reader(kiln::Format::dense, text);
  kiln::test::check_reader(kiln::Format::dense, text, {kiln::VarType::spin});
  return 0;
}
