// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/checkpoint.hpp"
#include "kiln/errors.hpp"
#include "kiln/problems/pairwise.hpp"
#include "kiln/registry.hpp"
#include "kiln/run.hpp"

#include "fuzz.hpp"
#include "memory_file.hpp"
#include "temporary_folder.hpp"

// Checkpoints whose sums are right and whose content is not: what a run makes of them. Files are
// written by docs/checkpoint_format.md, with none of the program's own code.
namespace kiln::test {

/// A checkpoint as sections, in the order of the file.
using CheckpointContent = std::vector<std::pair<std::string, std::string>>;

template <class T>
void put(std::string& bytes, const T& value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Lengths that a file claims instead of those that it has; 0: the true ones.
struct ClaimedLengths {
  std::uint64_t section = 0, block = 0, sections = 0;
};

/// The file, with every checksum right. Blocks are stored as they are.
inline std::string checkpoint_file(const CheckpointContent& content, const ClaimedLengths& claims) {
  std::string file("\x89KILNCP\n", 8);
  put(file, std::uint32_t{1});
  put(file, std::uint32_t{0});
  std::uint64_t blocks = 0;
  for (const auto& [name, bytes] : content) {
    std::string head = "S";
    put(head, static_cast<std::uint16_t>(name.size()));
    head += name;
    const bool lies = claims.section != 0 && &bytes == &content[content.size() / 2].second;
    put(head, lies ? claims.section : std::uint64_t{bytes.size()});
    file += head;
    put(file, XXH3_64bits(head.data(), head.size()));
    constexpr std::size_t most = std::size_t{1} << 20;
    for (std::size_t at = 0; at < bytes.size(); at += most) {
      const std::string block = bytes.substr(at, most);
      file += 'B';
      put(file,
          static_cast<std::uint32_t>(lies && claims.block != 0 ? claims.block : block.size()));
      put(file, static_cast<std::uint32_t>(block.size()));
      put(file, XXH3_64bits_withSeed(block.data(), block.size(), blocks++));
      file += block;
    }
  }
  file += 'E';
  put(file, claims.sections != 0 ? claims.sections : std::uint64_t{content.size()});
  put(file, std::uint64_t{file.size() + 16});
  put(file, XXH3_64bits(file.data(), file.size()));
  return file;
}

/// A small run of one schedule that checkpoints are of.
struct CheckpointedRun {
  std::string problem, parameters, schedule;
  std::map<std::string, std::string> options;
  std::int64_t replicas, sweeps;
};

inline const std::vector<CheckpointedRun>& checkpointed_runs() {
  static const std::vector<CheckpointedRun> runs{
      {"cut", "", "simulated-annealing", {{"anneal_sweeps", "16"}}, 40, 48},
      {"cut", "", "parallel-tempering", {}, 64, 64},
      {"cut", "", "parallel-tempering", {{"rungs", "4"}}, 256, 64},
      {"cut", "", "population-annealing", {}, 40, 60},
      {"cut", "", "replica-exchange", {{"walkers", "2"}}, 40, 64},
      {"cut", "", "random-search", {}, 40, 8},
      {"potts", "4x4,3,1", "simulated-annealing", {}, 33, 48},
      {"coloring", "queen4,5", "tabu-coloring", {}, 8, 8},
      {"function", "rosenbrock-3", "simulated-annealing", {}, 33, 16},
      {"posterior", "eight-schools", "hmc", {{"draws", "20"}, {"warmup", "40"}}, 4, 60},
      {"function", "branin", "bayesian-optimization", {{"evaluations", "12"}}, 0, 8},
      {"zdt", "1,4", "evolutionary", {{"population", "16"}}, 16, 8},
      {"zdt", "5", "evolutionary", {{"population", "16"}}, 16, 8},
      {"zdt", "1,4", "amosa", {}, 20, 16},
      {"zdt", "1,4", "bayesian-front", {{"evaluations", "12"}}, 0, 8}};
  return runs;
}

/// The state of a run in the middle, and what it takes to continue it.
class CheckpointMutation {
 public:
  explicit CheckpointMutation(const CheckpointedRun& setting)
      : setting_(setting), graph_(some_graph()), problem_(problem_of(setting, graph_)) {
    Live live(*this);
    live.run->advance_to({.sweeps = setting.sweeps / 2});
    const std::string name = path_of(setting);
    write_checkpoint(name, *live.run, {{"verb", "solve"}});
    const Checkpoint saved(name);
    steps_ = saved.steps();
    std::string fields, notes, clock;
    put(fields, static_cast<std::uint32_t>(saved.fields().size()));
    for (const auto& [field, value] : saved.fields())
      put_text(fields, field), put_text(fields, value);
    put(notes, std::uint32_t{0});
    put(clock, steps_);
    put(clock, saved.run_s());
    put(clock, saved.run_s());
    put(clock, std::uint64_t{0});
    content_ = {{"fields", fields}, {"notes", notes}};
    Archive archive;
    live.run->save(archive);
    for (const auto& [section, bytes] : archive.sections()) {
      content_.emplace_back("run/" + section,
                            std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
    }
    content_.emplace_back("clock", clock);
  }

  const CheckpointContent& content() const { return content_; }

  /// Restores a file and continues it: "accepted", or why it was refused. What is accepted runs to
  /// its end, and an objective that it vouches for is that of its solution.
  std::string outcome(const std::string& file) const {
    const MemoryFile memory(file);
    Live live(*this);
    try {
      Checkpoint(memory.path()).restore(*live.run);
    } catch (const Error& error) {
      require(!error.code().empty() && !error.message().empty(), "a refusal says why");
      return error.code() + ": " + error.message();
    }
    try {
      const Result result = live.run->advance();
      if (result.verified && setting_.problem == "cut") {
        require(std::abs(cut_of(result) - result.objective) < 1e-9,
                "an objective that was verified is that of the solution");
      }
    } catch (const Error& error) {
      return error.code() + ": " + error.message();
    }
    return "accepted";
  }

  /// A file with every checksum right that differs from that of the run: in one element of one
  /// array of the state, or in one to three places of any kind.
  std::string mutated(std::mt19937_64& random) const {
    CheckpointContent content = content_;
    ClaimedLengths claims;
    if (random() % 2 == 0) {
      constexpr std::size_t texts = 2, clock = 1;
      set_element(content[texts + random() % (content.size() - texts - clock)].second, random);
      return checkpoint_file(content, claims);
    }
    for (auto times = 1 + random() % 3; times > 0; --times) mutate(content, claims, random);
    std::string file = checkpoint_file(content, claims);
    if (random() % 16 == 0) file.resize(random() % file.size());
    if (random() % 16 == 0) file[random() % file.size()] ^= static_cast<char>(1u << (random() % 8));
    return file;
  }

 private:
  /// A run that has not begun.
  struct Live {
    explicit Live(const CheckpointMutation& of)
        : schedule(builtin_registry().schedule(of.setting_.schedule).make(of.setting_.options)) {
      RunOptions options;
      options.device = "cpu";
      options.threads = 1;
      if (of.setting_.replicas > 0) options.replicas = of.setting_.replicas;
      options.seed = 7;
      run = std::make_unique<Run>(of.problem_, *schedule, Budget{.sweeps = of.setting_.sweeps},
                                  options, open_backend("cpu", 1));
    }
    std::unique_ptr<Schedule> schedule;
    std::unique_ptr<Run> run;
  };

  static void put_text(std::string& bytes, const std::string& text) {
    put(bytes, static_cast<std::uint32_t>(text.size()));
    bytes += text;
  }
  static std::string path_of(const CheckpointedRun& setting) {
    static const test::TemporaryFolder folder;
    return (folder.path() / setting.schedule).string();
  }

  static Graph some_graph() {
    Graph graph{14, {}};
    for (std::int32_t i = 0; i < 14; ++i) {
      for (std::int32_t j = i + 1; j < 14; ++j) {
        if ((i * 5 + j * 3) % 4 != 0)
          graph.edges.push_back({i, j, (i + 2 * j) % 3 == 0 ? -1.0 : 1.0});
      }
    }
    return graph;
  }
  static Problem problem_of(const CheckpointedRun& setting, const Graph& graph) {
    if (setting.problem == "cut") return make_maxcut(graph, "cut");
    return builtin_registry().problem(setting.problem).make({setting.parameters});
  }

  // From the edges, not by the program's kernels.
  double cut_of(const Result& result) const {
    const auto& side = std::get<std::vector<std::int8_t>>(result.solution.front());
    double cut = 0;
    for (const Edge& edge : graph_.edges) {
      const bool apart =
          side[static_cast<std::size_t>(edge.u)] != side[static_cast<std::size_t>(edge.v)];
      cut += apart ? edge.weight : 0;
    }
    return cut;
  }

  static std::string extreme(std::mt19937_64& random) {
    std::string bytes;
    const double doubles[] = {std::numeric_limits<double>::quiet_NaN(),
                              std::numeric_limits<double>::infinity(),
                              -1.0,
                              0.0,
                              1e300,
                              -1e300,
                              0.5,
                              9e15};
    const std::uint64_t words[] = {0,          1,          2,          200,         ~0ull,
                                   ~0ull >> 1, 1ull << 63, 1ull << 31, 0x7fffffffu, 0xffffffffu,
                                   17,         1000,       1ull << 40};
    switch (random() % 4) {
      case 0:
        put(bytes, doubles[random() % std::size(doubles)]);
        break;
      case 1:
        put(bytes, words[random() % std::size(words)]);
        break;
      case 2:
        put(bytes, static_cast<std::uint32_t>(words[random() % std::size(words)]));
        break;
      default:
        put(bytes, static_cast<std::uint8_t>(words[random() % std::size(words)]));
    }
    return bytes;
  }

  static void mutate(CheckpointContent& content, ClaimedLengths& claims, std::mt19937_64& random) {
    auto& [name, bytes] = content[random() % content.size()];
    const auto other = content[random() % content.size()];
    const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
    switch (random() % 12) {
      case 0:
        if (!bytes.empty()) bytes[at] ^= static_cast<char>(1u << (random() % 8));
        return;
      case 1:
        bytes.resize(at);
        return;
      case 2:
        bytes += std::string(1 + random() % 64, static_cast<char>(random()));
        return;
      case 3:
        bytes = other.second;
        return;
      case 4:
        bytes.replace(at, 1 + random() % 64, other.second.substr(0, random() % 64));
        return;
      case 5:
        content.erase(content.begin() + static_cast<std::ptrdiff_t>(random() % content.size()));
        return;
      case 6:
        content.push_back(other);
        return;
      case 7:
        name = name.substr(0, random() % (name.size() + 1)) + other.first;
        return;
      case 8: {
        const std::uint64_t lengths[] = {1, bytes.size() + 1, 1ull << 32, 1ull << 62, ~0ull};
        (random() % 2 == 0 ? claims.section : claims.sections) = lengths[random() % 5];
        claims.block = random() % 2 == 0 ? 0 : lengths[random() % 5];
        return;
      }
      default:
        set_element(bytes, random);
    }
  }

  // An element of an array becomes another number.
  static void set_element(std::string& bytes, std::mt19937_64& random) {
    const std::string number = extreme(random);
    if (bytes.size() < number.size()) return;
    const std::size_t place = random() % (bytes.size() / number.size());
    bytes.replace(place * number.size(), number.size(), number);
  }

  CheckpointedRun setting_;
  Graph graph_;
  Problem problem_;
  std::uint64_t steps_ = 0;
  CheckpointContent content_;
};

}  // namespace kiln::test
