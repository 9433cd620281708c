// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the turns in which guests' requests to a module are served, so that nobody else waits long for them, however
// many are sent. Must not know what is asked.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "libfairshare/base/guest_queue.hpp"
#include "modules/common/flux_cpp.hpp"

namespace weir::flux {

class GuestTurns {
  public:
    struct Request {
        MessageRef msg;
        flux_msg_handler_f handler = nullptr;  ///< that serves it, in a turn
        void* arg = nullptr;                   ///< of the handler
    };
    struct Rules {
        std::size_t of_user_max;  ///< requests of one user that wait
        std::size_t cost_max;     ///< a turn takes no further request once it costs this
        GuestPace pace;           ///< in real seconds
        std::string refusal;      ///< of the request for which there is no place; EAGAIN
        /// Requests of one user that wait and want no answer. Nobody is charged for their memory while they wait.
        std::size_t unanswered_max = 0;
    };
    using Serve = std::function<void(std::vector<Request>)>;

    /// \param time_scale  reactor seconds in a real second
    /// \param serve       answers the requests of a turn
    GuestTurns(flux_t* h, double time_scale, Rules rules, Serve serve);
    GuestTurns(const GuestTurns&) = delete;
    GuestTurns& operator=(const GuestTurns&) = delete;

    /// Serves the request at once, if a turn is due, else later. One that wants no answer is forgotten where no place
    /// for it is left.
    /// \param key, cost  see GuestQueue
    void add(Request request, std::uint64_t key, std::size_t cost);
    /// The same of one that fills a turn.
    void add(Request request) { add(std::move(request), 0, rules_.cost_max); }
    /// Calls a method that serves a request, as on_message() does: for the owner's at once, for a guest's in its turn.
    template <auto Method, typename T>
    void serve(T* self, const flux_msg_t* msg, std::size_t cost) {
        if (is_from_owner(msg)) {
            (self->*Method)(msg);
        } else {
            add({keep(msg), on_message<Method>, self}, 0, cost);
        }
    }
    /// Calls the handlers of these requests.
    void call(const std::vector<Request>& requests) const;
    /// Forgets the requests of a connection that has ended.
    void drop(const flux_msg_t* disconnect);
    /// Refuses all that wait, since the module ends. `why` says so.
    void end(const std::string& why);
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
    Watcher timer_;
};

/// C callback: the owner's request is served at once, a guest's in a turn that it fills. T has `GuestTurns& turns()`.
template <typename T, flux_msg_handler_f handler>
void in_turn(flux_t* h, flux_msg_handler_t* registered, const flux_msg_t* msg, void* arg) {
    if (is_from_owner(msg)) {
        handler(h, registered, msg, arg);
    } else {
        (void)guard(h, "guest's request", [&] { static_cast<T*>(arg)->turns().add({keep(msg), handler, arg}); });
    }
}

}  // namespace weir::flux
