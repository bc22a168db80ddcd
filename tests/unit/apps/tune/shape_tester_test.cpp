// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Shapes are verified before their time is taken: planted launchers that are fast and wrong.
#include "tune/shape_tester.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <stdexcept>
#include <vector>

#include "kiln/backend.hpp"

#include "tune/shape_search.hpp"

namespace kiln::test::shape_tester_test {
namespace {

using cli::BenchContext;
using cli::ForwardingQueue;
using cli::KernelCase;
using cli::PreparedKernel;
using cli::ShapeTester;
using cli::TestBench;

enum Mode : std::int32_t { usual = 1, faster, slower, wrong, throws, unfit, idle };

TunableDescription modes() {
  TunableDescription of;
  of.name = "planted_modes";
  of.kernel = "axpby";
  of.gpu = false;
  of.size = "items";
  of.parameters = {{"mode", {usual, faster, slower, wrong, throws, unfit, idle}}};
  of.default_shape = LaunchShape{usual};
  return of;
}
const Tunable planted(modes());
const TunedShapes* planted_shapes = nullptr;
int wrong_launches = 0;

/// A clock that launches alone move: tests depend on no time.
double planted_seconds = 0;
void spend(double microseconds) { planted_seconds += 1e-6 * microseconds; }

/// Launchers of a CPU; that of axpby asks for a mode, and the wrong one is by far the fastest.
struct ModeLaunchers {
  template <class Kernel>
  static void launch(const Kernel& kernel, Queue& queue) {
    Queue& device = static_cast<ForwardingQueue&>(queue).device();
    if constexpr (std::is_same_v<Kernel, Axpby>) {
      const LaunchShape* const shape = planted_shapes->find(planted, kernel.y.size);
      const std::int32_t mode = shape != nullptr ? (*shape)[0] : usual;
      if (mode == throws) throw std::runtime_error("this shape cannot be launched");
      if (mode == unfit) planted_shapes->decline(planted);
      spend(mode == faster ? 100 : mode == slower ? 400 : mode == wrong ? 1 : 200);
      if (mode == idle) return;
      device.launch(kernel);
      if (mode == wrong) {
        ++wrong_launches;
        kernel.y[3] = std::nextafter(kernel.y[3], 1e300);
      }
    } else {
      device.launch(kernel);
    }
  }
  template <class Kernel>
  static constexpr Launcher<Kernel> launcher = &launch<Kernel>;
};

class PlantedDevice final : public ForwardingQueue {
 public:
  using ForwardingQueue::ForwardingQueue;

 protected:
  void do_begin_timer() override { begin_ = planted_seconds; }
  double do_end_timer_s() override { return planted_seconds - begin_; }

 private:
  double begin_ = 0;
};

/// y = 0.5 x for 100 items: a second launch changes nothing.
KernelCase halves() {
  return {"100 items", [](BenchContext& context) -> PreparedKernel {
            struct Data {
              DeviceArray<double> x, y;
            };
            Queue& queue = context.queue();
            const auto data = std::make_shared<Data>(
                Data{DeviceArray<double>(queue, std::vector<double>(100, 3)),
                     DeviceArray<double>(queue, std::vector<double>(100, 4))});
            PreparedKernel prepared;
            prepared.launches.launch = [data, &queue](std::uint32_t) {
              Axpby kernel;
              kernel.x = data->x.view();
              kernel.y = data->y.view();
              kernel.alpha = 0.5;
              kernel.beta = 0;
              queue.launch(kernel);
            };
            return prepared;
          }};
}

class Tester : public testing::Test {
 protected:
  Tester() {
    planted_shapes = &shapes_;
    wrong_launches = 0;
  }
  TuneTrial test(std::int32_t mode) {
    ShapeTester tester(bench_, halves(), planted, 4);
    return tester
        .test(
            {mode}, [] { return false; }, [](const TuneTrial&) {})
        .value();
  }

  const TunedShapes shapes_{{}, {}};
  std::unique_ptr<Queue> first_ = open_backend("cpu", 1).backend->make_queue();
  std::unique_ptr<Queue> second_ = open_backend("cpu", 1).backend->make_queue();
  PlantedDevice device_{kernel_sets_of<ModeLaunchers>(Components{}), *first_};
  ForwardingQueue twin_{kernel_sets_of<ModeLaunchers>(Components{}), *second_};
  cli::LaunchTimer timer_{device_};
  TestBench bench_{device_, shapes_, twin_, shapes_, timer_, 1};
};

TEST_F(Tester, HearsTheSizesOfACase) {
  EXPECT_EQ(cli::buckets_of(halves(), planted, device_, shapes_), std::vector<int>{4});
  const Tunable other([] {
    TunableDescription of = modes();
    of.name = "planted_unheard";
    return of;
  }());
  EXPECT_TRUE(cli::buckets_of(halves(), other, device_, shapes_).empty());
}

TEST_F(Tester, MeasuresARightShapeAgainstTheDefault) {
  const TuneTrial trial = test(faster);
  EXPECT_EQ(trial.verdict, TrialVerdict::measured) << trial.complaint;
  EXPECT_EQ(trial.samples, 10);
  EXPECT_NEAR(trial.seconds.median, 100e-6, 1e-12);
  EXPECT_NEAR(trial.gain.median, 2, 1e-9);
  EXPECT_NEAR(test(slower).gain.median, 0.5, 1e-9);
}

TEST_F(Tester, AWrongShapeIsLaunchedOnceAndNotTimed) {
  const TuneTrial trial = test(wrong);
  EXPECT_EQ(trial.verdict, TrialVerdict::wrong);
  EXPECT_EQ(trial.complaint, "1 of 200 words differ from the default");
  EXPECT_EQ(trial.samples, 0);
  EXPECT_EQ(wrong_launches, 1);
}

// What a launch before it has left is no result of a shape that does nothing.
TEST_F(Tester, AShapeThatDoesNothingIsWrong) {
  ShapeTester tester(bench_, halves(), planted, 4);
  const auto test_mode = [&](std::int32_t mode) {
    return tester
        .test(
            {mode}, [] { return false; }, [](const TuneTrial&) {})
        .value();
  };
  EXPECT_EQ(test_mode(faster).verdict, TrialVerdict::measured);
  EXPECT_EQ(test_mode(idle).verdict, TrialVerdict::wrong);
}

TEST_F(Tester, AShapeThatThrowsOrDoesNotFitIsRecorded) {
  EXPECT_EQ(test(throws).verdict, TrialVerdict::failed);
  EXPECT_EQ(test(throws).complaint, "this shape cannot be launched");
  EXPECT_EQ(test(unfit).verdict, TrialVerdict::declined);
}

TEST_F(Tester, GivesUpBetweenSamples) {
  ShapeTester tester(bench_, halves(), planted, 4);
  int asked = 0;
  EXPECT_FALSE(tester.test(
      {faster}, [&] { return ++asked > 3; }, [](const TuneTrial&) {}));
  EXPECT_EQ(asked, 4);
}

TEST_F(Tester, TheFastWrongShapeNeverWins) {
  ShapeTester tester(bench_, halves(), planted, 4);
  cli::TuneTask task;
  task.tunable = &planted;
  cli::TuneActions actions;
  actions.default_fault = [] { return std::string(); };
  actions.ended = [] { return false; };
  actions.keep = [](const TuneTrial&) {};
  actions.test = [&](const LaunchShape& shape, bool) {
    return tester.test(
        shape, [] { return false; }, [](const TuneTrial&) {});
  };
  const auto outcome = cli::search_shapes(task, {}, actions);
  ASSERT_TRUE(outcome && outcome->chosen);
  EXPECT_EQ(text_of(*outcome->chosen), "mode=2");
  EXPECT_EQ(outcome->wrong, 2);
  EXPECT_EQ(outcome->failed, 1);
  EXPECT_EQ(outcome->tried, 6);
}

}  // namespace
}  // namespace kiln::test::shape_tester_test
