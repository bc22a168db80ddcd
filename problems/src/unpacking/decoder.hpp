// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <stdexcept>

namespace kiln::problems::detail {

/// What a library says of bytes that it cannot decompress.
class CorruptStream : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Decompresses streams of one kind that follow each other.
class Decoder {
 public:
  Decoder() = default;
  virtual ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Takes bytes from the front of `in` and writes to the front of `out`; both shrink by as much.
  /// Without progress there is nothing more to write and too little to take.
  ///
  /// @param last  no bytes follow those of `in`
  /// @return whether all bytes so far are whole streams, with all of their output written
  /// @throws CorruptStream, std::bad_alloc
  virtual bool decode(std::span<const char>& in, std::span<char>& out, bool last) = 0;
};

std::unique_ptr<Decoder> make_gzip_decoder();
std::unique_ptr<Decoder> make_xz_decoder();
std::unique_ptr<Decoder> make_zstd_decoder();

}  // namespace kiln::problems::detail
