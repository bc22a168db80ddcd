// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Number partitioning against the enumeration of all partitions, and against published lists.
#include "kiln/problems/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <sstream>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/registry.hpp"
#include "kiln/schedules/simulated_annealing.hpp"

#include "bad_text.hpp"

namespace kiln::partition_test {
namespace {

using Numbers = std::vector<std::int64_t>;

Partition parse(const std::string& text) {
  std::istringstream in(text);
  return problems::read_partition(in, "f");
}

std::string parse_error(const std::string& text) {
  try {
    parse(text);
  } catch (const ParseError& error) {
    return error.message();
  }
  return "accepted";
}

template <class Call>
std::string argument_error(Call call) {
  try {
    call();
  } catch (const InvalidArgument& error) {
    return error.code() + ": " + error.message();
  }
  return "accepted";
}

/// What all partitions of some numbers come to.
struct Enumeration {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();  ///< difference of two sums
  std::int64_t states = 0;                                        ///< that have it
};

/// Signs are bits of a counter, and every sum is formed anew.
Enumeration enumerate(const Numbers& numbers) {
  Enumeration all;
  for (std::uint32_t signs = 0; signs < 1u << numbers.size(); ++signs) {
    std::int64_t first = 0, second = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      (((signs >> i) & 1u) != 0 ? first : second) += numbers[i];
    }
    const std::int64_t difference = std::abs(first - second);
    if (difference < all.least) all = {difference, 0};
    all.states += difference == all.least ? 1 : 0;
  }
  return all;
}

State state_of(std::uint32_t signs, std::size_t n) {
  std::vector<std::int8_t> spins(n);
  for (std::size_t i = 0; i < n; ++i) {
    spins[i] = ((signs >> i) & 1u) != 0 ? std::int8_t{1} : std::int8_t{-1};
  }
  return {spins};
}

Result anneal(const Problem& problem, std::int64_t sweeps) {
  SimulatedAnnealing annealing;
  Engine engine({.device = "cpu", .threads = 1, .replicas = 64, .seed = 3});
  return engine.run(problem, annealing, {.sweeps = sweeps});
}

// B. Hayes, The Easiest Hard Problem, American Scientist 90 (2002) 113: "23 ways", and "just one".
const Numbers easy{2, 10, 3, 8, 5, 7, 9, 5, 3, 2};
const Numbers hard{771, 121, 281, 854, 885, 734, 486, 1003, 83, 62};

TEST(Partition, HasAsManyPerfectPartitionsAsWerePublished) {
  for (const auto& [numbers, published] : {std::pair{easy, 23}, std::pair{hard, 1}}) {
    const Problem problem = make_partition({numbers});
    std::int64_t perfect = 0;
    for (std::uint32_t signs = 0; signs < 1u << numbers.size(); ++signs) {
      const State state = state_of(signs, numbers.size());
      perfect += problem.solution.verify(spans_of(state)) == 0 ? 1 : 0;
    }
    EXPECT_EQ(perfect, 2 * published) << "each with its complement";
    EXPECT_EQ(enumerate(numbers).states, 2 * published);
    EXPECT_EQ(enumerate(numbers).least, 0);
  }
}

TEST(Partition, ThePerfectOneOfAHardListEndsTheRun) {
  const Result result = anneal(make_partition({hard}), 1000000);

  EXPECT_EQ(result.objective, 0);
  EXPECT_EQ(result.stop, Stop::converged);
  EXPECT_TRUE(result.verified);
  EXPECT_TRUE(result.integral);
}

TEST(Partition, IsAsGoodAsTheBestOfAll) {
  std::mt19937 random(7);
  for (std::size_t n = 1; n <= 16; ++n) {
    // Few bits leave many perfect partitions, many bits none.
    for (const std::int64_t largest : {std::int64_t{20}, std::int64_t{1} << 20}) {
      Numbers numbers(n);
      for (std::int64_t& number : numbers)
        number = 1 + static_cast<std::int64_t>(random()) % largest;
      const std::int64_t least = enumerate(numbers).least;

      const Result result = anneal(make_partition({numbers}), 6000);

      EXPECT_EQ(result.objective, static_cast<double>(least * least)) << n << " numbers";
      EXPECT_TRUE(result.verified);
    }
  }
}

TEST(Partition, BoundFollowsTheParityOfTheSum) {
  EXPECT_EQ(make_partition({{3, 5, 4}}).known.bound, 0);
  EXPECT_EQ(make_partition({{3, 5, 3}}).known.bound, 1);
  const Result result = anneal(make_partition({{3, 5, 3}}), 1000000);
  EXPECT_EQ(result.objective, 1);
  EXPECT_EQ(result.stop, Stop::converged);
}

// Pairs of equal numbers have a perfect partition; the sum is close to what is exact.
TEST(Partition, IsExactUpToTheLargestSum) {
  Numbers numbers;
  for (std::int64_t number = 2965000; numbers.size() < 32; number += 11) {
    numbers.insert(numbers.end(), 2, number);
  }
  std::int64_t sum = 0;
  for (const std::int64_t number : numbers) sum += number;
  ASSERT_GT(sum, Partition::largest_sum - 100000);
  numbers.push_back(Partition::largest_sum - sum);
  const Problem problem = make_partition({numbers});
  std::vector<std::int8_t> spins(numbers.size());
  for (std::size_t i = 0; i < spins.size(); ++i)
    spins[i] = i % 2 == 0 ? std::int8_t{1} : std::int8_t{-1};

  const State state{spins};
  const double planted = problem.solution.verify(spans_of(state));
  const Result result = anneal(problem, 300);

  const auto last = static_cast<double>(numbers.back());
  EXPECT_EQ(planted, last * last);
  EXPECT_TRUE(result.integral);
  EXPECT_TRUE(result.verified) << "the sums of the engine are those of the raw numbers";
  EXPECT_TRUE(problem.units.stored_integers);
  EXPECT_EQ(std::fmod(result.objective, 2),
            std::fmod(static_cast<double>(Partition::largest_sum), 2));
}

TEST(Partition, MaximisedPutsAllNumbersOnOneSide) {
  const Problem problem = make_problem(Partition{{1, 2, 3, 4}}, Sense::maximize, "p");

  EXPECT_EQ(anneal(problem, 200).objective, 100);
  EXPECT_EQ(problem.units.sense, Sense::maximize);
}

TEST(Partition, RefusesNumbersThatCannotBe) {
  EXPECT_EQ(argument_error([] { make_partition({}); }), "problem.size: the list has 0 numbers");
  EXPECT_EQ(argument_error([] {
              make_partition({{3, 0}});
            }),
            "problem.value: the number 0 is not positive");
  EXPECT_EQ(argument_error([] {
              make_partition({{Partition::largest_sum, 1}});
            }),
            "problem.value: the numbers add up to more than 94906265");
  EXPECT_EQ(argument_error([] { make_partition({Numbers(11586, 1)}); }),
            "problem.size: the list has 11586 numbers");
}

TEST(PartitionReader, TakesBlanksLinesAndComments) {
  const std::string text = "# ten numbers\n2 10\t3 8 5 # half\n\n7 9 5 3 +2\n";

  EXPECT_EQ(parse(text), Partition{easy});
  EXPECT_EQ(parse(test::crlf(text)), Partition{easy});
  EXPECT_EQ(parse("#5\n1"), Partition{{1}});
}

TEST(PartitionReader, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(parse_error(""), "f: there are no numbers");
  EXPECT_EQ(parse_error("# 1 2\n"), "f:1: there are no numbers");
  EXPECT_EQ(parse_error("1 2\n3 x\n"), "f:2:3: number 'x' is not a whole number");
  EXPECT_EQ(parse_error("1\n 2.5\n"), "f:2:2: number '2.5' is not a whole number");
  EXPECT_EQ(parse_error("7 0\n"), "f:1:3: number '0' is outside 1 .. 94906265");
  EXPECT_EQ(parse_error("94906264 1\n2\n"),
            "f:2:1: the numbers up to this number add up to more than 94906265");
  std::string ones;
  for (int i = 0; i < 11586; ++i) ones += "1\n";
  EXPECT_EQ(parse_error(ones), "f:11586:1: there are more than 11585 numbers");
}

TEST(PartitionFormat, IsToldByTheSuffixAndByNumbersOnLinesOfTheirOwn) {
  const auto told = [](const char* name, const char* text) {
    return std::string(problems::detect_format(name, text).name);
  };
  EXPECT_EQ(told("x.part", "2 10 3\n"), "numbers");
  EXPECT_EQ(told("x.NPP.gz", ""), "numbers");
  EXPECT_EQ(told("-", "771\n121\n281\n"), "numbers");
  EXPECT_EQ(told("-", "771\n# the only one\n"), "numbers");
  EXPECT_EQ(told("-", "771\n"), "numbers");
  EXPECT_EQ(told("-", "# 771\n121\n"), "coo") << "whose comments come first";
  EXPECT_EQ(told("-", "2 10\n3 8\n"), "rudy");
  EXPECT_THROW(told("-", "771\n121 281\n"), ParseError);
  EXPECT_THROW(told("-", "0.5\n0.25\n"), ParseError);
}

TEST(PartitionFormat, IsWrittenSoThatItReadsBackEqual) {
  const Partition partition = problems::random_partition(30, 12, 5);
  std::stringstream text;

  problems::write_model(text, partition, problems::native_format(partition), {"one\n2"});

  EXPECT_NE(text.str().find("\n# one 2\n"), std::string::npos);
  const Format format = problems::detect_format("-", text.str());
  EXPECT_EQ(problems::read_model(format, text, "f"), Model(partition));
}

TEST(PartitionFormat, KnowsAListByItsFingerprint) {
  EXPECT_EQ(problems::fingerprint(Partition{hard}).size(), 16u);
  EXPECT_NE(problems::fingerprint(Partition{hard}), problems::fingerprint(Partition{easy}));
  EXPECT_NE(problems::fingerprint(Partition{{1, 2}}), problems::fingerprint(Partition{{2, 1}}));
}

TEST(PartitionFamily, DrawsNumbersOfSoManyBits) {
  const Partition partition = problems::random_partition(2000, 5, 1);

  const auto [low, high] = std::ranges::minmax(partition.numbers);
  EXPECT_EQ(low, 1);
  EXPECT_EQ(high, 32);
  EXPECT_EQ(problems::random_partition(2000, 5, 1), partition);
  EXPECT_NE(problems::random_partition(2000, 5, 2), partition);
  const problems::GeneratedProblem made = problems::generate("partition", "20,10,7");
  EXPECT_EQ(made.spec, "partition:20,10,7");
  EXPECT_EQ(made.model, Model(problems::random_partition(20, 10, 7)));
}

TEST(PartitionFamily, RefusesWhatWouldNotBeExact) {
  const auto refusal = [](const char* parameters) {
    return argument_error([&] { builtin_registry().problem("partition").make(parameters); });
  };
  EXPECT_EQ(refusal("20,10"),
            "problem.parameters: 'partition:20,10' does not have the form partition:N,BITS,SEED");
  EXPECT_EQ(refusal("0,10,1"), "problem.size: the list has 0 numbers");
  EXPECT_EQ(refusal("3,27,1"), "problem.size: numbers of 27 bits");
  EXPECT_EQ(refusal("91,20,1"),
            "problem.size: 91 numbers of 20 bits may add up to more than 94906265");
  EXPECT_EQ(refusal("90,20,1"), "accepted");
}

}  // namespace
}  // namespace kiln::partition_test
