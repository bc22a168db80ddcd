# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)
set(kiln_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kiln")

# Components, which are packages of their own in cmake/KilnPackages.cmake: library (what programs need to
# run), development (what they need to be built), program, docs.
install(TARGETS kiln_core EXPORT kilnTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
foreach(layer IN ITEMS engine problems schedules)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${layer}/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/engine/c/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${KILN_WRITTEN_HEADERS}/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development)
install(EXPORT kilnTargets NAMESPACE kiln:: DESTINATION "${kiln_package_dir}" COMPONENT development)

if(KILN_CUDA_BUILT)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/gpu/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          COMPONENT development FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
  # An export set of its own: kiln::core must be usable where no CUDA toolkit is installed.
  install(TARGETS kiln_cuda_headers EXPORT kilnCudaTargets)
  if(BUILD_SHARED_LIBS)
    install(TARGETS kiln_cuda LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT cuda)
  else()
    install(TARGETS kiln_cuda EXPORT kilnCudaTargets
            ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
  endif()
  install(EXPORT kilnCudaTargets NAMESPACE kiln:: DESTINATION "${kiln_package_dir}" COMPONENT development)
endif()

if(KILN_APPS)
  install(TARGETS kiln_program RUNTIME COMPONENT program)
  # apps/kiln/CMakeLists.txt lets the program write these, where it can run; a build of other targets has none.
  install(DIRECTORY ${KILN_WRITTEN_SHARE}/man/ DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
          COMPONENT program FILES_MATCHING PATTERN "*.1")
  install(FILES ${KILN_WRITTEN_SHARE}/completion/kiln
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" COMPONENT program OPTIONAL)
  install(FILES ${KILN_WRITTEN_SHARE}/completion/_kiln
          DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT program OPTIONAL)
endif()
# The reader of telemetry.bin for Python, to copy or to put on PYTHONPATH.
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/kiln_telemetry.py DESTINATION "${CMAKE_INSTALL_DATADIR}/kiln"
        COMPONENT program)
# What the program points to as docs/NAME.md; a component, so that a package may leave it out.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
              ${PROJECT_SOURCE_DIR}/SECURITY.md ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md
        DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs
        PATTERN "*.json" EXCLUDE PATTERN "*.ndjson" EXCLUDE)

set(kiln_plugin_dir "${CMAKE_INSTALL_LIBDIR}/kiln/plugins")
set(kiln_binary_dir "${CMAKE_INSTALL_BINDIR}")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kilnConfig.cmake.in
  "${PROJECT_BINARY_DIR}/package/kilnConfig.cmake"
  INSTALL_DESTINATION "${kiln_package_dir}"
  PATH_VARS kiln_plugin_dir kiln_binary_dir
  NO_SET_AND_CHECK_MACRO)
# As KILN_SOVERSION: before 1.0 a project names the minor version that it was written for.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/kilnConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/KilnPlugin.cmake" DESTINATION "${kiln_package_dir}" COMPONENT development)
install(FILES "${PROJECT_BINARY_DIR}/package/kilnConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/kilnConfigVersion.cmake"
        DESTINATION "${kiln_package_dir}" COMPONENT development)

# kiln.pc. What a program that links the archive needs stands in the private part: pkg-config --static.
set(kiln_pc_requires "")
set(kiln_pc_libs "")
set(kiln_pc_flags "")
if(NOT BUILD_SHARED_LIBS)
  set(kiln_pc_requires " fmt libzstd")
  set(kiln_pc_libs " -lstdc++ -lm -lpthread")
  foreach(library IN LISTS CMAKE_DL_LIBS)
    string(APPEND kiln_pc_libs " -l${library}")
  endforeach()
  set(kiln_pc_flags " -DKILN_STATIC")
endif()
if(KILN_CHECKED)
  string(APPEND kiln_pc_flags " -DKILN_CHECKED=1")
endif()
file(RELATIVE_PATH kiln_prefix_from_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" kiln_prefix_from_pc "${kiln_prefix_from_pc}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/kiln.pc.in" "${PROJECT_BINARY_DIR}/package/kiln.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/package/kiln.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
        COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
  include(cmake/KilnPackages.cmake)
endif()
