// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the directory of a running instance: it is private, locked against a second instance, and empty at the end. A
// lock dies with its process, so a killed broker does not block the next one. Must not know the socket's protocol.
#pragma once
#include <string>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

class Rundir {
  public:
    /// Makes the directory if it is missing (mode 0700), or a fresh one under TMPDIR if `path` is empty, and locks it.
    /// \return EADDRINUSE with the pid of the instance in it; EPERM if another user made it or may write to it
    /// (broker/api/private_dir).
    static Result<Rundir> open(std::string path);
    Rundir(Rundir&& other) noexcept;
    Rundir& operator=(Rundir&&) = delete;
    ~Rundir();

    /// Removes the lock, and the directory if it was made here and is empty. Once; the destructor does it too.
    void remove();
    const std::string& path() const { return path_; }  // absolute
    /// A file descriptor of the directory itself: "/proc/self/fd/N/name" is short, however long the path is.
    int dir_fd() const { return dir_fd_; }
    /// "/proc/self/fd/N/name".
    std::string short_path(const std::string& name) const;

  private:
    Rundir() = default;
    Status lock();

    std::string path_;
    int dir_fd_ = -1;
    int lock_fd_ = -1;
    bool is_made_here_ = false;
};

}  // namespace weir::broker
