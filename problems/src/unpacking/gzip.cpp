// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <new>

#include "unpacking/decoder.hpp"

namespace kiln::problems::detail {
namespace {

class GzipDecoder : public Decoder {
 public:
  GzipDecoder() {
    constexpr int largest_window_of_gzip = 15 + 16;
    if (inflateInit2(&stream_, largest_window_of_gzip) != Z_OK) throw std::bad_alloc();
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }

  bool decode(std::span<const char>& in, std::span<char>& out, bool /*last*/) override {
    if (is_whole_ && !in.empty()) {  // another member
      inflateReset(&stream_);
      is_whole_ = false;
    }
    // zlib does not write to its input.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int status = inflate(&stream_, Z_NO_FLUSH);
    in = in.last(stream_.avail_in);
    out = out.last(stream_.avail_out);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    if (status == Z_STREAM_END) is_whole_ = true;
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
      throw CorruptStream(stream_.msg != nullptr ? stream_.msg : "invalid data");
    }
    return is_whole_;
  }

 private:
  z_stream stream_ = {};
  bool is_whole_ = false;
};

}  // namespace

std::unique_ptr<Decoder> make_gzip_decoder() { return std::make_unique<GzipDecoder>(); }

}  // namespace kiln::problems::detail
