// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <sstream>
#include <streambuf>
#include <string>
#include <string_view>

#include "kiln/errors.hpp"
#include "kiln/problems/unpacked.hpp"

#include "fuzz.hpp"

namespace kiln::test {

/// Hands out one byte at a time.
class ByteBuffer : public std::streambuf {
 public:
  explicit ByteBuffer(std::string_view bytes) : bytes_(bytes) {}

 protected:
  int_type underflow() override {
    if (at_ == bytes_.size()) return traits_type::eof();
    byte_ = bytes_[at_++];
    setg(&byte_, &byte_, &byte_ + 1);
    return traits_type::to_int_type(byte_);
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  char byte_ = 0;
};

/// The decompressed bytes, and how it ended: "accepted", or the message of the refusal.
struct Unpacked {
  std::string text, answer = "accepted";
};

inline Unpacked unpack(std::streambuf& source) {
  constexpr std::int64_t most = 1 << 20;
  std::istream in(&source);
  problems::UnpackedStream stream(in, "f", {.total = most, .ratio = 100, .free = 1 << 16});
  Unpacked unpacked;
  try {
    for (char c = 0; stream.get(c);) unpacked.text += c;
  } catch (const ParseError& error) {
    require(error.issues().size() == 1 && error.issues().front().line == 0,
            "what cannot be decompressed has no lines");
    unpacked.answer = error.message();
  }
  return unpacked;
}

/// Decompresses bytes, by large reads and byte by byte: both give the same, within the limits.
inline std::string check_unpacked(const std::string& bytes) {
  std::stringbuf whole(bytes);
  ByteBuffer single(bytes);
  const Unpacked unpacked = unpack(whole), again = unpack(single);
  require(unpacked.text == again.text && unpacked.answer == again.answer,
          "the sizes of reads do not matter");
  if (problems::packing_of(bytes) == problems::Packing::none) {
    require(unpacked.text == bytes && unpacked.answer == "accepted", "other bytes stay");
  } else {
    require(unpacked.text.size() <= 1 << 20, "the limit holds");
  }
  return unpacked.answer;
}

}  // namespace kiln::test
