// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/checkpoint.hpp"

#include "checkpoint/checkpoint_format.hpp"

namespace kiln {

/// The sections of a checkpoint file. The constructor reads all of it and checks every sum, so that
/// what is read later was whole; it is checked again then, because files change.
class CheckpointReader {
 public:
  /// @throws CheckpointError; IoError `io.read`, `io.missing`
  explicit CheckpointReader(std::filesystem::path file);

  /// All bytes of a small section. @throws CheckpointError if it is missing or has more than `most`
  std::vector<std::byte> small_section(const std::string& name, std::size_t most) const;
  std::optional<std::uint64_t> bytes_of(const std::string& name) const;
  void read(const std::string& name, FunctionRef<void(const void*, std::size_t)> take) const;
  const std::filesystem::path& file() const noexcept { return path_; }

  /// Throws CheckpointError `checkpoint.damaged`.
  [[noreturn]] void refuse(std::uint64_t at, const std::string& what) const;

 private:
  struct CloseFile {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  struct Section {
    std::uint64_t bytes = 0;
    std::uint64_t first_block_at = 0;  // in the file
    std::uint64_t first_block = 0;     // its number
  };
  struct Scan;
  struct Block {
    std::uint32_t raw = 0, stored = 0;
  };
  void open();
  void scan();
  void scan_head(Scan& scan) const;
  void scan_section(Scan& scan);
  void scan_end(Scan& scan) const;
  Block read_block_head(Scan& scan, std::uint64_t& sum) const;
  void read_block(Scan& scan, std::vector<std::byte>& raw) const;
  void read_bytes(Scan& scan, void* to, std::size_t bytes) const;

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::map<std::string, Section> sections_;
};

/// The sections of a checkpoint whose names begin with a prefix, by the rest of their names.
class CheckpointSections final : public SectionSource {
 public:
  /// The reader must outlive it.
  CheckpointSections(const CheckpointReader& reader, std::string_view prefix)
      : reader_(reader), prefix_(prefix) {}
  std::optional<std::uint64_t> bytes_of(const std::string& name) const override {
    return reader_.bytes_of(prefix_ + name);
  }
  void read(const std::string& name,
            FunctionRef<void(const void*, std::size_t)> take) const override {
    reader_.read(prefix_ + name, take);
  }

 private:
  const CheckpointReader& reader_;
  std::string prefix_;
};

}  // namespace kiln
