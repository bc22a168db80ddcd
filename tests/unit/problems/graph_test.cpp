// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/graph.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

#include "kiln/errors.hpp"
#include "kiln/problems/qubo.hpp"

#include "backends/cpu_queue.hpp"
#include "sha256.hpp"

namespace kiln::graph_test {
namespace {

using problems::canonical_text;
using problems::canonicalize;
using problems::fingerprint;
using problems::detail::Sha256;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::string sha256(std::string_view text, bool by_instructions = true) {
  Sha256 hash(by_instructions);
  hash.update(text);
  return hash.hex();
}

template <class Problem>
std::string refusal(Problem problem) {
  return test::complaint([&] { canonicalize(problem); });
}

TEST(Sha256, GivesThePublishedDigests) {
  for (const bool by_instructions : {true, false}) {
    const auto digest = [&](std::string_view text) { return sha256(text, by_instructions); };
    EXPECT_EQ(digest(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(digest("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(digest("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(digest(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  }
}

TEST(Sha256, DoesNotDependOnThePieces) {
  for (std::size_t length = 0; length < 300; ++length) {
    std::string text;
    for (std::size_t k = 0; k < length; ++k) text += static_cast<char>('a' + k * k % 23);
    for (const std::size_t piece : {7, 64, 100, 150}) {
      Sha256 hash;
      for (std::size_t at = 0; at < length; at += piece) hash.update(text.substr(at, piece));
      ASSERT_EQ(hash.hex(), sha256(text, false)) << length << " bytes";
      ASSERT_EQ(hash.hex(), sha256(text, false)) << "asking must not change the state";
    }
  }
}

TEST(Graph, CanonicalFormTurnsAndSortsEdges) {
  Graph graph{4, {{3, 1, 2.0}, {2, 0, -1.0}, {0, 1, 5.0}}};

  EXPECT_EQ(canonicalize(graph), 0);
  EXPECT_EQ(graph, (Graph{4, {{0, 1, 5.0}, {0, 2, -1.0}, {1, 3, 2.0}}}));
}

TEST(Graph, CanonicalFormAddsUpRepeatedEdges) {
  Graph graph{3, {{1, 0, 1.0}, {1, 2, 1.0}, {0, 1, 2.5}, {2, 1, -1.0}, {0, 1, 1.0}}};

  EXPECT_EQ(canonicalize(graph), 3);
  EXPECT_EQ(graph, (Graph{3, {{0, 1, 4.5}, {1, 2, 0.0}}}));
}

TEST(Graph, CanonicalFormAddsInTheOrderGiven) {
  Graph graph{2, {{0, 1, 1e16}, {1, 0, 1.0}, {0, 1, -1e16}}};  // any other order gives 1

  canonicalize(graph);

  EXPECT_EQ(graph.edges[0].weight, 0.0);
}

TEST(Graph, CanonicalFormHasNoNegativeZero) {
  Graph graph{2, {{0, 1, -0.0}}};

  canonicalize(graph);

  EXPECT_FALSE(std::signbit(graph.edges[0].weight));
  EXPECT_EQ(canonical_text(graph), "0 1 0\n");
}

TEST(Graph, RefusesEdgesThatCannotBe) {
  EXPECT_EQ(refusal(Graph{-1, {}}), "problem.size: a graph cannot have -1 vertices");
  EXPECT_EQ(refusal(Graph{3, {{0, 1, 1.0}, {1, 1, 1.0}}}),
            "problem.self_loop: edge 1 (1, 1) joins a vertex to itself");
  EXPECT_EQ(refusal(Graph{3, {{0, 3, 1.0}}}),
            "problem.range: edge 0 (0, 3) names a vertex that does not exist; the number of "
            "vertices is 3");
  EXPECT_EQ(refusal(Graph{3, {{-1, 2, 1.0}}}),
            "problem.range: edge 0 (-1, 2) names a vertex that does not exist; the number of "
            "vertices is 3");
  EXPECT_EQ(refusal(Graph{3, {{0, 1, std::nan("")}}}),
            "problem.value: edge 0 (0, 1) has a weight that is not finite");
  EXPECT_EQ(refusal(Graph{2, {{0, 1, 1e308}, {1, 0, 1e308}}}),
            "problem.value: the repeated coefficients of the pair (0, 1) add up to more than a "
            "double can hold");
}

TEST(Graph, CanonicalTextWritesIntegersAsIntegersAndRealsShort) {
  Graph graph{3, {{0, 1, 100000.0}, {0, 2, 0.1}, {1, 2, -1e300}}};

  EXPECT_EQ(canonical_text(graph), "0 1 100000\n0 2 0.1\n1 2 -1e+300\n");
}

TEST(Graph, FingerprintIsTheStartOfTheHashOfTheText) {
  Graph graph{200, {}};
  for (std::int32_t u = 0; u < 200; ++u) {
    for (std::int32_t v = u + 1; v < 200; ++v) graph.edges.push_back({u, v, u % 2 ? 1.0 : 0.25});
  }

  const std::string text = canonical_text(graph);

  EXPECT_GT(text.size(), std::size_t{2} << 16);  // long enough for several blocks
  EXPECT_EQ(fingerprint(graph), sha256(text).substr(0, 16));
}

TEST(Graph, FingerprintRefusesWhatIsNotCanonical) {
  EXPECT_THROW(fingerprint(Graph{3, {{1, 0, 1.0}}}), InvalidArgument);
  EXPECT_THROW(fingerprint(Graph{3, {{0, 2, 1.0}, {0, 1, 1.0}}}), InvalidArgument);
  EXPECT_THROW(fingerprint(Graph{3, {{0, 1, 1.0}, {0, 1, 1.0}}}), InvalidArgument);
  EXPECT_THROW(fingerprint(Graph{3, {{0, 3, 1.0}}}), InvalidArgument);
  EXPECT_THROW(fingerprint(Graph{3, {{0, 1, infinity}}}), InvalidArgument);
  EXPECT_THROW(canonical_text(Graph{3, {{0, 1, -0.0}}}), InvalidArgument);
}

TEST(Qubo, CanonicalFormSortsMergesAndDropsZeros) {
  Qubo qubo{3, {1.0, -0.0, 2.0}, {{2, 0, 4.0}, {1, 2, 3.0}, {0, 1, 0.0}, {2, 1, -3.0}}, 0.0};

  EXPECT_EQ(canonicalize(qubo), 1);
  EXPECT_EQ(qubo, (Qubo{3, {1.0, 0.0, 2.0}, {{0, 2, 4.0}}, 0.0}));
}

TEST(Qubo, CanonicalTextHasSizeDiagonalAndCouplings) {
  const Qubo qubo{4, {1.0, 0.0, -2.5, 0.0}, {{0, 3, 4.0}, {1, 2, -6.0}}, 0.0};

  EXPECT_EQ(canonical_text(qubo), "4\n0 0 1\n2 2 -2.5\n0 3 4\n1 2 -6\n");
  EXPECT_EQ(fingerprint(qubo), sha256(canonical_text(qubo)).substr(0, 16));
}

TEST(Qubo, AnOffsetChangesTheFingerprint) {
  const Qubo plain{1, {1.0}, {}, 0.0};
  const Qubo shifted{1, {1.0}, {}, 0.5};

  EXPECT_EQ(canonical_text(shifted), "1\n0 0 1\noffset 0.5\n");
  EXPECT_NE(fingerprint(plain), fingerprint(shifted));
}

TEST(Qubo, RefusesTermsThatCannotBe) {
  EXPECT_EQ(refusal(Qubo{2, {1.0}, {}, 0.0}),
            "problem.size: a QUBO function of 2 variables has 1 linear coefficients");
  EXPECT_EQ(refusal(Qubo{-1, {}, {}, 0.0}),
            "problem.size: a QUBO function of -1 variables has 0 linear coefficients");
  EXPECT_EQ(refusal(Qubo{1, {infinity}, {}, 0.0}),
            "problem.value: linear coefficient 0 is not finite");
  EXPECT_EQ(refusal(Qubo{1, {0.0}, {}, infinity}), "problem.value: the offset is not finite");
  EXPECT_EQ(refusal(Qubo{2, {0.0, 0.0}, {{1, 1, 1.0}}, 0.0}),
            "problem.self_loop: quadratic term 0 (1, 1) couples a variable to itself");
  EXPECT_EQ(refusal(Qubo{2, {0.0, 0.0}, {{0, 2, 1.0}}, 0.0}),
            "problem.range: quadratic term 0 (0, 2) names a variable that does not exist; the "
            "number of variables is 2");
  EXPECT_EQ(refusal(Qubo{2, {0.0, 0.0}, {{0, 1, std::nan("")}}, 0.0}),
            "problem.value: quadratic term 0 (0, 1) has a value that is not finite");
}

TEST(Qubo, FingerprintRefusesWhatIsNotCanonical) {
  EXPECT_THROW(fingerprint(Qubo{2, {0.0, 0.0}, {{1, 0, 1.0}}, 0.0}), InvalidArgument);
  EXPECT_THROW(fingerprint(Qubo{2, {0.0, 0.0}, {{0, 1, 0.0}}, 0.0}), InvalidArgument);
  EXPECT_THROW(fingerprint(Qubo{2, {0.0}, {}, 0.0}), InvalidArgument);
}

}  // namespace
}  // namespace kiln::graph_test
