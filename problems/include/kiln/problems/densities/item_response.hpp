// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/density.hpp"
#include "kiln/device/math.hpp"

namespace kiln {

/// Item response theory with one parameter per question: student s answers question q correctly
/// with the log odds mean + ability_s - difficulty_q.
///
/// mean ~ N(0.75, 1), abilities and difficulties ~ N(0, 1). Coordinates: mean, abilities,
/// difficulties. base is the negative log prior, term the negative log likelihood; constants are
/// dropped. Gradients are summed in the order of the data, without atomic additions, so that they
/// are reproducible.
/// @par Source  Gelman and Hill, Data Analysis Using Regression (2007), section 14.3.
struct ItemResponse {
  static constexpr const char* name = "item_response";
  static constexpr int fixed_dimension = 0;

  int students = 0;
  int questions = 0;
  int answers = 0;
  // Answers are sorted by students.
  const std::int32_t* student = nullptr;         ///< [answers], from 0
  const std::int32_t* question = nullptr;        ///< [answers], from 0
  const std::int32_t* correct = nullptr;         ///< [answers], 0 or 1
  const std::int32_t* student_begin = nullptr;   ///< [students + 1], into the answers
  const std::int32_t* question_begin = nullptr;  ///< [questions + 1], into `of_question`
  const std::int32_t* of_question = nullptr;     ///< [answers], answers sorted by questions

  KILN_HD int dimension() const { return 1 + students + questions; }
  KILN_HD int workspace() const { return answers; }

  template <Want want, class Team>
  KILN_HD EnergyParts evaluate(const Team& team, const DensityPoint& at) const {
    const double* ability = at.x + 1;
    const double* difficulty = at.x + 1 + students;
    double sums[3] = {0, 0, 0};  // prior, likelihood, residuals
    for (int i = 1 + team.rank(); i < dimension(); i += team.size()) {
      sums[0] += 0.5 * at.x[i] * at.x[i];
    }
    for (int k = team.rank(); k < answers; k += team.size()) {
      const double z = at.x[0] + ability[student[k]] - difficulty[question[k]];
      const double small = math::exp(-math::abs(z)), y = correct[k];
      sums[1] += math::log1p(small) + (z > 0 ? z : 0.0) - y * z;
      if constexpr (wants_gradient(want)) {
        const double residual = (z > 0 ? 1.0 : small) / (1.0 + small) - y;
        at.work[k] = residual;
        sums[2] += residual;
      }
    }
    team.sum(sums);
    const double off = at.x[0] - 0.75;
    if constexpr (wants_gradient(want)) {
      team.sync();  // residuals of all threads
      if (team.rank() == 0) at.gradient[0] = at.weights.base * off + at.weights.term * sums[2];
      for (int s = team.rank(); s < students; s += team.size()) {
        double pull = 0;
        for (int k = student_begin[s]; k < student_begin[s + 1]; ++k) pull += at.work[k];
        at.gradient[1 + s] = at.weights.base * ability[s] + at.weights.term * pull;
      }
      for (int q = team.rank(); q < questions; q += team.size()) {
        double pull = 0;
        for (int k = question_begin[q]; k < question_begin[q + 1]; ++k) {
          pull += at.work[of_question[k]];
        }
        at.gradient[1 + students + q] = at.weights.base * difficulty[q] - at.weights.term * pull;
      }
      team.sync();
    }
    return {sums[0] + 0.5 * off * off, sums[1]};
  }
};

}  // namespace kiln
