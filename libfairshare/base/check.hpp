// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the programmer-error check. Always on; operator errors are Result values, never this.
#pragma once
#include <cstdio>
#include <cstdlib>

#define WEIR_CHECK(condition)                                                                  \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            std::fprintf(stderr, "%s:%d: check failed: %s\n", __FILE__, __LINE__, #condition); \
            std::abort();                                                                      \
        }                                                                                      \
    } while (false)
