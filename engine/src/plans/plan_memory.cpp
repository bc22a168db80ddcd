// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a plan says where memory does not suffice.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/options.hpp"
#include "kiln/plan.hpp"

#include "plans/refused_batch.hpp"

namespace kiln {
namespace {

std::string gib(std::uint64_t bytes) {
  return detail::show_real(std::round(static_cast<double>(bytes) / 0x1p30 * 10) / 10) + " GiB";
}

// Near the largest number of groups, or replicas of a group, for which a run with one replica, or
// group, of each fits; 0 if none does.
std::int64_t fitting_count(const RunPlan& plan, std::int64_t count) {
  const std::uint64_t usable = plan.bytes_usable();
  if (plan.objective_bytes >= usable) return 0;
  const double share = static_cast<double>(usable - plan.objective_bytes) /
                       static_cast<double>(plan.batch_bytes + plan.scratch_bytes);
  return static_cast<std::int64_t>(static_cast<double>(count) * std::min(share, 1.0));
}

// What was given and does not fit, and the largest that does.
struct Excess {
  std::string what, largest;
  Fix fix;
};

Excess excess_of(const RunPlan& plan, std::int64_t fitting) {
  const auto number = [](std::int64_t n, const char* of) { return std::to_string(n) + " " + of; };
  if (plan.given == GivenNumber::replicas && fitting > 0) {
    return {number(plan.shape.replicas, "replicas"), number(fitting, "replicas"),
            Fix::set_replicas(fitting)};
  }
  if (plan.given != GivenNumber::groups) return {};
  const bool of_size = plan.needs.group_size > 0;
  const std::int64_t count = of_size ? plan.needs.group_size : plan.groups();
  const std::int64_t largest = fitting_count(plan, count);
  if (largest == 0) return {};
  const char* const of = !of_size                       ? "groups"
                         : plan.needs.ladders_in_blocks ? "rungs"
                                                        : "replicas in each group";
  return {number(count, of), number(largest, of), Fix("use at most " + number(largest, of))};
}

// The largest number of replicas up to `most` with whole groups; 0 if there is none. Ladders by
// words fill no blocks, and groups by words no words of 32.
std::int64_t whole_replicas(const RunPlan& plan, std::int64_t most) {
  const std::int64_t size = plan.needs.group_size, groups = plan.shape.groups;
  const std::int64_t each = size > 0 ? size : groups;
  const auto multiple = [&](std::int64_t step) { return most / step * step; };
  const std::int64_t whole = plan.ladders_in_blocks() ? multiple(ladders_of_block * size)
                             : size > 0               ? multiple(std::lcm(std::int64_t{32}, size))
                                                      : multiple(32 * groups);
  const DrawNaming naming = plan.draw_naming;
  const bool only_whole =
      naming == DrawNaming::shared || (naming == DrawNaming::planes && plan.naming_given);
  if (whole > 0 || only_whole) return whole;
  const std::int64_t in_words = multiple(std::lcm(std::int64_t{32}, each));
  if (in_words > 0) return in_words;
  return (multiple(each) + 31) / 32 * 32 <= most ? multiple(each) : multiple(each) - each;
}

}  // namespace

std::int64_t RunPlan::fitting_replicas() const {
  if (fits()) return shape.replicas;
  const std::uint64_t usable = bytes_usable(), fixed = objective_bytes + scratch_fixed_bytes;
  if (fixed >= usable) return 0;
  const double share = static_cast<double>(usable - fixed) /
                       static_cast<double>(batch_bytes + scratch_bytes - scratch_fixed_bytes);
  return whole_replicas(*this,
                        static_cast<std::int64_t>(static_cast<double>(shape.replicas) * share));
}

std::int64_t halved_replicas(const RunPlan& plan) {
  const std::int64_t half = whole_replicas(plan, plan.shape.replicas / 2);
  return half >= std::max<std::int64_t>(1, plan.needs.min_replicas) ? half : 0;
}

void require_memory(const RunPlan& plan) {
  if (plan.fits()) return;
  const std::int64_t fitting = plan.fitting_replicas();
  const std::string needed = std::to_string(plan.shape.replicas) + " replicas need " +
                             gib(plan.batch_bytes) + ", the problem needs " +
                             gib(plan.objective_bytes) + " and the schedule needs " +
                             gib(plan.scratch_bytes) + "; " + plan.device.name + " has " +
                             gib(plan.device.memory_free) + " of free memory";
  const Excess excess = excess_of(plan, fitting);
  if (!excess.what.empty()) {
    throw InvalidArgument("run.memory", excess.what + " do not fit into the free memory: " + needed,
                          "at most " + excess.largest, excess.fix);
  }
  throw OutOfDeviceMemory(
      needed, plan.bytes_needed(), plan.device.memory_free,
      fitting > 0
          ? Fix::set_replicas(fitting)
          : Fix("use fewer groups or sweeps, a smaller problem, or a device with more memory"));
}

}  // namespace kiln
