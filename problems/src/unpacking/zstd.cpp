// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <zstd.h>

#include <algorithm>
#include <cstddef>
#include <new>

#include "unpacking/decoder.hpp"

namespace kiln::problems::detail {
namespace {

class ZstdDecoder : public Decoder {
 public:
  ZstdDecoder() : stream_(ZSTD_createDStream()) {
    if (stream_ == nullptr) throw std::bad_alloc();
    next_ = first_ = ZSTD_initDStream(stream_);
  }
  ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }

  bool decode(std::span<const char>& in, std::span<char>& out, bool /*last*/) override {
    // Piece by piece, as the library asks for them: of a piece that is corrupt it takes nothing, so
    // that what is left of `in` tells where it begins.
    ZSTD_inBuffer input{in.data(), std::min(in.size(), next_), 0};
    ZSTD_outBuffer output{out.data(), out.size(), 0};
    const std::size_t missing = ZSTD_decompressStream(stream_, &output, &input);
    in = in.subspan(input.pos);
    out = out.subspan(output.pos);
    if (ZSTD_isError(missing) != 0) throw CorruptStream(ZSTD_getErrorName(missing));
    next_ = missing == 0 ? first_ : missing;
    return missing == 0;
  }

 private:
  ZSTD_DStream* stream_;
  std::size_t first_ = 0, next_ = 0;  // bytes of the first and of the next piece
};

}  // namespace

std::unique_ptr<Decoder> make_zstd_decoder() { return std::make_unique<ZstdDecoder>(); }

}  // namespace kiln::problems::detail
