// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "fuzz_checkpoint.hpp"

// The first byte chooses the run, and the second whether the rest is a file or the seed of a
// mutation whose sums are right.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace kiln::test;
  static const std::vector<CheckpointMutation> runs(checkpointed_runs().begin(),
                                                    checkpointed_runs().end());
  if (size < 3) return 0;
  const CheckpointMutation& run = runs[data[0] % runs.size()];
  const std::string rest(data + 2, data + size);
  std::mt19937_64 random(XXH3_64bits(rest.data(), rest.size()));
  run.outcome(data[1] % 2 == 0 ? rest : run.mutated(random));
  return 0;
}
