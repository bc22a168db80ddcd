// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#define XXH_INLINE_ALL
#include "checkpoint/checkpoint_writer.hpp"

#include <xxhash.h>

#include <algorithm>
#include <stdexcept>

#include "checkpoint/block_seals.hpp"
#include "checkpoint/checkpoint_format.hpp"

namespace kiln {
namespace {

namespace format = checkpoint_format;

using Bytes = std::vector<std::byte>;

void append(Bytes& bytes, const void* data, std::size_t size) {
  const auto* const from = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), from, from + size);
}

}  // namespace

CheckpointWriter::CheckpointWriter(WholeFile& file) : seals_(std::make_unique<BlockSeals>(file)) {
  block_.reserve(format::block_bytes);
  Bytes head;
  append(head, format::magic.data(), format::magic.size());
  const std::uint32_t numbers[2] = {format::version, 0};
  append(head, numbers, sizeof numbers);
  seals_->add_plain(std::move(head));
}

CheckpointWriter::~CheckpointWriter() = default;

void CheckpointWriter::require_full() const {
  if (missing_ > 0) throw std::logic_error("a section of a checkpoint is not full");
}

void CheckpointWriter::begin(const std::string& name, std::uint64_t bytes) {
  require_full();
  const std::string full = prefix_ + name;
  if (full.size() > format::longest_name || !names_.insert(full).second ||
      names_.size() > format::most_sections) {
    throw std::logic_error("checkpoint: section '" + full + "' is named twice, or too long");
  }
  Bytes head;
  const auto length = static_cast<std::uint16_t>(full.size());
  append(head, &format::section_tag, 1);
  append(head, &length, sizeof length);
  append(head, full.data(), full.size());
  append(head, &bytes, sizeof bytes);
  const std::uint64_t sum = XXH3_64bits(head.data(), head.size());
  append(head, &sum, sizeof sum);
  seals_->add_plain(std::move(head));
  missing_ = bytes;
  raw_bytes_ += bytes;
}

void CheckpointWriter::add(const void* data, std::size_t bytes) {
  if (bytes > missing_) throw std::logic_error("a section of a checkpoint is too full");
  const auto* at = static_cast<const std::byte*>(data);
  missing_ -= bytes;
  while (bytes > 0) {
    const std::size_t part = std::min(bytes, format::block_bytes - block_.size());
    append(block_, at, part);
    at += part;
    bytes -= part;
    if (block_.size() == format::block_bytes) flush_block();
  }
  if (missing_ == 0) flush_block();
}

void CheckpointWriter::flush_block() {
  if (!block_.empty()) seals_->add_block(block_);
}

void CheckpointWriter::end() {
  require_full();
  seals_->drain();
  Bytes tail;
  append(tail, &format::end_tag, 1);
  const std::uint64_t numbers[2] = {names_.size(), seals_->file_bytes() + 1 + 3 * 8};
  append(tail, numbers, sizeof numbers);
  seals_->add_plain(std::move(tail));
  seals_->drain();
  const std::uint64_t sum = seals_->digest();
  Bytes last;
  append(last, &sum, sizeof sum);
  seals_->add_plain(std::move(last));
  seals_->drain();
}

std::uint64_t CheckpointWriter::file_bytes() const noexcept { return seals_->file_bytes(); }

}  // namespace kiln
