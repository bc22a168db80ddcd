// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "output/sample_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <vector>

#include "kiln/version.hpp"

#include "output/text.hpp"

namespace kiln::cli {
namespace {

static_assert(std::endian::native == std::endian::little,
              "draws_npy_data() is the bytes of memory, which must be little-endian");

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

// Whether text from `begin` on is [1] or [2,3].
bool is_index(const std::string& text, std::size_t begin) {
  if (begin + 2 >= text.size() || text[begin] != '[' || text.back() != ']') return false;
  bool number = false;
  for (std::size_t i = begin + 1; i + 1 < text.size(); ++i) {
    if (!is_digit(text[i]) && !(text[i] == ',' && number)) return false;
    number = is_digit(text[i]);
  }
  return number;
}

std::string csv_header(const Result& result, std::int64_t chain) {
  const Sample& sample = *result.sample;
  std::string text = fmt::format(
      "# kiln = {}\n# model = {}\n# method = sample\n# algorithm = {}\n# num_samples = {}\n"
      "# num_warmup = {}\n# save_warmup = 0\n# thin = {}\n# id = {}\n# seed = {}\n"
      "# Step size = {}\n",
      version(), clean(result.problem), result.schedule, sample.draws, sample.warmup, sample.thin,
      chain + 1, result.seed, sample.step_size);
  text += "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__";
  for (const std::string& name : sample.names) text += "," + cmdstan_name(name);
  return text + "\n";
}

// NaN and infinities have no spelling that all readers of tables share.
std::string draw_cell(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string quoted(const std::string& name) {
  if (name.find_first_of(",\"\n") == std::string::npos) return name;
  std::string text = "\"";
  for (const char c : name) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

void add_row(std::string& text, const QuantitySummary& q) {
  text += quoted(q.name);
  for (const double value : {q.mean, q.mcse_mean, q.sd, q.mcse_sd, q.q05, q.q25, q.q50, q.q75,
                             q.q95, q.ess_bulk, q.ess_tail, q.r_hat, q.nested_r_hat}) {
    text += "," + draw_cell(value);
  }
  text += "\n";
}

}  // namespace

std::string cmdstan_name(const std::string& quantity) {
  std::size_t bracket = quantity.find('[');
  if (bracket != std::string::npos && !is_index(quantity, bracket)) bracket = std::string::npos;
  std::string name = quantity.substr(0, bracket);
  for (char& c : name) c = is_letter(c) || is_digit(c) ? c : '_';
  if (bracket == std::string::npos) return name;
  for (std::size_t i = bracket; i + 1 < quantity.size(); ++i) {
    name += is_digit(quantity[i]) ? quantity[i] : '.';
  }
  return name;
}

std::string chain_csv(const Result& result, std::int64_t chain) {
  const Sample& sample = *result.sample;
  std::string text = csv_header(result, chain);
  const auto end = std::back_inserter(text);
  for (std::int64_t t = 0; t < sample.draws; ++t) {
    const auto i = static_cast<std::size_t>(chain * sample.draws + t);
    fmt::format_to(end, "{},{},{},{},{},{},{}", sample.log_density[i], sample.acceptance[i],
                   sample.step_size, sample.depth[i], sample.leapfrogs[i], sample.divergent[i],
                   sample.hamiltonian[i]);
    for (std::size_t q = 0; q < sample.names.size(); ++q) {
      fmt::format_to(end, ",{}", sample.value(chain, t, q));
    }
    text += '\n';
  }
  return text;
}

std::string draws_npy_head(const Sample& sample) {
  // Magic, version and length are 10 bytes; the data begin at a multiple of 64.
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}, {}), }}",
                  sample.chains, sample.draws, sample.names.size());
  constexpr std::size_t before = 10, alignment = 64;
  const std::size_t whole = (before + header.size() + 1 + alignment - 1) / alignment * alignment;
  header.resize(whole - before - 1, ' ');
  header += '\n';
  std::string head("\x93NUMPY\x01\x00", 8);
  head += static_cast<char>(header.size() & 0xff);
  head += static_cast<char>(header.size() >> 8);
  return head + header;
}

std::string_view draws_npy_data(const Sample& sample) {
  const auto* const bytes = reinterpret_cast<const char*>(sample.values.data());
  return {bytes, sample.values.size() * sizeof(double)};
}

std::string summary_csv(const SampleSummary& summary) {
  std::string text =
      "name,mean,mcse_mean,sd,mcse_sd,q05,q25,q50,q75,q95,ess_bulk,ess_tail,r_hat,nested_r_hat\n";
  add_row(text, summary.log_density);
  for (const QuantitySummary& q : summary.quantities) add_row(text, q);
  return text;
}

}  // namespace kiln::cli
