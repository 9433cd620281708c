// SPDX-License-Identifier: LGPL-3.0-only
// Owns: descriptors 0, 1 and 2 at the start of a program. Must not know what is written to them.
#pragma once
#include <fcntl.h>
#include <unistd.h>

namespace weir::broker {

/// First in main(): a standard stream that the caller closed becomes one that has no input and takes no output. Else
/// the first file or socket that the program opens gets its number, and with it all that is written to the stream.
inline void occupy_standard_streams() {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(fd, F_GETFD) < 0) {
            // The lowest free number, this one. Only for reading: what is written fails, as where the stream is closed.
            (void)open("/dev/null", O_RDONLY);
        }
    }
}

}  // namespace weir::broker
