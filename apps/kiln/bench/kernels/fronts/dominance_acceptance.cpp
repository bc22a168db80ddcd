// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/kernels/fronts/dominance_acceptance.hpp"

#include "bench/kernel_case.hpp"
#include "bench/pool_fixture.hpp"

namespace kiln::cli {
namespace dominance_acceptance_bench {

struct AnnealingArrays {
  AnnealingArrays(Queue& queue, std::int64_t groups, std::int64_t n_replicas,
                  std::int64_t n_members, std::int64_t n_objectives)
      : replicas(n_replicas),
        members(n_members),
        objectives(n_objectives),
        present(queue, groups, replicas, objectives),
        pool(queue, groups, replicas + members, objectives),
        rank(queue, pool.count()),
        ideal(queue, filled(objectives * groups, 0)),
        nadir(queue, filled(objectives * groups, 1)),
        source(queue, groups * replicas),
        member(queue, groups * replicas),
        accepted(queue, groups * replicas) {
    rank.zero();
    accepted.zero();
  }
  std::int64_t replicas, members, objectives;
  PoolArrays present, pool;
  DeviceArray<std::int32_t> rank;
  DeviceArray<double> ideal, nadir;
  DeviceArray<std::int32_t> source, member;
  DeviceArray<std::uint64_t> accepted;
};

PreparedKernel prepare(BenchContext& context) {
  Queue& queue = context.queue();
  const auto data = std::make_shared<AnnealingArrays>(queue, 64, 64, 100, 3);
  const auto launch = [data, &queue](std::uint32_t index) {
    DominanceAcceptance kernel;
    kernel.replicas = data->present.count();
    kernel.group_size = data->replicas;
    kernel.value = data->present.values();
    kernel.violation = data->present.violation.view();
    kernel.points = {data->pool.points.values(), data->pool.violation.view(), data->pool.groups()};
    kernel.rank = data->rank.view();
    kernel.members = data->members;
    kernel.ideal = table_of(data->ideal, data->objectives);
    kernel.nadir = table_of(data->nadir, data->objectives);
    kernel.first = 0.1;
    kernel.source = data->source.view();
    kernel.member = data->member.view();
    kernel.accepted = data->accepted.view();
    kernel.draw_ids = data->present.draw_ids();
    kernel.control = data->present.control.data();
    kernel.step_offset = index;
    queue.launch(kernel);
  };
  return {{launch},
          2 * data->present.points.bytes() + data->pool.points.bytes() +
              static_cast<double>(data->rank.bytes() + data->pool.violation.bytes() +
                                  2 * data->present.violation.bytes() + data->source.bytes() +
                                  data->member.bytes() + 2 * data->accepted.bytes())};
}

}  // namespace dominance_acceptance_bench

template <>
std::vector<KernelCase> bench_cases<DominanceAcceptance>() {
  using namespace dominance_acceptance_bench;
  return {{"64 groups of 64 replicas, archives of 100 members, 3 objectives", prepare}};
}

}  // namespace kiln::cli
