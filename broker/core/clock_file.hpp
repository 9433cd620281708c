// SPDX-License-Identifier: LGPL-3.0-only
// Owns: STATEDIR/clock: one line that says when the instance was last alive, rewritten in place, and the lock that
// keeps two brokers from one statedir. Must not know what a time means.
#pragma once
#include <optional>
#include <string>

#include "broker/core/instance_clock.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

class ClockFile {
  public:
    /// Opens or makes the file, locks it for this process's life, and reads it.
    /// Error: the file and why, or that another broker holds it.
    static Result<ClockFile> open(const std::string& statedir);
    ClockFile(ClockFile&& other) noexcept;
    ClockFile& operator=(ClockFile&& other) noexcept;
    ~ClockFile();

    /// The mark of an earlier broker; nothing if there was none, or its line cannot be read.
    const std::optional<ClockPast>& past() const { return past_; }
    /// Whether the file has content that is no such line.
    bool is_damaged() const { return is_damaged_; }

    /// Writes the line: one pwrite into a block that is there already. A kill of the process keeps it. The kernel is
    /// told to begin to write it, and nobody waits for that, so a power failure may keep one that is some seconds old.
    /// Error: errno's words.
    Status mark(const ClockPast& now);

  private:
    ClockFile(std::string path, int fd) : path_(std::move(path)), fd_(fd) {}
    std::string path_;
    int fd_ = -1;
    std::optional<ClockPast> past_;
    bool is_damaged_ = false;
};

}  // namespace weir::broker
