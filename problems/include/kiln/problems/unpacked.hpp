// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/export.hpp"

namespace kiln::problems {

/// How bytes are compressed.
enum class Packing : std::uint8_t { none, gzip, xz, zstd };

/// By the first bytes alone, six or more; names of files do not count.
KILN_API Packing packing_of(std::string_view first_bytes) noexcept;

/// Limits of decompressed bytes.
struct UnpackLimits {
  std::int64_t total = std::int64_t{8} << 30;
  /// Decompressed bytes per compressed one, once there are more than `free`.
  std::int64_t ratio = 100;
  std::int64_t free = std::int64_t{64} << 20;
};

namespace detail {
class Decoder;
}

/// Hands out the bytes of another buffer, decompressed if they are compressed by gzip, xz or zstd:
/// one stream or several behind each other. It decompresses as it is read, in blocks of fixed size.
///
/// Reading throws ParseError, which names the byte of the compressed file, if a stream is corrupt
/// or cut short, or beyond a limit; IoError `io.read` if the other buffer fails. What is
/// decompressed is not decompressed again.
class KILN_API UnpackedBuffer : public std::streambuf {
 public:
  /// @param source  must outlive this buffer
  /// @param name  how messages call the file
  /// @param limits  of what is decompressed
  UnpackedBuffer(std::streambuf& source, std::string name, UnpackLimits limits = {});
  ~UnpackedBuffer() override;

 protected:
  int_type underflow() override;

 private:
  void read_block();
  void unpack();
  void check_limits() const;
  [[noreturn]] void fail(const std::string& message, const std::string& expected) const;
  std::int64_t position() const noexcept;

  std::streambuf& source_;
  std::string name_;
  UnpackLimits limits_;
  std::unique_ptr<detail::Decoder> decoder_;
  Packing packing_ = Packing::none;
  std::vector<char> block_, unpacked_;
  std::string_view packed_;  // of block_: not yet decompressed
  std::int64_t n_read_ = 0, n_unpacked_ = 0;
  bool begun_ = false, at_end_ = false;
  bool whole_ = false;  // what was decompressed so far are whole streams
};

/// A stream of an UnpackedBuffer on another stream, for the readers. It throws what the buffer
/// throws, where other streams only fail. A stream that has failed gives one that has failed.
class KILN_API UnpackedStream : public std::istream {
 public:
  UnpackedStream(std::istream& source, std::string name, UnpackLimits limits = {});

 private:
  UnpackedBuffer buffer_;
};

}  // namespace kiln::problems
