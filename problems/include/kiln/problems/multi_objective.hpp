// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"

namespace kiln::problems {

/// ZDT1 to ZDT6: two objectives of reals, for ZDT5 of bits, with a known exact front.
///
/// @param number  1 .. 6
/// @param variables  0: the customary ones, 30 (ZDT1 to ZDT3), 10 (ZDT4, ZDT6) or 80 bits (ZDT5).
///   At least 2; for ZDT5 30 + 5 (m - 1) with m at least 2, 30 bits for the first of m variables
///   and 5 for each other one.
/// @throws InvalidArgument `problem.unknown` if there is no such number, `problem.size` for an
///   invalid number of variables.
/// @par Source  Zitzler, Deb, Thiele, Evolutionary Computation 8 (2000) 173.
KILN_API Problem zdt(int number, int variables = 0);

/// DTLZ1 to DTLZ7: reals in [0, 1], objectives - 1 of them for the position along the front and
/// `distance` for the distance from it. The front is known, but that of DTLZ5 and DTLZ6 only for up
/// to three objectives.
///
/// @param number  1 .. 7
/// @param objectives  2 .. max_objectives
/// @param distance  0: the customary number, 5 (DTLZ1), 10 (DTLZ2 to DTLZ6) or 20 (DTLZ7).
/// @throws InvalidArgument as zdt().
/// @par Source  Deb, Thiele, Laumanns, Zitzler, in Evolutionary Multiobjective Optimization
/// (Springer 2005) 105.
KILN_API Problem dtlz(int number, int objectives = 3, int distance = 0);

/// DTLZ with constraints: "c1-dtlz1", "c1-dtlz3", "c2-dtlz2", "c3-dtlz1" or "c3-dtlz4", with the
/// default number of variables of dtlz(). The front is known.
///
/// @throws InvalidArgument `problem.unknown` with the nearest name, and `problem.size`.
/// @par Source  Jain, Deb, IEEE Transactions on Evolutionary Computation 18 (2014) 602.
KILN_API Problem cdtlz(const std::string& name, int objectives = 3);

/// WFG1 to WFG9, with variables x_i = z_i / 2i in [0, 1], where the paper has z_i in [0, 2i]. The
/// front is known for two objectives, that of WFG4 to WFG9 for any number; its box for all but WFG3
/// with three objectives or more.
///
/// @param number  1 .. 9
/// @param objectives  2 .. max_objectives
/// @param position  variables for the position along the front, a multiple of objectives - 1; 0:
///   twice that.
/// @param distance  variables for the distance from it, even for WFG2 and WFG3; 0: 4. Together at
///   most Wfg::max_variables.
/// @throws InvalidArgument as zdt().
/// @par Source  Huband, Hingston, Barone, While, IEEE Transactions on Evolutionary Computation 10
/// (2006) 477.
KILN_API Problem wfg(int number, int objectives = 2, int position = 0, int distance = 0);

/// A problem of engineering design from the RE suite, RE21 to RE25 (two objectives) or RE31 to RE37
/// (three), of reals and integers. The total violation of the constraints is the last objective.
/// The front is unknown; the box is the one in which the suite measures hypervolumes, see
/// docs/problems/multi_objective_benchmarks.md.
///
/// @param number  21 .. 25, 31 .. 37
/// @throws InvalidArgument `problem.unknown`.
/// @par Source  Tanabe, Ishibuchi, Applied Soft Computing 89 (2020) 106078, and its corrections.
KILN_API Problem engineering_design(int number);

}  // namespace kiln::problems
