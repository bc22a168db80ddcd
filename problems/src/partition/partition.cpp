// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Number partitioning: the problem, its file format, its generator, and its entry in the table.
#include "kiln/problems/partition.hpp"

#include <algorithm>
#include <memory>
#include <ostream>
#include <span>
#include <utility>
#include <variant>

#include "kiln/errors.hpp"
#include "kiln/objectives/turned.hpp"
#include "kiln/problems/ising.hpp"
#include "kiln/problems/pairwise.hpp"

#include "canonical.hpp"
#include "families/model_family.hpp"
#include "families/model_kind.hpp"
#include "generators/graph_base_random.hpp"
#include "readers/sparse.hpp"
#include "readers/text_reader.hpp"

namespace kiln {
namespace {

std::int64_t sum_of(const Partition& partition) {
  std::int64_t sum = 0;
  for (const std::int64_t number : partition.numbers) sum += number;
  return sum;
}

void require_valid(const Partition& partition) {
  const auto n = std::ssize(partition.numbers);
  if (n < 1 || n > Partition::max_numbers) {
    throw InvalidArgument("problem.size", "the list has " + std::to_string(n) + " numbers",
                          "1 .. " + std::to_string(Partition::max_numbers));
  }
  std::int64_t rest = Partition::largest_sum;
  for (const std::int64_t number : partition.numbers) {
    if (number < 1) {
      throw InvalidArgument("problem.value",
                            "the number " + std::to_string(number) + " is not positive",
                            "whole numbers, each at least 1");
    }
    if (number > rest) {
      throw InvalidArgument("problem.value", "the numbers add up to more than " +
                                                 std::to_string(Partition::largest_sum));
    }
    rest -= number;
  }
}

double squared_difference(const Partition& partition, StateSpan state) {
  const auto spins = std::get<std::span<const std::int8_t>>(state.front());
  std::int64_t difference = 0;
  for (std::size_t i = 0; i < spins.size(); ++i) difference += spins[i] * partition.numbers[i];
  return static_cast<double>(difference * difference);
}

/// The pairs of (sum of w_i s_i)^2 = sum of w_i^2 + 2 sum over pairs of w_i w_j s_i s_j.
Ising pairs_of(const std::vector<std::int64_t>& numbers) {
  Ising model;
  model.n = static_cast<std::int32_t>(numbers.size());
  model.fields.assign(numbers.size(), 0.0);
  model.couplings.reserve(numbers.size() * (numbers.size() - 1) / 2);
  for (std::int32_t i = 0; i < model.n; ++i) {
    for (std::int32_t j = i + 1; j < model.n; ++j) {
      const auto [a, b] =
          std::pair{numbers[static_cast<std::size_t>(i)], numbers[static_cast<std::size_t>(j)]};
      model.couplings.push_back({i, j, static_cast<double>(a * b)});
    }
  }
  return model;
}

ModelOutline outline_of_partition(const Partition& partition) {
  const auto n = std::ssize(partition.numbers);
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  return {{{"numbers", n}, {"sum", sum_of(partition)}},
          n,
          problems::detail::range_of(partition.numbers, real),
          real(sum_of(partition))};
}

}  // namespace

Problem make_partition(Partition partition, std::string name) {
  require_valid(partition);
  const std::int64_t sum = sum_of(partition);
  double squares = 0;
  for (const std::int64_t number : partition.numbers) {
    squares += static_cast<double>(number * number);
  }
  Problem problem = make_ising(pairs_of(partition.numbers), std::move(name));
  problem.identity.family = "partition";
  problem.units.value_name = "squared difference";
  problem.units.energy_of_stored = {squares, 2};
  problem.units.objective_of_stored = problem.units.energy_of_stored;
  problem.units.rounding = 0;  // integers below 2^53
  problem.known.bound = static_cast<double>(sum % 2);
  problem.identity.sizes = {{"n", std::to_string(partition.numbers.size())},
                            {"sum", std::to_string(sum)}};
  const auto raw = std::make_shared<const Partition>(std::move(partition));
  problem.solution.verify = [raw](StateSpan state) { return squared_difference(*raw, state); };
  return problem;
}

const ModelKind& Partition::model_kind() {
  static const ModelKind kind{KindOf<Partition>{
      .name = "partition",
      .singular = "a list of numbers",
      .plural = "lists of numbers",
      .value_name = "squared difference",
      .sense = Sense::minimize,
      .writers = {{Format{"numbers"}, problems::write_partition}},
      .outline = outline_of_partition,
      .fingerprint = problems::fingerprint,
      .make = [](Partition partition, Sense sense, std::string name) {
        const Problem problem = make_partition(std::move(partition), std::move(name));
        return sense == problem.units.sense ? problem : turned(problem);
      }}};
  return kind;
}

namespace problems {
namespace {

constexpr std::string_view number_form =
    "whole numbers of at least 1, separated by blanks or line breaks";

template <class Sink>
void write_numbers(detail::LineWriter<Sink>& writer, const Partition& partition) {
  require_valid(partition);
  for (const std::int64_t number : partition.numbers) writer.line(std::to_string(number));
}

}  // namespace

Partition read_partition(std::istream& in, const std::string& file_name, ReadReport* report) {
  detail::TextReader text(in, file_name);
  Partition partition;
  std::int64_t rest = Partition::largest_sum;
  while (text.next_line()) {
    for (const detail::Token& word : text.words()) {
      if (word.text.starts_with('#')) break;
      const auto number = text.integer(word, {"number", number_form}, 1, Partition::largest_sum);
      if (!number) continue;
      if (*number > rest) {
        text.fail(word.column,
                  "the numbers up to this number add up to more than " +
                      std::to_string(Partition::largest_sum),
                  "a smaller sum, whose square a double represents exactly");
      }
      if (std::ssize(partition.numbers) == Partition::max_numbers) {
        text.fail(word.column,
                  "there are more than " + std::to_string(Partition::max_numbers) + " numbers",
                  "the end of the file");
      }
      rest -= *number;
      partition.numbers.push_back(*number);
    }
  }
  text.finish();
  if (partition.numbers.empty()) text.fail(0, "there are no numbers", number_form);
  if (report != nullptr) *report = {};
  return partition;
}

void write_partition(std::ostream& out, const Partition& partition,
                     const std::vector<std::string>& comments) {
  detail::LineWriter writer([&](std::string_view block) {
    out.write(block.data(), static_cast<std::streamsize>(block.size()));
  });
  write_numbers(writer, partition);
  for (const std::string& comment : comments) writer.line("# " + detail::one_line(comment));
  writer.flush();
  if (!out) throw IoError("io.write", "writing the numbers failed");
}

std::string fingerprint(const Partition& partition) {
  return detail::fingerprint_of([&](auto sink) {
    detail::LineWriter writer(sink);
    writer.line("partition " + std::to_string(partition.numbers.size()));
    write_numbers(writer, partition);
    writer.flush();
  });
}

namespace {

constexpr std::int32_t max_bits = 26;

void check_random_partition(std::int32_t n, std::int32_t bits) {
  if (n < 1 || n > Partition::max_numbers) {
    throw InvalidArgument("problem.size", "the list has " + std::to_string(n) + " numbers",
                          "1 .. " + std::to_string(Partition::max_numbers));
  }
  if (bits < 1 || bits > max_bits) {
    throw InvalidArgument("problem.size", "numbers of " + std::to_string(bits) + " bits",
                          "1 .. " + std::to_string(max_bits));
  }
  if (n * (std::int64_t{1} << bits) <= Partition::largest_sum) return;
  throw InvalidArgument("problem.size",
                        std::to_string(n) + " numbers of " + std::to_string(bits) +
                            " bits may add up to more than " +
                            std::to_string(Partition::largest_sum),
                        "fewer numbers, or fewer bits");
}

}  // namespace

Partition random_partition(std::int32_t n, std::int32_t bits, std::int64_t seed) {
  check_random_partition(n, bits);
  detail::GraphBaseRandom random(seed);
  Partition partition;
  for (std::int32_t i = 0; i < n; ++i) {
    partition.numbers.push_back(std::int64_t{random.uniform(std::int32_t{1} << bits)} + 1);
  }
  return partition;
}

namespace detail {
namespace {

/// A whole number alone in its line, and no more in the next one: all other formats have several.
bool recognises_numbers(FirstLines& lines) {
  for (std::size_t k = 0; k < 2; ++k) {
    const FirstLines::Words* const words = lines.line(k);
    if (words == nullptr || words->front().starts_with('#')) return k > 0;
    if (words->size() > 1 || !is_integer(words->front())) return false;
  }
  return true;
}

FormatEntry partition_format() {
  return {{Format{"numbers"},
           "numbers",
           {".part", ".npp"},
           "Whole numbers for number partitioning into two sets of equal sums.",
           {"file    = (number | comment)*", "number  = <whole number from 1>",
            "comment = # anything, to the end of the line"},
           "# 23 partitions of these numbers are perfect\n2 10 3 8 5\n7 9 5 3 2\n"},
          {.recognises = recognises_numbers},
          [](std::istream& in, const std::string& file_name, ReadReport* report,
             const ReaderOptions&) -> Model { return read_partition(in, file_name, report); }};
}

FamilyParameters parse_partition(const Family& family, std::string_view text) {
  ParameterReader reader(family, text);
  FamilyParameters parameters;
  parameters.n = reader.size();
  reader.expect(',');
  parameters.m = reader.size();
  reader.expect(',');
  parameters.seed = reader.seed();
  reader.finish();
  check_random_partition(parameters.n, parameters.m);
  return parameters;
}

std::string print_partition(const FamilyParameters& p) {
  return std::to_string(p.n) + "," + std::to_string(p.m) + "," + std::to_string(p.seed);
}

}  // namespace

ModelFamily partitions() {
  return {
      {&Partition::model_kind()},
      {partition_format()},
      {{"partition", "N,BITS,SEED", "N numbers up to 2^BITS, drawn with SEED",
        "number partitioning: N numbers up to 2^BITS; minimises the squared difference of the sums "
        "of two sets",
        "40,20,1", Sense::minimize, parse_partition, print_partition,
        [](const FamilyParameters& p) -> Model { return random_partition(p.n, p.m, p.seed); }}}};
}

}  // namespace detail
}  // namespace problems
}  // namespace kiln
