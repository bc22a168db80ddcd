// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// A library is a guest in the program that uses it: it installs no handler of a signal and blocks
// none, writes to no stream, and changes neither the locale nor the folder. Exits with the number
// of the first that it did; a run that fails with an exception is one of those that are tried.
#include <clocale>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <kiln/kiln.hpp>
#include <string>
#include <vector>

#include "bowl.hpp"

namespace {

struct Handlers {
  std::vector<struct sigaction> actions{static_cast<std::size_t>(NSIG)};
  sigset_t blocked{};
};

Handlers handlers() {
  Handlers all;
  for (int number = 1; number < NSIG; ++number) {
    sigaction(number, nullptr, &all.actions[static_cast<std::size_t>(number)]);
  }
  sigprocmask(SIG_BLOCK, nullptr, &all.blocked);
  return all;
}

bool same(const Handlers& before, const Handlers& after) {
  for (int number = 1; number < NSIG; ++number) {
    const auto i = static_cast<std::size_t>(number);
    if (before.actions[i].sa_handler != after.actions[i].sa_handler) return false;
    if (sigismember(&before.blocked, number) != sigismember(&after.blocked, number)) return false;
  }
  return true;
}

}  // namespace

int main() {
  const Handlers before = handlers();
  const std::string locale = std::setlocale(LC_ALL, nullptr);
  const std::filesystem::path folder = std::filesystem::current_path();

  kiln::Engine engine({.device = "cpu", .replicas = 32});
  kiln::SimulatedAnnealing annealing;
  const kiln::Problem bowl =
      kiln::make_problem(kiln::make_functor_objective("bowl", Bowl{}, kiln::Bounds{-4, 4}));
  if (!engine.run(bowl, annealing, {.sweeps = 200}).verified) return 1;
  try {
    kiln::builtin_registry().schedule("simulated-anealing");
    return 2;
  } catch (const kiln::Error&) {
  }
  if (!same(before, handlers())) return 3;
  if (std::setlocale(LC_ALL, nullptr) != locale) return 4;
  if (std::filesystem::current_path() != folder) return 5;
}
