// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "families.hpp"

#include <charconv>
#include <optional>

#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/problems/pairwise.hpp"

namespace kiln {
namespace {

struct TorusSpec {
  std::int32_t a = 0, b = 0;
  std::int64_t seed = 0;
};

template <class T>
bool take_number(std::string_view& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_char(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

TorusSpec parse_torus(const std::string& parameters) {
  TorusSpec spec;
  std::string_view rest = parameters;
  const bool fits = take_number(rest, spec.a) && take_char(rest, 'x') &&
                    take_number(rest, spec.b) && take_char(rest, ',') &&
                    take_number(rest, spec.seed) && rest.empty();
  if (!fits) {
    throw InvalidArgument("problem.parameters",
                          "'torus:" + parameters + "' does not have the form torus:AxB,SEED",
                          "two side lengths and a seed", "kiln solve torus:50x40,1");
  }
  return spec;
}

}  // namespace

void register_problems(Registry& registry) {
  registry.add(ProblemEntry{"gset",
                            "G1 .. G81",
                            "the 71 Max-Cut graphs of the G-set, generated bit for bit",
                            {"gset:G1", "gset:G22", "gset:G81"},
                            [](const std::string& instance) {
                              return make_maxcut(problems::gset(instance), "gset:" + instance);
                            }});
  registry.add(ProblemEntry{"torus",
                            "AxB,SEED",
                            "Max-Cut on an A x B torus with random weights -1 and +1",
                            {"torus:50x40,1"},
                            [](const std::string& parameters) {
                              const TorusSpec spec = parse_torus(parameters);
                              return make_maxcut(problems::torus_pm1(spec.a, spec.b, spec.seed),
                                                 "torus:" + parameters);
                            }});
}

}  // namespace kiln
