// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <barrier>
#include <cstddef>
#include <thread>
#include <vector>

namespace kiln::test {

/// A team of threads of the CPU, as kiln/device/team.hpp describes one: what a density does in a
/// warp or a block can be tried without a GPU, and under the thread sanitizer.
class ThreadTeam {
 public:
  struct Shared {
    explicit Shared(int threads) : size(threads), meeting(threads), values(std::size_t(threads)) {}
    int size;
    std::barrier<> meeting;
    std::vector<double> values;
  };

  ThreadTeam(Shared& shared, int rank) : shared_(shared), rank_(rank) {}
  int rank() const { return rank_; }
  int size() const { return shared_.size; }
  void sync() const { shared_.meeting.arrive_and_wait(); }
  double sum(double value) const {
    shared_.values[static_cast<std::size_t>(rank_)] = value;
    sync();
    double total = 0;
    for (const double part : shared_.values) total += part;
    sync();
    return total;
  }
  template <int n>
  void sum(double (&values)[n]) const {
    for (double& value : values) value = sum(value);
  }

 private:
  Shared& shared_;
  int rank_;
};

/// Calls work(team) on every thread of a team.
template <class Work>
void with_team(int threads, const Work& work) {
  ThreadTeam::Shared shared(threads);
  std::vector<std::jthread> team;
  for (int rank = 0; rank < threads; ++rank) {
    team.emplace_back([&shared, &work, rank] { work(ThreadTeam(shared, rank)); });
  }
}

}  // namespace kiln::test
