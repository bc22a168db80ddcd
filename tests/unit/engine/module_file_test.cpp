// SPDX-FileCopyrightText: The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/module_file.hpp"

#include <elf.h>
#include <gtest/gtest.h>
#include <stdlib.h>  // setenv
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "kiln/errors.hpp"

#include "backends/cpu_queue.hpp"
#include "backends/cuda_loader.hpp"

namespace kiln::test::module_file_test {
namespace {

namespace fs = std::filesystem;

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// What a linker makes of a note: `GNU`, as every library has it, and the one of the module.
std::string library_with(const std::string& note) {
  const Elf64_Nhdr head{4, 6, 3};
  const std::string notes = bytes_of(head) + std::string("GNU\0abcdef\0\0", 12) + note;
  Elf64_Ehdr file{};
  std::memcpy(file.e_ident, ELFMAG, SELFMAG);
  file.e_ident[EI_CLASS] = ELFCLASS64;
  file.e_phoff = sizeof file;
  file.e_phnum = 2;
  Elf64_Phdr code{}, segment{};
  code.p_type = PT_LOAD;
  segment.p_type = PT_NOTE;
  segment.p_offset = sizeof file + 2 * sizeof segment;
  segment.p_filesz = notes.size();
  return bytes_of(file) + bytes_of(code) + bytes_of(segment) + notes;
}

const ModuleNote expected = module_note(1, 64, 0x123456789abcdef0, "1.2.3");

class ModuleFile : public testing::Test {
 protected:
  ModuleFile() {
    std::string name = (fs::temp_directory_path() / "kiln-module-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    path_ = folder_ / "module.so";
  }
  ~ModuleFile() override { fs::remove_all(folder_); }

  void write(const std::string& bytes) const {
    std::ofstream(path_, std::ios::binary) << bytes;
    fs::permissions(path_, fs::perms(0644));
  }
  std::string verdict() const {
    return code_of([&] { check_module_file(path_, expected); });
  }

  fs::path folder_, path_;
};

TEST_F(ModuleFile, IsTakenFromTheSameBuildOnly) {
  write(library_with(bytes_of(expected)));
  EXPECT_EQ(verdict(), "accepted");

  for (const ModuleNote& other : {module_note(2, 64, 0x123456789abcdef0, "1.2.3"),
                                  module_note(1, 72, 0x123456789abcdef0, "1.2.3"),
                                  module_note(1, 64, 0x123456789abcdef1, "1.2.3"),
                                  module_note(1, 64, 0x023456789abcdef0, "1.2.3"),
                                  module_note(1, 64, 0x123456789abcdef0, "1.2.4")}) {
    write(library_with(bytes_of(other)));
    EXPECT_EQ(verdict(), "module.version");
  }
}

TEST_F(ModuleFile, IsRefusedWithoutANote) {
  const std::string good = library_with(bytes_of(expected));
  for (std::size_t size = 0; size < good.size(); size += 7) {
    write(good.substr(0, size));
    EXPECT_EQ(verdict(), "module.entry") << size;
  }
  write(library_with(""));
  EXPECT_EQ(verdict(), "module.entry");
  write("this is no library");
  EXPECT_EQ(verdict(), "module.entry");
  std::string endless = good;  // notes without a size lead nowhere
  std::memset(endless.data() + sizeof(Elf64_Ehdr) + 2 * sizeof(Elf64_Phdr), 0, 8);
  write(endless);
  EXPECT_EQ(verdict(), "module.entry");
}

TEST_F(ModuleFile, IsRefusedWhereOthersMayChangeIt) {
  write(library_with(bytes_of(expected)));
  fs::permissions(path_, fs::perms(0666));
  EXPECT_EQ(verdict(), "module.owner");
  fs::permissions(path_, fs::perms(0644));
  fs::permissions(folder_, fs::perms(0777));
  EXPECT_EQ(verdict(), "module.owner");
  ASSERT_EQ(::chmod(folder_.c_str(), 01777), 0);
  EXPECT_EQ(verdict(), "accepted") << "as in /tmp";
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(path_.c_str(), 65534, 65534), 0);
  EXPECT_EQ(verdict(), "module.owner");
}

#if !defined(KILN_STATIC)
TEST_F(ModuleFile, IsNamedByAPath) {
  const char* const before = std::getenv("KILN_CUDA_MODULE");
  const std::string saved = before != nullptr ? before : "";
  ::setenv("KILN_CUDA_MODULE", "libm.so.6", 1);
  EXPECT_THROW(find_cuda_module(), PluginError);
  write("");
  ::setenv("KILN_CUDA_MODULE", path_.c_str(), 1);
  EXPECT_EQ(find_cuda_module(), path_);
  if (before != nullptr) {
    ::setenv("KILN_CUDA_MODULE", saved.c_str(), 1);
  } else {
    ::unsetenv("KILN_CUDA_MODULE");
  }
}
#endif

}  // namespace
}  // namespace kiln::test::module_file_test
