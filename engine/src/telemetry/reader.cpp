// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/telemetry/reader.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <iterator>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

static_assert(std::endian::native == std::endian::little, "files are little-endian");

constexpr std::uint32_t longest_header = 4096;

// What a file must be about, so that numbers made of its sizes do not overflow.
constexpr std::uint64_t most_replicas = std::uint64_t{1} << 40;

class Refusal {
 public:
  explicit Refusal(const std::string& name) : name_(name) {}
  [[noreturn]] void operator()(std::uint64_t byte, const std::string& what,
                               const std::string& expected) const {
    throw IoError("telemetry.format", name_ + ": byte " + std::to_string(byte) + ": " + what,
                  expected, "choose the telemetry.bin of a run folder");
  }

 private:
  std::string name_;
};

void check_header(const TelemetryHeader& h, std::uint64_t bytes, const Refusal& refuse) {
  if (h.magic != TelemetryHeader::expected_magic) {
    refuse(0, "the file does not begin like a telemetry file", "KILNTEL and a line feed");
  }
  if (h.version != TelemetryHeader::current_version) {
    refuse(8, "version " + std::to_string(h.version) + " is not known", "version 1");
  }
  const bool room = h.header_bytes >= sizeof h && h.header_bytes <= longest_header;
  if (!room || h.header_bytes > bytes) refuse(12, "the header has an impossible size", {});
  if (h.record_bytes != sizeof(TelemetryRecord)) refuse(16, "records have another size", "64");
  if (h.level < TelemetryLevel::summary || h.level > TelemetryLevel::replicas) {
    refuse(20, "the level is none", "1, 2 or 3");
  }
  if (h.replicas == 0 || h.replicas > most_replicas) refuse(24, "no number of replicas", {});
  if (h.groups == 0 || h.replicas % h.groups != 0) {
    refuse(32, "the groups do not divide the replicas", {});
  }
  std::uint64_t each = 1;
  if (h.level >= TelemetryLevel::groups) each += h.groups;
  if (h.level >= TelemetryLevel::replicas) each += h.replicas;
  if (h.records_per_epoch != each) {
    refuse(64, "the number of records per epoch does not fit the level", std::to_string(each));
  }
}

// The record that has this place in its epoch.
bool fits_its_place(const TelemetryRecord& record, const TelemetryHeader& h) {
  const std::uint64_t place = (record.seq - 1) % h.records_per_epoch;
  if (place == 0) return record.kind() == TelemetryKind::run && record.subject == 0;
  if (place <= h.groups) {
    return record.kind() == TelemetryKind::group && record.subject == place - 1;
  }
  return record.kind() == TelemetryKind::replica && record.subject == place - 1 - h.groups;
}

}  // namespace

std::string telemetry_head(const TelemetryHeader& header) {
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

TelemetryReader TelemetryReader::open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) {
    throw IoError("io.read", path + ": cannot be read", {}, "choose a file that can be read");
  }
  return TelemetryReader(bytes, path);
}

TelemetryReader::TelemetryReader(std::string_view bytes, const std::string& name) {
  const Refusal refuse(name);
  if (bytes.size() < sizeof header_) {
    refuse(bytes.size(), "the file ends within the header", "128 bytes");
  }
  std::memcpy(&header_, bytes.data(), sizeof header_);
  check_header(header_, bytes.size(), refuse);
  const std::uint64_t begin = header_.header_bytes;
  const std::uint64_t count = (bytes.size() - begin) / sizeof(TelemetryRecord);
  torn_bytes_ = (bytes.size() - begin) % sizeof(TelemetryRecord);
  records_.resize(count);
  if (count > 0) {
    std::memcpy(records_.data(), bytes.data() + begin, count * sizeof(TelemetryRecord));
  }
  std::uint64_t last_seq = 0, last_step = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const TelemetryRecord& record = records_[i];
    const std::uint64_t byte = begin + i * sizeof(TelemetryRecord);
    if (record.seq <= last_seq || record.step < last_step) {
      refuse(byte, "record " + std::to_string(i) + " does not follow the one before", {});
    }
    if (!fits_its_place(record, header_)) {
      refuse(byte, "record " + std::to_string(i) + " is not about what its number says", {});
    }
    last_seq = record.seq;
    last_step = record.step;
  }
}

std::uint64_t TelemetryReader::epoch_of(const TelemetryRecord& record) const noexcept {
  return (record.seq - 1) / header_.records_per_epoch;
}

}  // namespace kiln
