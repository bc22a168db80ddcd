// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "run/problem_check.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "errors.hpp"
#include "output/text.hpp"
#include "output/wording.hpp"

namespace kiln::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double tolerance = 1e-6;

// Coordinates are counted from 1 for people, as in the names of quantities.
std::string place_of(const ProblemFindings& findings) {
  return fmt::format("coordinate {} of {}", findings.gradient->worst.coordinate + 1,
                     findings.dimension);
}

std::string gradient_text(const ProblemFindings& findings) {
  const GradientCheckAtStarts& at = *findings.gradient;
  return fmt::format(
      "agrees with finite differences of the energy at {} random start{}: relative difference at "
      "most {:.1e} ({}); the check detects errors above {:.1e}",
      at.starts, at.starts == 1 ? "" : "s", at.worst.difference, place_of(findings),
      at.worst.resolution);
}

std::string complaint_about(const ProblemFindings& findings) {
  const GradientCheck& worst = findings.gradient->worst;
  if (worst.error <= tolerance) return worst.text(tolerance);
  return fmt::format(
      "the gradient does not match the energy: at {}, the gradient is {:.10g}, but finite "
      "differences of the energy give {:.10g} +- {:.1e}",
      place_of(findings), worst.given, worst.measured, worst.uncertainty);
}

}  // namespace

ProblemFindings examine_problem(const Problem& problem, int starts, std::uint64_t seed) {
  ProblemFindings findings;
  findings.name = problem.identity.name;
  findings.kind = problem.identity.family;
  findings.sizes = problem.identity.sizes;
  findings.aim = aim_text(problem);
  findings.value_name = problem.units.value_name;
  findings.sense = problem.units.sense;
  findings.notes = problem.identity.notes;
  findings.dimension = problem.objective->space().variables();
  findings.constraints = problem.objective->constraints();
  findings.seed = seed;
  if (problem.objective->gradient_reference()) {
    findings.gradient = check_gradient(*problem.objective, starts, seed);
  }
  return findings;
}

std::string text_of(const ProblemFindings& findings) {
  std::string text = fmt::format("{}: ok\n", clean(findings.name));
  const auto line = [&](std::string_view name, const std::string& value) {
    for (const std::string& part : wrap(value, 63)) {
      text += fmt::format("  {:<14}{}\n", name, part);
      name = "";
    }
  };
  line("kind", findings.kind);
  line("aim", clean(findings.aim));
  for (const auto& [name, size] : findings.sizes) line(name, size);
  if (findings.constraints > 0) line("constraints", fmt::format("{}", findings.constraints));
  if (!findings.fingerprint.empty()) line("fingerprint", findings.fingerprint);
  if (findings.gradient) line("gradient", gradient_text(findings));
  for (const std::string& note : findings.notes) line("note", clean(note));
  return text;
}

Json json_of(const ProblemFindings& findings) {
  Json json = {{"problem", clean(findings.name)}, {"ok", findings.ok()}, {"kind", findings.kind}};
  for (const auto& [name, size] : findings.sizes) json["sizes"][name] = size;
  if (findings.constraints > 0) json["constraints"] = findings.constraints;
  json["objective"] = {{"name", clean(findings.value_name)}, {"sense", option_of(findings.sense)}};
  json["fingerprint"] = findings.fingerprint.empty() ? Json(nullptr) : Json(findings.fingerprint);
  if (!findings.notes.empty()) json["notes"] = findings.notes;
  json["gradient"] = nullptr;
  if (!findings.gradient) return json;
  const GradientCheckAtStarts& at = *findings.gradient;
  json["gradient"] = {{"ok", findings.ok()},
                      {"starts", at.starts},
                      {"seed", findings.seed},
                      {"replica", at.replica},
                      {"coordinate", at.worst.coordinate + 1},
                      {"given", at.worst.given},
                      {"measured", at.worst.measured},
                      {"uncertainty", at.worst.uncertainty},
                      {"difference", at.worst.difference},
                      {"error", at.worst.error},
                      {"resolution", at.worst.resolution}};
  return json;
}

void refuse_unless_ok(const ProblemFindings& findings) {
  if (findings.ok()) return;
  const GradientCheckAtStarts& at = *findings.gradient;
  throw SelfCheckError(
      "gradient.wrong", fmt::format("{}: {}", clean(findings.name), complaint_about(findings)),
      fmt::format("the relative error is {:.1e} at the start of replica {} with --seed {}; at most "
                  "{:.0e} is allowed",
                  at.worst.error, at.replica, findings.seed, tolerance),
      "correct the gradient, or use dual numbers (docs/guides/your_own_density.md)");
}

}  // namespace kiln::cli
