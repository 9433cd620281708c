# SPDX-License-Identifier: LGPL-3.0-only
option(WEIR_TESTS "Build the tests" ON)
option(WEIR_WERROR "Treat warnings as errors. OFF in the builds of users, whose compiler may warn of other things" ON)
option(WEIR_BENCH "Build the benchmarks" OFF)
option(WEIR_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(WEIR_USE_FLUX_HEADERS "Compile the modules against an installed flux-core's headers instead of our subset" OFF)
set(WEIR_SANITIZE "" CACHE STRING "Sanitizers, for example 'address,undefined'")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(WEIR_CCACHE ccache)
if(WEIR_CCACHE)
  set(launcher "${WEIR_CCACHE}")
  if(NOT DEFINED ENV{CCACHE_SLOPPINESS})
    # Without these it keeps nothing that uses a precompiled header (ccache(1)).
    set(launcher env CCACHE_SLOPPINESS=pch_defines,time_macros "${WEIR_CCACHE}")
  endif()
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
endif()

# Hardening: checked libc calls, stack canaries, and no writable jump table once a program has started. A sanitizer checks more.
include(CheckPIESupported)
check_pie_supported()
add_compile_options(-fstack-protector-strong)
if(NOT WEIR_SANITIZE)
  # Debian's compilers may come with another level, and without optimisation there is none.
  add_compile_options($<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
endif()
add_link_options(LINKER:-z,relro LINKER:-z,now)

# Floating point must give the same digits everywhere: no contraction, never fast-math.
add_compile_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -ffp-contract=off)
if(WEIR_WERROR)
  add_compile_options(-Werror)
endif()
# ./check and ./quickstart compile a target's sources as one (CMAKE_UNITY_BUILD), which takes a quarter of the time, and at most
# 1 GB. Names in anonymous namespaces must be unique within a target. The preset dev compiles each file alone: a missing include
# fails there.
if(CMAKE_UNITY_BUILD)
  # __FILE__ of a batched source is an absolute path: without this, a compiler cache misses in another checkout.
  add_compile_options("-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=")
  # Another file's names are no mistake of this one.
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang>:-Wno-shadow> $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wshadow=local>
    $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
# The compiler reclaims memory from 512 MiB on, not from a fraction of the machine's: a tenth less time for a large batch.
add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # GCC bug 105651: false positive in std::string's operator+
endif()
add_compile_definitions($<$<NOT:$<CONFIG:Release>>:_GLIBCXX_ASSERTIONS>)
if(WEIR_SANITIZE)
  add_compile_options(-fsanitize=${WEIR_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${WEIR_SANITIZE})
  # Between its checks g++ 12 takes members of the standard library's regex for uninitialized.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-maybe-uninitialized)
  endif()
endif()

# Every include names a file from the top of the tree; the lowest targets pass this on.
add_library(weir_source_tree INTERFACE)
target_include_directories(weir_source_tree INTERFACE "${CMAKE_SOURCE_DIR}")

# Tests and benchmarks spend longer in this target than -O2 takes to compile it. Where none are built, the build type decides.
function(weir_hot target)
  if(WEIR_TESTS)
    target_compile_options(${target} PRIVATE -O2)
  endif()
endfunction()

# libFuzzer needs to see the branches of what it feeds.
function(weir_fuzzable target)
  if(WEIR_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    target_link_options(${target} INTERFACE -fsanitize=fuzzer-no-link)
  endif()
endfunction()
