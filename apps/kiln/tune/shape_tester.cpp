// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tune/shape_tester.hpp"

#include <fmt/format.h>

#include <exception>

#include "kiln/device/device_fault.hpp"
#include "kiln/errors.hpp"

#include "tune/paired_times.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t measured_pairs = 10;

TuneTrial refused(TrialVerdict verdict, std::string complaint) {
  TuneTrial trial;
  trial.verdict = verdict;
  trial.complaint = std::move(complaint);
  return trial;
}

void reset(const PreparedKernel& prepared) {
  if (prepared.launches.reset) prepared.launches.reset();
}

}  // namespace

std::vector<int> buckets_of(const KernelCase& which, const Tunable& tunable, Queue& device,
                            const TunedShapes& shapes) {
  const ShapeTrial listening(shapes, &tunable);
  BenchContext context(device);
  const PreparedKernel prepared = which.prepare(context);
  reset(prepared);
  prepared.launches.launch(0);
  device.wait();
  return {listening.buckets().begin(), listening.buckets().end()};
}

ShapeTester::ShapeTester(const TestBench& bench, const KernelCase& which, const Tunable& tunable,
                         int bucket)
    : bench_(bench),
      which_(which),
      tunable_(tunable),
      bucket_(bucket),
      twins_(bench.device, bench.twin),
      context_(twins_) {
  twins_.launch_twins_within([this](const std::function<void()>& launch) {
    const ShapeTrial standard(bench_.shapes, nullptr), of_twin(bench_.twin_shapes, nullptr);
    launch();
  });
  const ShapeTrial standard(bench_.shapes, nullptr);
  twins_.fill_memory();
  prepared_ = which.prepare(context_);
  contents_ = twins_.contents();
}

ShapeTester::Compared ShapeTester::compare(std::size_t launches,
                                           const std::function<void()>& work) {
  Compared sum;
  for (const TwinLaunch& one : twins_.compare(tunable_.description().kernel, launches, work)) {
    sum.written += one.written;
    sum.difference += one.difference;
  }
  return sum;
}

// Every shape begins with the same memory, so a launch that does nothing does not profit from what
// an earlier one has left. Where the preparation has made the results already, it is made anew, and
// its launches are compared.
TuneTrial ShapeTester::verify(const LaunchShape& shape) {
  twins_.restore(contents_);
  reset(prepared_);
  const ShapeTrial trial(bench_.shapes, &tunable_, bucket_, shape);
  auto [written, difference] = compare(1, [&] { prepared_.launches.launch(0); });
  if (written == 0 && difference.unequal == 0) {
    std::optional<PreparedKernel> fresh;
    const Compared again = compare(2, [&] { fresh = which_.prepare(context_); });
    written = again.written;
    difference = again.difference;
  }
  if (trial.launches() == 0 || (written == 0 && difference.unequal == 0)) {
    return refused(TrialVerdict::declined,
                   "the launch does not ask for a shape, or writes nothing");
  }
  if (trial.declined() > 0) {
    return refused(TrialVerdict::declined, "the shape does not fit the arguments of the launch");
  }
  if (difference.unequal > 0) {
    return refused(TrialVerdict::wrong, fmt::format("{} of {} words differ from the default",
                                                    difference.unequal, difference.words));
  }
  return {};
}

std::optional<TuneTrial> ShapeTester::measure(const LaunchShape& shape,
                                              const std::function<bool()>& ended) {
  const Launches& work = prepared_.launches;
  const Effort effort{.batch_s = 1e-3};
  if (!standard_) {
    const ShapeTrial standard(bench_.shapes, nullptr);
    standard_ = bench_.timer.make_batch(work, bench_.timer.choose_batch(work, effort));
  }
  LaunchTimer::Batch batch;
  {
    const ShapeTrial trial(bench_.shapes, &tunable_, bucket_, shape);
    batch = bench_.timer.make_batch(work, standard_->launches);
    // The first one loads code.
    static_cast<void>(bench_.timer.sample(work, batch));
  }
  const auto take_shape = [&] {
    const ShapeTrial trial(bench_.shapes, &tunable_, bucket_, shape);
    return bench_.timer.sample(work, batch);
  };
  const auto take_standard = [&] {
    const ShapeTrial trial(bench_.shapes, nullptr);
    return bench_.timer.sample(work, *standard_);
  };
  PairedTimes times;
  const Stopwatch spent;
  while (!times.enough() &&
         (times.shape.size() < measured_pairs || spent.seconds() < bench_.limit_s)) {
    if (ended()) return std::nullopt;
    // Whoever comes second may find a warmer cache, so they change places.
    const bool shape_first = times.shape.size() % 2 == 0;
    if (shape_first) times.shape.push_back(take_shape());
    times.standard.push_back(take_standard());
    if (!shape_first) times.shape.push_back(take_shape());
  }
  TuneTrial trial;
  times.write_to(trial);
  return trial;
}

std::optional<TuneTrial> ShapeTester::test(const LaunchShape& shape,
                                           const std::function<bool()>& ended,
                                           const std::function<void(const TuneTrial&)>& failed) {
  try {
    TuneTrial verified = verify(shape);
    if (verified.verdict != TrialVerdict::measured) return verified;
    return measure(shape, ended);
  } catch (const CudaError& error) {
    const TuneTrial trial = refused(TrialVerdict::failed, error.message());
    if (!ends_device(error)) return trial;
    failed(trial);
    throw;
  } catch (const Error& error) {
    return refused(TrialVerdict::failed, error.message());
  } catch (const std::exception& error) {
    return refused(TrialVerdict::failed, error.what());
  }
}

}  // namespace kiln::cli
