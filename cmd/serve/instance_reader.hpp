// SPDX-License-Identifier: LGPL-3.0-only
// Owns: asking an instance for what a page shows, on a thread of its own, and how often each question may be asked.
// Must not know HTTP nor who views.
#pragma once
#include <optional>
#include <string>

#include "cmd/common/instance_facts.hpp"
#include "cmd/common/share_view.hpp"

namespace weir::cmd {

/// When a question is due again: after a second at the earliest, and so that answering it takes at most a twentieth of
/// the time of whoever answers.
class Pace {
  public:
    static constexpr double least_s = 1, most_s = 60, part = 0.05;
    /// `now`: seconds of a steady clock.
    bool is_due(double now) const { return now >= next_; }
    void asked(double begin, double end) {
        const double pause = (end - begin) / part;
        next_ = begin + (pause < least_s ? least_s : pause > most_s ? most_s : pause);
    }
    void ask_at_once() { next_ = 0; }

  private:
    double next_ = 0;
};

/// What the instance answered at one moment. Parts that were not due are missing.
struct InstanceReading {
    std::optional<ShareView> tree;
    std::optional<QueueScene> scene;
    double now = 0;  ///< of the instance, seconds since the epoch
};

class InstanceReader {
  public:
    explicit InstanceReader(std::string uri) : uri_(std::move(uri)) {}
    /// Asks what is due; connects again if the instance went away. Errors: as those of Client and job-priority.
    Result<InstanceReading> read();
    /// The next read() asks for all.
    void ask_at_once();
    /// Errors: those of Client::open().
    Result<Client*> client();

  private:
    std::string uri_;
    std::optional<Client> client_;
    Pace tree_, scene_;
    double instance_offset_s_ = 0;  ///< the instance's clock, less the steady one
};

}  // namespace weir::cmd
