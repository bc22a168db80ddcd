# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# cpack -G DEB writes packages for Debian: libkiln0.2 (the library), libkiln-dev, kiln (the program and the
# docs), and libkiln0.2-cuda where the backend was built; cpack -G TGZ one archive with all of it.
# ADR 0063 says why they are these.
set(kiln_library_package "libkiln${KILN_SOVERSION}")
set(CPACK_PACKAGE_NAME kiln)
set(CPACK_PACKAGE_VENDOR "The Kiln authors")
set(CPACK_PACKAGE_CONTACT "The Kiln authors <kiln@example.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "optimisation and sampling with many replicas")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_GENERATOR TGZ)
find_program(KILN_DPKG_DEB dpkg-deb)
mark_as_advanced(KILN_DPKG_DEB)
if(KILN_DPKG_DEB)
  list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/packages/generator.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/packages/finish_debian.cmake")

set(CPACK_COMPONENTS_ALL library development program docs)
if(KILN_CUDA_BUILT AND BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL cuda)
endif()
set(CPACK_COMPONENT_LIBRARY_GROUP library)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP development)
set(CPACK_COMPONENT_PROGRAM_GROUP program)
set(CPACK_COMPONENT_DOCS_GROUP program)
set(CPACK_COMPONENT_CUDA_GROUP cuda)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}/lib")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(kiln_same_version "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${kiln_library_package})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "optimisation and sampling with many replicas: library
Kiln minimises functions and draws from densities with many replicas at once,
on processors and on graphics cards.

This package has the shared library.")
# Programs that are built with the library find the package that they need.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")
file(WRITE "${PROJECT_BINARY_DIR}/package/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/package/triggers")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkiln-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${kiln_library_package} ${kiln_same_version}")
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "optimisation and sampling with many replicas: headers
Kiln minimises functions and draws from densities with many replicas at once,
on processors and on graphics cards.

This package has the headers, and the files for CMake and pkg-config.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME kiln)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION math)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "${kiln_library_package} ${kiln_same_version}")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION "optimisation and sampling with many replicas
Kiln minimises functions and draws from densities with many replicas at once,
on processors and on graphics cards.

This package has the program kiln, its manual and its documentation.")

set(CPACK_DEBIAN_CUDA_PACKAGE_NAME ${kiln_library_package}-cuda)
set(CPACK_DEBIAN_CUDA_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "${kiln_library_package} ${kiln_same_version}")
set(CPACK_DEBIAN_CUDA_DESCRIPTION "optimisation and sampling with many replicas: CUDA backend
Kiln minimises functions and draws from densities with many replicas at once,
on processors and on graphics cards.

This package has the module for graphics cards of NVIDIA.")
include(CPack)
