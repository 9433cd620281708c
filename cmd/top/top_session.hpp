// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the loop of `weir top`: a look at the instance each second, keys as they come, a picture when either changed
// something. Must not know how it is drawn.
#pragma once
#include <deque>
#include <optional>
#include <string>

#include "cmd/common/live_reader.hpp"
#include "cmd/common/live_terminal.hpp"
#include "cmd/instance/signals.hpp"
#include "cmd/top/top_model.hpp"

namespace weir::cmd {

/// The mean of the last minute of looks.
class RateMeter {
  public:
    /// None at the first look, and where the clock has not moved.
    std::optional<JobRates> add(const LiveAnswer& answer);

  private:
    struct Sample {
        double now;
        std::int64_t submitted, started, ended;
    };
    std::deque<Sample> samples_;
};

/// The scene of an answer.
TopScene top_scene(const LiveAnswer& answer, const std::string& instance, const std::optional<JobRates>& rates);

class TopSession {
  public:
    /// `query`: the rows, and the first order and filter.
    TopSession(Client client, SceneQuery query);
    /// One look. Errors: those of job-priority.
    Result<LiveAnswer> look();
    /// One picture as text, all rows.
    std::string picture(const LiveAnswer& answer, Screen screen) const;
    /// Until the reader quits. The first look was made.
    void run(const LiveAnswer& first);

  private:
    /// Looks again; a failure is a line of the picture, and a connection that is gone is opened again.
    void refresh();
    void draw(LiveTerminal& terminal);
    /// False: quit.
    bool take_keys();
    bool fulfil(const TopWish& wish);
    void explain(const TopWish& wish);

    std::string uri_, instance_;
    std::optional<Client> client_;
    SceneQuery query_;
    LiveReader reader_;
    RateMeter rates_;
    TopModel model_;
    KeyReader keys_;
    int key_fd_ = -1;
};

}  // namespace weir::cmd
