// SPDX-License-Identifier: LGPL-3.0-only
// The one translation unit that holds Catch2's main(): it takes seconds to compile, so every test program links it.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
