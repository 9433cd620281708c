// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the bytes of events that many viewers get, plain and compressed. Must not know who gets them.
#pragma once
#include <memory>
#include <string>

namespace weir::cmd {

/// Events in the form of the wire. Compressed once, however many get them: each is of its own, with references to
/// nothing before it, and ends at a byte, so that any of them in any order after gzip_head make one gzip stream.
class EventBytes {
  public:
    explicit EventBytes(std::string plain) : plain_(std::move(plain)) {}
    const std::string& plain() const { return plain_; }
    /// Deflate blocks, the last not marked as such. O(bytes) at the first call. One thread.
    const std::string& packed() const;

  private:
    std::string plain_;
    mutable std::string packed_;
};
using EventText = std::shared_ptr<const EventBytes>;

inline EventText event_bytes(std::string plain) {
    return std::make_shared<const EventBytes>(std::move(plain));
}

/// What comes before the first of packed(): RFC 1952, 2.3, without a name or a time.
std::string gzip_head();

}  // namespace weir::cmd
