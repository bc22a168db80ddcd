# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0

# What all of Kiln's own targets share: warnings, floating-point rules, hidden symbols, output folders.
function(kiln_target_defaults target)
  # No contraction: a decision must have the same bits with and without fused multiply-add.
  set(cxx_options -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off -fno-math-errno)
  # No -Wpedantic here: it complains about every line marker that nvcc writes.
  set(cuda_options -std=c++20 -fmad=$<IF:$<BOOL:$<TARGET_PROPERTY:KILN_FUSED>>,true,false>
                   -Xcompiler=-Wall,-Wextra -Xcompiler=-ffp-contract=off)
  list(LENGTH CMAKE_CUDA_ARCHITECTURES architectures)
  if(KILN_CUDA_BUILT AND architectures GREATER 1 AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    list(APPEND cuda_options --compress-mode=size)  # else four of them take 100 MB
  endif()
  if(KILN_WERROR)
    list(APPEND cxx_options -Werror)
    list(APPEND cuda_options -Werror=all-warnings -Xcompiler=-Werror)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    list(APPEND cxx_options -Wno-restrict)  # false alarms on std::string + (GCC bug 105651)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    # The same at -O2, as writes behind a temporary string.
    list(APPEND cxx_options -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  if(KILN_SANITIZE)
    list(APPEND cxx_options -fsanitize=${KILN_SANITIZE} -fno-sanitize-recover=all
                            -fno-omit-frame-pointer)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND cxx_options -Wno-maybe-uninitialized)  # instrumentation confuses the analysis
    endif()
    target_link_options(${target} PRIVATE -fsanitize=${KILN_SANITIZE})
  endif()
  if(KILN_HARDEN)
    list(APPEND cxx_options -fstack-protector-strong)
    if(KILN_X86_64)
      list(APPEND cxx_options -fcf-protection)
    endif()
    # Checks of sizes need the optimiser. Distributions may have set another level.
    list(APPEND cxx_options "$<$<NOT:$<CONFIG:Debug>>:SHELL:-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2>")
  endif()
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${cxx_options}>"
                                           "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_options}>")
  target_compile_definitions(${target} PRIVATE KILN_X86_64=${KILN_X86_64})
  # Tuned launch shapes belong to one build (engine/src/tuning/build_id.hpp).
  target_link_options(${target} PRIVATE LINKER:--build-id=sha1)
  # Every symbol is bound at the start, so that nothing can redirect a call later.
  target_link_options(${target} PRIVATE LINKER:--enable-new-dtags LINKER:-z,relro LINKER:-z,now)
  # CXX_STANDARD_REQUIRED stays unset: CMake 3.25.1 applies it to CUDA sources too and then stops.
  set_target_properties(${target} PROPERTIES
    CXX_STANDARD 20
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    CUDA_RUNTIME_LIBRARY Static
    CUDA_SEPARABLE_COMPILATION OFF
    ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
endfunction()

# Clang refuses a precompiled header where floating-point options of a file differ, as those of kernels do.
if(KILN_FAST_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(KILN_PRECOMPILES ON)
else()
  set(KILN_PRECOMPILES OFF)
endif()

# Headers of the standard library that most files of a target include, parsed once, with those given.
# GCC reads them with every file of the target, so only what is used widely belongs here. A file still
# includes what it uses: a build with KILN_FAST_BUILD=OFF and the test of headers find what is missing.
function(kiln_precompile target)
  if(KILN_PRECOMPILES)
    set(headers algorithm array cmath cstddef cstdint functional limits map memory numeric optional set
        span stop_token string string_view utility vector)
    list(TRANSFORM headers REPLACE "(.+)" "<\\1>")
    target_precompile_headers(${target} PRIVATE ${headers} ${ARGN})
    kiln_uses_precompiled(${target})
  endif()
endfunction()

# The precompiled header of `other`, which is compiled with the same options.
function(kiln_precompile_as target other)
  if(KILN_PRECOMPILES)
    target_precompile_headers(${target} REUSE_FROM ${other})
    kiln_uses_precompiled(${target})
  endif()
endfunction()

function(kiln_uses_precompiled target)
  # Lets a compiler cache preprocess files that use a precompiled header.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False alarms on std::string + again (GCC bug 105651), which it does not suppress in there.
    target_compile_options(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds;-Wno-stringop-overflow>")
    if(KILN_SANITIZE)  # one more, where less is inlined
      target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-stringop-overread>)
    endif()
  endif()
endfunction()

# Compiles files of a folder as one, up to KILN_FILES_TOGETHER of them: what they include, and what they
# instantiate, is mostly the same and many times their own size. So names in the unnamed namespaces of a
# folder differ. Compiled alone are files with options or definitions of their own, and those of the
# folders behind ALONE. Call it after the last target_sources().
function(kiln_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  if(NOT KILN_FAST_BUILD OR KILN_FILES_TOGETHER LESS 2)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  list(SORT sources)
  set(last_folder "")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    if(folder IN_LIST arg_ALONE)
      continue()
    endif()
    if(NOT folder STREQUAL last_folder)
      set(last_folder "${folder}")
      set(count 0)
    endif()
    math(EXPR part "${count} / ${KILN_FILES_TOGETHER}")
    math(EXPR count "${count} + 1")
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_property(SOURCE "${source}" TARGET_DIRECTORY ${target} PROPERTY UNITY_GROUP "${group}_${part}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Code that is no faster at -O3, or -O2: what it does is done elsewhere. Not in Debug.
function(kiln_optimize_little target)
  target_compile_options(${target} PRIVATE
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-O1>)
endfunction()

# Where what is installed looks for shared libraries: in the folders given and in those of dependencies
# outside the system's, in the build tree as where it is installed. Were the two to differ, CMake would
# pad the first with an empty entry, and that is the current folder: anybody's library would be loaded.
function(kiln_search_libraries target)
  set_target_properties(${target} PROPERTIES
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "${ARGN}"
    INSTALL_RPATH_USE_LINK_PATH ON)
endfunction()

# Lets `target` compile CUDA sources: limits how many nvcc run at once.
function(kiln_compiles_cuda target)
  set_target_properties(${target} PROPERTIES JOB_POOL_COMPILE kiln_nvcc)
endfunction()

# A library that misses a symbol shall fail when it is linked, not when it is opened. Clang links the
# sanitizer runtimes into programs only, so there the rule cannot hold.
function(kiln_forbid_undefined target)
  if(NOT (KILN_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${target} PRIVATE LINKER:--no-undefined)
  endif()
endfunction()
