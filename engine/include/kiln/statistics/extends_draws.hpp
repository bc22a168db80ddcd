// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "kiln/export.hpp"
#include "kiln/queue.hpp"

namespace kiln {

/// Ability of schedules that keep draws: a run that continues from a checkpoint may make more of
/// them than the saved run was planned for, as if it had been planned for all of them.
class KILN_API ExtendsDraws {
 public:
  static constexpr std::string_view interface_name = "extend draws";
  /// The parameter that is the number of draws.
  static constexpr std::string_view parameter = "draws";

  /// Whether a scratch array has equally many elements for each draw, one draw after another: that
  /// of fewer draws is its beginning.
  virtual bool grows(std::string_view array) const = 0;
  /// Checks that a run of `draws` draws, which has made `sweeps` transitions, can have those of
  /// this run. @throws InvalidArgument `resume.draws` if not
  virtual void require_extendable(std::int64_t draws, std::uint64_t sweeps) const = 0;
  /// The state of the saved run is loaded: makes what depends on the number of draws anew.
  virtual void extend_draws(Queue& queue, std::uint64_t sweeps) = 0;

 protected:
  ~ExtendsDraws() = default;
};

}  // namespace kiln
