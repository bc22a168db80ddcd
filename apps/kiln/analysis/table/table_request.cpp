// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "analysis/table/table_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>

#include "kiln/errors.hpp"

#include "analysis/analyze_options.hpp"
#include "output/text.hpp"

namespace kiln::cli {
namespace {

constexpr std::int64_t max_lag = 1'000'000;

// The parts of a list, of which none is empty.
std::vector<std::string> parts_of(const std::string& name, const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    if (parts.back().empty()) {
      throw InvalidArgument("cli.value",
                            fmt::format("--{} '{}' has an empty part", name, clean(text)),
                            "names with commas between them");
    }
    begin = end + 1;
  }
  return parts;
}

std::vector<std::string> list_of(const Arguments& arguments, const std::string& name) {
  if (!arguments.has(name)) return {};
  return parts_of(name, arguments.text(name));
}

// "1..5", "1,2,8".
std::vector<std::int32_t> lags_in(const Arguments& arguments) {
  std::vector<std::int32_t> lags;
  for (const std::string& part : list_of(arguments, "lag")) {
    const std::size_t dots = part.find("..");
    if (dots == std::string::npos && part.find('-', 1) != std::string::npos) {
      throw InvalidArgument("cli.value", fmt::format("--lag '{}' is no list of lags", clean(part)),
                            "for example 1..5 or 1,2,8");
    }
    const std::int64_t first = count_in("lag", part.substr(0, dots), 0, max_lag);
    const std::int64_t last =
        dots == std::string::npos ? first : count_in("lag", part.substr(dots + 2), first, max_lag);
    if (last - first > 1000) {
      throw InvalidArgument("cli.range",
                            fmt::format("--lag {} are more than 1000 lags", clean(part)), {},
                            "for example --lag 1..5");
    }
    for (std::int64_t lag = first; lag <= last; ++lag) {
      lags.push_back(static_cast<std::int32_t>(lag));
    }
  }
  std::ranges::sort(lags);
  lags.erase(std::unique(lags.begin(), lags.end()), lags.end());
  return lags;
}

constexpr InformationMeasure all_measures[] = {InformationMeasure::mutual_information,
                                               InformationMeasure::conditional_mutual_information,
                                               InformationMeasure::transfer_entropy,
                                               InformationMeasure::active_storage,
                                               InformationMeasure::entropy,
                                               InformationMeasure::conditional_entropy,
                                               InformationMeasure::binned_mutual_information};

std::vector<InformationMeasure> measures_in(const Arguments& arguments) {
  std::vector<InformationMeasure> measures;
  std::vector<std::string> names;
  for (const InformationMeasure measure : all_measures) names.emplace_back(name_of(measure));
  for (const std::string& word : list_of(arguments, "measure")) {
    const auto found = std::ranges::find(names, word);
    if (found == names.end()) {
      throw InvalidArgument(
          "cli.value",
          fmt::format("--measure '{}' is unknown{}", clean(word), nearest_hint(word, names)),
          fmt::format("one or more of {}", fmt::join(names, ", ")), "for example --measure mi,te");
    }
    const InformationMeasure measure = all_measures[found - names.begin()];
    if (std::ranges::count(measures, measure) == 0) measures.push_back(measure);
  }
  return measures;
}

template <class Value>
Value word_of(const Arguments& arguments, const std::string& name,
              const std::vector<std::pair<std::string, Value>>& words, Value otherwise) {
  if (!arguments.has(name)) return otherwise;
  std::vector<std::string> all;
  for (const auto& [word, value] : words) {
    if (word == arguments.text(name)) return value;
    all.push_back(word);
  }
  throw InvalidArgument("cli.value",
                        fmt::format("--{} '{}' is unknown", name, clean(arguments.text(name))),
                        fmt::format("{}", fmt::join(all, " or ")),
                        fmt::format("for example --{} {}", name, all.front()));
}

problems::NumericTableOptions reading_of(const Arguments& arguments, const TableRequest& request) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  problems::NumericTableOptions reading;
  reading.columns = list_of(arguments, "columns");
  if (reading.columns.empty() && !request.sources.empty() && !request.targets.empty()) {
    // Only the columns that are asked for are kept in memory.
    for (const auto* list : {&request.targets, &request.sources, &request.conditions}) {
      for (const std::string& name : *list) {
        if (std::ranges::count(reading.columns, name) == 0) reading.columns.push_back(name);
      }
    }
  }
  if (arguments.has("header")) {
    reading.header = word_of<bool>(arguments, "header", {{"yes", true}, {"no", false}}, true);
  }
  reading.delimiter =
      word_of<char>(arguments, "delimiter",
                    {{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"blank", ' '}}, '\0');
  reading.rows = count_option(arguments, "rows", 1, most, reading.rows);
  reading.every = count_option(arguments, "every", 1, most, 1);
  reading.skip = count_option(arguments, "skip", 0, most, 0);
  return reading;
}

InformationOptions options_of(const Arguments& arguments) {
  InformationOptions options;
  const auto small = [&](const char* name, std::int64_t low, std::int64_t high,
                         std::int32_t otherwise) {
    return static_cast<std::int32_t>(count_option(arguments, name, low, high, otherwise));
  };
  options.k = arguments.text("k") == "auto" ? 0 : small("k", 1, 16, 4);
  options.type = small("type", 1, 2, 1);
  options.lags = lags_in(arguments);
  options.past = small("past", 1, 14, 1);
  options.source_past = small("source-past", 1, 15, 1);
  options.theiler = small("theiler", 0, max_lag, 0);
  using Kind = std::optional<SurrogateKind>;
  options.surrogate_kind = word_of<Kind>(arguments, "surrogate-kind",
                                         {{"auto", std::nullopt},
                                          {"permutation", SurrogateKind::permutation},
                                          {"rotation", SurrogateKind::rotation}},
                                         std::nullopt);
  options.false_discovery_rate = rate_option(arguments);
  options.direct = arguments.has("direct");
  options.standardize = !arguments.has("no-standardize");
  options.local = arguments.has("local");
  options.bins = small("bins", 2, 64, 0);
  options.seed = static_cast<std::uint64_t>(
      count_option(arguments, "seed", 0, std::numeric_limits<std::int64_t>::max(), 1));
  return options;
}

using Measure = InformationMeasure;

struct OptionUseOfMeasures {
  const char* option;
  std::vector<Measure> measures;  // that have a use for it
};

const std::vector<OptionUseOfMeasures>& uses() {
  const std::vector<Measure> by_neighbors{Measure::mutual_information,
                                          Measure::conditional_mutual_information,
                                          Measure::transfer_entropy, Measure::active_storage};
  const std::vector<Measure> of_pairs{
      Measure::mutual_information, Measure::conditional_mutual_information,
      Measure::transfer_entropy, Measure::conditional_entropy, Measure::binned_mutual_information};
  const std::vector<Measure> tested{
      Measure::mutual_information,  Measure::conditional_mutual_information,
      Measure::transfer_entropy,    Measure::active_storage,
      Measure::conditional_entropy, Measure::binned_mutual_information};
  static const std::vector<OptionUseOfMeasures> all{
      {"condition", {Measure::conditional_mutual_information, Measure::transfer_entropy}},
      {"past", {Measure::transfer_entropy, Measure::active_storage}},
      {"source-past",
       {Measure::mutual_information, Measure::conditional_mutual_information,
        Measure::transfer_entropy}},
      {"bins",
       {Measure::entropy, Measure::conditional_entropy, Measure::binned_mutual_information}},
      {"direct", {Measure::transfer_entropy}},
      {"type", {Measure::mutual_information, Measure::active_storage}},
      {"k", by_neighbors},
      {"theiler", by_neighbors},
      {"no-standardize", by_neighbors},
      {"local", by_neighbors},
      {"lag", of_pairs},
      {"source", of_pairs},
      {"map", of_pairs},
      {"surrogates", tested},
      {"surrogate-kind", tested},
      {"fdr", tested},
      {"bits", {std::begin(all_measures), std::end(all_measures)}}};
  return all;
}

// An option that none of the measures has a use for would be ignored in silence.
void refuse_useless_options(const Arguments& arguments, const TableRequest& request) {
  for (const auto& [option, measures] : uses()) {
    if (!arguments.has(option)) continue;
    const bool has_use = std::ranges::any_of(
        request.measures, [&](Measure m) { return std::ranges::count(measures, m) > 0; });
    if (has_use) continue;
    std::vector<std::string> names;
    for (const Measure measure : measures) names.emplace_back(name_of(measure));
    throw InvalidArgument("cli.conflict",
                          fmt::format("--{} is for the measure{} {}", option,
                                      names.size() > 1 ? "s" : "", fmt::join(names, ", ")),
                          {},
                          fmt::format("add --measure {}, or remove --{}", names.front(), option));
  }
  if (arguments.has("model") && !arguments.has("forecast")) {
    throw InvalidArgument("cli.conflict", "--model is for --forecast", {},
                          "add --forecast ROWS, or remove --model");
  }
}

}  // namespace

const std::vector<OptionSpec>& table_specs() {
  static const std::vector<OptionSpec> specs{
      {"measure", 0, "LIST",
       "mi, cmi, te, ais, entropy, cond-entropy, binned-mi: one or more (default mi)"},
      {"target", 't', "NAMES", "columns that are said something of (default all)"},
      {"source", 0, "NAMES", "columns that say something (default all others)"},
      {"condition", 0, "NAMES", "columns that are known already (for cmi and te)"},
      {"columns", 0, "NAMES", "read these columns alone, by name or number from 1"},
      {"map", 0, "", "all pairs of columns, however many, and all of them in the table"},
      {"lag", 0, "LAGS", "rows from source to target: 1..5 or 1,2,8 (default 1 for te, else 0)"},
      {"past", 0, "N", "rows of the target's past, for te and ais (default 1)"},
      {"source-past", 0, "N", "rows of the source (default 1)"},
      {"k", 0, "N", "nearest neighbours, 1 .. 16, or auto: by stability (default 4)"},
      {"type", 0, "1|2", "cubes or rectangles around points, for mi and ais (default 1)"},
      {"theiler", 0, "N", "rows so close in time are no neighbours (default 0)"},
      {"surrogates", 0, "N",
       "surrogates of each estimate, 0 for no p-values (default 100; 0 where that takes long)"},
      {"surrogate-kind", 0, "KIND",
       "permutation, rotation, or auto: rotations where source and target depend on the row before "
       "(default auto)"},
      {"fdr", 0, "RATE", "rate of false discoveries of significant links (default 0.05)"},
      {"direct", 0, "", "of te: leave out links that other sources of the target explain"},
      {"bins", 0, "N", "bins of entropy, cond-entropy and binned-mi (default: cube root of rows)"},
      {"no-standardize", 0, "", "do not divide columns by their standard deviations"},
      {"bits", 0, "", "print bits instead of nats"},
      {"local", 0, "", "with -o: write local.csv, what each row says (not of bins)"},
      {"forecast", 0, "ROWS", "forecast columns so many rows, with 90 % bands"},
      {"model", 0, "NAME", "of forecasts: auto, ar, level or trend (default auto)"},
      {"spectrum", 0, "", "spectra and periods of columns"},
      {"change-points", 0, "", "rows at which the means of columns change"},
      {"rows", 0, "N", "keep at most so many rows of the table (default 1000000)"},
      {"every", 0, "N", "keep one row in N (default 1)"},
      {"skip", 0, "N", "leave out the first N rows (default 0)"},
      {"header", 0, "yes|no", "whether the first row has names (default: found out)"},
      {"delimiter", 0, "NAME", "comma, semicolon, tab or blank (default: found out)"}};
  return specs;
}

TableRequest table_request(const Arguments& arguments) {
  TableRequest request;
  request.file = arguments.positional.front();
  request.sources = list_of(arguments, "source");
  request.targets = list_of(arguments, "target");
  request.conditions = list_of(arguments, "condition");
  request.reading = reading_of(arguments, request);
  request.whole_map = arguments.has("map");
  request.measures = measures_in(arguments);
  request.options = options_of(arguments);
  if (arguments.has("surrogates")) {
    request.surrogates = count_option(arguments, "surrogates", 0, 1'000'000, 0);
  }
  if (request.options.local && !arguments.has("output")) {
    throw InvalidArgument("cli.missing", "--local needs a folder for local.csv", {},
                          "for example -o out/analysis");
  }
  request.unit = arguments.has("bits") ? InformationUnit::bits : InformationUnit::nats;
  SeriesOptions& series = request.series_options;
  series.horizon = count_option(arguments, "forecast", 1, 1'000'000, 0);
  series.spectrum = arguments.has("spectrum");
  series.change_points = arguments.has("change-points");
  series.model = word_of<SeriesModel>(arguments, "model",
                                      {{"auto", SeriesModel::automatic},
                                       {"ar", SeriesModel::autoregression},
                                       {"level", SeriesModel::local_level},
                                       {"trend", SeriesModel::local_trend}},
                                      SeriesModel::automatic);
  request.series = series.horizon > 0 || series.spectrum || series.change_points;
  if (request.measures.empty() && !request.series) {
    request.measures = {InformationMeasure::mutual_information};
  }
  refuse_useless_options(arguments, request);
  return request;
}

std::vector<std::int32_t> column_places(const std::vector<std::string>& wanted,
                                        const problems::NumericTable& table) {
  std::vector<std::int32_t> places;
  for (const std::string& name : wanted) {
    std::ptrdiff_t place = std::ranges::find(table.names, name) - table.names.begin();
    std::int64_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data(), end, number);
    if (place == std::ssize(table.names) && error == std::errc() && stop == end) {
      place = std::ranges::find(table.numbers, number) - table.numbers.begin();
    }
    if (place == std::ssize(table.names)) {
      throw InvalidArgument(
          "table.column",
          fmt::format("there is no column of numbers '{}'{}", clean(name),
                      nearest_hint(name, table.names)),
          fmt::format(
              "one of {}{}", clean(table.names.front()),
              table.names.size() > 1 ? ", ..., " + clean(table.names.back()) : std::string()));
    }
    const auto column = static_cast<std::int32_t>(place);
    if (std::ranges::count(places, column) == 0) places.push_back(column);
  }
  return places;
}

}  // namespace kiln::cli
