// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "kiln/information/options.hpp"
#include "kiln/kernels/information/delay_embedding.hpp"
#include "kiln/kernels/information/ksg_counts.hpp"
#include "kiln/kernels/information/ksg_neighbors.hpp"
#include "kiln/kernels/information/sorted_orders.hpp"
#include "kiln/kernels/information/surrogates.hpp"
#include "kiln/queue.hpp"

namespace kiln::cli {

/// All launches of one estimate of transfer entropy, or of mutual information, between two series
/// in device memory, with its surrogates: coordinates, order, neighbours, counts.
class InformationPipeline {
 public:
  /// @param columns  source and target, of points + 1 rows
  InformationPipeline(Queue& queue, const std::vector<Series>& columns, bool transfer,
                      std::int64_t surrogates);

  void launch();
  /// Sum of the values of the points, without surrogates, in nats.
  double sum_of_values();

 private:
  void embed(const DeviceArray<EmbeddedAxis>& axes, View2<double> target);

  Queue& queue_;
  const bool transfer_;
  const std::int64_t n_, problems_;
  DeviceArray<double> series_, keys_, axes_, radius_;
  DeviceArray<std::int32_t> times_, orders_, places_, rows_, search_;
  DeviceArray<EmbeddedAxis> order_axes_, fixed_axes_, source_axes_;
  DeviceArray<std::uint8_t> room_;
  DeviceArray<std::int64_t> psi_, sums_;
};

}  // namespace kiln::cli
