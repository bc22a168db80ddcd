// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a search knows, as numbers in a row: whole numbers below 2^53 are kept as they are.
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "kiln/archive.hpp"
#include "kiln/errors.hpp"

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

// Numbers of a file may be any: what is an index, a size or a count is checked.
class Reader {
 public:
  explicit Reader(std::vector<double> numbers) : numbers_(std::move(numbers)) {}

  double number() {
    if (next_ == numbers_.size()) refuse();
    return numbers_[next_++];
  }
  void number(double& value) { value = number(); }
  /// A whole number, at least 0.
  template <class T>
  void number(T& value) {
    const double number_read = number();
    const bool whole =
        number_read >= 0 && number_read < 0x1p53 && number_read == std::floor(number_read);
    if (!whole || number_read > static_cast<double>(std::numeric_limits<T>::max())) refuse();
    value = static_cast<T>(number_read);
  }
  /// Of that many numbers.
  void list(std::vector<double>& values, std::size_t size) {
    require(list_size() == size);
    values.resize(size);
    for (double& value : values) value = number();
  }
  void list(std::vector<double>& values) {
    values.resize(list_size());
    for (double& value : values) value = number();
  }
  template <class T, class Read>
  void all(std::vector<T>& items, Read read) {
    items.resize(list_size());
    for (T& item : items) read(item);
  }
  void end() { require(next_ == numbers_.size()); }
  static void require(bool holds) {
    if (!holds) refuse();
  }
  [[noreturn]] static void refuse() {
    throw InvalidArgument("archive.value", "section 'bayesian.studies' of the archive is damaged",
                          "the numbers of a search");
  }

 private:
  // Each item has a number at least.
  std::size_t list_size() {
    std::size_t size = 0;
    number(size);
    require(size <= numbers_.size() - next_);
    return size;
  }

  std::vector<double> numbers_;
  std::size_t next_ = 0;
};

/// Reads studies into those of a search of the same problem.
class StudyReader {
 public:
  StudyReader(Reader& reader, std::size_t dimension, std::size_t constraints, std::size_t further)
      : reader_(reader), dimension_(dimension), constraints_(constraints), further_(further) {}

  void study(Study& s) {
    for (Region& r : s.regions) region(r, s.regions.size());
    reader_.all(s.pending, [&](Trial& t) { trial(t, s.regions.size()); });
    reader_.all(s.seen, [&](Point& p) { reader_.list(p, dimension_); });
    reader_.number(s.designed);
    reader_.number(s.evaluations);
    reader_.number(s.failed);
    s.best.reset();
    if (flag()) trial(s.best.emplace(), s.regions.size());
    for (StudyModel& m : s.models) model(m);
    for (auto& of_region : s.memories) memories(of_region);
    reader_.number(s.steps);
  }

 private:
  bool flag() {
    int value = 0;
    reader_.number(value);
    Reader::require(value <= 1);
    return value != 0;
  }
  // Values and constraints of a pending trial are not there yet.
  void measured(std::vector<double>& values, std::size_t size) {
    reader_.list(values);
    Reader::require(values.empty() || values.size() == size);
  }
  void trial(Trial& t, std::size_t regions) {
    reader_.list(t.point, dimension_);
    reader_.number(t.value);
    measured(t.further, further_);
    measured(t.constraints, constraints_);
    reader_.number(t.id);
    reader_.number(t.region);
    Reader::require(t.region < regions);
  }
  void region(Region& r, std::size_t regions) {
    reader_.all(r.trials, [&](Trial& t) {
      trial(t, regions);
      const bool whole = t.further.size() == further_ && t.constraints.size() == constraints_;
      Reader::require(whole || !t.good());
    });
    reader_.number(r.design_left);
    reader_.number(r.side);
    reader_.number(r.successes);
    reader_.number(r.failures);
    reader_.number(r.told_in_round);
    r.improved = flag();
    reader_.number(r.restarts);
    Reader::require(r.side > 0 && r.side <= Region::largest_side);
  }
  void model(StudyModel& m) {
    reader_.list(m.lengths);
    std::vector<double> rest;
    reader_.list(rest, 5);
    m.variance = rest[0], m.noise = rest[1], m.spread = rest[2];
    m.evidence = rest[3], m.fit = rest[4];
  }
  void memories(std::vector<GaussianProcess::Memory>& of_region) {
    reader_.all(of_region, [&](GaussianProcess::Memory& m) {
      reader_.list(m.logarithms);
      reader_.number(m.fits);
    });
  }

  Reader& reader_;
  std::size_t dimension_, constraints_, further_;
};

}  // namespace

void BayesianSearch::save(Archive& archive) const {
  Writer writer;
  writer.number(next_id_);
  for (const Study& study : studies_) writer.study(study);
  archive.put(section, writer.numbers);
}

void BayesianSearch::load(const Archive& archive) {
  Reader reader(archive.get<double>(section));
  reader.number(next_id_);
  StudyReader studies(reader, static_cast<std::size_t>(encoding_.dimension()),
                      static_cast<std::size_t>(constraints_),
                      static_cast<std::size_t>(arms_.objectives() - 1));
  for (Study& study : studies_) studies.study(study);
  reader.end();
}

void require_history(const std::vector<double>& numbers, std::size_t width, std::size_t studies) {
  bool sound = numbers.size() % width == 0;
  for (std::size_t at = 0; sound && at < numbers.size(); at += width) {
    const double study = numbers[at], batch = numbers[at + 1];
    sound = study >= 0 && study < static_cast<double>(studies) && study == std::floor(study) &&
            batch >= 0 && batch < 0x1p53 && batch == std::floor(batch);
  }
  if (sound) return;
  throw InvalidArgument("archive.value", "the history of evaluations of the archive is damaged",
                        "rows of a study, a batch and numbers");
}

}  // namespace kiln
