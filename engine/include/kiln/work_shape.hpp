// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kiln/device_shape.hpp"
#include "kiln/export.hpp"

namespace kiln {

/// The unit of parallel work when replicas of an objective are moved.
enum class WorkUnit : std::uint8_t {
  host_call,         ///< a call on the host for each state
  evaluation,        ///< an evaluation of each replica, or a sweep by one thread
  packed_sweep,      ///< a warp sweeps a word of 32 replicas, a bit for each variable
  parametric_sweep,  ///< the same, each replica with a different parameter
  byte_sweep,        ///< a warp sweeps 32 replicas, a byte for each variable
  oscillators,       ///< steps of oscillators, whose couplings all replicas read together
  search,            ///< all threads of a block make one move of one replica, with its tables
};

/// The work of an objective, as input to the choice of replicas and memory layout. Objectives
/// describe it; choose_shape() decides.
struct WorkShape {
  WorkUnit unit = WorkUnit::evaluation;
  std::int64_t variables = 0;
  std::int64_t sites = 0;    ///< positions of a sweep, including those without a variable
  std::int64_t entries = 0;  ///< couplings, counted from both ends
  /// Bytes of the signed integers that hold all weights of a matrix [sites][sites]; 0 if the model
  /// has no such matrix.
  std::int32_t matrix_weight_bytes = 0;
  /// The greatest common divisor of all weights, if they divided by it are integers from -127 to
  /// 127, as tensor cores multiply them; 0 if they are not, or the model has no matrix.
  std::int32_t byte_matrix_unit = 0;
  double table_bytes = 0;  ///< memory of WorkUnit::search for each replica
  /// Whether the run can decide the 32 replicas of a word together (DrawNaming). The plan of a run
  /// fills it in: it depends on the schedule, too.
  bool by_planes = false;
};

/// The division of an objective's work for a device.
struct ShapeChoice {
  /// Replicas that keep the device busy without making an anneal long: the default of a run.
  std::int64_t replicas = 1;
  bool dense = false;  ///< whether the model also lies in device memory as a matrix
};

/// Chooses for a device. On a GPU the replicas grow with its number of multiprocessors.
KILN_API ShapeChoice choose_shape(const WorkShape& work, const DeviceShape& device);

}  // namespace kiln
