// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What the run-time compiler of CUDA gets of a user's function. It needs no GPU.
#include "compiled/objective_unit.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kiln/kernels/component.hpp"
#include "kiln/objectives/density_kernels.hpp"

#include "compiled/nvrtc.hpp"

namespace kiln::problems::detail {
namespace {

ObjectiveText objective(const std::string& text, int dimension, bool negated = false) {
  return {"objective.cu", text, dimension, negated};
}

constexpr const char* templated =
    "template <class T> T objective(const T* x, int n) {\n"
    "  T s = 0.0;\n"
    "  for (int i = 0; i < n; ++i) s += abs(x[i] - 0.5) + square(sin(pi * x[i])) + pow(x[i], 2.0)\n"
    "      + log1p(exp(-x[i])) + sqrt(1.0 + x[i] * x[i]) + cos(x[i]) + atan(x[i]) + expm1(x[i]);\n"
    "  return s;\n"
    "}\n";
constexpr const char* with_gradient =
    "double objective(const double* x, double* gradient, int n) {\n"
    "  double s = 0;\n"
    "  for (int i = 0; i < n; ++i) {\n"
    "    s += x[i] * x[i];\n"
    "    if (gradient != nullptr) gradient[i] = 2 * x[i];\n"
    "  }\n"
    "  return s;\n"
    "}\n";

template <class... Kernels>
std::vector<std::string> names_of(KernelList<Kernels...>) {
  return {Kernels::name...};
}

bool compiles(const std::string& unit, std::string& code, std::string& log) {
  return Nvrtc().compile(unit, "90", code, log);
}

// A kernel that is added to the list is known here, too, with all headers that it needs.
TEST(GpuUnit, IsThereForEachKernelOfDensities) {
  for (const std::string& name : names_of(DensityKernelList{})) {
    const std::string unit = gpu_unit(objective(templated, 3), name, "warp");
    EXPECT_NE(unit.find("__launch_bounds__(128) " + name + "("), std::string::npos) << name;
    EXPECT_EQ(unit.find("#include"), std::string::npos) << name;
  }
}

TEST(GpuUnit, Compiles) {
  if (!Nvrtc().found()) GTEST_SKIP() << "no NVRTC";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"density_energy", "thread"}, {"density_sweep", "thread"}, {"density_sweep", "block"},
      {"density_descent", "lanes"}, {"hmc_transition", "warp"},  {"nuts_transition", "warp"}};
  for (const auto& [kernel, form] : cases) {
    std::string code, log;
    EXPECT_TRUE(compiles(gpu_unit(objective(templated, 4, true), kernel, form), code, log))
        << kernel << " " << form << "\n"
        << log;
    EXPECT_NE(code.find(kernel), std::string::npos) << "the kernel has its name";
  }
  std::string code, log;
  EXPECT_TRUE(compiles(gpu_unit(objective(with_gradient, 100), "density_sweep", "warp"), code, log))
      << log;
}

TEST(GpuUnit, ShowsTheLineThatDoesNotCompile) {
  if (!Nvrtc().found()) GTEST_SKIP() << "no NVRTC";
  std::string code, log;
  const std::string wrong =
      "template <class T> T objective(const T* x, int) {\n  return x[0] + why;\n}\n";
  EXPECT_FALSE(compiles(gpu_unit(objective(wrong, 2), "density_energy", "thread"), code, log));
  EXPECT_NE(log.find("objective.cu(2)"), std::string::npos) << log;
}

}  // namespace
}  // namespace kiln::problems::detail
