// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the eventlog of the resources, in memory and in STATEDIR/resource.eventlog. Must not know what events mean.
// Source: RFC 18 (format); flux-core's resource.eventlog.
#pragma once
#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

class ResourceLog {
  public:
    /// Reads the log of an earlier broker. A last line that was not written whole is dropped. \param statedir empty: in
    /// memory alone. \return an error that names the file and the line.
    Status open(const std::string& statedir);
    /// On disk when it returns. Error: the file and the reason; then the event is not in the log.
    Status append(double time_s, const std::string& name, Json context);
    /// In memory only, for events that every start repeats.
    void note(double time_s, const std::string& name, Json context);
    /// Entries {timestamp, name, context}, oldest first: all that open() read, and from the first note() or append() on
    /// the newest 10,000.
    const std::vector<Json>& events() const { return events_; }

  private:
    Status write_whole();
    void forget_oldest();

    std::string path_;
    std::vector<Json> events_;
};

}  // namespace weir::broker
