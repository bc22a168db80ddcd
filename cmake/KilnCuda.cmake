# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# Decides whether the CUDA backend is built. Sets KILN_CUDA_BUILT and, where it is not built,
# KILN_CUDA_OFF_REASON, one sentence that the library, the package and the configure log all show.
#
# CMake 3.25.1 with nvcc 13 knows no flag for C++20 device code: CUDA_STANDARD and cuda_std_20 both stop
# the configure step. So -std=c++20 is passed as a plain compile option (see kiln_target_defaults).

# Presets set these two; reading them here keeps CMake from complaining where CUDA is off.
set(kiln_unused "${CMAKE_CUDA_ARCHITECTURES}${CMAKE_CUDA_FLAGS_RELWITHDEBINFO}")

set(KILN_CUDA_BUILT FALSE)
set(KILN_CUDA_OFF_REASON "")
if(KILN_CUDA STREQUAL "OFF")
  set(KILN_CUDA_OFF_REASON "built with KILN_CUDA=OFF")
else()
  # Never "native" (an error without a GPU) and never empty (sm_75 only).
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES "80-real;90-real;90-virtual;100-real;120-real")
  endif()
  # Before 12.8 nvcc does not know 10.0 and 12.0, and CMake would take it for broken. Portable code of 9.0
  # runs on such GPUs.
  set(kiln_nvcc nvcc)
  foreach(named IN ITEMS "$ENV{CUDACXX}" "${CMAKE_CUDA_COMPILER}")
    if(named)
      set(kiln_nvcc "${named}")
    endif()
  endforeach()
  execute_process(COMMAND "${kiln_nvcc}" --list-gpu-arch
                  OUTPUT_VARIABLE kiln_known RESULT_VARIABLE kiln_failed ERROR_QUIET)
  if(kiln_failed STREQUAL "0" AND kiln_known)
    set(kiln_architectures ${CMAKE_CUDA_ARCHITECTURES})
    foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
      string(REGEX MATCH "^[0-9]+" number "${architecture}")
      if(number AND NOT "${kiln_known}\n" MATCHES "compute_${number}[^0-9]")
        list(REMOVE_ITEM kiln_architectures "${architecture}")
        message(STATUS "Kiln: this nvcc does not know architecture ${architecture}: left out")
      endif()
    endforeach()
    if(kiln_architectures)  # else nvcc itself says what is wrong
      set(CMAKE_CUDA_ARCHITECTURES ${kiln_architectures})
    endif()
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(NOT CMAKE_CUDA_COMPILER)
    set(KILN_CUDA_OFF_REASON "no working nvcc was found when Kiln was built")
  else()
    enable_language(CUDA)
    find_package(CUDAToolkit QUIET)
    if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.5)
      set(KILN_CUDA_OFF_REASON
          "nvcc ${CMAKE_CUDA_COMPILER_VERSION} is too old, 12.5 is needed (cudaGetDriverEntryPointByVersion)")
    elseif(NOT TARGET CUDA::cudart_static)
      set(KILN_CUDA_OFF_REASON "the CUDA toolkit has no static runtime library (cudart_static)")
    else()
      set(KILN_CUDA_BUILT TRUE)
    endif()
  endif()
  if(NOT KILN_CUDA_BUILT AND KILN_CUDA STREQUAL "ON")
    message(FATAL_ERROR "KILN_CUDA=ON, but ${KILN_CUDA_OFF_REASON}.\n"
                        "Put nvcc on PATH or set CUDACXX to it; KILN_CUDA=OFF builds for the CPU only.")
  endif()
endif()

# Numbers alone, for the report of `kiln doctor`: "80-real;90" are 80 and 90.
set(KILN_CUDA_NUMBERS "")
if(KILN_CUDA_BUILT)
  foreach(architecture IN LISTS CMAKE_CUDA_ARCHITECTURES)
    if(architecture STREQUAL "native")
      set(architecture "${CMAKE_CUDA_ARCHITECTURES_NATIVE}")
    elseif(architecture STREQUAL "all")
      set(architecture "${CMAKE_CUDA_ARCHITECTURES_ALL}")
    elseif(architecture STREQUAL "all-major")
      set(architecture "${CMAKE_CUDA_ARCHITECTURES_ALL_MAJOR}")
    endif()
    string(REGEX MATCHALL "[0-9]+" architecture "${architecture}")
    list(APPEND KILN_CUDA_NUMBERS ${architecture})
  endforeach()
  list(REMOVE_DUPLICATES KILN_CUDA_NUMBERS)
endif()
list(JOIN KILN_CUDA_NUMBERS "," KILN_CUDA_NUMBERS)
include(cmake/TestedArchitectures.cmake)
list(JOIN KILN_TESTED_ARCHITECTURES "," KILN_TESTED_NUMBERS)

if(KILN_CUDA_BUILT)
  message(STATUS "Kiln: CUDA backend on (nvcc ${CMAKE_CUDA_COMPILER_VERSION}, "
                 "architectures ${CMAKE_CUDA_ARCHITECTURES})")

  # One nvcc takes up to 1.5 GB, so memory bounds how many run at once (Ninja only). Containers see the
  # memory of the host, hence the look at the control group.
  cmake_host_system_information(RESULT kiln_memory_mb QUERY TOTAL_PHYSICAL_MEMORY)
  if(EXISTS /sys/fs/cgroup/memory.max)
    file(READ /sys/fs/cgroup/memory.max kiln_group_bytes)
    string(STRIP "${kiln_group_bytes}" kiln_group_bytes)
    if(kiln_group_bytes MATCHES "^[0-9]+$")
      math(EXPR kiln_group_mb "${kiln_group_bytes} / 1048576")
      if(kiln_group_mb LESS kiln_memory_mb)
        set(kiln_memory_mb ${kiln_group_mb})
      endif()
    endif()
  endif()
  math(EXPR kiln_nvcc_jobs "${kiln_memory_mb} / 1536")
  if(kiln_nvcc_jobs LESS 1)
    set(kiln_nvcc_jobs 1)
  endif()
  set(KILN_NVCC_JOBS ${kiln_nvcc_jobs} CACHE STRING "How many nvcc may run at once (Ninja only)")
  set_property(GLOBAL APPEND PROPERTY JOB_POOLS kiln_nvcc=${KILN_NVCC_JOBS})
else()
  message(STATUS "Kiln: CUDA backend off: ${KILN_CUDA_OFF_REASON}")
endif()
