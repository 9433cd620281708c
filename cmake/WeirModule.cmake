# SPDX-License-Identifier: LGPL-3.0-only
# DSOs that load, byte for byte the same, in a stock flux-broker and in ours. Why each flag is needed: ADR 0001.
#   weir_add_module(NAME SOURCES... LIBS...)  exports mod_main, installs to lib/flux/modules/NAME.so
#   weir_add_jobtap(NAME SOURCES... LIBS...)  exports flux_plugin_init, installs to lib/flux/job-manager/plugins/NAME.so
function(weir_add_dso name entry destination)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  set(map "${CMAKE_CURRENT_BINARY_DIR}/${name}.map")
  file(WRITE "${map}" "{ global: ${entry}; local: *; };\n")
  add_library(${name} MODULE ${ARG_SOURCES})
  set_property(GLOBAL APPEND PROPERTY WEIR_DSOS ${name})
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib/flux/${destination}")
  target_compile_options(${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
  target_link_options(${name} PRIVATE "-Wl,--version-script=${map}" "-Wl,--exclude-libs,ALL")
  target_link_libraries(${name} PRIVATE weir_flux_headers PkgConfig::JANSSON ${ARG_LIBS})
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/flux/${destination} COMPONENT modules)
endfunction()
function(weir_add_module name)
  weir_add_dso(${name} mod_main modules ${ARGN})
endfunction()
function(weir_add_jobtap name)
  weir_add_dso(${name} flux_plugin_init job-manager/plugins ${ARGN})
endfunction()

# Code that ends up in a DSO but is built once as a static library needs the same flag.
function(weir_dso_safe target)
  set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
endfunction()
