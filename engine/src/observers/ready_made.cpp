// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/observers/ready_made.hpp"

#include <fmt/format.h>

#include <ostream>
#include <string>

#include "kiln/errors.hpp"

namespace kiln::observers {

Observer stagnation(std::int64_t sweeps) {
  if (sweeps < 1) {
    throw InvalidArgument("observer.sweeps",
                          fmt::format("a run cannot stagnate for {} sweeps", sweeps),
                          "a number of sweeps of at least 1");
  }
  return {fmt::format("stagnation for {} sweeps", sweeps), [sweeps](const ReportPoint& point) {
            const bool known = point.best_sweeps >= 0;
            return known && point.sweeps - point.best_sweeps >= sweeps ? Next::stop : Next::go_on;
          }};
}

Observer deadline(std::chrono::system_clock::time_point moment) {
  return {"deadline", [moment](const ReportPoint&) {
            return std::chrono::system_clock::now() >= moment ? Next::stop : Next::go_on;
          }};
}

Observer trace(std::vector<ReportPoint>& points) {
  return {"trace", [&points](const ReportPoint& point) { points.push_back(point); }};
}

Observer trace_csv(std::ostream& out) {
  out << "time_s,sweeps,attempts,best,best_energy,mean,acceptance_rate,beta\n";
  return {"trace", [&out](const ReportPoint& point) {
            const std::string best =
                point.has_best ? fmt::format("{},{}", point.best, point.best_energy) : ",";
            out << fmt::format("{},{},{},{},{},{},{}\n", point.time_s, point.sweeps, point.attempts,
                               best, point.mean, point.acceptance_rate, point.beta);
          }};
}

}  // namespace kiln::observers
