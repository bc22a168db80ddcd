// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "host/control_group.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <string>

namespace kiln {
namespace {

namespace fs = std::filesystem;

// Where a version keeps its numbers.
struct MemoryFiles {
  const char* most;
  const char* used;
  const char* cached;  // in memory.stat
};
constexpr MemoryFiles memory_files_2{"memory.max", "memory.current", "inactive_file"};
constexpr MemoryFiles memory_files_1{"memory.limit_in_bytes", "memory.usage_in_bytes",
                                     "total_inactive_file"};

// The number at the beginning of a file; nothing for "max", "-1" and where there is no file.
std::optional<std::uint64_t> number_in(const fs::path& file) {
  std::ifstream in(file);
  std::int64_t number = 0;
  if (!(in >> number) || number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

std::uint64_t entry_of(const fs::path& file, const std::string& wanted) {
  std::ifstream in(file);
  std::string name;
  std::uint64_t number = 0;
  while (in >> name >> number) {
    if (name == wanted) return number;
  }
  return 0;
}

void limit_memory(const fs::path& folder, const MemoryFiles& files, ControlGroupLimits& limits) {
  // What version 1 says where there is no limit. To add up what is used takes the system 50 us.
  constexpr std::uint64_t no_limit = std::uint64_t{1} << 62;
  const auto most = number_in(folder / files.most);
  if (!most || *most >= no_limit) return;
  const std::uint64_t used = number_in(folder / files.used).value_or(0);
  const std::uint64_t cached = std::min(used, entry_of(folder / "memory.stat", files.cached));
  const std::uint64_t kept = std::min(*most, used - cached);
  limits.memory_total = std::min(limits.memory_total, *most);
  limits.memory_free = std::min(limits.memory_free, *most - kept);
}

void limit_processors(double quota, double period, ControlGroupLimits& limits) {
  if (!(quota > 0) || !(period > 0)) return;
  const int granted = static_cast<int>(std::clamp(std::ceil(quota / period), 1.0, 1e6));
  limits.processors = limits.processors == 0 ? granted : std::min(limits.processors, granted);
}

// "150000 100000": so much time in each period; "max 100000" is no limit.
void limit_processors_2(const fs::path& folder, ControlGroupLimits& limits) {
  std::ifstream in(folder / "cpu.max");
  double quota = 0, period = 0;
  if (in >> quota >> period) limit_processors(quota, period, limits);
}

void limit_processors_1(const fs::path& folder, ControlGroupLimits& limits) {
  const auto quota = number_in(folder / "cpu.cfs_quota_us");
  const auto period = number_in(folder / "cpu.cfs_period_us");
  if (!quota || !period) return;
  limit_processors(static_cast<double>(*quota), static_cast<double>(*period), limits);
}

// Calls `look` with the folder of a group and with all above it, up to where they are mounted. A
// container may see its own group as the topmost one, under a path that is not there.
template <class Look>
void climb(const fs::path& mounted, std::string group, Look look) {
  for (;;) {
    look(mounted / fs::path(group).relative_path());
    const std::size_t slash = group.find_last_of('/');
    if (group.find_first_not_of('/') == std::string::npos || slash == std::string::npos) return;
    group.resize(slash);
  }
}

bool lists(const std::string& controllers, const std::string& wanted) {
  return ("," + controllers + ",").find("," + wanted + ",") != std::string::npos;
}

}  // namespace

ControlGroupLimits control_group_limits(const fs::path& root) {
  ControlGroupLimits limits;
  const fs::path mounted = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  // "0::/path" of version 2, "4:cpu,cpuacct:/path" of version 1.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    if (controllers.empty()) {
      climb(mounted, group, [&](const fs::path& folder) {
        limit_memory(folder, memory_files_2, limits);
        limit_processors_2(folder, limits);
      });
    } else if (lists(controllers, "memory")) {
      climb(mounted / "memory", group,
            [&](const fs::path& folder) { limit_memory(folder, memory_files_1, limits); });
    } else if (lists(controllers, "cpu")) {
      climb(mounted / "cpu", group,
            [&](const fs::path& folder) { limit_processors_1(folder, limits); });
    }
  }
  return limits;
}

}  // namespace kiln
