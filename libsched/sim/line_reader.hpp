// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a text file, plain or gzip by its content, as a stream of numbered lines in one buffer, without UTF-8's
// byte order mark before the first. Must not know what a line means.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir {

class LineReader {
  public:
    /// Fills a buffer, returns how many bytes it wrote: 0 at the end.
    using Source = std::function<Result<std::size_t>(char*, std::size_t)>;

    /// `name` is for messages; `line_max`: the most bytes of a line.
    LineReader(Source source, std::string name, std::size_t line_max);
    /// "-" is standard input, and messages call it so. Error: the file cannot be opened.
    static Result<LineReader> open(const std::string& path, std::size_t line_max);

    /// The next line without its '\n', valid until the next call; nothing at the end. Errors: "NAME:LINE: ..." for a
    /// line longer than line_max; the source's error, with the last complete line.
    Result<std::optional<std::string_view>> next();
    /// Called when the kind of log is known.
    void set_line_max(std::size_t bytes) { line_max_ = bytes; }
    /// The byte that next() will begin with; '\0' at the end. Error: as next().
    Result<char> front();
    /// Whether the last line that next() gave ended with '\n'.
    bool is_terminated() const { return is_terminated_; }
    /// Number of the last line that next() gave, from 1.
    std::uint64_t line() const { return line_; }
    const std::string& name() const { return name_; }
    /// "NAME:LINE: what".
    Error at_line(const std::string& what) const;
    /// Part of the file that has been read, in [0, 1], compressed bytes of a gzip one; 0 without a file.
    double part_read() const { return part_ ? part_() : 0.; }

  private:
    Result<bool> fill();
    Status skip_byte_order_mark();

    Source source_;
    std::function<double()> part_;
    std::string name_;
    std::size_t line_max_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;  ///< first byte not consumed
    std::size_t end_ = 0;    ///< one past the last byte read
    bool at_end_ = false;
    bool is_begun_ = false;  ///< what may stand before the first line has been read
    bool is_terminated_ = true;
    std::uint64_t line_ = 0;
};

}  // namespace weir
