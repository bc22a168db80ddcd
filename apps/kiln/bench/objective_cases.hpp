// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/kernel_case.hpp"

// The cases of kernels that an objective launches itself, by its evaluate() and metropolis_sweep().
namespace kiln::cli {

/// Evaluations of random states, one case for each instance.
std::vector<KernelCase> energy_cases(const std::vector<std::string>& instances);

/// Sweeps in the middle of an anneal, one case for each instance.
std::vector<KernelCase> sweep_cases(const std::vector<std::string>& instances);

/// The same with draws by planes.
std::vector<KernelCase> plane_sweep_cases(const std::vector<std::string>& instances);

/// The same for the family of bench_family(), whose replicas have an energy and its two parts.
std::vector<KernelCase> family_energy_cases();
/// Sweeps of it that leave the energies behind, as ladders ask for them.
std::vector<KernelCase> family_sweep_cases();

}  // namespace kiln::cli
