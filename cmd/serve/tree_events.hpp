// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the viewers' copy of the share tree, and the events that update it. Pure. Must not know the viewers.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "cmd/common/share_view.hpp"

namespace weir::cmd {

class TreeEvents {
  public:
    /// The newest state of the tree. Viewers have it after whole(), or after as many changes() as there are.
    void take(ShareView newest);
    /// Event "tree" with all rows as viewers have them now: {revision, author, reason, time, now, all_core_s, of, rows:
    /// [[path, shares, entitled, used, usage_core_s, level_fs, factor, running_cores, pending_jobs, children], …]},
    /// parents before children. `of` and `children` count the whole tree, of which the rows may be a part. A level that
    /// is infinite, a factor that is not there and the shares of a row that has those of its account are null. O(rows).
    std::string whole() const;
    /// The next update towards the newest state, at most about `bytes_max` long: "tree" if the nodes or the revision
    /// changed, else "rows": {now, all_core_s, rows: [[place in the order of "tree", shares, …], …]} with the greatest
    /// changes first. Empty if they have all. O(rows log rows).
    std::string changes(std::size_t bytes_max);
    bool is_empty() const { return !has_any_; }
    /// The viewers' copy.
    const ShareView& shown() const { return shown_; }

  private:
    ShareView shown_, newest_;
    bool has_any_ = false;
};

}  // namespace weir::cmd
