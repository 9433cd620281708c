// SPDX-License-Identifier: LGPL-3.0-only
// Owns: telling ThreadSanitizer what ZeroMQ orders. libzmq is not instrumented, so that the sanitizer cannot see that
// it orders what one thread wrote before what the other reads. These two say so, for each message by its own address
// and for nothing else. Must not know messages.
#pragma once

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#define WEIR_ACQUIRE(address) __tsan_acquire(address)
#define WEIR_RELEASE(address) __tsan_release(address)
#else
#define WEIR_ACQUIRE(address) static_cast<void>(address)
#define WEIR_RELEASE(address) static_cast<void>(address)
#endif
