// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/problems/best_known.hpp"

#include <algorithm>
#include <span>

namespace kiln::problems {

namespace {

struct Entry {
  std::string_view name;
  std::string_view fingerprint;
  double value;
  std::string_view source;
};

constexpr std::string_view table =
    "G-set table kept by rliang/qubo-benchmark-instances and Fanerst/FEM";
constexpr std::string_view tabu = "reached by a plain one-flip tabu search";
constexpr std::string_view collected = "table kept by rliang/qubo-benchmark-instances";
constexpr std::string_view collected_and_reached =
    "table kept by rliang/qubo-benchmark-instances, reached by a plain one-flip tabu search";

// Values that circulate and are wrong or outdated: G25 13349, G47 6665, G63 27045, G70 9541 and
// 9591, G72 7006, G77 9938, G81 14048.
// clang-format off
constexpr Entry cuts[] = {
    {"G1", "8fc0ab81c72c7da7", 11624, table},
    {"G2", "a470cc92d0e5920d", 11620, table},
    {"G3", "96f6ba49572b03e0", 11622, table},
    {"G4", "37aca39c54602ff3", 11646, table},
    {"G5", "5f3d2e4625b8361b", 11631, table},
    {"G6", "bab8900057374a48", 2178, table},
    {"G7", "606c341d8f9c53ec", 2006, table},
    {"G8", "14b62ecaed56858e", 2005, table},
    {"G9", "d83bda0c86a8d807", 2054, table},
    {"G10", "d20f5e46d070af1f", 2000, table},
    {"G11", "c7e3d338b297faf0", 564, table},
    {"G12", "acb06b6bf0d49940", 556, table},
    {"G13", "717f69113267ffca", 582, table},
    {"G14", "5e57589a8ad8236b", 3064, table},
    {"G15", "99ab0f2e72e163f5", 3050, table},
    {"G16", "7a261587d3292b9d", 3052, table},
    {"G17", "53b04f69fbcfdacc", 3047, table},
    {"G18", "6def409935f61247", 992, table},
    {"G19", "5d8f568cacd999b3", 906, table},
    {"G20", "6ebf172b957839a9", 941, table},
    {"G21", "9c67d5c2830c4427", 931, table},
    {"G22", "2922a5fb9e794803", 13359, table},
    {"G23", "aa7d7838a37b9f2d", 13344, table},
    {"G24", "357f58d521373c7a", 13337, table},
    {"G25", "ca4d30fc9d7f857d", 13340, table},
    {"G26", "d745ab077eadc1d1", 13328, table},
    {"G27", "64cce9c0a5f8aa96", 3341, table},
    {"G28", "25adcf6d9db90973", 3298, table},
    {"G29", "3616464852dac6dc", 3405, table},
    {"G30", "bfb84392d0b0a1a0", 3413, table},
    {"G31", "0599bde6fe2c6db3", 3310, table},
    {"G32", "649d931ba54fc195", 1410, table},
    {"G33", "fb45b964c33fe9cf", 1382, table},
    {"G34", "d37de77925aa4847", 1384, table},
    {"G35", "a425f93481727bcd", 7687, table},
    {"G36", "7da3bf1fe37f3477", 7680, table},
    {"G37", "ba8a02bdd66dcaea", 7691, table},
    {"G38", "af468e9ec2610c66", 7688, table},
    {"G39", "786d83976bce197e", 2408, table},
    {"G40", "62d72bf6c719d401", 2400, table},
    {"G41", "f103701819c31211", 2405, table},
    {"G42", "b9c007101da407dd", 2481, table},
    {"G43", "88e27c99cbb913ee", 6660, table},
    {"G44", "ffe96d6347d6d750", 6650, table},
    {"G45", "7c5a90a75724d7f3", 6654, table},
    {"G46", "4a9025b3b24fb23c", 6649, table},
    {"G47", "44fdcb04fd5b66ee", 6657, table},
    {"G48", "d2199ab277ee867a", 6000, table},
    {"G49", "a1337da496d2caed", 6000, table},
    {"G50", "cd2df95a1fc39e6e", 5880, table},
    {"G51", "8085a39365039aef", 3848, table},
    {"G52", "d76bd6c12026ce1f", 3851, table},
    {"G53", "a836f02199ef1307", 3850, table},
    {"G54", "3f1f92e537b2fe74", 3852, table},
    {"G55", "1e2e9f686afbd19c", 10299, table},
    {"G56", "7ef9c50d521706c0", 4017, table},
    {"G57", "8e46058b9576e93f", 3494, table},
    {"G58", "82541d9e8aa7ac5e", 19293, table},
    {"G59", "793d50294cfab356", 6087, table},
    {"G60", "3fdf76814fea4b27", 14190, table},
    {"G61", "82925e8c6c868846", 5798, table},
    {"G62", "1887ee98d668358b", 4870, table},
    {"G63", "8337f93eda848568", 27047, "arXiv:2510.21105 (GPU population annealing)"},
    {"G64", "f9e951a8c0324e66", 8751, table},
    {"G65", "89ecf91728fb40f2", 5562, table},
    {"G66", "1ad302eb2196b888", 6364, table},
    {"G67", "4e4ed500b331f3ae", 6950, table},
    {"G70", "8d83465d93784f8b", 9595, "optsuite/MCPG solution vector (re-evaluated)"},
    {"G72", "7fbce23591740320", 7008, "arXiv:2505.18508 (Cosm)"},
    {"G77", "77f572dd25cbe8fc", 9940, "arXiv:2505.18508 (Cosm)"},
    {"G81", "da9048f0bbf6b033", 14060, "arXiv:2505.18508 (Cosm)"},
    {"k2000", "c753a1e601a0974f", 33337, "published best"},
};

// Values that circulate and belong to other instances: p3000.2 5193229, p3000.3 5114993.
constexpr Entry qubo_maxima[] = {
    {"bqp50_1", "74748c57ece9165a", 2098, tabu},
    {"bqp50_2", "fdf50d956f4977c3", 3702, tabu},
    {"bqp50_3", "8efb83e50ed06292", 4626, tabu},
    {"bqp50_4", "5e93e16baa33c399", 3544, tabu},
    {"bqp50_5", "b04cdb0b2e1dbe5a", 4012, tabu},
    {"bqp50_6", "4ccc26a0380a50d1", 3693, tabu},
    {"bqp50_7", "6a54ebc932e2a668", 4520, tabu},
    {"bqp50_8", "f80d305608a4674b", 4216, tabu},
    {"bqp50_9", "65752726197d7fad", 3780, tabu},
    {"bqp50_10", "64e248bec0ac48ca", 3507, tabu},
    {"bqp100_1", "ce9d75932ebb1256", 7970, tabu},
    {"bqp100_2", "2eedbe362cc2a941", 11036, tabu},
    {"bqp100_3", "8cff5384f3138862", 12723, tabu},
    {"bqp100_4", "b80d683a8670a414", 10368, tabu},
    {"bqp100_5", "cc9817b4d3186477", 9083, tabu},
    {"bqp100_6", "d62db1e7f6b95915", 10210, tabu},
    {"bqp100_7", "3c61e99c08b48040", 10125, tabu},
    {"bqp100_8", "d1816939dd690a2b", 11435, tabu},
    {"bqp100_9", "6372259448df8744", 11455, tabu},
    {"bqp100_10", "dc63d69ada8315d6", 12565, tabu},
    {"bqp250_1", "be04961b3f906c40", 45607, tabu},
    {"bqp250_2", "14389b9bef96c67a", 44810, tabu},
    {"bqp250_3", "38ed4fbc8a42dfca", 49037, tabu},
    {"bqp250_4", "22091f541d442128", 41274, tabu},
    {"bqp250_5", "1a5c02feefdbb692", 47961, tabu},
    {"bqp250_6", "558db042eefbdd5c", 41014, tabu},
    {"bqp250_7", "b802867ce39b39cb", 46757, tabu},
    {"bqp250_8", "81e1d7c8285a3ead", 35726, tabu},
    {"bqp250_9", "6838f4f30a4423b8", 48916, tabu},
    {"bqp250_10", "031fa41ca7bf3b31", 40442, tabu},
    {"p3000.1", "b9592a45ad0a1a9d", 3931583, collected_and_reached},
    {"p3000.2", "48d82d75687ebda9", 5193073, collected_and_reached},
    {"p3000.3", "cbb94ea3be6e4497", 5111533, collected_and_reached},
    {"p3000.4", "71ab8d27c4be4954", 5761822, collected_and_reached},
    {"p3000.5", "a15216733ec5482d", 5675625, collected_and_reached},
    {"p4000.1", "e886103a7b727c6c", 6181830, collected_and_reached},
    {"p4000.2", "0b8a32fc49f90ed2", 7801355, collected_and_reached},
    {"p4000.3", "24459af6ba559e72", 7741685, collected_and_reached},
    {"p4000.4", "1c6e1466631ab43e", 8711822, collected_and_reached},
    {"p4000.5", "952c07fb5dcb886a", 8908979, collected_and_reached},
    {"p5000.1", "d0f0c0b724269e66", 8559680, collected},
    {"p5000.2", "eefec0356b4247ea", 10836019, collected},
    {"p5000.3", "a447fd45c4aa657e", 10489137, collected},
    {"p5000.4", "c658d2790dbed795", 12252318, collected},
    {"p5000.5", "bfbe8115ae5f3648", 12731803, collected},
    {"p6000.1", "d7d444be0fd02e55", 11384976, collected},
    {"p6000.2", "3273daeb3cf2cf48", 14333855, collected},
    {"p6000.3", "20ef71b73230a3c6", 16132915, collected},
    {"p7000.1", "3887699db5c7669e", 14478676, collected},
    {"p7000.2", "10a6a2b47875e1f5", 18249948, collected},
    {"p7000.3", "e8ca1ac3bf0f5c53", 20446407, collected},
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

}  // namespace

std::optional<double> best_known_cut(std::string_view instance) {
  return value_by_name(cuts, instance);
}

std::optional<NamedBest> best_known_by_fingerprint(std::string_view fingerprint) {
  return by_fingerprint(cuts, fingerprint);
}

std::optional<double> best_known_qubo(std::string_view instance) {
  return value_by_name(qubo_maxima, instance);
}

std::optional<NamedBest> best_known_qubo_by_fingerprint(std::string_view fingerprint) {
  return by_fingerprint(qubo_maxima, fingerprint);
}

}  // namespace kiln::problems
