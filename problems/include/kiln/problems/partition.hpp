// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "kiln/export.hpp"
#include "kiln/problem.hpp"
#include "kiln/problems/model.hpp"
#include "kiln/problems/readers.hpp"

namespace kiln {

/// Numbers to divide into two sets whose sums are as equal as possible. Their order matters: the
/// solution has a line for each.
struct Partition {
  static constexpr std::int64_t max_numbers = 11585;  ///< 2^26 pairs, each of which is a coupling
  static constexpr std::int64_t largest_sum = 94906265;  ///< its square is below 2^53

  std::vector<std::int64_t> numbers;  ///< each at least 1
  friend bool operator==(const Partition&, const Partition&) = default;
  KILN_API static const ModelKind& model_kind();
};

/// Makes a number partitioning problem: spins give the set of each number, and the square of the
/// difference of the two sums is minimised. As an Ising model its couplings are products of two
/// numbers. All values are exact, because the numbers add up to Partition::largest_sum at most. No
/// partition is better than one of difference 0, or 1 if the sum is odd: a run that finds one ends.
///
/// @throws InvalidArgument `problem.size` for no numbers or more than Partition::max_numbers;
///   `problem.value` for a number below 1 and for a sum above Partition::largest_sum.
KILN_API Problem make_partition(Partition partition, std::string name = "partition");

namespace problems {

/// Reads numbers, separated by blanks or lines; `#` begins a comment that ends with its line.
/// @throws ParseError, IoError as all readers.
KILN_API Partition read_partition(std::istream& in, const std::string& file_name,
                                  ReadReport* report = nullptr);

/// Writes one number per line, and comments after them: a text that begins with a number is
/// recognised.
/// @throws InvalidArgument as make_partition(); IoError `io.write` if the stream fails.
KILN_API void write_partition(std::ostream& out, const Partition& partition,
                              const std::vector<std::string>& comments = {});

/// The first 16 hexadecimal digits of the SHA-256 of a line `partition n` and a line per number.
/// @throws InvalidArgument as make_partition().
KILN_API std::string fingerprint(const Partition& partition);

/// n numbers from 1 to 2^bits, drawn from `seed` by the generator of the Stanford GraphBase.
/// @param n  numbers
/// @param bits  of the largest number
/// @param seed  any integer; only its value modulo 2^31 counts.
/// @throws InvalidArgument `problem.size` if n is not 1 .. Partition::max_numbers, bits not 1 ..
///   26, or n 2^bits above Partition::largest_sum.
KILN_API Partition random_partition(std::int32_t n, std::int32_t bits, std::int64_t seed);

}  // namespace problems
}  // namespace kiln
