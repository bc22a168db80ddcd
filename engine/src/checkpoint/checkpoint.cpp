// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "kiln/checkpoint.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kiln/run.hpp"

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

void require_same(const fs::path& file, const format::Texts& saved, const format::Texts& now) {
  constexpr std::size_t most_shown = 5;
  const std::vector<std::string> all = differences(saved, now);
  if (all.empty()) return;
  std::string text = file.string() + ": the run is another one than that of the checkpoint";
  for (std::size_t i = 0; i < std::min(all.size(), most_shown); ++i) text += "\n  " + all[i];
  if (all.size() > most_shown) {
    text += "\n  and " + std::to_string(all.size() - most_shown) + " more differ";
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

CheckpointSize write_checkpoint(const fs::path& file, Run& run, const CheckpointNotes& notes) {
  RunCore& core = run.core();
  WholeFile whole(file);
  CheckpointWriter writer(whole);
  put_section(writer, format::fields_section, format::pack(core.identity()));
  put_section(writer, format::notes_section, format::pack({notes.begin(), notes.end()}));
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
  writer.end();
  whole.put_in_place(Existing::keep_previous);
  return {writer.raw_bytes(), writer.file_bytes()};
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
std::uint64_t Checkpoint::steps() const noexcept { return parts_->clock.steps; }
double Checkpoint::run_s() const noexcept { return parts_->clock.run_s; }

void Checkpoint::restore(Run& run) const {
  const format::Clock& clock = parts_->clock;
  require_same(file(), parts_->fields, run.core().identity());
  const CheckpointSections sections(parts_->reader, format::state_prefix);
  const Archive archive(run.queue(), sections);
  // The field says so; its section is believed no more than that.
  if (RunCore::naming_of(archive) != run.draw_naming()) {
    parts_->reader.refuse(0, "section 'run/run.draw_naming' is not the field 'draws'");
  }
  const std::vector<std::int32_t> rungs = run.core().rungs();
  run.load(archive);
  run.core().require_sound(rungs, clock.steps);
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
