// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#define XXH_INLINE_ALL
#include "checkpoint/checkpoint_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace kiln {
namespace {

namespace format = checkpoint_format;

constexpr std::uint64_t magic_bytes = format::magic.size();

}  // namespace

/// A pass over the file or a part of it.
struct CheckpointReader::Scan {
  std::uint64_t at = 0;      // in the file
  std::uint64_t blocks = 0;  // number of the next block
  bool checks_whole = true;  // the sum of the whole file
  XXH3_state_t digest;
  std::vector<std::byte> stored;
};

CheckpointReader::CheckpointReader(std::filesystem::path file) : path_(std::move(file)) {
  open();
  scan();
}

// A pipe without a writer must not block.
void CheckpointReader::open() {
  const auto refuse_file = [this](const char* code, const char* why) {
    throw IoError(code, path_.string() + ": the checkpoint cannot be read: " + why);
  };
  const int descriptor = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (descriptor < 0) refuse_file(errno == ENOENT ? "io.missing" : "io.read", std::strerror(errno));
  struct stat status = {};
  const bool regular = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
  if (regular) file_.reset(::fdopen(descriptor, "rb"));
  if (file_) return;
  const int reason = errno;
  ::close(descriptor);
  refuse_file("io.read", regular ? std::strerror(reason) : "it is no regular file");
}

void CheckpointReader::refuse(std::uint64_t at, const std::string& what) const {
  throw CheckpointError("checkpoint.damaged",
                        path_.string() + ": byte " + std::to_string(at) + ": " + what,
                        "a checkpoint that is whole", "use the checkpoint before, or a new run");
}

void CheckpointReader::read_bytes(Scan& scan, void* to, std::size_t bytes) const {
  const std::size_t got = std::fread(to, 1, bytes, file_.get());
  if (got < bytes) {
    if (std::ferror(file_.get()) != 0) {
      throw IoError("io.read",
                    path_.string() + ": the checkpoint cannot be read: " + std::strerror(errno));
    }
    refuse(scan.at + got, "the file ends here, in the middle of its data");
  }
  if (scan.checks_whole) XXH3_64bits_update(&scan.digest, to, bytes);
  scan.at += bytes;
}

void CheckpointReader::scan() {
  Scan scan;
  XXH3_64bits_reset(&scan.digest);
  scan_head(scan);
  for (;;) {
    const std::uint64_t at = scan.at;
    char tag = 0;
    read_bytes(scan, &tag, 1);
    if (tag == format::end_tag) return scan_end(scan);
    if (tag != format::section_tag) refuse(at, "a section or the end is expected here");
    scan_section(scan);
  }
}

void CheckpointReader::scan_head(Scan& scan) const {
  std::array<unsigned char, magic_bytes> magic{};
  const std::size_t got = std::fread(magic.data(), 1, magic.size(), file_.get());
  if (got < magic.size() || magic != format::magic) {
    throw CheckpointError("checkpoint.format",
                          path_.string() + ": byte 0: this is no checkpoint of Kiln",
                          "a file checkpoint.kiln of a run folder");
  }
  XXH3_64bits_update(&scan.digest, magic.data(), magic.size());
  scan.at = magic_bytes;
  std::uint32_t numbers[2] = {};
  read_bytes(scan, numbers, sizeof numbers);
  if (numbers[0] == format::version) return;
  throw CheckpointError("checkpoint.format",
                        path_.string() + ": byte 8: the format has version " +
                            std::to_string(numbers[0]) + ", and this Kiln reads version " +
                            std::to_string(format::version),
                        {}, "continue the run with the version of Kiln that wrote it");
}

// Behind the tag.
void CheckpointReader::scan_section(Scan& scan) {
  const std::uint64_t begin = scan.at - 1;
  XXH3_state_t head;
  XXH3_64bits_reset(&head);
  XXH3_64bits_update(&head, &format::section_tag, 1);
  std::uint16_t length = 0;
  read_bytes(scan, &length, sizeof length);
  XXH3_64bits_update(&head, &length, sizeof length);
  if (length > format::longest_name) refuse(begin, "the name of the section is too long");
  std::string name(length, '\0');
  read_bytes(scan, name.data(), length);
  XXH3_64bits_update(&head, name.data(), length);
  Section section;
  read_bytes(scan, &section.bytes, sizeof section.bytes);
  XXH3_64bits_update(&head, &section.bytes, sizeof section.bytes);
  std::uint64_t sum = 0;
  read_bytes(scan, &sum, sizeof sum);
  if (sum != XXH3_64bits_digest(&head)) refuse(begin, "the head of a section has a wrong checksum");
  section.first_block_at = scan.at;
  section.first_block = scan.blocks;
  std::vector<std::byte> raw;
  for (std::uint64_t done = 0; done < section.bytes; done += raw.size()) {
    const std::uint64_t at = scan.at;
    read_block(scan, raw);
    if (raw.size() > section.bytes - done) refuse(at, "section '" + name + "' is too full");
  }
  if (sections_.size() == format::most_sections) refuse(begin, "there are too many sections");
  if (!sections_.emplace(name, section).second) {
    refuse(begin, "section '" + name + "' is there twice");
  }
}

CheckpointReader::Block CheckpointReader::read_block_head(Scan& scan, std::uint64_t& sum) const {
  const std::uint64_t at = scan.at;
  char tag = 0;
  read_bytes(scan, &tag, 1);
  if (tag != format::block_tag) refuse(at, "a block is expected here");
  std::uint32_t sizes[2] = {};
  read_bytes(scan, sizes, sizeof sizes);
  read_bytes(scan, &sum, sizeof sum);
  const Block block{sizes[0], sizes[1]};
  const bool possible = block.raw > 0 && block.raw <= format::block_bytes && block.stored > 0 &&
                        block.stored <= block.raw;
  if (!possible) refuse(at, "a block has an impossible size");
  return block;
}

void CheckpointReader::read_block(Scan& scan, std::vector<std::byte>& raw) const {
  const std::uint64_t at = scan.at;
  std::uint64_t sum = 0;
  const Block block = read_block_head(scan, sum);
  scan.stored.resize(block.stored);
  read_bytes(scan, scan.stored.data(), block.stored);
  if (sum != XXH3_64bits_withSeed(scan.stored.data(), block.stored, scan.blocks++)) {
    refuse(at, "a block has a wrong checksum");
  }
  raw.resize(block.raw);
  if (block.stored == block.raw) {
    std::memcpy(raw.data(), scan.stored.data(), block.raw);
    return;
  }
  const std::size_t size =
      ZSTD_decompress(raw.data(), raw.size(), scan.stored.data(), block.stored);
  if (ZSTD_isError(size) != 0 || size != block.raw) refuse(at, "a block cannot be decompressed");
}

// Behind the tag.
void CheckpointReader::scan_end(Scan& scan) const {
  const std::uint64_t begin = scan.at - 1;
  std::uint64_t numbers[2] = {}, sum = 0;
  read_bytes(scan, numbers, sizeof numbers);
  const std::uint64_t whole = XXH3_64bits_digest(&scan.digest);
  read_bytes(scan, &sum, sizeof sum);
  if (numbers[0] != sections_.size() || numbers[1] != scan.at || sum != whole) {
    refuse(begin, "the end does not fit the data before it");
  }
  if (std::fgetc(file_.get()) != EOF) refuse(scan.at, "there is something behind the end");
}

std::vector<std::byte> CheckpointReader::small_section(const std::string& name,
                                                       std::size_t most) const {
  const auto found = sections_.find(name);
  if (found == sections_.end()) refuse(0, "there is no section '" + name + "'");
  if (found->second.bytes > most) {
    refuse(found->second.first_block_at, "section '" + name + "' is too large");
  }
  std::vector<std::byte> all;
  read(name, [&](const void* data, std::size_t bytes) {
    const auto* const begin = static_cast<const std::byte*>(data);
    all.insert(all.end(), begin, begin + bytes);
  });
  return all;
}

std::optional<std::uint64_t> CheckpointReader::bytes_of(const std::string& name) const {
  const auto found = sections_.find(name);
  return found == sections_.end() ? std::nullopt : std::optional(found->second.bytes);
}

void CheckpointReader::read(const std::string& name,
                            FunctionRef<void(const void*, std::size_t)> take) const {
  const Section& section = sections_.at(name);
  Scan scan;
  scan.checks_whole = false;
  scan.at = section.first_block_at;
  scan.blocks = section.first_block;
  if (::fseeko(file_.get(), static_cast<off_t>(scan.at), SEEK_SET) != 0) {
    throw IoError("io.read",
                  path_.string() + ": the checkpoint cannot be read: " + std::strerror(errno));
  }
  std::vector<std::byte> raw;
  for (std::uint64_t done = 0; done < section.bytes; done += raw.size()) {
    read_block(scan, raw);
    if (raw.size() > section.bytes - done) refuse(scan.at, "section '" + name + "' is too full");
    take(raw.data(), raw.size());
  }
}

}  // namespace kiln
