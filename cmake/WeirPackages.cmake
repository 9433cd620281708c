# SPDX-License-Identifier: LGPL-3.0-only
# `cpack` in the build folder of the preset release makes two Debian packages:
#   weir          the command, the embedded broker, manual, completion, systemd unit, examples; needs weir-modules
#   weir-modules  the modules and jobtap plugins with what a Flux of the same prefix needs to load them
# Every install() names the component `command` or `modules`. `cmake --install BUILD --prefix FLUX --component modules` puts the
# modules alone into another Flux prefix.
install(FILES etc/systemd/weir.service DESTINATION lib/systemd/system COMPONENT unit EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGE_CONTACT "The Weir developers <weir@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Hierarchical fair-share job priority for Flux")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL command unit modules)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENT_COMMAND_GROUP weir)
set(CPACK_COMPONENT_UNIT_GROUP weir)
set(CPACK_COMPONENT_MODULES_GROUP modules)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_WEIR_PACKAGE_NAME weir)
# libwebsockets loads its libuv plugin by name, which the linker does not see.
set(CPACK_DEBIAN_WEIR_PACKAGE_DEPENDS "weir-modules (= ${PROJECT_VERSION}), libwebsockets-evlib-uv")
set(CPACK_DEBIAN_MODULES_PACKAGE_NAME weir-modules)
set(CPACK_COMPONENT_GROUP_WEIR_DESCRIPTION "Decides who runs next on a shared cluster, and says why: the command and the embedded broker")
set(CPACK_COMPONENT_GROUP_MODULES_DESCRIPTION "Decides who runs next on a shared cluster, and says why: the modules and jobtap plugins")
include(CPack)
