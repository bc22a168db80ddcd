# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Every switch of the build. Nothing here touches the settings of a project that adds Kiln with
# add_subdirectory.

if(PROJECT_IS_TOP_LEVEL)
  option(BUILD_SHARED_LIBS "Build libkiln as a shared library; OFF links everything in, without plug-ins" ON)
elseif(NOT DEFINED BUILD_SHARED_LIBS)
  set(BUILD_SHARED_LIBS ON)  # for Kiln's folder only
endif()
set(KILN_CUDA AUTO CACHE STRING "Build the CUDA backend: AUTO (where nvcc works), ON or OFF")
set_property(CACHE KILN_CUDA PROPERTY STRINGS AUTO ON OFF)
option(KILN_APPS "Build the program kiln (needs Boost.Program_options and toml++)" ${PROJECT_IS_TOP_LEVEL})
option(KILN_EXAMPLES "Build the programs in apps/examples" ${PROJECT_IS_TOP_LEVEL})
option(KILN_TESTS "Build the tests (needs GoogleTest)" ${PROJECT_IS_TOP_LEVEL})
option(KILN_INSTALL "Add the install rules" ${PROJECT_IS_TOP_LEVEL})
option(KILN_WERROR "Treat warnings as errors" OFF)
if(KILN_TESTS)
  set(kiln_harden OFF)
else()
  set(kiln_harden ON)  # what users get
endif()
option(KILN_HARDEN "Guard stacks, copies of memory and indirect jumps, as distributions do" ${kiln_harden})
option(KILN_CHECKED "Check indices and invariants on host and device (slow)" OFF)
option(KILN_FAST_BUILD "Precompiled headers, and files of a folder compiled as one; OFF compiles every file alone" ON)
set(KILN_FILES_TOGETHER 8 CACHE STRING "With KILN_FAST_BUILD: the most files that are compiled as one")
set(KILN_SANITIZE "" CACHE STRING "Sanitizers for host code: address,undefined or thread")

if(NOT KILN_CUDA MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "KILN_CUDA=${KILN_CUDA}: expected AUTO, ON or OFF")
endif()

if(PROJECT_IS_TOP_LEVEL)
  get_property(kiln_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT CMAKE_BUILD_TYPE AND NOT kiln_multi_config)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(KILN_CCACHE ccache DOC "Compiler cache; used where it is found")
  mark_as_advanced(KILN_CCACHE)
  if(KILN_CCACHE)
    # Without these ccache caches nothing that uses a precompiled header.
    set(kiln_launcher "${CMAKE_COMMAND}" -E env
        CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        "${KILN_CCACHE}")
    foreach(language IN ITEMS C CXX CUDA)
      if(NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER "${kiln_launcher}")
      endif()
    endforeach()
  endif()
endif()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(KILN_X86_64 1)
else()
  set(KILN_X86_64 0)
endif()
