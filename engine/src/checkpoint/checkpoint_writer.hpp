// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/files/whole_file.hpp"

namespace kiln {

class BlockSeals;

/// Writes sections into a checkpoint, each in blocks that are compressed and have checksums. Behind
/// the first megabytes a thread of its own compresses and writes, while the caller brings more.
class CheckpointWriter final : public SectionSink {
 public:
  /// The file must outlive it. What the thread could not write is thrown by a later call.
  explicit CheckpointWriter(WholeFile& file);
  ~CheckpointWriter() override;

  void begin(const std::string& name, std::uint64_t bytes) override;
  void add(const void* data, std::size_t bytes) override;
  /// Names of later sections begin with this.
  void set_prefix(std::string_view prefix) { prefix_ = prefix; }
  /// Ends the file; nothing may follow. @throws std::logic_error if a section is not full
  void end();

  /// Of the sections, before compression.
  std::uint64_t raw_bytes() const noexcept { return raw_bytes_; }
  /// Of the whole file, once it has ended.
  std::uint64_t file_bytes() const noexcept;

 private:
  void flush_block();
  void require_full() const;

  std::string prefix_;
  std::set<std::string> names_;
  std::vector<std::byte> block_;  // raw bytes of a block that is not full
  std::uint64_t missing_ = 0;     // bytes of the section that have not come yet
  std::uint64_t raw_bytes_ = 0;
  std::unique_ptr<BlockSeals> seals_;
};

}  // namespace kiln
