// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/checkpoint.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "kiln/run.hpp"
#include "kiln/statistics/extends_draws.hpp"

#include "checkpoint/checkpoint_reader.hpp"
#include "checkpoint/checkpoint_writer.hpp"
#include "run_core.hpp"

namespace kiln {
namespace {

namespace format = checkpoint_format;
namespace fs = std::filesystem;

void put_section(CheckpointWriter& writer, const std::string& name,
                 const std::vector<std::byte>& bytes) {
  writer.begin(name, bytes.size());
  if (!bytes.empty()) writer.add(bytes.data(), bytes.size());
}

// What differs, each once, in the order of the checkpoint.
std::vector<std::string> differences(const format::Texts& saved, const format::Texts& now) {
  const auto value_in = [](const format::Texts& texts, const std::string& name) {
    const auto found = std::ranges::find(texts, name, [](const auto& one) { return one.first; });
    return found == texts.end() ? nullptr : &found->second;
  };
  std::vector<std::string> all;
  for (const auto& [name, value] : saved) {
    const std::string* const here = value_in(now, name);
    if (here == nullptr) {
      all.push_back("the run has no '" + name + "', which was " + value);
    } else if (*here != value) {
      all.push_back("'" + name + "' is " + *here + " and was " + value);
    }
  }
  for (const auto& [name, value] : now) {
    if (value_in(saved, name) == nullptr) {
      all.push_back("'" + name + "' is " + value + " and the checkpoint has none");
    }
  }
  return all;
}

// The sections of a run that is to continue with more draws: the room for those that are to come is
// empty.
class ExtendedSections final : public SectionSource {
 public:
  ExtendedSections(const SectionSource& saved, const ExtendsDraws& schedule, std::int64_t draws,
                   std::int64_t all_draws)
      : saved_(saved),
        schedule_(schedule),
        draws_(static_cast<std::uint64_t>(draws)),
        all_draws_(static_cast<std::uint64_t>(all_draws)) {}

  std::optional<std::uint64_t> bytes_of(const std::string& name) const override {
    const std::optional<std::uint64_t> bytes = saved_.bytes_of(name);
    return bytes && grows(name) ? *bytes / draws_ * all_draws_ : bytes;
  }
  void read(const std::string& name,
            FunctionRef<void(const void*, std::size_t)> take) const override {
    saved_.read(name, take);
    if (!grows(name)) return;
    std::uint64_t left = *bytes_of(name) - *saved_.bytes_of(name);
    const std::vector<std::byte> zeros(std::min<std::uint64_t>(left, 1 << 20));
    for (; left > 0; left -= std::min<std::uint64_t>(left, zeros.size())) {
      take(zeros.data(), std::min<std::uint64_t>(left, zeros.size()));
    }
  }

 private:
  bool grows(const std::string& name) const {
    constexpr std::string_view scratch = "scratch.";
    return name.starts_with(scratch) && schedule_.grows(name.substr(scratch.size()));
  }

  const SectionSource& saved_;
  const ExtendsDraws& schedule_;
  std::uint64_t draws_, all_draws_;
};

std::int64_t number_of(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void require_same(const fs::path& file, const format::Texts& saved, const format::Texts& now) {
  constexpr std::size_t max_shown = 5;
  const std::vector<std::string> all = differences(saved, now);
  if (all.empty()) return;
  std::string text = file.string() + ": the run is another one than that of the checkpoint";
  for (std::size_t i = 0; i < std::min(all.size(), max_shown); ++i) text += "\n  " + all[i];
  if (all.size() > max_shown) {
    text += "\n  and " + std::to_string(all.size() - max_shown) + " more differ";
  }
  throw CheckpointError("checkpoint.other_run", text,
                        "the problem, the options and the version of the saved run");
}

}  // namespace

CheckpointError::~CheckpointError() = default;

struct Checkpoint::Parts {
  explicit Parts(const fs::path& file) : reader(file) {}
  CheckpointReader reader;
  format::Texts fields;
  CheckpointNotes notes;
  format::Clock clock;
};

struct PendingCheckpoint::Parts {
  explicit Parts(const fs::path& file) : whole(file), writer(whole) {}
  WholeFile whole;
  CheckpointWriter writer;
};

PendingCheckpoint::PendingCheckpoint(const fs::path& file, Run& run)
    : parts_(std::make_unique<Parts>(file)) {
  RunCore& core = run.core();
  CheckpointWriter& writer = parts_->writer;
  put_section(writer, format::fields_section, format::pack(core.identity()));
  writer.set_prefix(format::state_prefix);
  Archive archive(run.queue(), writer);
  core.save(archive);
  writer.set_prefix("");
  const RunCore::Standing now = core.standing();
  format::Clock clock;
  clock.steps = core.steps();
  clock.run_s = now.run_s;
  clock.to_best_s = now.to_best_s;
  clock.ends_with_budget = now.ends_with_budget ? 1 : 0;
  writer.begin(format::clock_section, sizeof clock);
  writer.add(&clock, sizeof clock);
}

PendingCheckpoint::~PendingCheckpoint() = default;
PendingCheckpoint::PendingCheckpoint(PendingCheckpoint&&) noexcept = default;
PendingCheckpoint& PendingCheckpoint::operator=(PendingCheckpoint&&) noexcept = default;

CheckpointSize PendingCheckpoint::put_in_place(const CheckpointNotes& notes) {
  CheckpointWriter& writer = parts_->writer;
  put_section(writer, format::notes_section, format::pack({notes.begin(), notes.end()}));
  writer.end();
  parts_->whole.put_in_place(Existing::keep_previous);
  return {writer.raw_bytes(), writer.file_bytes()};
}

CheckpointSize write_checkpoint(const fs::path& file, Run& run, const CheckpointNotes& notes) {
  return PendingCheckpoint(file, run).put_in_place(notes);
}

Checkpoint::Checkpoint(const fs::path& file) : parts_(std::make_unique<Parts>(file)) {
  Parts& p = *parts_;
  format::Texts notes;
  const auto texts = [&](const char* section, format::Texts& to) {
    if (!format::unpack(p.reader.small_section(section, format::most_text_bytes), to)) {
      p.reader.refuse(0, std::string("section '") + section + "' is no list of texts");
    }
  };
  texts(format::fields_section, p.fields);
  texts(format::notes_section, notes);
  p.notes.insert(notes.begin(), notes.end());
  const std::vector<std::byte> clock = p.reader.small_section(format::clock_section, 4096);
  if (clock.size() != sizeof p.clock) p.reader.refuse(0, "section 'clock' has another size");
  std::memcpy(&p.clock, clock.data(), sizeof p.clock);
  const auto is_time = [](double seconds) { return std::isfinite(seconds) && seconds >= 0; };
  if (!is_time(p.clock.run_s) || !is_time(p.clock.to_best_s)) {
    p.reader.refuse(0, "section 'clock' has a time that is none");
  }
}

Checkpoint::~Checkpoint() = default;
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;

const fs::path& Checkpoint::file() const noexcept { return parts_->reader.file(); }
const std::vector<std::pair<std::string, std::string>>& Checkpoint::fields() const noexcept {
  return parts_->fields;
}
std::string Checkpoint::field(const std::string& name) const {
  for (const auto& [known, value] : parts_->fields) {
    if (known == name) return value;
  }
  return {};
}
const CheckpointNotes& Checkpoint::notes() const noexcept { return parts_->notes; }
std::uint64_t Checkpoint::steps() const noexcept {
  const auto earlier = static_cast<std::uint64_t>(number_of(field("sweeps of earlier stages")));
  return earlier + parts_->clock.steps;
}
double Checkpoint::run_s() const noexcept { return parts_->clock.run_s; }

void Checkpoint::restore(Run& run) const {
  const format::Clock& clock = parts_->clock;
  const CheckpointSections sections(parts_->reader, format::state_prefix);
  run.go_to_stage(Archive(run.queue(), sections));
  const format::Texts now = run.core().identity();
  const std::string draws_field = "-p " + std::string(ExtendsDraws::parameter);
  format::Texts saved = parts_->fields;
  const auto wanted = std::ranges::find(now, draws_field, &format::Texts::value_type::first);
  auto* const extends = run.core().schedule().as<ExtendsDraws>();
  const std::int64_t draws = number_of(field(draws_field));
  const std::int64_t all_draws = wanted == now.end() ? draws : number_of(wanted->second);
  const bool extended = extends != nullptr && draws > 0 && all_draws > draws;
  if (extended) {
    std::ranges::find(saved, draws_field, &format::Texts::value_type::first)->second =
        wanted->second;
  }
  require_same(file(), saved, now);
  const auto load = [&](const Archive& archive) {
    // The field says so; its section is believed no more than that.
    if (RunCore::naming_of(archive) != run.draw_naming()) {
      parts_->reader.refuse(0, "section 'run/run.draw_naming' is not the field 'draws'");
    }
    const std::vector<std::int32_t> rungs = run.core().rungs();
    run.load(archive);
    run.core().require_sound(rungs, clock.steps);
  };
  if (extended) {
    extends->require_extendable(draws, clock.steps);
    const ExtendedSections longer(sections, *extends, draws, all_draws);
    load(Archive(run.queue(), longer));
    extends->extend_draws(run.queue(), clock.steps);
  } else {
    load(Archive(run.queue(), sections));
  }
  run.core().require_energies();
  run.core().stand({clock.run_s, clock.to_best_s, clock.ends_with_budget != 0});
}

FoundCheckpoint find_checkpoint(const fs::path& file) {
  try {
    return {Checkpoint(file), {}};
  } catch (const Error& newest) {
    const bool unreadable = newest.code() == "checkpoint.damaged" ||
                            newest.code() == "io.missing" || newest.code() == "io.read" ||
                            newest.code() == "checkpoint.format";
    if (!unreadable || !fs::exists(previous_of(file))) throw;
    try {
      return {Checkpoint(previous_of(file)), newest.message()};
    } catch (const Error&) {
    }
    throw;
  }
}

}  // namespace kiln
