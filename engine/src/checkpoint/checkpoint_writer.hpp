// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "kiln/archive.hpp"
#include "kiln/files/whole_file.hpp"

namespace kiln {

/// Writes sections into a checkpoint, each in blocks that are compressed and have checksums.
class CheckpointWriter final : public SectionSink {
 public:
  /// The file must outlive it.
  explicit CheckpointWriter(WholeFile& file);
  ~CheckpointWriter() override;

  void begin(const std::string& name, std::uint64_t bytes) override;
  void add(const void* data, std::size_t bytes) override;
  /// Names of later sections begin with this.
  void set_prefix(std::string_view prefix) { prefix_ = prefix; }
  /// Ends the file; nothing may follow. @throws std::logic_error if a section is not full
  void end();

  std::uint64_t raw_bytes() const noexcept;
  std::uint64_t file_bytes() const noexcept;

 private:
  struct State;
  void put(const void* data, std::size_t bytes);
  void flush_block();
  void require_full() const;

  WholeFile& file_;
  std::string prefix_;
  std::unique_ptr<State> state_;
};

}  // namespace kiln
