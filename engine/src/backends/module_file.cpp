// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/module_file.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "kiln/errors.hpp"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr ModuleWords cuda_words{.noun = "the CUDA module",
                                 .fix = "reinstall Kiln, or correct KILN_CUDA_MODULE if it is set",
                                 .path_fix = "correct KILN_CUDA_MODULE if it is set",
                                 .area = "module"};

// Others could put their code into it. A group counts as others unless it is the user's own, which
// is how some systems make every file.
bool others_write(const struct stat& file) {
  if (file.st_uid != 0 && file.st_uid != ::geteuid()) return true;
  const bool own_group = file.st_gid == 0 || file.st_gid == ::getegid();
  return (file.st_mode & S_IWOTH) != 0 || ((file.st_mode & S_IWGRP) != 0 && !own_group);
}

/// Reads parts of a file; what is not there is nothing.
class Reader {
 public:
  explicit Reader(const fs::path& path) : file_(path, std::ios::binary) {}

  std::uint64_t size() {
    file_.clear();
    file_.seekg(0, std::ios::end);
    return file_ ? static_cast<std::uint64_t>(file_.tellg()) : 0;
  }

  template <class T>
  std::optional<T> at(std::uint64_t offset) {
    T value{};
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(offset));
    file_.read(reinterpret_cast<char*>(&value), sizeof value);
    if (!file_) return std::nullopt;
    return value;
  }

 private:
  std::ifstream file_;
};

// The note of Kiln among those of a segment.
std::optional<ModuleNote> note_in(Reader& file, const Elf64_Phdr& segment) {
  constexpr auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
  constexpr int max_notes = 64;
  std::uint64_t offset = segment.p_offset;
  const std::uint64_t end = segment.p_offset + segment.p_filesz;
  for (int k = 0; k < max_notes && offset < end; ++k) {
    const auto head = file.at<Elf64_Nhdr>(offset);
    if (!head) break;
    const auto note = file.at<ModuleNote>(offset);
    const ModuleNote own;
    if (note && note->name_size == own.name_size && note->content_size == own.content_size &&
        std::memcmp(note->name, own.name, sizeof own.name) == 0) {
      return note;
    }
    offset += sizeof *head + padded(head->n_namesz) + padded(head->n_descsz);
  }
  return std::nullopt;
}

}  // namespace

std::optional<ModuleNote> read_note(const fs::path& path) {
  Reader file(path);
  const auto head = file.at<Elf64_Ehdr>(0);
  if (!head || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  if (head->e_ident[EI_CLASS] != ELFCLASS64) return std::nullopt;
  constexpr int max_note_segments = 16;
  const std::uint64_t size = file.size();
  std::optional<ModuleNote> note;
  int n_note_segments = 0;
  for (std::uint64_t k = 0; k < head->e_phnum; ++k) {
    const auto segment = file.at<Elf64_Phdr>(head->e_phoff + k * sizeof(Elf64_Phdr));
    if (!segment) break;
    // To open a file that is cut off ends the process: its missing pages are mapped all the same.
    if (segment->p_type == PT_LOAD &&
        (segment->p_filesz > size || segment->p_offset > size - segment->p_filesz)) {
      return std::nullopt;
    }
    if (segment->p_type != PT_NOTE || note || ++n_note_segments > max_note_segments) continue;
    note = note_in(file, *segment);
  }
  return note;
}

void check_owner(const fs::path& path, const ModuleWords& words) {
  const std::string area = words.area, noun = words.noun;
  struct stat file = {}, folder = {};
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (::stat(path.c_str(), &file) != 0 || ::stat(parent.c_str(), &folder) != 0) {
    throw PluginError(area + ".open",
                      noun + " cannot be opened: " + path.string() + ": " + std::strerror(errno),
                      {}, words.fix);
  }
  // In a sticky folder such as /tmp nobody renames the files of others.
  const bool sticky = (folder.st_mode & S_ISVTX) != 0;
  if (!others_write(file) && (sticky || !others_write(folder))) return;
  throw PluginError(
      area + ".owner", noun + " " + path.string() + " can be changed by other users",
      "a file and a folder that belong to you or root, and that no other user can write to",
      "let only your user write to the file and its folder (chown, chmod go-w), or " +
          std::string(words.fix));
}

void check_module_file(const fs::path& path, const ModuleNote& expected) {
  check_owner(path, cuda_words);
  const std::optional<ModuleNote> note = read_note(path);
  if (!note || note->kind != expected.kind) {
    throw PluginError("module.entry", path.string() + " is not a CUDA module of Kiln", {},
                      cuda_words.path_fix);
  }
  if (*note == expected) return;
  const std::string theirs(note->version, ::strnlen(note->version, sizeof note->version));
  throw PluginError("module.version",
                    "the CUDA module " + path.string() + " (Kiln " + theirs +
                        ") and libkiln (Kiln " + expected.version + ") come from different builds",
                    "The CUDA module and libkiln must come from one build.", cuda_words.fix);
}

}  // namespace kiln
