// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the arguments of plugin calls about a job. The six plain values are in one object that serves one call after
// another, so that a call which reads no more allocates nothing; the rest of IN is made when a plugin reads it. Must
// not know: topics, plugins. Source: flux-jobtap-plugins(7).
#pragma once
#include <flux/jobtap.h>

#include <functional>
#include <memory>
#include <vector>

#include "broker/services/job-manager/state/job.hpp"

namespace weir::broker::jobs {

struct PluginArgsDelete {
    void operator()(flux_plugin_arg_t* args) const { flux_plugin_arg_destroy(args); }
};
using PluginArgs = std::unique_ptr<flux_plugin_arg_t, PluginArgsDelete>;

/// Makes the IN values that few plugins read: a new reference to an object; nullptr adds nothing.
using MoreArgs = std::function<json_t*()>;

class JobArgs {
    struct Set {
        PluginArgs args;
        json_t *id, *userid, *urgency, *state, *priority, *t_submit;  // borrowed from IN

        bool is_kept() const;
        void put(const Job& job);
    };

  public:
    /// The arguments of one call. At its end they serve another one, unless a plugin kept or changed them.
    class Lease {
      public:
        Lease(JobArgs& pool, Set set) : pool_(pool), set_(std::move(set)) {}
        ~Lease();
        Lease(const Lease&) = delete;
        Lease& operator=(const Lease&) = delete;
        flux_plugin_arg_t* get() const { return set_.args.get(); }

      private:
        JobArgs& pool_;
        Set set_;
    };

    /// IN: id, userid, urgency, state, priority, t_submit as they are now, and what `more` makes. OUT: an empty object.
    /// What `more` refers to must outlive the lease. A call within a call has arguments of its own.
    Lease lease(const Job& job, MoreArgs more);
    /// The same, for a caller who keeps them.
    static PluginArgs make(const Job& job, MoreArgs more);

  private:
    static Set fresh();

    std::vector<Set> free_;
};

}  // namespace weir::broker::jobs
