# SPDX-License-Identifier: LGPL-3.0-only
# The first build is what a newcomer waits for, and most of it is the standard library's headers. The quickstart preset
# precompiles them once a target; the other presets do without, so that a missing include still fails.
option(WEIR_PCH "Precompile the standard headers" OFF)

function(weir_precompile_headers directory)
  if(NOT WEIR_PCH)
    return()
  endif()
  get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(STATIC_LIBRARY|OBJECT_LIBRARY|MODULE_LIBRARY|EXECUTABLE)$")
      target_precompile_headers(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${CMAKE_SOURCE_DIR}/cmake/pch.hpp>")
    endif()
  endforeach()
  get_property(subdirectories DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(subdirectory ${subdirectories})
    weir_precompile_headers("${subdirectory}")
  endforeach()
endfunction()
