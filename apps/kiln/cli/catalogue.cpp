// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cli/catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "kiln/kernels/all.hpp"
#include "kiln/kernels/catalog.hpp"
#include "kiln/problems/generators.hpp"

#include "cli/problem_options.hpp"
#include "output/console.hpp"
#include "output/text.hpp"

namespace kiln::cli {

using Json = nlohmann::ordered_json;

namespace {

template <class... Kernels>
void add_kernels(std::vector<KernelInfo>& all, const char* component, KernelList<Kernels...>) {
  (all.push_back({Kernels::name, Kernels::summary, accuracy_of<Kernels>(), equal_bits_of<Kernels>(),
                  component}),
   ...);
}

template <class... Parts>
std::vector<KernelInfo> infos_of(ComponentList<Parts...>) {
  std::vector<KernelInfo> all;
  (add_kernels(all, Parts::name, typename Parts::Kernels{}), ...);
  return all;
}

std::string meaning_of(const std::string& accuracy) {
  if (accuracy == "E") {
    return "the same bits on every backend, for every launch shape and number of threads";
  }
  if (accuracy == "D") {
    return "sums in double precision, in an order that depends on the backend; all backends agree "
           "within 1e-12 of the sum of magnitudes";
  }
  return "the same random draws on every backend; trajectories in double precision agree within "
         "1e-9 over 20 leapfrog steps, and chaotic trajectories diverge later";
}

}  // namespace

std::vector<KernelInfo> kernels() { return infos_of(Components{}); }

std::string accuracy_text(const KernelInfo& kernel) {
  const std::string text =
      fmt::format("class {}: {}", kernel.accuracy, meaning_of(kernel.accuracy));
  if (kernel.equal_bits.empty()) return text;
  return fmt::format("{}; {}: {}", text, kernel.equal_bits, meaning_of("E"));
}

namespace {

// A kernel of a device, and the models that it serves.
struct Variant {
  const char* device;  // "" for that of the row above
  const char* name;
  const char* models;
};

constexpr Variant sweep_variants[] = {
    {"GPU", "sliced",
     "counts neighbours of 32 replicas at once: S up to 255, at most 4 set bits in a coupling on "
     "average, sites swept in classes; S up to 65535 at one variable in 64, if couplings are -1 "
     "and 1 and there are no fields"},
    {"", "pattern",
     "looks up energy changes by the bits of the neighbours: up to 6 neighbours, or 5 with fields "
     "or real weights, sites swept in classes"},
    {"", "dense",
     "keeps local fields: integers or fixed point, up to 16384 sites swept in order, at least 1/16 "
     "of all pairs coupled; warps for couplings up to 127, or up to 32767 and 8192 sites, by the "
     "Metropolis rule, else a block"},
    {"", "signs",
     "the same with fields in bits: couplings of -1 and 1 between all variables, 448 sites or "
     "more, "
     "by the Metropolis rule"},
    {"", "planes",
     "draws and decides 32 replicas at once: S up to 255, sites swept in classes, Metropolis "
     "moves; simulated and population annealing with groups of a multiple of 32 replicas, parallel "
     "tempering with a multiple of 32 ladders (draws: planes, or shared with -p noise=shared)"},
    {"", "general", "sums replica by replica: all other models"},
    {"CPU", "planes", "the same for up to 512 replicas at once (draws: planes)"},
    {"", "shared", "the same by one random number for 32 replicas (draws: shared)"},
    {"", "slices",
     "counts neighbours of up to 512 replicas at once: S up to 2^23, if an estimate says that this "
     "costs less than masks"},
    {"", "masks", "sums replica by replica: all other models"},
};

}  // namespace

std::string variants_text(const KernelInfo& kernel, std::size_t columns) {
  if (kernel.name != MetropolisSweep::name) return {};
  constexpr std::size_t column = 14;
  const std::size_t width = std::max<std::size_t>(columns, 40);
  const auto paragraph_of = [&](const char* sentences) {
    std::string lines;
    for (const std::string& line : wrap(sentences, width)) lines += line + "\n";
    return lines;
  };
  std::string text =
      paragraph_of("In stored units, S = |h| + sum |J| of a variable; 0.1 is stored as 1.");
  for (const Variant& variant : sweep_variants) {
    std::string head = fmt::format("{:<5}{:<9}", variant.device, variant.name);
    for (const std::string& line : wrap(variant.models, width - column)) {
      text += head + line + "\n";
      head.assign(column, ' ');
    }
  }
  return text + paragraph_of(
                    "Sites are swept in order if at least 1/8 of all pairs are coupled, or a "
                    "colouring needs more than n / 8 colours.");
}

std::string header_of(const KernelInfo& kernel) {
  return "kiln/kernels/" + kernel.component + "/" + kernel.name + ".hpp";
}

Json json_of(const ScheduleEntry& entry) {
  Json fields = Json::array();
  for (const FieldInfo& field : entry.fields) {
    fields.push_back({{"name", field.name},
                      {"type", field.type},
                      {"unit", field.unit},
                      {"default", field.default_text},
                      {"range", field.range},
                      {"sentence", field.sentence},
                      {"details", field.details},
                      {"former_names", field.former_names}});
  }
  return {{"name", entry.name},
          {"aliases", entry.aliases},
          {"sentence", entry.sentence},
          {"parameters", fields}};
}

Json json_of(const ProblemEntry& entry) {
  Json json = {{"name", entry.name},
               {"parameters", entry.parameters},
               {"sentence", entry.sentence},
               {"examples", entry.examples}};
  for (const NamedSentence& name : entry.names) {
    json["names"].push_back({{"name", name.name}, {"sentence", name.sentence}});
  }
  for (const OptionSpec& option : problem_specs_of(entry)) {
    json["options"].push_back(
        {{"name", option.name}, {"value", option.value}, {"sentence", option.sentence}});
  }
  return json;
}

Json json_of(const FormatInfo& info) {
  return {{"name", info.name},
          {"suffixes", info.suffixes},
          {"sentence", info.description},
          {"grammar", info.grammar},
          {"example", info.example}};
}

Json json_of(const KernelInfo& kernel) {
  return {{"name", kernel.name},
          {"sentence", kernel.sentence},
          {"accuracy", kernel.accuracy},
          {"equal_bits", kernel.equal_bits.empty() ? Json(nullptr) : Json(kernel.equal_bits)},
          {"component", kernel.component},
          {"header", header_of(kernel)}};
}

std::string pattern_of(const ProblemEntry& entry) {
  return entry.name + (entry.parameters.empty() ? "" : ":") + entry.parameters;
}

std::string problem_of_instance(const std::string& instance, const Registry& registry) {
  if (std::ranges::count(problems::gset_names(), instance) > 0) return "gset:" + instance;
  // "ackley-10" is one of "ackley-D".
  const std::string sized = instance.substr(0, instance.rfind('-')) + "-D";
  std::string found;
  for (const ProblemEntry* entry : registry.problems()) {
    for (const NamedSentence& known : entry->names) {
      if (known.name != instance && known.name != sized) continue;
      // Of a function with and without constraints the plain one is meant.
      if (found.empty() || entry->name == "function") found = entry->name + ":" + instance;
    }
  }
  return found;
}

std::string fields_text(const std::vector<FieldInfo>& fields) {
  constexpr std::size_t column = 4, facts_column = 20;
  const std::size_t columns = std::max<std::size_t>(40, result_columns());
  std::string text;
  for (const FieldInfo& field : fields) {
    const std::string unit = field.unit.empty() ? "" : ", " + field.unit;
    std::string head = fmt::format("  {:<17} ", field.name);
    const std::string facts =
        fmt::format("{}{}, {} (default {})", field.type, unit, field.range, field.default_text);
    for (const std::string& line : wrap(facts, columns - head.size())) {
      text += head + line + "\n";
      head.assign(facts_column, ' ');
    }
    for (const std::string& paragraph : {field.sentence, field.details}) {
      if (paragraph.empty()) continue;
      for (const std::string& line : wrap(paragraph, columns - column))
        text += fmt::format("{:{}}{}\n", "", column, line);
    }
  }
  return text;
}

}  // namespace kiln::cli
