// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10 on the device against cuRAND's generator of the same name.
#include <curand_kernel.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kiln/cuda/queue.cuh"
#include "kiln/device/philox.hpp"

#include "backends/backends.hpp"

namespace kiln::test {
namespace {

/// cuRAND's counter: its first half counts blocks of four words, its second half is the
/// subsequence.
struct CurandName {
  std::uint64_t seed, subsequence, block;
};

struct BothWords {
  std::uint32_t kiln[4], curand[4];
};

__global__ void draw_both(const CurandName* names, BothWords* words, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const CurandName name = names[i];
  curandStatePhilox4_32_10_t state;
  curand_init(name.seed, name.subsequence, 4 * name.block, &state);
  const uint4 theirs = curand4(&state);
  const Words4 ours = philox4x32_10(
      Words4{{static_cast<std::uint32_t>(name.block), static_cast<std::uint32_t>(name.block >> 32),
              static_cast<std::uint32_t>(name.subsequence),
              static_cast<std::uint32_t>(name.subsequence >> 32)}},
      name.seed);
  words[i].curand[0] = theirs.x, words[i].curand[1] = theirs.y;
  words[i].curand[2] = theirs.z, words[i].curand[3] = theirs.w;
  for (int k = 0; k < 4; ++k) words[i].kiln[k] = ours.word[k];
}

TEST(PhiloxOnCuda, GivesTheWordsOfCurand) {
  skip_without(Device::cuda);
  if (testing::Test::IsSkipped() || testing::Test::HasFatalFailure()) return;
  Queue& queue = *open_device(Device::cuda).queue;
  std::vector<CurandName> names = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  TestRandom random(1);
  for (int i = 0; i < 4096; ++i) {
    names.push_back({random.word(), random.word(), random.word() >> 2});
  }
  const int n = static_cast<int>(names.size());
  const DeviceArray<CurandName> device_names(queue, names);
  DeviceArray<BothWords> device_words(queue, n);

  draw_both<<<(n + 255) / 256, 256, 0, cuda::stream_of(queue)>>>(device_names.data(),
                                                                 device_words.data(), n);
  ASSERT_EQ(cudaGetLastError(), cudaSuccess);

  const std::vector<BothWords> words = device_words.download();
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (int k = 0; k < 4; ++k) {
      ASSERT_EQ(words[i].kiln[k], words[i].curand[k]) << "draw " << i << ", word " << k;
    }
  }
}

}  // namespace
}  // namespace kiln::test
