// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/unpacked.hpp"

#include <ios>
#include <span>
#include <utility>

#include "kiln/errors.hpp"

#include "readers/text_reader.hpp"
#include "unpacking/decoder.hpp"

namespace kiln::problems {
namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;

std::unique_ptr<detail::Decoder> decoder_of(Packing packing) {
  switch (packing) {
    case Packing::gzip:
      return detail::make_gzip_decoder();
    case Packing::xz:
      return detail::make_xz_decoder();
    case Packing::zstd:
      return detail::make_zstd_decoder();
    case Packing::none:
      break;
  }
  return nullptr;
}

struct Words {
  const char* stream;
  const char* program;  ///< that decompresses a file
};

Words words_of(Packing packing) {
  if (packing == Packing::gzip) return {"the gzip stream", "gunzip"};
  if (packing == Packing::xz) return {"the xz stream", "unxz"};
  return {"the zstd stream", "unzstd"};
}

}  // namespace

Packing packing_of(std::string_view first_bytes) noexcept {
  if (first_bytes.starts_with("\x1f\x8b")) return Packing::gzip;
  if (first_bytes.starts_with(std::string_view("\xfd"
                                               "7zXZ\0",
                                               6)))
    return Packing::xz;
  if (first_bytes.starts_with("\x28\xb5\x2f\xfd")) return Packing::zstd;
  // A frame that readers skip, as pzstd writes one first: 0x184D2A50 to 0x184D2A5F.
  if (first_bytes.size() >= 4 && first_bytes.substr(1).starts_with("\x2a\x4d\x18") &&
      (static_cast<unsigned char>(first_bytes[0]) & 0xf0u) == 0x50u)
    return Packing::zstd;
  return Packing::none;
}

UnpackedBuffer::UnpackedBuffer(std::streambuf& source, std::string name, UnpackLimits limits)
    : source_(source), name_(std::move(name)), limits_(limits), block_(block_bytes) {}

UnpackedBuffer::~UnpackedBuffer() = default;

void UnpackedBuffer::fail(const std::string& message, const std::string& expected) const {
  throw ParseError(detail::in_one_line(name_),
                   {{0, 0, "byte " + std::to_string(position()) + ": " + message, expected}}, 1);
}

std::int64_t UnpackedBuffer::position() const noexcept { return n_read_ - std::ssize(packed_); }

void UnpackedBuffer::read_block() {
  std::streamsize n = 0;
  try {
    n = source_.sgetn(block_.data(), static_cast<std::streamsize>(block_.size()));
  } catch (const std::ios_base::failure&) {  // the buffer of a file throws where a disk fails
    throw IoError("io.read", detail::in_one_line(name_) + ": reading failed");
  }
  n_read_ += n;
  at_end_ = n < std::ssize(block_);
  packed_ = {block_.data(), static_cast<std::size_t>(n)};
}

void UnpackedBuffer::check_limits() const {
  const std::string program = words_of(packing_).program;
  if (n_unpacked_ > limits_.total) {
    fail("the decompressed file is larger than " + std::to_string(limits_.total) + " bytes",
         "at most " + std::to_string(limits_.total) + " bytes");
  }
  if (n_unpacked_ > limits_.free && n_unpacked_ / limits_.ratio > position()) {
    fail("the decompressed file is more than " + std::to_string(limits_.ratio) +
             " times as large as what it is made of",
         "at most " + std::to_string(limits_.ratio) + " times beyond " +
             std::to_string(limits_.free) + " bytes; decompress a file that you trust with `" +
             program + "`");
  }
}

// Fills unpacked_ with at least one byte, or leaves it empty at the end.
void UnpackedBuffer::unpack() {
  unpacked_.resize(4 * block_bytes);
  std::span<char> out(unpacked_);
  while (out.size() == unpacked_.size()) {
    if (packed_.empty() && !at_end_) read_block();
    if (packed_.empty() && at_end_ && whole_) break;
    std::span<const char> in(packed_);
    try {
      whole_ = decoder_->decode(in, out, at_end_);
    } catch (const detail::CorruptStream& error) {
      packed_ = {in.data(), in.size()};
      fail(std::string(words_of(packing_).stream) + " is corrupt: " + error.what(),
           "a file that the program of its format has written, whole");
    }
    const bool stands = in.size() == packed_.size() && out.size() == unpacked_.size();
    packed_ = {in.data(), in.size()};
    if (stands && at_end_ && !whole_) {
      fail(std::string(words_of(packing_).stream) + " is cut short",
           "a whole file; fetch or write it again");
    }
  }
  unpacked_.resize(unpacked_.size() - out.size());
  n_unpacked_ += std::ssize(unpacked_);
  check_limits();
}

UnpackedBuffer::int_type UnpackedBuffer::underflow() {
  if (gptr() != egptr()) return traits_type::to_int_type(*gptr());
  if (!begun_) {
    read_block();
    packing_ = packing_of(packed_);
    decoder_ = decoder_of(packing_);
    begun_ = true;
  } else if (decoder_ == nullptr && !at_end_) {
    read_block();
  } else if (decoder_ == nullptr) {
    packed_ = {};
  }
  if (decoder_ == nullptr) {
    setg(block_.data(), block_.data(), block_.data() + packed_.size());
  } else {
    unpack();
    setg(unpacked_.data(), unpacked_.data(), unpacked_.data() + unpacked_.size());
  }
  return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
}

UnpackedStream::UnpackedStream(std::istream& source, std::string name, UnpackLimits limits)
    : std::istream(nullptr), buffer_(*source.rdbuf(), std::move(name), limits) {
  rdbuf(&buffer_);  // also clears the state, which is bad without a buffer
  if (!source) setstate(std::ios_base::failbit);
  exceptions(std::ios_base::badbit);
}

}  // namespace kiln::problems
