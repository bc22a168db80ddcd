// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/rows/row_kernels.cuh"

// How passes over rows are launched.
namespace kiln::cuda {

inline bool in_runs(const void* data, std::int64_t stride_bytes, std::int64_t rows) {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && (rows <= 1 || stride_bytes % 16 == 0);
}

inline unsigned row_grid(std::int64_t blocks) {
  return static_cast<unsigned>(std::clamp<std::int64_t>(blocks, 1, std::int64_t{1} << 30));
}

template <class Job>
RowPass<Job> row_pass(const Job& job) {
  RowPass<Job> pass{job};
  const Elements value = job.value();
  pass.rows = value.rows;
  pass.columns = value.columns;
  pass.chunks = RowTree::chunks_of(value.columns);
  pass.runs =
      value.step == 1 && in_runs(value.data, value.stride * bytes_of(value.type), value.rows);
  if constexpr (Job::uses_other) {
    const Elements other = job.other();
    pass.other_runs =
        other.step == 1 && in_runs(other.data, other.stride * bytes_of(other.type), other.rows);
  }
  if constexpr (Job::rewrites) {
    const View2<double> result = job.result();
    pass.result_runs = in_runs(result.data, result.stride * 8, result.rows);
  }
  return pass;
}

/// Divides long rows: few chunks to a warp until blocks fill the device.
template <class Job>
void divide_rows(RowPass<Job>& pass, Queue& queue) {
  const std::int64_t enough = std::int64_t{8} * limits_of(queue).multiprocessors;
  const bool many = pass.rows * (pass.chunks / row_warps) > enough;
  pass.chunks_of_warp = many ? max_chunks_of_warp : 1;
  const std::int64_t of_block = std::int64_t{row_warps} * pass.chunks_of_warp;
  pass.groups = (pass.chunks + of_block - 1) / of_block;
}

template <class T, class Other, class Job>
void launch_short_rows(RowPass<Job> pass, Queue& queue) {
  pass.warps_of_row = static_cast<int>(
      std::bit_ceil(static_cast<unsigned>(std::max<std::int64_t>(1, pass.chunks))));
  const std::int64_t rows_of_block = row_warps / pass.warps_of_row;
  const unsigned blocks = row_grid((pass.rows + rows_of_block - 1) / rows_of_block);
  reduce_short_rows<T, Other, Job><<<blocks, row_threads, 0, stream_of(queue)>>>(pass);
  check_launch(Job::name());
}

/// A launch with an attribute; none on a device of compute capability 8.
template <class... Parameters>
void launch_with(const cudaLaunchAttribute& attribute, unsigned blocks, int threads, Queue& queue,
                 const char* name, void (*kernel)(Parameters...), const Parameters&... parameters) {
  cudaLaunchAttribute attributes[] = {attribute};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream_of(queue);
  config.attrs = attributes;
  config.numAttrs = limits_of(queue).has_clusters() ? 1 : 0;
  cuda_check(cudaLaunchKernelEx(&config, kernel, parameters...), name);
}
/// The launch begins before the one before it has ended.
inline cudaLaunchAttribute begins_early() {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  return early;
}

/// Blocks of a cluster that a row may take. All devices with clusters have 8; a whole data-centre
/// device has 16, but a part of one need not have as many multiprocessors side by side.
inline std::int64_t row_cluster(const DeviceLimits& limits) {
  constexpr int whole_device = 100;  // multiprocessors
  const bool large = limits.compute_major <= 10 && limits.multiprocessors >= whole_device;
  return large ? max_row_cluster : portable_row_cluster;
}

template <class T, class Other, class Job>
void launch_clusters(RowPass<Job> pass, Queue& queue) {
  const std::int64_t most = row_cluster(limits_of(queue));
  while (most * row_warps * pass.chunks_of_warp < pass.chunks) pass.chunks_of_warp *= 2;
  while (row_warps * pass.chunks_of_warp * pass.blocks_of_row < pass.chunks)
    pass.blocks_of_row *= 2;
  const auto kernel = reduce_rows_by_clusters<T, Other, Job>;
  if (pass.blocks_of_row > portable_row_cluster) {
    cuda_check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                    cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
               Job::name());
  }
  cudaLaunchAttribute of_cluster{};
  of_cluster.id = cudaLaunchAttributeClusterDimension;
  of_cluster.val.clusterDim.x = static_cast<unsigned>(pass.blocks_of_row);
  of_cluster.val.clusterDim.y = of_cluster.val.clusterDim.z = 1;
  launch_with(of_cluster, static_cast<unsigned>(pass.rows * pass.blocks_of_row), row_threads, queue,
              Job::name(), kernel, pass);
}

template <class T, class Other, class Job>
void launch_long_rows(RowPass<Job> pass, View1<std::byte> room, Queue& queue) {
  if (room.size < row_room_bytes(pass.rows, pass.columns)) {
    throw InvalidArgument("kernel.room", "a reduction of rows on the GPU has too little room");
  }
  pass.room = room.data;
  divide_rows(pass, queue);
  const unsigned blocks = row_grid(pass.rows * pass.groups);
  reduce_groups<T, Other, Job><<<blocks, row_threads, 0, stream_of(queue)>>>(pass);
  check_launch(Job::name());
  launch_with(begins_early(), row_grid(pass.rows), merge_threads, queue, Job::name(),
              merge_groups<Job>, pass);
  if constexpr (Job::rewrites) {
    launch_with(begins_early(), blocks, row_threads, queue, Job::name(),
                rewrite_groups<T, false, Job>, pass);
  }
}

template <class T, class Other, class Job>
void launch_typed_rows(const Job& job, View1<std::byte> room, Queue& queue) {
  const RowPass<Job> pass = row_pass(job);
  if (pass.rows <= 0) return;
  if (pass.chunks <= row_warps) return launch_short_rows<T, Other>(pass, queue);
  constexpr std::int64_t chunks_of_cluster = 256;
  if (limits_of(queue).has_clusters() && pass.chunks <= chunks_of_cluster &&
      pass.rows < (std::int64_t{1} << 26)) {
    return launch_clusters<T, Other>(pass, queue);
  }
  launch_long_rows<T, Other>(pass, room, queue);
}

/// Reduces each row, and rewrites it if the job does.
template <class Job>
void launch_rows(const Job& job, View1<std::byte> room, Queue& queue) {
  const bool wide = job.value().type == ElementType::float64;
  if constexpr (Job::uses_other) {
    if (job.other().type == ElementType::float32) {
      return wide ? launch_typed_rows<double, float>(job, room, queue)
                  : launch_typed_rows<float, float>(job, room, queue);
    }
  }
  return wide ? launch_typed_rows<double, double>(job, room, queue)
              : launch_typed_rows<float, double>(job, room, queue);
}

}  // namespace kiln::cuda
