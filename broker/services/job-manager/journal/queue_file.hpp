// SPDX-License-Identifier: LGPL-3.0-only
// Owns: STATEDIR/queues.json, which says after a restart which queues an operator has stopped or disabled.
// Must not know: queues, flux_t.
#pragma once
#include <string>

#include "libfairshare/base/json/json.hpp"

namespace weir::broker::jobs {

class QueueFile {
  public:
    /// \param statedir  empty: nothing is kept
    explicit QueueFile(const std::string& statedir) : path_(statedir.empty() ? "" : statedir + "/queues.json") {}
    /// What keep() was given last; an empty object where there is no file. Error: the file and what is wrong with it.
    Result<Json> read() const;
    /// On the disk when it returns. Error: the file and the reason; then the file has the earlier state.
    Status keep(const Json& state) const;

  private:
    std::string path_;
};

}  // namespace weir::broker::jobs
