// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/tuning/tunable.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "kiln/errors.hpp"
#include "kiln/version.hpp"

#include "tuning/build_id.hpp"

namespace kiln {
namespace {

struct Registered {
  std::mutex mutex;
  std::vector<const Tunable*> all;  // by id; null where one has gone
};

// Libraries are loaded, and register what they have, by any thread.
Registered& registered() {
  static Registered registered;
  return registered;
}

void require(bool holds, const TunableDescription& of, const char* what) {
  if (!holds) {
    throw InvalidArgument("tune.declaration", "the tunable '" + of.name + "' has " + what);
  }
}

void check(const TunableDescription& of) {
  require(!of.name.empty() && !of.kernel.empty(), of, "no name, or names no kernel");
  require(!of.parameters.empty() && of.parameters.size() <= max_shape_parameters, of,
          "no parameter, or more than 4");
  for (const ShapeParameter& one : of.parameters) {
    require(!one.name.empty() && !one.values.empty(), of, "a parameter without name or values");
  }
  if (!of.default_shape) return;
  for (std::size_t i = 0; i < of.parameters.size(); ++i) {
    require(std::ranges::count(of.parameters[i].values, (*of.default_shape)[i]) == 1, of,
            "a default shape that is not among its shapes");
  }
}

std::string hash_of(const TunableDescription& of, const void* place) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n{}\n", of.name, of.kernel, of.version, version(),
                                 build_id_of(place));
  for (const ShapeParameter& one : of.parameters) {
    text += fmt::format("{} {}\n", one.name, fmt::join(one.values, " "));
  }
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

// The whole numbers above half-decades: 10^(1/2), 10, 10^(3/2), ...
constexpr std::array<std::int64_t, 37> bucket_begins = [] {
  std::array<std::int64_t, 37> begins{1, 4};
  constexpr std::int64_t digits = 3162277660168379332;  // of the square root of ten
  std::int64_t power = 10;
  for (std::size_t i = 2; i < begins.size(); ++i) {
    if (i % 2 == 0) {
      begins[i] = power;
    } else {
      begins[i] = digits / (1'000'000'000'000'000'000 / power) + 1;
      if (i + 1 < begins.size()) power *= 10;
    }
  }
  return begins;
}();

}  // namespace

Tunable::Tunable(TunableDescription description) : description_(std::move(description)) {
  check(description_);
  hash_ = hash_of(description_, this);
  Registered& to = registered();
  const std::lock_guard lock(to.mutex);
  const auto is_same = [&](const Tunable* one) {
    return one != nullptr && one->name() == name() && one->description().gpu == description_.gpu;
  };
  require(std::ranges::none_of(to.all, is_same), description_, "the name of another one");
  id_ = to.all.size();
  to.all.push_back(this);
}

Tunable::~Tunable() {
  Registered& from = registered();
  const std::lock_guard lock(from.mutex);
  from.all[id_] = nullptr;
}

std::int64_t Tunable::combinations() const noexcept {
  std::int64_t all = 1;
  for (const ShapeParameter& one : description_.parameters) {
    all *= static_cast<std::int64_t>(one.values.size());
  }
  return all;
}

LaunchShape Tunable::combination(std::int64_t number) const {
  LaunchShape shape{};
  for (std::size_t i = description_.parameters.size(); i-- > 0;) {
    const std::vector<std::int32_t>& values = description_.parameters[i].values;
    const auto count = static_cast<std::int64_t>(values.size());
    shape[i] = values[static_cast<std::size_t>(number % count)];
    number /= count;
  }
  return shape;
}

std::string Tunable::refusal(const LaunchShape& shape, const ShapeLimits& limits) const {
  for (std::size_t i = 0; i < description_.parameters.size(); ++i) {
    const ShapeParameter& one = description_.parameters[i];
    if (std::ranges::count(one.values, shape[i]) > 0) continue;
    return fmt::format("{}={} is none of {}", one.name, shape[i], fmt::join(one.values, ", "));
  }
  if (description_.allows == nullptr || description_.allows(shape, limits)) return {};
  return text_of(shape) + " is not possible on this device";
}

std::string Tunable::text_of(const LaunchShape& shape) const {
  std::string text;
  for (std::size_t i = 0; i < description_.parameters.size(); ++i) {
    text += fmt::format("{}{}={}", i > 0 ? " " : "", description_.parameters[i].name, shape[i]);
  }
  return text;
}

std::vector<const Tunable*> tunables(bool gpu) {
  Registered& from = registered();
  const std::lock_guard lock(from.mutex);
  std::vector<const Tunable*> there = from.all;
  std::erase_if(
      there, [&](const Tunable* one) { return one == nullptr || one->description().gpu != gpu; });
  return there;
}

int size_bucket(std::int64_t size) noexcept {
  const auto* const above =
      std::ranges::upper_bound(bucket_begins, std::max<std::int64_t>(1, size));
  return static_cast<int>(above - bucket_begins.begin()) - 1;
}

std::string bucket_text(int bucket) {
  if (bucket < 0 || bucket >= static_cast<int>(bucket_begins.size())) return "?";
  const auto at = static_cast<std::size_t>(bucket);
  if (at + 1 == bucket_begins.size()) return fmt::format("{}..", bucket_begins[at]);
  return fmt::format("{}..{}", bucket_begins[at], bucket_begins[at + 1] - 1);
}

}  // namespace kiln
