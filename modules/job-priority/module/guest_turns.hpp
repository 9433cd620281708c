// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the turns in which guests' requests of one kind are served. Must not know what is asked.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "libfairshare/base/guest_queue.hpp"
#include "modules/common/flux_cpp.hpp"

namespace weir::priority {

class GuestTurns {
  public:
    struct Request {
        flux::MessageRef msg;
        flux_msg_handler_f answer = nullptr;  ///< for who serves them
    };
    struct Rules {
        std::size_t of_user_max;  ///< requests of one user that wait
        std::size_t cost_max;     ///< a turn takes no further request once it costs this
        GuestPace pace;           ///< in real seconds
        std::string refusal;      ///< of the request for which there is no place; EAGAIN
    };
    using Serve = std::function<void(std::vector<Request>)>;

    /// \param time_scale  reactor seconds in a real second
    /// \param serve       answers the requests of a turn
    GuestTurns(flux_t* h, double time_scale, Rules rules, Serve serve);

    /// Serves the request at once, if a turn is due, else later. One that wants no answer is forgotten.
    /// \param key, cost  see GuestQueue
    void add(Request request, std::uint64_t key, std::size_t cost);
    /// Forgets the requests of a connection that has ended.
    void drop(const flux_msg_t* disconnect);
    /// Refuses all that wait, since the module ends.
    void end();
    /// How many wait.
    std::size_t size() const { return queue_.size(); }
    flux_t* flux() const { return h_; }

  private:
    void on_turn();

    flux_t* h_;
    double time_scale_;
    Rules rules_;
    Serve serve_;
    GuestQueue<Request> queue_;
    flux::Watcher timer_;
};

}  // namespace weir::priority
