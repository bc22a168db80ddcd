// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a search knows, as numbers in a row: whole numbers below 2^53 are kept as they are.
#include "kiln/archive.hpp"

#include "search.hpp"

namespace kiln {
namespace {

class Writer {
 public:
  template <class T>
  void number(T value) {
    numbers.push_back(static_cast<double>(value));
  }
  void list(const std::vector<double>& values) {
    number(values.size());
    numbers.insert(numbers.end(), values.begin(), values.end());
  }
  void trial(const Trial& t) {
    list(t.point);
    number(t.value);
    list(t.further);
    list(t.constraints);
    number(t.id);
    number(t.region);
  }
  void region(const Region& r) {
    number(r.trials.size());
    for (const Trial& t : r.trials) trial(t);
    number(r.design_left);
    number(r.side);
    number(r.successes);
    number(r.failures);
    number(r.told_in_round);
    number(r.improved ? 1 : 0);
    number(r.restarts);
  }
  void study(const Study& s) {
    for (const Region& r : s.regions) region(r);
    number(s.pending.size());
    for (const Trial& t : s.pending) trial(t);
    number(s.seen.size());
    for (const Point& p : s.seen) list(p);
    number(s.designed);
    number(s.evaluations);
    number(s.failed);
    number(s.best ? 1 : 0);
    if (s.best) trial(*s.best);
    for (const StudyModel& m : s.models) {
      list(m.lengths);
      list({m.variance, m.noise, m.spread, m.evidence, m.fit});
    }
    for (const auto& of_region : s.memories) {
      number(of_region.size());
      for (const GaussianProcess::Memory& m : of_region) {
        list(m.logarithms);
        number(m.fits);
      }
    }
    number(s.steps);
  }

  std::vector<double> numbers;
};

class Reader {
 public:
  explicit Reader(std::vector<double> numbers) : numbers_(std::move(numbers)) {}

  template <class T>
  void number(T& value) {
    value = static_cast<T>(numbers_.at(next_++));
  }
  void list(std::vector<double>& values) {
    std::size_t size = 0;
    number(size);
    values.resize(size);
    for (double& value : values) number(value);
  }
  void trial(Trial& t) {
    list(t.point);
    number(t.value);
    list(t.further);
    list(t.constraints);
    number(t.id);
    number(t.region);
  }
  template <class T, class Read>
  void all(std::vector<T>& items, Read read) {
    std::size_t size = 0;
    number(size);
    items.resize(size);
    for (T& item : items) read(item);
  }
  void region(Region& r) {
    all(r.trials, [&](Trial& t) { trial(t); });
    number(r.design_left);
    number(r.side);
    number(r.successes);
    number(r.failures);
    number(r.told_in_round);
    int improved = 0;
    number(improved);
    r.improved = improved != 0;
    number(r.restarts);
  }
  void study(Study& s) {
    for (Region& r : s.regions) region(r);
    all(s.pending, [&](Trial& t) { trial(t); });
    all(s.seen, [&](Point& p) { list(p); });
    number(s.designed);
    number(s.evaluations);
    number(s.failed);
    int best = 0;
    number(best);
    s.best.reset();
    if (best != 0) trial(s.best.emplace());
    for (StudyModel& m : s.models) {
      list(m.lengths);
      std::vector<double> rest;
      list(rest);
      m.variance = rest.at(0), m.noise = rest.at(1), m.spread = rest.at(2);
      m.evidence = rest.at(3), m.fit = rest.at(4);
    }
    for (auto& of_region : s.memories) {
      all(of_region, [&](GaussianProcess::Memory& m) {
        list(m.logarithms);
        number(m.fits);
      });
    }
    number(s.steps);
  }

 private:
  std::vector<double> numbers_;
  std::size_t next_ = 0;
};

}  // namespace

void BayesianSearch::save(Archive& archive) const {
  Writer writer;
  writer.number(next_id_);
  for (const Study& study : studies_) writer.study(study);
  archive.put("bayesian.studies", writer.numbers);
}

void BayesianSearch::load(const Archive& archive) {
  Reader reader(archive.get<double>("bayesian.studies"));
  reader.number(next_id_);
  for (Study& study : studies_) reader.study(study);
}

}  // namespace kiln
