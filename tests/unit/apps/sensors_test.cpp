// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
//
// Sensors of a GPU, by libraries that behave as NVML does (tests/nvml).
#include "hardware/sensors.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backends/backends.hpp"

namespace kiln::cli::sensors_test {
namespace {

using test::ScopedEnvironment;

const std::string gpu = "0000:3b:00.0";

std::string fake(const std::string& kind) {
  return std::string(KILN_FAKE_NVML_FOLDER) + "/libkiln_nvml_" + kind + ".so";
}

/// Readings at the beginning, after 2 s and at the end, after 5 s.
std::shared_ptr<const HardwareReadings> readings(const std::string& library) {
  Sensors sensors(gpu, library);
  sensors.begin();
  sensors.update(0.5);  // too early
  sensors.update(2.0);
  sensors.update(2.9);  // too early
  return sensors.finish(5.0);
}

TEST(Sensors, GiveTheRangeOfWhatTheyRead) {
  const auto all = readings(fake("whole"));
  ASSERT_TRUE(all);
  EXPECT_DOUBLE_EQ(*all->energy_j, 500) << "of three readings, 250 J apart";
  EXPECT_DOUBLE_EQ(all->power_w->min, 300);
  EXPECT_DOUBLE_EQ(all->power_w->mean, 400);
  EXPECT_DOUBLE_EQ(all->power_w->max, 500);
  EXPECT_DOUBLE_EQ(all->sm_clock_mhz->min, 1755);
  EXPECT_NEAR(all->sm_clock_mhz->mean, (1900 + 1980 + 1755) / 3.0, 1e-9);
  EXPECT_DOUBLE_EQ(all->sm_clock_mhz->max, 1980);
  EXPECT_DOUBLE_EQ(all->temperature_c->max, 61);
  EXPECT_EQ(all->throttled, (std::vector<std::string>{"power", "heat"}));
  EXPECT_TRUE(all->notes.empty());
  EXPECT_EQ(hardware_text(*all),
            "hardware     500 J   power 400 W, at most 500 W   SM clock 1755 .. 1980 MHz   at most "
            "61 C   slowed down by power, heat\n");
}

// The integral of 300, 500 and 400 W at 0, 2 and 5 s by the trapezoidal rule.
TEST(Sensors, IntegratePowerWithoutAnEnergyCounter) {
  for (const char* kind : {"old", "whole"}) {
    const ScopedEnvironment failing("KILN_FAKE_NVML", "no-energy");
    const auto all = readings(fake(kind));
    ASSERT_TRUE(all);
    EXPECT_DOUBLE_EQ(*all->energy_j, 2 * 400 + 3 * 450);
    const std::string why =
        kind == std::string("old") ? "the driver has no such function" : "Not Supported";
    EXPECT_EQ(all->notes, (std::vector<std::string>{"no energy counter: " + why})) << "once";
    EXPECT_EQ(all->throttled, (std::vector<std::string>{"power", "heat"}))
        << "by the name of the function before driver 535";
  }
}

TEST(Sensors, LeaveOutWhatIsNotTold) {
  const ScopedEnvironment failing("KILN_FAKE_NVML", "no-power");
  const auto all = readings(fake("whole"));
  ASSERT_TRUE(all);
  EXPECT_FALSE(all->power_w);
  EXPECT_DOUBLE_EQ(*all->energy_j, 500);
  EXPECT_EQ(all->notes, (std::vector<std::string>{"no power: Not Supported"}));
}

TEST(Sensors, SayThatADividedGpuIsReadAsAWhole) {
  const ScopedEnvironment divided("KILN_FAKE_NVML", "mig");
  const auto all = readings(fake("whole"));
  ASSERT_TRUE(all);
  ASSERT_EQ(all->notes.size(), 1u);
  EXPECT_NE(all->notes[0].find("(MIG)"), std::string::npos);
}

TEST(Sensors, SayWhyNothingIsRead) {
  const auto complaint = [](const std::string& library, const std::string& id = gpu) {
    Sensors sensors(id, library);
    sensors.begin();
    EXPECT_FALSE(sensors.finish(1));
    return sensors.complaint();
  };
  EXPECT_EQ(complaint("libkiln-is-not-there.so"), "libkiln-is-not-there.so was not found");
  EXPECT_EQ(complaint(fake("strange")), fake("strange") + " is no NVML of today");
  EXPECT_EQ(complaint(fake("whole"), "0000:af:00.0"), "NVML refused GPU 0000:af:00.0: Not Found");
  EXPECT_EQ(complaint(fake("whole"), ""), "") << "a CPU has no sensors";
  {
    const ScopedEnvironment failing("KILN_FAKE_NVML", "no-driver");
    EXPECT_EQ(complaint(fake("whole")), "NVML refused GPU " + gpu + ": Driver Not Loaded");
  }
  const ScopedEnvironment failing("KILN_FAKE_NVML", "no-permission");
  EXPECT_EQ(complaint(fake("whole")), "NVML refused GPU " + gpu + ": Insufficient Permissions");
}

TEST(Sensors, NameSlowdownsOnce) {
  EXPECT_TRUE(Nvml::slowdowns(0x103).empty()) << "idle, chosen clocks";
  EXPECT_EQ(Nvml::slowdowns(0x88), (std::vector<std::string>{"hardware slowdown", "power brake"}));
  EXPECT_EQ(Nvml::slowdowns(0x60), (std::vector<std::string>{"heat"}));
}

}  // namespace
}  // namespace kiln::cli::sensors_test
