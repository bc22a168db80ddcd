// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/best_known.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kiln::problems {

namespace {

struct Entry {
  std::string_view name;
  std::int64_t n_pairs;  // edges or couplers
  std::string_view fingerprint;
  double value;
  std::string_view source;
};

constexpr std::string_view table =
    "tables of cuts in the repositories rliang/qubo-benchmark-instances and Fanerst/FEM";
constexpr std::string_view tabu = "found by a one-flip tabu search";
constexpr std::string_view collected =
    "table of values in the repository rliang/qubo-benchmark-instances";
constexpr std::string_view collected_and_reached =
    "table of values in the repository rliang/qubo-benchmark-instances; a one-flip tabu search "
    "also found this value";

// Values that circulate and are wrong or outdated: G25 13349, G47 6665, G63 27045, G70 9541 and
// 9591, G72 7006, G77 9938, G81 14048.
// clang-format off
constexpr Entry cuts[] = {
    {"G1", 19176, "8fc0ab81c72c7da7", 11624, table},
    {"G2", 19176, "a470cc92d0e5920d", 11620, table},
    {"G3", 19176, "96f6ba49572b03e0", 11622, table},
    {"G4", 19176, "37aca39c54602ff3", 11646, table},
    {"G5", 19176, "5f3d2e4625b8361b", 11631, table},
    {"G6", 19176, "bab8900057374a48", 2178, table},
    {"G7", 19176, "606c341d8f9c53ec", 2006, table},
    {"G8", 19176, "14b62ecaed56858e", 2005, table},
    {"G9", 19176, "d83bda0c86a8d807", 2054, table},
    {"G10", 19176, "d20f5e46d070af1f", 2000, table},
    {"G11", 1600, "c7e3d338b297faf0", 564, table},
    {"G12", 1600, "acb06b6bf0d49940", 556, table},
    {"G13", 1600, "717f69113267ffca", 582, table},
    {"G14", 4694, "5e57589a8ad8236b", 3064, table},
    {"G15", 4661, "99ab0f2e72e163f5", 3050, table},
    {"G16", 4672, "7a261587d3292b9d", 3052, table},
    {"G17", 4667, "53b04f69fbcfdacc", 3047, table},
    {"G18", 4694, "6def409935f61247", 992, table},
    {"G19", 4661, "5d8f568cacd999b3", 906, table},
    {"G20", 4672, "6ebf172b957839a9", 941, table},
    {"G21", 4667, "9c67d5c2830c4427", 931, table},
    {"G22", 19990, "2922a5fb9e794803", 13359, table},
    {"G23", 19990, "aa7d7838a37b9f2d", 13344, table},
    {"G24", 19990, "357f58d521373c7a", 13337, table},
    {"G25", 19990, "ca4d30fc9d7f857d", 13340, table},
    {"G26", 19990, "d745ab077eadc1d1", 13328, table},
    {"G27", 19990, "64cce9c0a5f8aa96", 3341, table},
    {"G28", 19990, "25adcf6d9db90973", 3298, table},
    {"G29", 19990, "3616464852dac6dc", 3405, table},
    {"G30", 19990, "bfb84392d0b0a1a0", 3413, table},
    {"G31", 19990, "0599bde6fe2c6db3", 3310, table},
    {"G32", 4000, "649d931ba54fc195", 1410, table},
    {"G33", 4000, "fb45b964c33fe9cf", 1382, table},
    {"G34", 4000, "d37de77925aa4847", 1384, table},
    {"G35", 11778, "a425f93481727bcd", 7687, table},
    {"G36", 11766, "7da3bf1fe37f3477", 7680, table},
    {"G37", 11785, "ba8a02bdd66dcaea", 7691, table},
    {"G38", 11779, "af468e9ec2610c66", 7688, table},
    {"G39", 11778, "786d83976bce197e", 2408, table},
    {"G40", 11766, "62d72bf6c719d401", 2400, table},
    {"G41", 11785, "f103701819c31211", 2405, table},
    {"G42", 11779, "b9c007101da407dd", 2481, table},
    {"G43", 9990, "88e27c99cbb913ee", 6660, table},
    {"G44", 9990, "ffe96d6347d6d750", 6650, table},
    {"G45", 9990, "7c5a90a75724d7f3", 6654, table},
    {"G46", 9990, "4a9025b3b24fb23c", 6649, table},
    {"G47", 9990, "44fdcb04fd5b66ee", 6657, table},
    {"G48", 6000, "d2199ab277ee867a", 6000, table},
    {"G49", 6000, "a1337da496d2caed", 6000, table},
    {"G50", 6000, "cd2df95a1fc39e6e", 5880, table},
    {"G51", 5909, "8085a39365039aef", 3848, table},
    {"G52", 5916, "d76bd6c12026ce1f", 3851, table},
    {"G53", 5914, "a836f02199ef1307", 3850, table},
    {"G54", 5916, "3f1f92e537b2fe74", 3852, table},
    {"G55", 12498, "1e2e9f686afbd19c", 10299, table},
    {"G56", 12498, "7ef9c50d521706c0", 4017, table},
    {"G57", 10000, "8e46058b9576e93f", 3494, table},
    {"G58", 29570, "82541d9e8aa7ac5e", 19293, table},
    {"G59", 29570, "793d50294cfab356", 6087, table},
    {"G60", 17148, "3fdf76814fea4b27", 14190, table},
    {"G61", 17148, "82925e8c6c868846", 5798, table},
    {"G62", 14000, "1887ee98d668358b", 4870, table},
    {"G63", 41459, "8337f93eda848568", 27047, "arXiv:2510.21105 (GPU population annealing)"},
    {"G64", 41459, "f9e951a8c0324e66", 8751, table},
    {"G65", 16000, "89ecf91728fb40f2", 5562, table},
    {"G66", 18000, "1ad302eb2196b888", 6364, table},
    {"G67", 20000, "4e4ed500b331f3ae", 6950, table},
    {"G70", 9999, "8d83465d93784f8b", 9595, "cut of the solution vector in the repository optsuite/MCPG"},
    {"G72", 20000, "7fbce23591740320", 7008, "arXiv:2505.18508 (Cosm)"},
    {"G77", 28000, "77f572dd25cbe8fc", 9940, "arXiv:2505.18508 (Cosm)"},
    {"G81", 40000, "da9048f0bbf6b033", 14060, "arXiv:2505.18508 (Cosm)"},
    {"k2000", 1999000, "c753a1e601a0974f", 33337, "published best"},
};

// Values that circulate and belong to other instances: p3000.2 5193229, p3000.3 5114993.
constexpr Entry qubo_maxima[] = {
    {"bqp50_1", 108, "74748c57ece9165a", 2098, tabu},
    {"bqp50_2", 120, "fdf50d956f4977c3", 3702, tabu},
    {"bqp50_3", 132, "8efb83e50ed06292", 4626, tabu},
    {"bqp50_4", 111, "5e93e16baa33c399", 3544, tabu},
    {"bqp50_5", 131, "b04cdb0b2e1dbe5a", 4012, tabu},
    {"bqp50_6", 101, "4ccc26a0380a50d1", 3693, tabu},
    {"bqp50_7", 124, "6a54ebc932e2a668", 4520, tabu},
    {"bqp50_8", 137, "f80d305608a4674b", 4216, tabu},
    {"bqp50_9", 122, "65752726197d7fad", 3780, tabu},
    {"bqp50_10", 108, "64e248bec0ac48ca", 3507, tabu},
    {"bqp100_1", 464, "ce9d75932ebb1256", 7970, tabu},
    {"bqp100_2", 482, "2eedbe362cc2a941", 11036, tabu},
    {"bqp100_3", 490, "8cff5384f3138862", 12723, tabu},
    {"bqp100_4", 475, "b80d683a8670a414", 10368, tabu},
    {"bqp100_5", 459, "cc9817b4d3186477", 9083, tabu},
    {"bqp100_6", 510, "d62db1e7f6b95915", 10210, tabu},
    {"bqp100_7", 469, "3c61e99c08b48040", 10125, tabu},
    {"bqp100_8", 492, "d1816939dd690a2b", 11435, tabu},
    {"bqp100_9", 502, "6372259448df8744", 11455, tabu},
    {"bqp100_10", 485, "dc63d69ada8315d6", 12565, tabu},
    {"bqp250_1", 3089, "be04961b3f906c40", 45607, tabu},
    {"bqp250_2", 3035, "14389b9bef96c67a", 44810, tabu},
    {"bqp250_3", 3063, "38ed4fbc8a42dfca", 49037, tabu},
    {"bqp250_4", 3147, "22091f541d442128", 41274, tabu},
    {"bqp250_5", 3114, "1a5c02feefdbb692", 47961, tabu},
    {"bqp250_6", 3183, "558db042eefbdd5c", 41014, tabu},
    {"bqp250_7", 3087, "b802867ce39b39cb", 46757, tabu},
    {"bqp250_8", 3015, "81e1d7c8285a3ead", 35726, tabu},
    {"bqp250_9", 3145, "6838f4f30a4423b8", 48916, tabu},
    {"bqp250_10", 3045, "031fa41ca7bf3b31", 40442, tabu},
    {"p3000.1", 2238426, "b9592a45ad0a1a9d", 3931583, collected_and_reached},
    {"p3000.2", 3579791, "48d82d75687ebda9", 5193073, collected_and_reached},
    {"p3000.3", 3580951, "cbb94ea3be6e4497", 5111533, collected_and_reached},
    {"p3000.4", 4475917, "71ab8d27c4be4954", 5761822, collected_and_reached},
    {"p3000.5", 4476174, "a15216733ec5482d", 5675625, collected_and_reached},
    {"p4000.1", 3977235, "e886103a7b727c6c", 6181830, collected_and_reached},
    {"p4000.2", 6366117, "0b8a32fc49f90ed2", 7801355, collected_and_reached},
    {"p4000.3", 6366285, "24459af6ba559e72", 7741685, collected_and_reached},
    {"p4000.4", 7958266, "1c6e1466631ab43e", 8711822, collected_and_reached},
    {"p4000.5", 7957953, "952c07fb5dcb886a", 8908979, collected_and_reached},
    {"p5000.1", 6216004, "d0f0c0b724269e66", 8559680, collected},
    {"p5000.2", 9947714, "eefec0356b4247ea", 10836019, collected},
    {"p5000.3", 9949506, "a447fd45c4aa657e", 10489137, collected},
    {"p5000.4", 12435170, "c658d2790dbed795", 12252318, collected},
    {"p5000.5", 12435523, "bfbe8115ae5f3648", 12731803, collected},
    {"p6000.1", 8953998, "d7d444be0fd02e55", 11384976, collected},
    {"p6000.2", 14323431, "3273daeb3cf2cf48", 14333855, collected},
    {"p6000.3", 17907567, "20ef71b73230a3c6", 16132915, collected},
    {"p7000.1", 12190427, "3887699db5c7669e", 14478676, collected},
    {"p7000.2", 19498601, "10a6a2b47875e1f5", 18249948, collected},
    {"p7000.3", 24374626, "e8ca1ac3bf0f5c53", 20446407, collected},
};
// clang-format on

std::optional<double> value_by_name(std::span<const Entry> entries, std::string_view name) {
  const auto found = std::ranges::find(entries, name, &Entry::name);
  if (found == entries.end()) return std::nullopt;
  return found->value;
}

std::optional<NamedBest> by_fingerprint(std::span<const Entry> entries,
                                        std::string_view fingerprint) {
  const auto found = std::ranges::find(entries, fingerprint, &Entry::fingerprint);
  if (found == entries.end()) return std::nullopt;
  return NamedBest{found->name, found->value, found->source};
}

// Instances with another number of pairs are told apart without hashing them. The number of
// variables says nothing: vertices without an edge do not change the fingerprint of a graph.
template <class Model>
std::optional<NamedBest> best_of(std::span<const Entry> entries, const Model& model,
                                 std::size_t n_pairs) {
  const bool known_size = std::ranges::any_of(entries, [&](const Entry& entry) {
    return entry.n_pairs == static_cast<std::int64_t>(n_pairs);
  });
  return known_size ? by_fingerprint(entries, fingerprint(model)) : std::nullopt;
}

}  // namespace

std::optional<double> best_known_cut(std::string_view instance) {
  return value_by_name(cuts, instance);
}

std::optional<NamedBest> best_known_by_fingerprint(std::string_view fingerprint) {
  return by_fingerprint(cuts, fingerprint);
}

std::optional<NamedBest> best_known(const Graph& graph) {
  return best_of(cuts, graph, graph.edges.size());
}

std::optional<double> best_known_qubo(std::string_view instance) {
  return value_by_name(qubo_maxima, instance);
}

std::optional<NamedBest> best_known_qubo_by_fingerprint(std::string_view fingerprint) {
  return by_fingerprint(qubo_maxima, fingerprint);
}

std::optional<NamedBest> best_known(const Qubo& qubo) {
  return best_of(qubo_maxima, qubo, qubo.quadratic.size());
}

}  // namespace kiln::problems
