// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a job's output files as the eventlog guest.output, read piece by piece. Must not know messages or jobs' states.
// Source: RFC 24 (header, data, redirect).
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "broker/services/job_output.hpp"

namespace weir::broker {

class OutputEventlog {
  public:
    /// \param files outlives this. \param job the name of the files. \param ranks of the tasks, whose output is one:
    /// "0-3". \param begin_s the time of the header.
    OutputEventlog(const JobOutput& files, std::string job, std::string ranks, double begin_s);

    /// The next entries, one for each line of output, each with its newline; at most 1,024 lines and 320 KiB of each
    /// stream. Empty: there is nothing more now. \param is_over the job has ended: the rest of a line and the ends of
    /// the streams follow.
    std::vector<std::string> next(bool is_over, double now_s);
    /// Whether next() has returned all entries.
    bool is_at_end() const { return is_at_end_; }
    /// The files that are read; empty where the user named them.
    std::vector<std::string> paths() const;

  private:
    struct Stream {
        OutputStream which;
        const char* name;
        std::uint64_t offset = 0;
        std::string rest{};  // of a line that is not whole yet
        bool is_redirected = false;
        bool is_cut = false;   // `rest` has whole lines
        bool is_read = false;  // nothing is behind `offset` now, and no whole line in `rest`
    };
    void announce_begin();
    void read(Stream& stream, bool is_over, double now_s);
    void add(double time_s, const char* name, std::string context);
    std::string data(const Stream& stream, const std::string& bytes) const;

    const JobOutput& files_;
    std::string job_;
    std::string ranks_;
    double begin_s_;
    Stream streams_[2] = {{OutputStream::out, "stdout"}, {OutputStream::err, "stderr"}};
    std::vector<std::string> entries_;
    bool has_begun_ = false;
    bool is_at_end_ = false;
};

}  // namespace weir::broker
