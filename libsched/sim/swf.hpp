// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the Standard Workload Format 2.2 of the Parallel Workloads Archive: reading (plain or gzip, as a stream) and
// writing, one line for each job. Must not know how jobs are used. Source: parallelworkloads' swf.html.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"
#include "libsched/sim/line_reader.hpp"
#include "libsched/sim/skipped.hpp"

namespace weir {

/// One line. Times in seconds, submit counted from the log's start; -1: not known.
struct SwfJob {
    std::int64_t job = -1;
    std::int64_t submit = -1;
    std::int64_t wait = -1;
    std::int64_t run = -1;
    std::int64_t processors = -1;
    std::int64_t cpu_used = -1;  ///< the only field that may carry decimals; they are cut off
    std::int64_t memory_used = -1;
    std::int64_t requested_processors = -1;
    std::int64_t requested_time = -1;
    std::int64_t requested_memory = -1;
    std::int64_t status = -1;
    std::int64_t user = -1;
    std::int64_t group = -1;
    std::int64_t executable = -1;
    std::int64_t queue = -1;
    std::int64_t partition = -1;
    std::int64_t preceding = -1;
    std::int64_t think_time = -1;
    friend bool operator==(const SwfJob&, const SwfJob&) = default;
};

/// 18 integers separated by blanks. Errors name the field and its text.
Result<SwfJob> parse_swf_line(std::string_view line);
std::string write_swf_line(const SwfJob& job);
/// The same at the end of `out`.
void append_swf_line(std::string& out, const SwfJob& job);
/// The comments at the head of a log: version, MaxProcs, then `lines` except duplicates of these.
std::string swf_header(const std::vector<std::string>& lines, std::int64_t processors);

inline constexpr std::size_t swf_line_max = 64 * 1024;

class SwfReader {
  public:
    using Source = LineReader::Source;
    struct Options {
        bool lenient = false;  ///< a broken line, or an unreadable rest, is counted instead of being an error
    };

    /// Lines of at most swf_line_max bytes.
    SwfReader(LineReader lines, Options options) : lines_(std::move(lines)), options_(options) {}
    SwfReader(Source source, std::string name, Options options);
    /// A file, gzip or plain by its content. Error: the file cannot be opened.
    static Result<SwfReader> open(const std::string& path, Options options);

    /// The next job, nothing at the end. Errors: "FILE:LINE: what", also for a line longer than 64 KiB and for a broken
    /// gzip stream.
    Result<std::optional<SwfJob>> next();
    /// MaxProcs of the comments read so far; 0: not given (or not before the first job).
    std::int64_t max_processors() const { return max_processors_; }
    /// "FILE:LINE: what" of a MaxProcs that is no size, the last of those read so far.
    const std::optional<Error>& bad_size() const { return bad_size_; }
    /// Comment lines before the first job, without ';'.
    const std::vector<std::string>& header() const { return header_; }
    /// The position of the reader.
    const LineReader& lines() const { return lines_; }
    const Skipped& skipped() const { return skipped_; }

  private:
    void read_comment(std::string_view line);

    LineReader lines_;
    Options options_;
    bool saw_job_ = false;
    Skipped skipped_;
    std::int64_t max_processors_ = 0;
    std::optional<Error> bad_size_;
    std::vector<std::string> header_;
};

}  // namespace weir
