// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "kiln/engine.hpp"
#include "kiln/errors.hpp"
#include "kiln/plugin.h"
#include "kiln/plugins/module_note.hpp"
#include "kiln/plugins/plugins.hpp"
#include "kiln/problems/generators.hpp"
#include "kiln/version.hpp"

#include "temporary_folder.hpp"

namespace kiln::test::load_plugin_test {
namespace {

namespace fs = std::filesystem;

fs::path plugin(const std::string& name) { return fs::path(KILN_PLUGINS) / (name + ".so"); }

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

template <class T>
std::string text_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

class LoadPlugin : public testing::Test {
 protected:
  fs::path written(const std::string& bytes) {
    const fs::path path = folder_.path() / "plugin.so";
    std::ofstream(path, std::ios::binary) << bytes;
    fs::permissions(path, fs::perms(0644));
    return path;
  }
  // The plug-in `fine` with another note in its file.
  fs::path with_note(const ModuleNote& other) {
    const std::string own = text_of(module_note(KILN_PLUGIN_ABI, sizeof(kiln_plugin),
                                                KILN_FINGERPRINT, version(), ModuleKind::plugin));
    std::string bytes = bytes_of(plugin("fine"));
    const std::size_t at = bytes.find(own);
    EXPECT_NE(at, std::string::npos);
    return written(bytes.replace(at, own.size(), text_of(other)));
  }
  // The code of the refusal, of which nothing may be left in the registry.
  std::string refusal(const fs::path& path) {
    Registry registry = builtin_registry();
    const std::size_t before = registry.schedules().size();
    std::string code = "accepted";
    try {
      static_cast<void>(load_plugin(path, registry));
    } catch (const PluginError& error) {
      code = error.code();
      EXPECT_FALSE(error.message().empty());
      EXPECT_FALSE(error.fix().empty()) << code;
    }
    if (code != "accepted") {
      EXPECT_EQ(registry.schedules().size(), before) << code;
    }
    return code;
  }

  TemporaryFolder folder_;
};

TEST_F(LoadPlugin, AddsScheduleAndKernels) {
  Registry registry = builtin_registry();
  const PluginInfo info = load_plugin(plugin("fine"), registry);
  EXPECT_EQ(info.name, "fine");
  EXPECT_EQ(info.path, fs::canonical(plugin("fine")));
  EXPECT_EQ(info.schedules, std::vector<std::string>{"stand-still"});
  EXPECT_EQ(info.cpu_kernels, std::vector<std::string>{"test_plugin"});
  EXPECT_TRUE(info.cuda_kernels.empty());

  RunOptions options;
  options.device = "cpu";
  options.replicas = 32;
  const auto schedule = registry.schedule("stand-still").make({});
  double beta = 0;
  const Observers observers{[&](const ReportPoint& point) {
    beta = point.beta;
    return Next::go_on;
  }};
  const Problem problem = registry.problem("torus").make("4x4,1");
  const Result result = Engine(options).run(problem, *schedule, {.sweeps = 10}, observers);
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(beta, 10);  // what the kernel of the plug-in has counted

  // A second registry gets the entries; the kernels are there already.
  Registry other = builtin_registry();
  EXPECT_EQ(load_plugin(plugin("fine"), other).cpu_kernels, info.cpu_kernels);
  EXPECT_TRUE(other.has_schedule("stand-still"));
}

TEST_F(LoadPlugin, SaysForWhichDevicesItHasKernels) {
  Registry registry = builtin_registry();
  static_cast<void>(load_plugin(plugin("fine"), registry));
  const auto schedule = registry.schedule("stand-still").make({});
  const Needs needs = schedule->needs(registry.problem("torus").make("4x4,1"), {});
  EXPECT_EQ(needs.components, std::vector<std::string>{"test_plugin"});
  EXPECT_TRUE(open_backend("cpu").backend->has_kernels("test_plugin"));
  EXPECT_FALSE(open_backend("cpu").backend->has_kernels("no_such_component"));
}

TEST_F(LoadPlugin, RefusesEachKindOfFileWithACodeOfItsKind) {
  EXPECT_EQ(refusal(folder_.path() / "nothing.so"), "plugin.missing");
  EXPECT_EQ(refusal(folder_.path()), "plugin.missing");
  EXPECT_EQ(refusal(written("a text\n")), "plugin.entry");
  EXPECT_EQ(refusal(written("")), "plugin.entry");
  const std::string whole = bytes_of(plugin("fine"));
  // To open a file whose end is missing would end the process.
  for (const double part : {0.001, 0.1, 0.3, 0.5, 0.7}) {
    const auto size = static_cast<std::size_t>(part * static_cast<double>(whole.size()));
    EXPECT_EQ(refusal(written(whole.substr(0, size))), "plugin.entry") << size;
  }

  const ModuleNote own = module_note(KILN_PLUGIN_ABI, sizeof(kiln_plugin), KILN_FINGERPRINT,
                                     version(), ModuleKind::plugin);
  ModuleNote other = own;
  other.abi += 1;
  EXPECT_EQ(refusal(with_note(other)), "plugin.abi");
  other = own;
  other.struct_size += 8;
  EXPECT_EQ(refusal(with_note(other)), "plugin.abi");
  other = own;
  other.fingerprint_low ^= 1;
  EXPECT_EQ(refusal(with_note(other)), "plugin.version");
  other = own;
  other.version[0] = '9';
  EXPECT_EQ(refusal(with_note(other)), "plugin.version");
  other = own;
  other.kind = ModuleKind::cuda_module;
  EXPECT_EQ(refusal(with_note(other)), "plugin.entry");
  // The right note is accepted: then only the kernels have names that are taken.
  Registry registry = builtin_registry();
  static_cast<void>(load_plugin(plugin("fine"), registry));
  EXPECT_EQ(refusal(with_note(own)), "plugin.taken");
}

TEST_F(LoadPlugin, RefusesFilesThatOthersCanChange) {
  const fs::path path = written(bytes_of(plugin("fine")));
  fs::permissions(path, fs::perms(0666));
  EXPECT_EQ(refusal(path), "plugin.owner");
  fs::permissions(path, fs::perms(0644));
  fs::permissions(folder_.path(), fs::perms(0777));
  EXPECT_EQ(refusal(path), "plugin.owner");
  fs::permissions(folder_.path(), fs::perms(0755));
}

TEST_F(LoadPlugin, KeepsNothingOfOneThatFails) {
  EXPECT_EQ(refusal(plugin("throws")), "plugin.failed");
  EXPECT_EQ(refusal(plugin("misnamed")), "plugin.failed");
  EXPECT_EQ(refusal(plugin("taken")), "plugin.taken");
  EXPECT_EQ(refusal(plugin("half")), "plugin.taken");  // although it has caught the exception
}

TEST_F(LoadPlugin, IsRefusedTwiceInOneRegistry) {
  Registry registry = builtin_registry();
  static_cast<void>(load_plugin(plugin("fine"), registry));
  EXPECT_THROW(static_cast<void>(load_plugin(plugin("fine"), registry)), PluginError);
  EXPECT_TRUE(registry.has_schedule("stand-still"));
}

}  // namespace
}  // namespace kiln::test::load_plugin_test
