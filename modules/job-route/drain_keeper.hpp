// SPDX-License-Identifier: LGPL-3.0-only
// Owns: in a child, that the nodes which the parent has drained are drained here, too. Decides nothing (plan_drains).
// Source: flux-core's resource.drain and resource.undrain.
#pragma once
#include <map>
#include <optional>
#include <string>

#include "modules/common/flux_cpp.hpp"
#include "modules/job-route/drains.hpp"

namespace weir::route {

class DrainKeeper {
  public:
    explicit DrainKeeper(flux_t* h);
    flux_t* flux() const { return h_; }
    /// The parent's drains, in ranks of this instance. They stay in force while the parent is away.
    void want(Drains wanted);
    /// This instance's drains, whenever they were read. Each change comes back here, so that it is known to have
    /// worked.
    void present(const Drains& drains);

  private:
    void reconcile();
    void send(const char* topic, const IdSet& ranks, const std::string& reason, const char* mode);
    void on_done(flux_future_t* f);

    flux_t* h_;
    std::optional<Drains> wanted_;   ///< none: the parent has not said anything
    std::optional<Drains> present_;  ///< none: to be read
    std::map<flux_future_t*, flux::Future> requests_;
    bool is_news_ = false;      ///< came while requests were on their way
    std::string last_failure_;  ///< one that lasts is logged once
    flux::Watcher retry_;
};

}  // namespace weir::route
