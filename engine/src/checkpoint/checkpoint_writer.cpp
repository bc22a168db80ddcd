// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#define XXH_INLINE_ALL
#include "checkpoint/checkpoint_writer.hpp"

#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <new>
#include <set>
#include <stdexcept>
#include <vector>

#include "checkpoint/checkpoint_format.hpp"

namespace kiln {
namespace {

namespace format = checkpoint_format;

// Fast rather than small: a run waits for it. States of spins are nearly noise, and counts,
// energies and lists shrink at any level.
constexpr int compression_level = 1;

}  // namespace

struct CheckpointWriter::State {
  struct EndContext {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, EndContext> context{ZSTD_createCCtx()};
  std::vector<std::byte> block;       // raw bytes of a block that is not full
  std::vector<std::byte> compressed;  // room for one
  std::set<std::string> names;
  std::uint64_t missing = 0;  // bytes of the section that have not come yet
  std::uint64_t blocks = 0, raw_bytes = 0, file_bytes = 0;
  XXH3_state_t digest;  // of all bytes of the file so far
};

CheckpointWriter::CheckpointWriter(WholeFile& file)
    : file_(file), state_(std::make_unique<State>()) {
  if (!state_->context) throw std::bad_alloc();
  state_->block.reserve(format::block_bytes);
  state_->compressed.resize(ZSTD_compressBound(format::block_bytes));
  XXH3_64bits_reset(&state_->digest);
  put(format::magic.data(), format::magic.size());
  const std::uint32_t numbers[2] = {format::version, 0};
  put(numbers, sizeof numbers);
}

CheckpointWriter::~CheckpointWriter() = default;

void CheckpointWriter::put(const void* data, std::size_t bytes) {
  file_.write(data, bytes);
  XXH3_64bits_update(&state_->digest, data, bytes);
  state_->file_bytes += bytes;
}

void CheckpointWriter::require_full() const {
  if (state_->missing > 0) throw std::logic_error("a section of a checkpoint is not full");
}

void CheckpointWriter::begin(const std::string& name, std::uint64_t bytes) {
  require_full();
  const std::string full = prefix_ + name;
  if (full.size() > format::longest_name || !state_->names.insert(full).second ||
      state_->names.size() > format::most_sections) {
    throw std::logic_error("checkpoint: section '" + full + "' is named twice, or too long");
  }
  std::vector<std::byte> head;
  const auto add = [&](const void* data, std::size_t size) {
    const auto* const from = static_cast<const std::byte*>(data);
    head.insert(head.end(), from, from + size);
  };
  const auto length = static_cast<std::uint16_t>(full.size());
  add(&format::section_tag, 1);
  add(&length, sizeof length);
  add(full.data(), full.size());
  add(&bytes, sizeof bytes);
  const std::uint64_t sum = XXH3_64bits(head.data(), head.size());
  add(&sum, sizeof sum);
  put(head.data(), head.size());
  state_->missing = bytes;
  state_->raw_bytes += bytes;
}

void CheckpointWriter::add(const void* data, std::size_t bytes) {
  State& s = *state_;
  if (bytes > s.missing) throw std::logic_error("a section of a checkpoint is too full");
  const auto* at = static_cast<const std::byte*>(data);
  s.missing -= bytes;
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, format::block_bytes - s.block.size());
    s.block.insert(s.block.end(), at, at + part);
    at += part;
    bytes -= part;
    if (s.block.size() == format::block_bytes) flush_block();
  }
  if (s.missing == 0) flush_block();
}

void CheckpointWriter::flush_block() {
  State& s = *state_;
  if (s.block.empty()) return;
  const std::size_t size =
      ZSTD_compressCCtx(s.context.get(), s.compressed.data(), s.compressed.size(), s.block.data(),
                        s.block.size(), compression_level);
  // What does not shrink is stored as it is, which its size tells.
  const bool shrinks = ZSTD_isError(size) == 0 && size < s.block.size();
  const std::vector<std::byte>& stored = shrinks ? s.compressed : s.block;
  const std::uint32_t sizes[2] = {static_cast<std::uint32_t>(s.block.size()),
                                  static_cast<std::uint32_t>(shrinks ? size : s.block.size())};
  // The number of the block is part of its sum: blocks that change places are noticed at once.
  const std::uint64_t sum = XXH3_64bits_withSeed(stored.data(), sizes[1], s.blocks++);
  put(&format::block_tag, 1);
  put(sizes, sizeof sizes);
  put(&sum, sizeof sum);
  put(stored.data(), sizes[1]);
  s.block.clear();
}

void CheckpointWriter::end() {
  require_full();
  put(&format::end_tag, 1);
  const std::uint64_t numbers[2] = {state_->names.size(), state_->file_bytes + 3 * 8};
  put(numbers, sizeof numbers);
  const std::uint64_t sum = XXH3_64bits_digest(&state_->digest);
  put(&sum, sizeof sum);
}

std::uint64_t CheckpointWriter::raw_bytes() const noexcept { return state_->raw_bytes; }
std::uint64_t CheckpointWriter::file_bytes() const noexcept { return state_->file_bytes; }

}  // namespace kiln
