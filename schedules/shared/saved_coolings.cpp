// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "shared/saved_coolings.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

namespace kiln {
namespace {

// As bytes: not every byte is a bool.
bool stretch_alike(const Cooling& first, const Cooling& now) {
  return std::memcmp(&first.stretches, &now.stretches, sizeof first.stretches) == 0;
}

bool can_become(const Cooling& first, const Cooling& now, std::int64_t window) {
  const bool kept = now.kind == first.kind && now.beta_end == first.beta_end &&
                    now.list_begin == first.list_begin && now.list_size == first.list_size &&
                    now.polish == first.polish && now.growth == first.growth &&
                    now.reheats == first.reheats && now.short_unit == first.short_unit &&
                    stretch_alike(first, now);
  const bool within = now.length > 0 && now.polish <= now.length && now.position >= 0 &&
                      now.position < now.length && now.round >= 0 && now.long_length >= 0;
  return kept && within && now.feedback.filled >= 0 && now.feedback.filled <= window;
}

}  // namespace

void require_saved_coolings(AllocateContext& run, const std::string& name,
                            std::vector<Cooling> initial, std::int64_t window) {
  run.require_saved<Cooling>(
      name, [initial = std::move(initial), window](const std::vector<Cooling>& saved) {
        for (std::size_t group = 0; group < saved.size(); ++group) {
          if (!can_become(initial[group], saved[group], window)) return false;
        }
        return true;
      });
}

}  // namespace kiln
