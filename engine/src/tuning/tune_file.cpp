// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/tuning/tune_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kiln/errors.hpp"
#include "kiln/files/user_cache.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

// Whatever is larger is no file of ours: a trial has less than a kilobyte.
constexpr std::size_t max_bytes = std::size_t{64} << 20;

std::string shown(std::string_view text) { return text.empty() ? "none" : std::string(text); }

// What a header has that the device has not.
std::string difference_of(const TuneHeader& there, const TuneDevice& here) {
  const auto differ = [](const char* what, std::string_view was, std::string_view is) {
    return fmt::format("it was made with {} {}, and here is {} {}", what, shown(was), what,
                       shown(is));
  };
  if (there.device != here.name) return differ("device", there.device, here.name);
  if (there.driver != here.driver) return differ("driver", there.driver, here.driver);
  if (there.toolkit != here.toolkit) return differ("toolkit", there.toolkit, here.toolkit);
  return "it was made by another version of Kiln";
}

/// Collects complaints; the first is told, the others are counted.
class Complaints {
 public:
  void add(std::string one) {
    if (first_.empty()) {
      first_ = std::move(one);
    } else {
      ++others_;
    }
  }
  std::string text() const {
    return others_ == 0 ? first_ : fmt::format("{}; {} more like this", first_, others_);
  }

 private:
  std::string first_;
  int others_ = 0;
};

/// The last outcome of each tunable and bucket under the key of a device.
using Latest = std::map<std::pair<std::string, int>, const TuneOutcome*>;

}  // namespace

NamedShape named_shape(const Tunable& tunable, const LaunchShape& shape) {
  NamedShape named;
  const auto& parameters = tunable.description().parameters;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    named.emplace_back(parameters[i].name, shape[i]);
  }
  return named;
}

std::optional<LaunchShape> launch_shape(const Tunable& tunable, const NamedShape& shape) {
  const auto& parameters = tunable.description().parameters;
  if (shape.size() != parameters.size()) return std::nullopt;
  LaunchShape found{};
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto one = std::ranges::find(shape, parameters[i].name, &NamedShape::value_type::first);
    if (one == shape.end()) return std::nullopt;
    found[i] = one->second;
  }
  return found;
}

std::string text_of(const NamedShape& shape) {
  std::string text;
  for (const auto& [name, value] : shape) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

const TuneOutcome* TuneRecords::outcome_of(const TuneSubject& subject) const {
  const auto last = std::find_if(outcomes.rbegin(), outcomes.rend(),
                                 [&](const TuneOutcome& one) { return one.subject == subject; });
  return last == outcomes.rend() ? nullptr : &*last;
}

const TuneHeader* TuneRecords::header_of(std::string_view key) const {
  const auto found = std::ranges::find(headers, key, &TuneHeader::key);
  return found == headers.end() ? nullptr : &*found;
}

std::string key_of(const TuneDevice& device) {
  const std::string text = device.name + "\n" + device.driver + "\n" + device.toolkit;
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

fs::path tune_file(const TuneDevice& device) {
  const fs::path folder = user_cache_folder();
  if (folder.empty()) return {};
  std::string name;
  for (const char c : device.name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter) {
      name += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return folder / "tune" / ((name.empty() ? "device" : name.substr(0, 100)) + ".ndjson");
}

std::string read_tune_text(const fs::path& file) {
  const auto refuse = [&](int reason) -> void {
    throw IoError("io.read", file.string() + " cannot be read: " + std::strerror(reason), {},
                  reason == EISDIR ? "remove the directory, or give it another name"
                                   : "make the file readable, or remove it");
  };
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return {};
    refuse(errno);
  }
  std::string text;
  char block[65536];
  ssize_t count = 0;
  while ((count = ::read(descriptor, block, sizeof block)) > 0 || (count < 0 && errno == EINTR)) {
    if (count > 0) text.append(block, static_cast<std::size_t>(count));
    if (text.size() > max_bytes) break;
  }
  const int failure = count < 0 ? errno : 0;
  ::close(descriptor);
  if (failure != 0) refuse(failure);
  if (text.size() > max_bytes) {
    throw IoError("tune.large", file.string() + " cannot be read: it has more than 64 MiB", {},
                  "kiln tune, which keeps the file beside a new one");
  }
  return text;
}

std::string complaint_about_lines(const TuneRecords& records) {
  if (records.bad_lines == 0) return {};
  if (records.bad_lines == 1) return fmt::format("line {} is no record", records.first_bad_line);
  const bool ended = records.bad_lines >= max_bad_tune_lines;
  return fmt::format("{}{} lines are no records, the first is line {}", ended ? "at least " : "",
                     records.bad_lines, records.first_bad_line);
}

UsableChoices usable_choices(const TuneRecords& records, const TuneDevice& device,
                             const std::vector<const Tunable*>& tunables) {
  Complaints complaints;
  if (records.bad_lines > 0) complaints.add(complaint_about_lines(records));
  const std::string key = key_of(device);
  Latest latest;
  std::set<std::string> current, stale;
  for (const TuneOutcome& one : records.outcomes) {
    if (one.subject.key != key) continue;
    const auto named = std::ranges::find(tunables, one.subject.tunable, &Tunable::name);
    if (named == tunables.end()) continue;  // of a plug-in that is not loaded, or of a later build
    if ((*named)->hash() != one.subject.hash) {
      stale.insert(one.subject.tunable);
      continue;
    }
    current.insert(one.subject.tunable);
    latest[{one.subject.tunable, one.subject.bucket}] = &one;
  }
  UsableChoices usable;
  for (const auto& [place, outcome] : latest) {
    if (!outcome->chosen) continue;
    const Tunable& tunable = **std::ranges::find(tunables, place.first, &Tunable::name);
    const std::optional<LaunchShape> shape = launch_shape(tunable, *outcome->chosen);
    const std::string refusal = shape ? tunable.refusal(*shape, device.limits)
                                      : text_of(*outcome->chosen) + " are other parameters";
    if (refusal.empty()) {
      usable.choices.push_back({&tunable, place.second, *shape});
    } else {
      complaints.add(fmt::format("line {}: {}: {}", outcome->line, place.first, refusal));
    }
  }
  std::erase_if(stale, [&](const std::string& name) { return current.contains(name); });
  if (!stale.empty()) {
    complaints.add(
        fmt::format("the shapes of {} were tuned for another build of Kiln", *stale.begin()));
  }
  if (current.empty() && stale.empty() && !records.headers.empty() &&
      records.header_of(key) == nullptr) {
    complaints.add(difference_of(records.headers.back(), device));
  }
  usable.complaint = complaints.text();
  return usable;
}

}  // namespace kiln
