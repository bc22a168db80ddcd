// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "kiln/device/rows/row_tree.hpp"
#include "kiln/errors.hpp"
#include "kiln/kernels/rows/row_jobs.hpp"

#include "launch.hpp"

// Passes over rows on the CPU, in the order of the tree of kiln/device/rows/row_tree.hpp.
namespace kiln::cpu {

/// Elements of a row from one place on, as doubles.
class RowBuffer {
 public:
  /// @return at least `count` numbers
  const double* read(const Elements& from, std::int64_t row, std::int64_t column, int count) {
    if (from.type == ElementType::float64 && from.step == 1) {
      return static_cast<const double*>(from.at(row, column));
    }
    if (from.type == ElementType::float64) {
      widen(static_cast<const double*>(from.at(row, column)), from.step, count);
    } else {
      widen(static_cast<const float*>(from.at(row, column)), from.step, count);
    }
    return values_.data();
  }

 private:
  template <class T>
  void widen(const T* first, std::int64_t step, int count) {
    for (int e = 0; e < count; ++e) values_[static_cast<std::size_t>(e)] = first[e * step];
  }

  std::array<double, RowTree::chunk> values_;
};

/// A chunk of a row, for what kiln/device/rows/row_chunks.hpp makes of it.
struct HostChunk {
  const double* x = nullptr;
  const double* y = nullptr;  ///< of the other matrix; x if there is none
  int count = 0;

  double front() const { return x[0]; }
  template <class Function>
  std::uint32_t largest(const Function& f) const {
    std::uint32_t all = 0;
    for (int i = 0; i < count; ++i) all = std::max(all, f(x[i]));
    return all;
  }
  template <class Part, class Take>
  Part fold(const Part& identity, const Take& take) const {
    std::array<Part, RowTree::accumulators> parts;
    parts.fill(identity);
    Part* const part = parts.data();
    for (int begin = 0; begin < count; begin += RowTree::accumulators) {
      const int end = std::min(count - begin, RowTree::accumulators);
      for (int a = 0; a < end; ++a) take(part[a], x[begin + a], y[begin + a]);
    }
    for (int apart = RowTree::accumulators / 2; apart > 0; apart /= 2) {
      for (int a = 0; a < apart; ++a) part[a].merge(part[a + apart]);
    }
    return part[0];
  }
};

/// The state of some chunks of a row.
template <class Job>
typename Job::State state_of_chunks(const Job& job, std::int64_t row, std::int64_t begin,
                                    std::int64_t end) {
  const Elements value = job.value(), other = job.other();
  RowBuffer of_value, of_other;
  TreeStack<typename Job::State> stack;
  for (std::int64_t chunk = begin; chunk < end; ++chunk) {
    const std::int64_t column = chunk * RowTree::chunk;
    HostChunk here;
    here.count = RowTree::elements_of(chunk, value.columns);
    here.x = here.y = of_value.read(value, row, column, here.count);
    if constexpr (Job::uses_other) here.y = of_other.read(other, row, column, here.count);
    stack.push(Job::Chunks::of(here));
  }
  return stack.total();
}

template <class Job>
void rewrite_row(const Job& job, std::int64_t row, std::int64_t begin, std::int64_t end,
                 const typename Job::Final& final) {
  if constexpr (Job::rewrites) {
    const Elements value = job.value();
    const View2<double> result = job.result();
    for (std::int64_t c = begin; c < end; ++c) {
      result(row, c) = job.rewrite(value(row, c), final);
    }
  }
}

/// Rows are divided among threads, and a long row into groups of chunks, aligned as the tree is.
struct RowDivision {
  static constexpr std::int64_t chunks_of_group = 64;

  std::int64_t rows = 0, columns = 0, chunks = 0, groups = 0, rows_of_task = 1;

  RowDivision(std::int64_t rows_, std::int64_t columns_)
      : rows(rows_), columns(columns_), chunks(RowTree::chunks_of(columns_)) {
    groups = std::max<std::int64_t>(1, (chunks + chunks_of_group - 1) / chunks_of_group);
    rows_of_task = std::max<std::int64_t>(1, chunks_of_group / std::max<std::int64_t>(1, chunks));
  }
  bool long_rows() const { return groups > 1; }
  std::int64_t tasks() const { return (rows + rows_of_task - 1) / rows_of_task; }
  std::int64_t end_of_chunks(std::int64_t group) const {
    return std::min(chunks, (group + 1) * chunks_of_group);
  }
};

template <class Job>
void reduce_long_rows(const Job& job, const RowDivision& of, Queue& queue) {
  using State = typename Job::State;
  const QueueThreads threads = pool_of(queue);
  const auto all = static_cast<std::size_t>(of.groups + 1);
  auto* const states =
      reinterpret_cast<State*>(static_cast<CpuQueue&>(queue).scratch(all * sizeof(State)));
  for (std::int64_t row = 0; row < of.rows; ++row) {
    threads.for_each(of.groups, [&](std::int64_t group) {
      states[group] =
          state_of_chunks(job, row, group * RowDivision::chunks_of_group, of.end_of_chunks(group));
    });
    TreeStack<State> stack;
    for (std::int64_t group = 0; group < of.groups; ++group) stack.push(states[group]);
    const auto final = job.finish(row, stack.total());
    if constexpr (Job::rewrites) {
      threads.for_each(of.groups, [&](std::int64_t group) {
        rewrite_row(job, row, group * RowDivision::chunks_of_group * RowTree::chunk,
                    std::min(of.columns, of.end_of_chunks(group) * RowTree::chunk), final);
      });
    }
  }
}

/// Reduces each row, and rewrites it if the job does.
template <class Job>
void reduce_rows(const Job& job, Queue& queue) {
  const RowDivision of(job.value().rows, job.value().columns);
  if (of.long_rows()) return reduce_long_rows(job, of, queue);
  pool_of(queue).for_each(of.tasks(), [&](std::int64_t task) {
    const std::int64_t end = std::min(of.rows, (task + 1) * of.rows_of_task);
    for (std::int64_t row = task * of.rows_of_task; row < end; ++row) {
      const auto final = job.finish(row, state_of_chunks(job, row, 0, of.chunks));
      rewrite_row(job, row, 0, of.columns, final);
    }
  });
}

}  // namespace kiln::cpu
