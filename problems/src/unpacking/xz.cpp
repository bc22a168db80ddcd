// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <lzma.h>

#include <cstdint>
#include <new>

#include "unpacking/decoder.hpp"

namespace kiln::problems::detail {
namespace {

// The dictionary of `xz -9` has 64 MiB.
constexpr std::uint64_t max_memory = std::uint64_t{256} << 20;

const char* sentence_of(lzma_ret status) {
  switch (status) {
    case LZMA_OPTIONS_ERROR:
      return "unknown options";
    case LZMA_MEMLIMIT_ERROR:
      return "its dictionary needs more than 256 MiB";
    default:
      return "invalid data";
  }
}

class XzDecoder : public Decoder {
 public:
  XzDecoder() {
    if (lzma_stream_decoder(&stream_, max_memory, LZMA_CONCATENATED) != LZMA_OK) {
      throw std::bad_alloc();
    }
  }
  ~XzDecoder() override { lzma_end(&stream_); }

  bool decode(std::span<const char>& in, std::span<char>& out, bool last) override {
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret status = lzma_code(&stream_, last ? LZMA_FINISH : LZMA_RUN);
    in = in.last(stream_.avail_in);
    out = out.last(stream_.avail_out);
    if (status == LZMA_MEM_ERROR) throw std::bad_alloc();
    if (status != LZMA_OK && status != LZMA_STREAM_END && status != LZMA_BUF_ERROR) {
      throw CorruptStream(sentence_of(status));
    }
    return status == LZMA_STREAM_END;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

}  // namespace

std::unique_ptr<Decoder> make_xz_decoder() { return std::make_unique<XzDecoder>(); }

}  // namespace kiln::problems::detail
