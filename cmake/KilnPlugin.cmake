# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0

# kiln_add_plugin(NAME SOURCE...)
#
# A target NAME: a plug-in, the shared library NAME.so. Sources that end with .cu are compiled if this Kiln
# has CUDA and the project has a CUDA compiler; then WITH_CUDA is defined for all sources. Without them the
# plug-in runs on the CPU only. `cmake --install` puts it into KILN_PLUGIN_DIR, where programs of this Kiln
# find it; set KILN_PLUGIN_DIR to install it elsewhere.
macro(kiln_add_plugin name)
  set(_kiln_sources ${ARGN})
  set(_kiln_cuda_sources ${_kiln_sources})
  list(FILTER _kiln_cuda_sources INCLUDE REGEX "\\.cu$")
  list(REMOVE_ITEM _kiln_sources ${_kiln_cuda_sources})
  set(_kiln_with_cuda OFF)
  if(_kiln_cuda_sources AND TARGET kiln::cuda)
    # A macro, because a language is enabled for a directory and not for a function.
    if(NOT CMAKE_CUDA_COMPILER)
      include(CheckLanguage)
      check_language(CUDA)
      if(CMAKE_CUDA_COMPILER)
        if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
          set(CMAKE_CUDA_ARCHITECTURES all-major)
        endif()
        enable_language(CUDA)
      endif()
    endif()
    if(CMAKE_CUDA_COMPILER)
      set(_kiln_with_cuda ON)
    endif()
  endif()
  if(_kiln_cuda_sources AND NOT _kiln_with_cuda)
    message(STATUS "${name}: no CUDA, so it runs on the CPU only")
    set(_kiln_cuda_sources "")
  endif()
  add_library(${name} MODULE ${_kiln_sources} ${_kiln_cuda_sources})
  target_link_libraries(${name} PRIVATE kiln::core)
  # No contraction: a decision must have the same bits on every backend.
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off>)
  set_target_properties(${name} PROPERTIES
    PREFIX ""
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  if(_kiln_with_cuda)
    target_link_libraries(${name} PRIVATE kiln::cuda)
    target_compile_definitions(${name} PRIVATE WITH_CUDA)
    target_compile_options(${name} PRIVATE
      $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false> $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-ffp-contract=off>)
    target_link_options(${name} PRIVATE LINKER:--exclude-libs,ALL)
    set_target_properties(${name} PROPERTIES
      CUDA_RUNTIME_LIBRARY Static
      CUDA_VISIBILITY_PRESET hidden)
  endif()
  install(TARGETS ${name} LIBRARY DESTINATION "${KILN_PLUGIN_DIR}")
endmacro()
