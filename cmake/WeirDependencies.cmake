# SPDX-License-Identifier: LGPL-3.0-only
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
pkg_check_modules(LIBUV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(LIBZMQ REQUIRED IMPORTED_TARGET libzmq)
# libzmq.pc names folders of libraries that zmq.h does not include, and CMake passes them on in one form when it has asked
# pkg-config and in another when it has it in its cache: the second configuration would compile nearly everything anew.
set_target_properties(PkgConfig::LIBZMQ PROPERTIES
  INTERFACE_COMPILE_OPTIONS "" INTERFACE_INCLUDE_DIRECTORIES "${LIBZMQ_INCLUDEDIR}")
pkg_check_modules(HWLOC REQUIRED IMPORTED_TARGET hwloc)
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(TOMLPLUSPLUS REQUIRED IMPORTED_TARGET tomlplusplus)
pkg_check_modules(LIBWEBSOCKETS REQUIRED IMPORTED_TARGET libwebsockets)
pkg_check_modules(SODIUM REQUIRED IMPORTED_TARGET libsodium)
pkg_check_modules(ISAL IMPORTED_TARGET libisal)  # wanted, not needed
find_package(mimalloc 2 QUIET)                   # likewise
# A broker spends a third of its time on memory, which passes between the threads of its modules: mimalloc takes an eighth off the CPU
# time of a job. (jemalloc does too, and never starts under libfaketime.) A sanitizer has an allocator of its own.
add_library(weir_allocator INTERFACE)
if(TARGET mimalloc AND NOT WEIR_SANITIZE)
  target_link_libraries(weir_allocator INTERFACE mimalloc)
endif()
find_package(CLI11 REQUIRED)
if(WEIR_TESTS)
  find_package(Catch2 2 REQUIRED)
  find_package(rapidcheck REQUIRED)
endif()
if(WEIR_BENCH)
  find_package(benchmark REQUIRED)
endif()
