// SPDX-License-Identifier: LGPL-3.0-only
// Owns: annotations that tell ThreadSanitizer about the ordering by ZeroMQ. libzmq is not instrumented, so the
// sanitizer cannot see that one thread's writes happen before the other's reads. These two functions declare it, for
// each message by its own address and for nothing else. Must not know messages.
#pragma once

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define WEIR_ACQUIRE(address) __tsan_acquire(address)
#define WEIR_RELEASE(address) __tsan_release(address)
#else
#define WEIR_ACQUIRE(address) static_cast<void>(address)
#define WEIR_RELEASE(address) static_cast<void>(address)
#endif
