// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/archive.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "backends/cpu_queue.hpp"

namespace kiln::archive_test {
namespace {

using test::complaint;

TEST(Archive, GivesBackWhatWasPut) {
  Archive archive;
  archive.put("reals", std::vector<double>{1.5, -2.5});
  archive.put("none", std::vector<std::int32_t>{});
  archive.put_value("one", std::uint64_t{7});

  EXPECT_EQ(archive.get<double>("reals"), (std::vector<double>{1.5, -2.5}));
  EXPECT_TRUE(archive.get<std::int32_t>("none").empty());
  EXPECT_EQ(archive.get_value<std::uint64_t>("one"), 7u);
  EXPECT_TRUE(archive.has("reals"));
  EXPECT_FALSE(archive.has("other"));
  EXPECT_EQ(archive.sections().size(), 3u);
}

TEST(Archive, ReplacesASectionOfTheSameName) {
  Archive archive;
  archive.put("x", std::vector<double>{1, 2, 3});
  archive.put("x", std::vector<double>{4});
  EXPECT_EQ(archive.get<double>("x"), std::vector<double>{4});
}

TEST(Archive, RefusesWhatIsNotThere) {
  Archive archive;
  archive.put("x", std::vector<std::uint8_t>{1, 2, 3});
  EXPECT_EQ(complaint([&] { archive.get<double>("y"); }),
            "archive.missing: the archive has no section 'y'");
  EXPECT_EQ(complaint([&] { archive.get<std::uint16_t>("x"); }),
            "archive.size: section 'x' of the archive has the wrong size");
  EXPECT_EQ(complaint([&] { archive.get_value<std::uint8_t>("x"); }),
// Wherever the earlier one lies.
TEST(Archive, ReplacesASectionOnTheDeviceAndOneInHostMemory) {
  const auto queue = test::cpu_queue();
  DeviceArray<double> array(*queue, std::vector<double>{1, 2});
  Archive archive(*queue);
  archive.put("x", array);
  archive.put("x", std::vector<double>{3, 4});
  EXPECT_EQ(archive.get<double>("x"), (std::vector<double>{3, 4}));
  archive.restore("x", array);
  EXPECT_EQ(array.download(), (std::vector<double>{3, 4}));

  array.upload({5, 6});
  archive.put("x", array);
  EXPECT_EQ(archive.sections().count("x"), 0u);
  array.upload({0, 0});
  archive.restore("x", array);
  EXPECT_EQ(array.download(), (std::vector<double>{5, 6}));
}

            "archive.size: section 'x' of the archive has the wrong size");
}

TEST(Archive, RestoresArraysOfTheSavedSizeOnly) {
  const auto queue = test::cpu_queue();
  Archive archive;
  archive.put("x", std::vector<double>{1, 2, 3});
  DeviceArray<double> fitting(*queue, 3), other(*queue, std::vector<double>{8, 9});

  archive.restore("x", fitting);

  EXPECT_EQ(fitting.download(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(complaint([&] { archive.restore("x", other); }),
            "archive.size: section 'x' of the archive has the wrong size");
  EXPECT_EQ(other.download(), (std::vector<double>{8, 9}));
}

TEST(Archive, KeepsDeviceArraysOnTheDevice) {
  const auto queue = test::cpu_queue();
  DeviceArray<double> array(*queue, std::vector<double>{1, 2, 3});
  DeviceArray<double> none, other(*queue, std::vector<double>{8, 9});
  Archive archive(*queue);
  const Counters before = queue->counters();
  archive.put("x", array);
  archive.put("none", none);
  archive.put("host", std::vector<int>{5});
  EXPECT_EQ((queue->counters() - before).copies, 0u) << "nothing passes the host";
  EXPECT_TRUE(archive.has("x"));
  EXPECT_EQ(archive.sections().count("x"), 0u);

  array.upload({7, 7, 7});
  archive.restore("x", array);
  archive.restore("none", none);
  EXPECT_EQ(array.download(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(archive.get<int>("host"), std::vector<int>{5});
  EXPECT_EQ(complaint([&] { archive.restore("x", other); }),
            "archive.size: section 'x' of the archive has the wrong size");
  EXPECT_EQ(complaint([&] { archive.restore("y", other); }),
            "archive.missing: the archive has no section 'y'");
}

// More than any machine has: the archive asks for it on the device first.
TEST(Archive, LeavesToTheHostWhatTheDeviceHasNoRoomFor) {
  const auto queue = test::cpu_queue();
  Archive archive(*queue);
  const double one = 1;
  EXPECT_FALSE(archive.keep("x", &one, std::size_t{1} << 60));
  EXPECT_FALSE(archive.has("x"));
  EXPECT_TRUE(archive.keep("x", &one, sizeof one));
}

}  // namespace
}  // namespace kiln::archive_test
