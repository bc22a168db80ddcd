# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)
set(kiln_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kiln")

install(TARGETS kiln_core EXPORT kilnTargets)
foreach(layer IN ITEMS engine problems schedules)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${layer}/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/engine/c/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${KILN_WRITTEN_HEADERS}/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT kilnTargets NAMESPACE kiln:: DESTINATION "${kiln_package_dir}")

if(KILN_CUDA_BUILT)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/gpu/include/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh")
  # An export set of its own: kiln::core must be usable where no CUDA toolkit is installed.
  install(TARGETS kiln_cuda_headers EXPORT kilnCudaTargets)
  if(BUILD_SHARED_LIBS)
    install(TARGETS kiln_cuda LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  else()
    install(TARGETS kiln_cuda EXPORT kilnCudaTargets)
  endif()
  install(EXPORT kilnCudaTargets NAMESPACE kiln:: DESTINATION "${kiln_package_dir}")
endif()

if(KILN_APPS)
  install(TARGETS kiln_program)
endif()
# The reader of telemetry.bin for Python, to copy or to put on PYTHONPATH.
install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/kiln_telemetry.py DESTINATION "${CMAKE_INSTALL_DATADIR}/kiln")
# What the program points to as docs/NAME.md; a component, so that a package may leave it out.
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs
        PATTERN "*.json" EXCLUDE PATTERN "*.ndjson" EXCLUDE)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kilnConfig.cmake.in
  "${PROJECT_BINARY_DIR}/package/kilnConfig.cmake"
  INSTALL_DESTINATION "${kiln_package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/package/kilnConfigVersion.cmake"
  COMPATIBILITY SameMajorVersion)
install(FILES "${PROJECT_BINARY_DIR}/package/kilnConfig.cmake"
              "${PROJECT_BINARY_DIR}/package/kilnConfigVersion.cmake"
        DESTINATION "${kiln_package_dir}")
