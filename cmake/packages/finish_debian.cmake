# SPDX-FileCopyrightText: The Kiln authors
# SPDX-License-Identifier: Apache-2.0
#
# CPack runs this on the folders that become packages, one for each: what Debian's rules ask for beside
# what `cmake --install` puts there.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

string(TIMESTAMP kiln_date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, if that is set
set(kiln_copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: kiln

Files: *
Copyright: 2026 The Kiln authors
License: Apache-2.0
 On Debian systems the full text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
")

function(kiln_compress file)
  execute_process(COMMAND gzip -9nf "${file}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(part IN ITEMS library development program cuda)
  set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${part}")
  if(NOT IS_DIRECTORY "${root}")
    continue()
  endif()
  string(TOUPPER "${part}" upper)
  set(package "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
  set(docs "${root}/usr/share/doc/${package}")
  file(WRITE "${docs}/copyright" "${kiln_copyright}")
  file(WRITE "${docs}/changelog.Debian"
    "kiln (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
    "  * Release ${CPACK_PACKAGE_VERSION}.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${kiln_date}\n")
  kiln_compress("${docs}/changelog.Debian")
  # These packages are not those of Debian's archive, where a bug asks for them; and CPack calls ldconfig
  # beside the trigger.
  set(overrides "${package}: initial-upload-closes-no-bugs *\n")
  if(part STREQUAL "library")
    string(APPEND overrides "${package}: maintscript-calls-ldconfig *\n")
  endif()
  file(WRITE "${root}/usr/share/lintian/overrides/${package}" "${overrides}")
  if(EXISTS "${root}/usr/share/kiln/kiln_telemetry.py")  # a module here, so that no package of Python is needed
    file(CHMOD "${root}/usr/share/kiln/kiln_telemetry.py" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
  endif()
  # The licence is the system's own copy; the changelog has the name that Debian gives it.
  file(REMOVE "${docs}/LICENSE")
  if(EXISTS "${docs}/CHANGELOG.md")
    file(RENAME "${docs}/CHANGELOG.md" "${docs}/changelog")
    kiln_compress("${docs}/changelog")
  endif()
  file(GLOB pages "${root}/usr/share/man/man1/*.1")
  foreach(page IN LISTS pages)
    kiln_compress("${page}")
  endforeach()
  if(IS_DIRECTORY "${root}/usr/share/zsh/site-functions")  # that is for what is installed by hand
    file(MAKE_DIRECTORY "${root}/usr/share/zsh/vendor-completions")
    file(RENAME "${root}/usr/share/zsh/site-functions/_kiln" "${root}/usr/share/zsh/vendor-completions/_kiln")
    file(REMOVE_RECURSE "${root}/usr/share/zsh/site-functions")
  endif()
  # The system knows where its libraries are.
  file(GLOB_RECURSE binaries "${root}/usr/bin/*" "${root}/usr/lib/*.so*")
  foreach(binary IN LISTS binaries)
    if(NOT IS_SYMLINK "${binary}")
      file(RPATH_REMOVE FILE "${binary}")
      if(binary MATCHES "\\.so")
        file(CHMOD "${binary}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
      endif()
    endif()
  endforeach()
endforeach()
