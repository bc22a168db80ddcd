// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/errors.hpp"
#include "kiln/host_threads.hpp"
#include "kiln/problems/graph.hpp"
#include "kiln/problems/ising.hpp"
#include "kiln/problems/potts.hpp"
#include "kiln/problems/qubo.hpp"

#include "sha256.hpp"

// What the canonical forms of graphs and QUBO functions share: merging, numbers and line output.
namespace kiln::problems::detail {

inline std::pair<std::int32_t, std::int32_t> key(const Edge& edge) { return {edge.u, edge.v}; }
inline std::pair<std::int32_t, std::int32_t> key(const QuboTerm& term) { return {term.i, term.j}; }
inline std::pair<std::int32_t, std::int32_t> key(const PottsField& field) {
  return {field.variable, field.value};
}
inline double amount(const Edge& edge) { return edge.weight; }
inline double amount(const QuboTerm& term) { return term.value; }
inline double amount(const PottsField& field) { return field.amount; }
inline double& amount(PottsField& field) { return field.amount; }
inline double& amount(Edge& edge) { return edge.weight; }
inline double& amount(QuboTerm& term) { return term.value; }

/// Sorts by key, and keeps terms with equal keys in their order. Linear in the terms and the
/// largest first index, where that index is not far above the number of terms.
template <class Term>
void sort_by_key(std::vector<Term>& terms) {
  const auto before = [](const Term& a, const Term& b) { return key(a) < key(b); };
  if (std::is_sorted(terms.begin(), terms.end(), before)) return;
  std::int32_t lowest = 0, highest = 0;
  for (const Term& term : terms) {
    lowest = std::min(lowest, key(term).first);
    highest = std::max(highest, key(term).first);
  }
  if (lowest < 0 || static_cast<std::size_t>(highest) / 8 > terms.size()) {
    std::stable_sort(terms.begin(), terms.end(), before);
    return;
  }
  std::vector<std::size_t> next(static_cast<std::size_t>(highest) + 2, 0);
  for (const Term& term : terms) ++next[static_cast<std::size_t>(key(term).first) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Term> sorted(terms.size());
  for (const Term& term : terms) sorted[next[static_cast<std::size_t>(key(term).first)]++] = term;
  // Now next[i] is the end of the terms with first index i.
  auto begin = sorted.begin();
  for (std::size_t i = 0; i + 1 < next.size(); ++i) {
    const auto end = sorted.begin() + static_cast<std::ptrdiff_t>(next[i]);
    if (!std::is_sorted(begin, end, before)) std::stable_sort(begin, end, before);
    begin = end;
  }
  terms = std::move(sorted);
}

/// Adds numbers in the order in which they come. Of integers up to 2^53 no step is rounded: 2^53 +
/// 1
/// - 2^53 is 1.
class TermSum {
 public:
  explicit TermSum(double first) : sum_(first), is_integer_(is_exact(first)) {}
  void add(double next) {
    const double sum = sum_ + next;
    // What rounding has lost (Knuth's TwoSum).
    const double from_next = sum - sum_;
    lost_ += (sum_ - (sum - from_next)) + (next - from_next);
    sum_ = sum;
    is_integer_ = is_integer_ && is_exact(next);
  }
  double value() const { return is_integer_ && std::isfinite(sum_) ? sum_ + lost_ : sum_; }

 private:
  static bool is_exact(double x) { return x == std::trunc(x) && std::abs(x) <= 0x1p53; }

  double sum_, lost_ = 0;
  bool is_integer_;
};

/// Linear terms of n variables that are added up, each as a TermSum.
class LinearSums {
 public:
  explicit LinearSums(std::size_t n) : sums_(n, TermSum(0)) {}
  void add(std::size_t i, double value) { sums_[i].add(value); }
  std::vector<double> values() const {
    std::vector<double> all;
    all.reserve(sums_.size());
    for (const TermSum& sum : sums_) all.push_back(sum.value());
    return all;
  }

 private:
  std::vector<TermSum> sums_;
};

/// Sorts by key and adds up equal keys in the order in which they stand; returns how many vanished.
/// @throws InvalidArgument `problem.value` if a sum overflows; nothing is added up then.
template <class Term>
std::int64_t sort_and_merge(std::vector<Term>& terms) {
  // Stable, so that the rounding of a sum follows the order of the file and not of the library.
  sort_by_key(terms);

  TermSum sum(0);
  for (std::size_t k = 0; k < terms.size(); ++k) {
    const bool repeats = k > 0 && key(terms[k]) == key(terms[k - 1]);
    if (repeats) {
      sum.add(amount(terms[k]));
    } else {
      sum = TermSum(amount(terms[k]));
    }
    if (!std::isfinite(sum.value())) {
      const auto [i, j] = key(terms[k]);
      throw InvalidArgument("problem.value", "the repeated coefficients of the pair (" +
                                                 std::to_string(i) + ", " + std::to_string(j) +
                                                 ") add up to more than a double can hold");
    }
  }

  std::size_t n_kept = 0;
  for (std::size_t k = 0; k < terms.size(); ++k) {
    if (n_kept > 0 && key(terms[n_kept - 1]) == key(terms[k])) {
      sum.add(amount(terms[k]));
      amount(terms[n_kept - 1]) = sum.value();
    } else {
      sum = TermSum(amount(terms[k]));
      terms[n_kept++] = terms[k];
    }
  }
  const auto n_merged = static_cast<std::int64_t>(terms.size() - n_kept);
  terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(n_kept), terms.end());
  return n_merged;
}

/// Whether pairs are in order, each once, with i < j < n and a finite amount that is not -0.
/// Ordered pairs are mostly what a generator or another program made: to see that takes one pass.
template <class Term>
bool are_canonical_pairs(const std::vector<Term>& terms, std::int32_t n, bool zeros_allowed) {
  const auto is_fine = [&](std::size_t k) {
    const auto [i, j] = key(terms[k]);
    const double x = amount(terms[k]);
    const bool in_order = k == 0 || key(terms[k - 1]) < key(terms[k]);
    return in_order && i >= 0 && i < j && j < n && std::isfinite(x) &&
           (x != 0 || (zeros_allowed && !std::signbit(x)));
  };
  const std::vector<char> fine =
      of_each_block(std::ssize(terms), [&](std::int64_t begin, std::int64_t end) -> char {
        auto k = static_cast<std::size_t>(begin);
        while (k < static_cast<std::size_t>(end) && is_fine(k)) ++k;
        return k == static_cast<std::size_t>(end);
      });
  return std::ranges::all_of(fine, [](char of_block) { return of_block != 0; });
}

/// @throws InvalidArgument `problem.not_canonical`.
void require_canonical(const Graph& graph);
void require_canonical(const Qubo& qubo);
void require_canonical(const Ising& ising);
void require_canonical(const Potts& potts);

/// "h 3 0 -1.5", as in the canonical text and in the format potts.
std::string line_of(const PottsField& field);

/// Writes an integer where the value is one, else the shortest text that reads back unchanged.
/// @return the end of the text, at most 32 characters
inline char* write_number(char* at, double value) {
  constexpr double two_to_53 = 9007199254740992.0;  // below it each integer is a double
  const bool whole = std::abs(value) < two_to_53 && value == std::trunc(value);
  return whole ? std::to_chars(at, at + 32, static_cast<std::int64_t>(value)).ptr
               : std::to_chars(at, at + 32, value).ptr;
}

/// Appends what write_number() writes.
inline void append_number(std::string& text, double value) {
  char digits[32];
  text.append(digits, write_number(digits, value));
}

/// Collects lines and hands them to `sink(std::string_view)` in blocks, so that a large problem is
/// hashed or written without ever being held as text.
template <class Sink>
class LineWriter {
 public:
  explicit LineWriter(Sink sink) : sink_(std::move(sink)) {}

  void line(std::string_view words) {
    block_ += words;
    end_line();
  }

  void line(std::int64_t i, std::int64_t j, double value) {
    char text[96];  // three numbers of up to 32 characters, with blanks
    char* at = std::to_chars(text, text + 31, i).ptr;
    *at++ = ' ';
    at = std::to_chars(at, at + 31, j).ptr;
    *at++ = ' ';
    block_.append(text, write_number(at, value));
    end_line();
  }

  /// Lines with their ends.
  void lines(std::string_view text) {
    flush();
    sink_(text);
  }

  void flush() {
    sink_(std::string_view(block_));
    block_.clear();
  }

 private:
  void end_line() {
    constexpr std::size_t block_bytes = std::size_t{1} << 16;
    block_ += '\n';
    if (block_.size() >= block_bytes) flush();
  }

  Sink sink_;
  std::string block_;
};

/// Writes a line for each term, with indices that count from `first`. Long lists become text on
/// several threads, some megabytes at a time.
template <class Sink, class Term>
void write_pairs(LineWriter<Sink>& writer, const std::vector<Term>& terms, std::int64_t first = 0) {
  constexpr std::int64_t block_size = std::int64_t{1} << 14, at_a_time = 64 * block_size;
  const std::int64_t n = std::ssize(terms);
  for (std::int64_t done = 0; done < n; done += at_a_time) {
    const auto text_of_block = [&](std::int64_t begin, std::int64_t end) {
      std::string text;
      const auto append = [&](std::string_view block) { text += block; };
      LineWriter block(append);
      for (std::int64_t k = done + begin; k < done + end; ++k) {
        const Term& term = terms[static_cast<std::size_t>(k)];
        block.line(first + key(term).first, first + key(term).second, amount(term));
      }
      block.flush();
      return text;
    };
    for (const std::string& text :
         of_each_block(std::min(at_a_time, n - done), text_of_block, block_size)) {
      writer.lines(text);
    }
  }
}

/// Writes a quadratic function: fields as i i value where they are not 0, terms, the offset.
template <class Sink, class Term>
void write_quadratic(LineWriter<Sink>& writer, const std::vector<double>& fields,
                     const std::vector<Term>& terms, double offset) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if (fields[i] != 0.0) writer.line(index, index, fields[i]);
  }
  write_pairs(writer, terms);
  if (offset == 0.0) return;
  std::string line = "offset ";
  append_number(line, offset);
  writer.line(line);
}

/// @param place  what the message says before the pair: "the Ising model is ... at coupling"
/// @throws InvalidArgument `problem.not_canonical` for the first pair that is out of order, names a
/// variable from `n` on, or has a value that is 0 or not finite.
template <class Term>
void require_canonical_pairs(const std::vector<Term>& terms, std::int32_t n,
                             const std::string& place) {
  if (are_canonical_pairs(terms, n, false)) return;
  std::pair<std::int32_t, std::int32_t> last{-1, -1};
  for (const Term& term : terms) {
    const auto [i, j] = key(term);
    const bool in_order = last < key(term) && i < j;
    const bool exists = i >= 0 && j < n;
    if (!in_order || !exists || !std::isfinite(amount(term)) || amount(term) == 0.0) {
      throw InvalidArgument("problem.not_canonical",
                            place + " (" + std::to_string(i) + ", " + std::to_string(j) + ")", {},
                            "call canonicalize() first");
    }
    last = key(term);
  }
}

/// What `emit` hands to its sink, in one piece.
template <class Emit>
std::string text_of(Emit emit) {
  std::string text;
  emit([&](std::string_view block) { text += block; });
  return text;
}

/// The first 16 digits of its hash.
template <class Emit>
std::string fingerprint_of(Emit emit) {
  Sha256 hash;
  emit([&](std::string_view block) { hash.update(block); });
  return hash.hex().substr(0, 16);
}

}  // namespace kiln::problems::detail
