// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device/exact_math.hpp"
#include "kiln/device/team.hpp"

/// Small dense matrices, row-major, in memory that a team shares. Every function begins and ends
/// with all elements visible to the team.
namespace kiln::dense {

/// out = a b, n x n; `out` is neither.
template <class Team>
KILN_HD void multiply(const Team& team, int n, const double* a, const double* b, double* out) {
  for (int e = team.rank(); e < n * n; e += team.size()) {
    const int i = e / n, j = e % n;
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
    out[e] = sum;
  }
  team.sync();
}

/// out = sum over k of f(values[k]) v_k v_k^T for eigenvectors v_k in the rows of `vectors`.
template <class Team, class Function>
KILN_HD void from_spectrum(const Team& team, int n, const double* values, const double* vectors,
                           const Function& f, double* out) {
  for (int e = team.rank(); e < n * n; e += team.size()) {
    const int i = e / n, j = e % n;
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += f(values[k]) * vectors[k * n + i] * vectors[k * n + j];
    out[e] = sum;
  }
  team.sync();
}

/// Computes eigenvalues and eigenvectors of the symmetric n x n matrix a, which is overwritten:
/// values[n], unordered, and the vectors in the rows of vectors[n][n]. Cyclic Jacobi rotations; the
/// off-diagonal norm falls quadratically, and sweeps end at relative 1e-15 or after 30.
/// @par Source  Golub, Van Loan, Matrix Computations, 8.5 (Jacobi methods).
template <class Team>
KILN_HD void symmetric_eigen(const Team& team, int n, double* a, double* values, double* vectors) {
  for (int e = team.rank(); e < n * n; e += team.size()) vectors[e] = e / n == e % n ? 1.0 : 0.0;
  team.sync();
  for (int round = 0; round < 30; ++round) {
    double norms[2] = {0, 0};  // off the diagonal, and all
    for (int e = team.rank(); e < n * n; e += team.size()) {
      const double square = a[e] * a[e];
      norms[1] += square;
      if (e / n != e % n) norms[0] += square;
    }
    team.sum(norms);
    if (!(norms[0] > 1e-30 * norms[1])) break;
    // Elements this small are left alone: they cannot hold the norm above its bound.
    const double skip = 1e-16 * exact::sqrt(norms[1]) / n;
    for (int p = 0; p + 1 < n; ++p) {
      for (int q = p + 1; q < n; ++q) {
        const double apq = a[p * n + q];
        if (!(apq > skip || apq < -skip)) continue;
        const double app = a[p * n + p], aqq = a[q * n + q];
        const double theta = (aqq - app) / (2 * apq);
        const double size = theta < 0 ? -theta : theta;
        const double root = 1.0 / (size + exact::sqrt(theta * theta + 1));
        const double t = theta < 0 ? -root : root;
        const double c = 1.0 / exact::sqrt(t * t + 1), s = t * c;
        team.sync();  // wait until all have read the values that change now
        for (int k = team.rank(); k < n; k += team.size()) {
          if (k != p && k != q) {
            const double akp = a[k * n + p], akq = a[k * n + q];
            a[k * n + p] = a[p * n + k] = c * akp - s * akq;
            a[k * n + q] = a[q * n + k] = s * akp + c * akq;
          }
          const double vp = vectors[p * n + k], vq = vectors[q * n + k];
          vectors[p * n + k] = c * vp - s * vq;
          vectors[q * n + k] = s * vp + c * vq;
        }
        if (team.rank() == 0) {
          a[p * n + p] = app - t * apq;
          a[q * n + q] = aqq + t * apq;
          a[p * n + q] = a[q * n + p] = 0;
        }
        team.sync();
      }
    }
  }
  for (int k = team.rank(); k < n; k += team.size()) values[k] = a[k * n + k];
  team.sync();
}

}  // namespace kiln::dense
