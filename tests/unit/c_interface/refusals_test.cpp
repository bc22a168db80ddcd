// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// What the C interface refuses, with which code and text, and how a caller ends a run.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <ios>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "kiln/checkpoint.hpp"
#include "kiln/errors.hpp"
#include "kiln/failures/failure_code.hpp"
#include "kiln/kiln.h"

namespace kiln::c_refusals_test {
namespace {

/// A call that succeeds, to be spoilt in one place.
struct Call {
  std::array<std::int32_t, 3> rows{0, 1, 0}, columns{0, 1, 1};
  std::array<double, 3> values{1, -2, 3};
  std::array<std::int64_t, 3> integers{1, -2, 3};
  std::vector<const char*> settings;
  kiln_solver* solver = nullptr;
  kiln_model model = kiln_empty_model();
  kiln_options options = kiln_default_options();
  kiln_result result = kiln_empty_result();
  std::array<std::int8_t, 2> state{9, 9};
  std::string text;

  Call() {
    EXPECT_EQ(kiln_open("cpu", 1, &solver, nullptr, 0), KILN_OK);
    model.form = KILN_QUBO;
    model.n = 2;
    model.count = 3;
    model.rows = rows.data();
    model.columns = columns.data();
    model.values = values.data();
    options.replicas = 8;
    options.sweeps = 8;
    result.value = 123;
  }
  ~Call() { kiln_close(solver); }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  int make() {
    options.settings = settings.data();
    options.settings_count = settings.size();
    std::array<char, 512> error{};
    const int code =
        kiln_solve(solver, &model, &options, &result, state.data(), error.data(), error.size());
    text = error.data();
    return code;
  }
};

/// The text of the refusal, whose code is that of a usage error.
template <class Spoil>
std::string refusal(Spoil spoil) {
  Call call;
  spoil(call);
  EXPECT_EQ(call.make(), KILN_USAGE) << call.text;
  EXPECT_EQ(call.result.value, 123) << "a refused call leaves the result as it was";
  EXPECT_EQ(call.state[0], 9) << "a refused call leaves the state as it was";
  return call.text.substr(0, call.text.find("\n"));
}

TEST(CInterface, ACallThatIsNotSpoiltSucceeds) {
  Call call;
  ASSERT_EQ(call.make(), KILN_OK) << call.text;
  EXPECT_EQ(call.result.value, -2);
  EXPECT_EQ(call.state, (std::array<std::int8_t, 2>{0, 1}));
}

TEST(CInterface, RefusesModelsThatAreNone) {
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(refusal([](Call& c) { c.model.form = 0; }), "interface.value: kiln_model::form is 0");
  EXPECT_EQ(refusal([](Call& c) { c.model.n = 0; }), "interface.value: kiln_model::n is 0");
  EXPECT_EQ(refusal([](Call& c) { c.model.count = -1; }),
            "interface.value: kiln_model::count is -1");
  EXPECT_EQ(refusal([](Call& c) { c.model.rows = nullptr; }),
            "interface.value: kiln_model::rows or columns is NULL");
  EXPECT_EQ(refusal([](Call& c) { c.model.values = nullptr; }),
            "interface.value: kiln_model has both values and integers, or neither");
  EXPECT_EQ(refusal([](Call& c) { c.model.integers = c.integers.data(); }),
            "interface.value: kiln_model has both values and integers, or neither");
  EXPECT_EQ(refusal([](Call& c) { c.columns[2] = 2; }),
            "interface.value: term 2 (0, 2) names a variable that does not exist");
  EXPECT_EQ(refusal([](Call& c) { c.rows[1] = -1; }),
            "interface.value: term 1 (-1, 1) names a variable that does not exist");
  EXPECT_EQ(refusal([&](Call& c) { c.values[1] = inf; }),
            "interface.value: term 1 (1, 1) has a value that is not finite");
  EXPECT_EQ(refusal([&](Call& c) { c.model.offset = inf; }),
            "interface.value: kiln_model::offset is not finite");
  EXPECT_EQ(refusal([](Call& c) {
              c.model.values = nullptr;
              c.model.integers = c.integers.data();
              c.integers[0] = (std::int64_t{1} << 53) + 1;
            }),
            "interface.value: integer 0 is 9007199254740993");
  EXPECT_EQ(refusal([](Call& c) { c.model.form = KILN_MAX_CUT; }),
            "interface.value: term 0 (0, 0) joins a vertex to itself");
  EXPECT_EQ(refusal([](Call& c) {
              c.model.form = KILN_MAX_CUT;
              c.model.offset = 1;
            }),
            "interface.value: kiln_model::offset is not 0");
}

TEST(CInterface, RefusesOptionsThatAreNone) {
  EXPECT_EQ(refusal([](Call& c) { c.options.sense = 3; }),
            "interface.value: kiln_options::sense is 3");
  EXPECT_NE(refusal([](Call& c) {
              c.options.schedule = "simulated-anealing";
            }).find("simulated-annealing"),
            std::string::npos);
  EXPECT_EQ(refusal([](Call& c) { c.settings = {"beta_max"}; }),
            "interface.setting: setting 'beta_max' has no name or no value");
  EXPECT_EQ(refusal([](Call& c) {
              c.settings = {"beta_max=1", "beta_max=2"};
            }),
            "interface.setting: setting 'beta_max' is given twice");
  EXPECT_NE(refusal([](Call& c) { c.settings = {"beta_mux=1"}; }).find("beta_max"),
            std::string::npos);
  EXPECT_EQ(refusal([](Call& c) { c.settings = {nullptr}; }),
            "interface.null: an entry of kiln_options::settings is NULL");
  EXPECT_NE(refusal([](Call& c) { c.options.sweeps = -1; }), "");
  EXPECT_NE(refusal([](Call& c) { c.options.time_limit_s = -1; }), "");
  EXPECT_NE(refusal([](Call& c) { c.options.replicas = -1; }), "");
  EXPECT_NE(refusal([](Call& c) { c.options.report_interval_s = -1; }), "");
}

TEST(CInterface, RefusesSizesOfNoVersion) {
  EXPECT_EQ(refusal([](Call& c) { c.model.struct_size = 8; }),
            "interface.struct_size: kiln_model::struct_size is 8");
  EXPECT_EQ(refusal([](Call& c) { c.options.struct_size = 0; }),
            "interface.struct_size: kiln_options::struct_size is 0");
  EXPECT_EQ(refusal([](Call& c) { c.result.struct_size = std::size_t{1} << 40; }),
            "interface.struct_size: kiln_result::struct_size is 1099511627776");
}

/// A structure of a later header.
struct LaterOptions {
  kiln_options known = kiln_default_options();
  std::int64_t unknown = 0;
};

TEST(CInterface, TakesStructuresOfLaterHeadersWhereTheyAskForNothingNew) {
  Call call;
  LaterOptions later;
  later.known.struct_size = sizeof later;
  std::array<char, 256> error{};
  const auto make = [&] {
    return kiln_solve(call.solver, &call.model, &later.known, nullptr, nullptr, error.data(),
                      error.size());
  };
  EXPECT_EQ(make(), KILN_OK) << error.data();
  later.unknown = 1;
  EXPECT_EQ(make(), KILN_USAGE);
  EXPECT_NE(std::string(error.data()).find("a member that this version does not know"),
            std::string::npos);
}

TEST(CInterface, RefusesNullPointersAndUnknownDevices) {
  std::array<char, 256> error{};
  EXPECT_EQ(kiln_solve(nullptr, nullptr, nullptr, nullptr, nullptr, error.data(), error.size()),
            KILN_USAGE);
  EXPECT_EQ(std::string(error.data()).substr(0, 30), "interface.null: solver is NULL");
  EXPECT_EQ(kiln_open("cpu", 0, nullptr, error.data(), error.size()), KILN_USAGE);
  kiln_solver* solver = nullptr;
  EXPECT_EQ(kiln_open("abacus", 0, &solver, error.data(), error.size()), KILN_USAGE);
  EXPECT_EQ(solver, nullptr);
  EXPECT_EQ(kiln_open("cuda:4095", 0, &solver, error.data(), error.size()), KILN_DEVICE);
  EXPECT_EQ(std::string(error.data()).substr(0, 7), "device.");
  kiln_close(nullptr);
  EXPECT_STREQ(kiln_device(nullptr), "");
  EXPECT_STREQ(kiln_fallback_reason(nullptr), "");
}

TEST(CInterface, CutsTextsOffBetweenCharacters) {
  Call call;
  const char* const settings[] = {"\xc3\xa4\xc3\xb6"};  // two characters of two bytes
  call.options.settings = settings;
  call.options.settings_count = 1;
  const std::string before = "interface.setting: setting '";
  for (const std::size_t extra : {std::size_t{2}, std::size_t{3}}) {
    std::vector<char> error(before.size() + extra + 1, 'x');
    EXPECT_EQ(kiln_solve(call.solver, &call.model, &call.options, nullptr, nullptr, error.data(),
                         error.size() - 1),
              KILN_USAGE);
    EXPECT_EQ(std::string(error.data()), before + (extra == 3 ? "\xc3\xa4" : ""));
    EXPECT_EQ(error.back(), 'x') << "written beyond the end";
  }
}

TEST(CInterface, SaysWhichDeviceItIs) {
  Call call;
  EXPECT_STREQ(kiln_device(call.solver), "cpu");
  EXPECT_STREQ(kiln_fallback_reason(call.solver), "");
  EXPECT_STREQ(kiln_stop_name(KILN_TIME_LIMIT), "time_limit");
  EXPECT_STREQ(kiln_stop_name(KILN_INTERRUPTED), "interrupted");
  EXPECT_STREQ(kiln_stop_name(-1), "unknown");
  EXPECT_STREQ(kiln_stop_name(99), "unknown");
}

TEST(CInterface, ReachesATarget) {
  Call call;
  const double target = -2;
  call.options.target = &target;
  ASSERT_EQ(call.make(), KILN_OK) << call.text;
  EXPECT_EQ(call.result.stop, KILN_TARGET_REACHED);
}

/// A callback ends the run after so many calls; `again` is what a call in the call gives.
struct Watcher {
  Call* call = nullptr;
  int calls = 0, again = -1;
  double best = 0;

  static std::int32_t watch(const kiln_progress* progress, void* data) {
    auto& self = *static_cast<Watcher*>(data);
    EXPECT_EQ(progress->struct_size, sizeof(kiln_progress));
    if (progress->has_best != 0) self.best = progress->best;
    self.again =
        kiln_solve(self.call->solver, &self.call->model, nullptr, nullptr, nullptr, nullptr, 0);
    return ++self.calls == 3 ? 1 : 0;
  }
};

TEST(CInterface, ACallbackEndsARunAndKeepsItsBest) {
  Call call;
  Watcher watcher{&call};
  call.options.callback = Watcher::watch;
  call.options.callback_data = &watcher;
  call.options.sweeps = std::int64_t{1} << 50;
  call.options.report_interval_s = 0.01;
  ASSERT_EQ(call.make(), KILN_OK) << call.text;
  EXPECT_EQ(watcher.calls, 4) << "the last one is at the end";
  EXPECT_EQ(call.result.stop, KILN_INTERRUPTED);
  EXPECT_EQ(call.result.value, -2);
  EXPECT_EQ(watcher.best, -2);
  EXPECT_EQ(watcher.again, KILN_USAGE) << "a solver does one thing at a time";
  call.options.callback = nullptr;
  call.options.sweeps = 8;
  EXPECT_EQ(call.make(), KILN_OK) << "a solver that was interrupted goes on";
}

TEST(CInterface, NoExceptionOfACallbackComesThrough) {
  Call call;
  call.options.callback = [](const kiln_progress*, void*) -> std::int32_t {
    throw std::runtime_error("thrown by the callback");
  };
  EXPECT_EQ(call.make(), KILN_INTERNAL);
  EXPECT_EQ(call.text, "thrown by the callback");
  call.options.callback = [](const kiln_progress*, void*) -> std::int32_t { throw 7; };
  EXPECT_EQ(call.make(), KILN_INTERNAL);
}

TEST(FailureCode, IsThatOfTheProgram) {
  const auto code = [](const std::exception& error) {
    return static_cast<int>(failure_code_of(error));
  };
  EXPECT_EQ(code(InvalidArgument("a.b", "c")), 2);
  EXPECT_EQ(code(ParseError("f", {}, 0)), 3);
  EXPECT_EQ(code(std::ios_base::failure("f")), 3);
  EXPECT_EQ(code(NoDevice("a.b", "c")), 4);
  EXPECT_EQ(code(NotCompiled("a.b", "c")), 4);
  EXPECT_EQ(code(OutOfDeviceMemory("m", 2, 1)), 5);
  EXPECT_EQ(code(std::bad_alloc()), 5);
  EXPECT_EQ(code(std::system_error(EAGAIN, std::system_category())), 5);
  EXPECT_EQ(code(std::system_error(EPERM, std::system_category())), 1);
  EXPECT_EQ(code(IoError("a.b", "c")), 6);
  EXPECT_EQ(code(PluginError("a.b", "c")), 7);
  EXPECT_EQ(code(CompileError("a.b", "c")), 7);
  EXPECT_EQ(code(ObjectiveError("a.b", "c")), 9);
  EXPECT_EQ(code(Interrupted("a.b", "c")), 9);
  EXPECT_EQ(code(CudaError("a.b", "c")), 70);
  EXPECT_EQ(code(std::runtime_error("c")), 1);
}

}  // namespace
}  // namespace kiln::c_refusals_test
