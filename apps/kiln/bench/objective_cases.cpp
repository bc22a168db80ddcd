// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "bench/objective_cases.hpp"

#include <cstdint>
#include <memory>

#include "bench/fixtures.hpp"

namespace kiln::cli {
namespace {

using Data = std::shared_ptr<ObjectiveBatch>;

constexpr const char* family_shape = "torus with a field, 2000 spins";

// Couplings are left out of the bytes below: they are few beside the states of thousands of
// replicas, and how often they are read is the kernel's affair.

PreparedKernel prepared_energy(BenchContext& context, const Data& data, int energies_out) {
  Queue& queue = context.queue();
  const auto evaluate = [data, &queue](std::uint32_t) {
    data->objective().as<Evaluates>()->evaluate(
        {data->batch(), data->batch().energy(), {}, data->control()}, queue);
  };
  const double per_slot = 8.0 * energies_out;
  return {{evaluate}, data->state_bytes() + per_slot * data->slots(), 0, data->batch().replicas()};
}

PreparedKernel prepared_sweep(BenchContext& context, const Data& data, bool energies_needed,
                              DrawNaming naming = DrawNaming::words) {
  Queue& queue = context.queue();
  const auto sweep = [data, energies_needed, naming, &queue](std::uint32_t index) {
    SweepArgs args{data->batch(), data->beta(),          data->control(),
                   index,         data->inverse_scale(), energies_needed};
    args.naming = naming;
    data->objective().as<Sweeps>()->metropolis_sweep(args, queue);
  };
  for (std::uint32_t i = 0; i < 20; ++i) sweep(1000 + i);  // towards the states of that temperature
  // Counts and, if they are needed, energies in and out; key, replica and rung in.
  const double per_slot = 2 * 8 + (energies_needed ? 2 * 8 : 0) + 8 + 4 + 4;
  return {{sweep},
          2 * data->state_bytes() + per_slot * data->slots(),
          data->attempts(),
          data->batch().replicas()};
}

Data family_data(BenchContext& context) {
  return std::make_shared<ObjectiveBatch>(context, bench_family());
}

}  // namespace

std::vector<KernelCase> energy_cases(const std::vector<std::string>& instances) {
  std::vector<KernelCase> cases;
  for (const std::string& name : instances) {
    cases.push_back({name, [name](BenchContext& context) {
                       return prepared_energy(context,
                                              std::make_shared<ObjectiveBatch>(context, name), 1);
                     }});
  }
  return cases;
}

std::vector<KernelCase> sweep_cases(const std::vector<std::string>& instances) {
  std::vector<KernelCase> cases;
  for (const std::string& name : instances) {
    cases.push_back({name, [name](BenchContext& context) {
                       return prepared_sweep(context,
                                             std::make_shared<ObjectiveBatch>(context, name), true);
                     }});
  }
  return cases;
}

std::vector<KernelCase> plane_sweep_cases(const std::vector<std::string>& instances) {
  std::vector<KernelCase> cases;
  for (const std::string& name : instances) {
    cases.push_back({name + " by planes", [name](BenchContext& context) {
                       return prepared_sweep(context,
                                             std::make_shared<ObjectiveBatch>(context, name), true,
                                             DrawNaming::planes);
                     }});
  }
  return cases;
}

std::vector<KernelCase> family_energy_cases() {
  return {{family_shape, [](BenchContext& context) {
             return prepared_energy(context, family_data(context), 3);
           }}};
}

std::vector<KernelCase> family_sweep_cases() {
  return {{family_shape, [](BenchContext& context) {
             return prepared_sweep(context, family_data(context), false);
           }}};
}

}  // namespace kiln::cli
