// SPDX-License-Identifier: LGPL-3.0-only
// Owns: which guests' requests are served next, and when, so that their cost is bounded however many are sent. Must not
// know what is asked, Flux, or a clock.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace weir {

/// The requests that wait. Users have their turns one after the other, each with the oldest request of his. `Request`
/// receives the answer.
template <typename Request>
class GuestQueue {
  public:
    struct Waiting {
        std::uint32_t userid = 0;
        std::uint64_t key = 0;  ///< of a user's requests with one key only the last is served; 0: all are
        std::size_t cost = 1;
        Request request;
    };

    /// \param of_user_max  requests of one user. There is no bound for all users: some could use it to keep the others
    ///                     out, and the broker bounds what a user occupies.
    explicit GuestQueue(std::size_t of_user_max) : of_user_max_(of_user_max) {}

    /// \return the request that is to be refused: an earlier one with this key, whose place the new one takes, or the
    ///         new one, if its user has as many as he may. O(users + his requests).
    std::optional<Request> add(Waiting added) {
        auto user =
            std::find_if(users_.begin(), users_.end(), [&](const User& other) { return other.userid == added.userid; });
        if (user == users_.end()) {
            user = users_.insert(users_.end(), User{added.userid, {}});
        }
        for (Waiting& other : user->requests) {
            if (added.key != 0 && other.key == added.key) {
                return std::exchange(other, std::move(added)).request;
            }
        }
        if (user->requests.size() >= of_user_max_) {
            return std::move(added.request);
        }
        user->requests.push_back(std::move(added));
        return std::nullopt;
    }

    /// Removes and returns the requests of a turn: one of each user, until they cost `cost_max`. The next turn begins
    /// with the user after the last one. O(served).
    std::vector<Request> turn(std::size_t cost_max) {
        std::vector<Request> served;
        std::size_t cost = 0;
        for (std::size_t users = users_.size(); users > 0 && cost < cost_max; --users) {
            const auto user = users_.begin();
            cost += user->requests.front().cost;
            served.push_back(std::move(user->requests.front().request));
            user->requests.pop_front();
            if (user->requests.empty()) {
                users_.erase(user);
            } else {
                users_.splice(users_.end(), users_, user);
            }
        }
        return served;
    }

    /// Removes the requests that nobody waits for any more. O(requests).
    template <typename Predicate>
    void drop_if(const Predicate& is_over) {
        for (User& user : users_) {
            std::erase_if(user.requests, [&](const Waiting& waiting) { return is_over(waiting.request); });
        }
        users_.remove_if([](const User& user) { return user.requests.empty(); });
    }

    /// How many of a user's requests wait of which the predicate holds. O(users + his requests).
    template <typename Predicate>
    std::size_t count_of(std::uint32_t userid, const Predicate& is_counted) const {
        const auto user =
            std::find_if(users_.begin(), users_.end(), [&](const User& other) { return other.userid == userid; });
        return user == users_.end() ? 0
                                    : static_cast<std::size_t>(std::count_if(
                                          user->requests.begin(), user->requests.end(),
                                          [&](const Waiting& waiting) { return is_counted(waiting.request); }));
    }

    bool empty() const { return users_.empty(); }
    /// O(users).
    std::size_t size() const {
        return std::accumulate(users_.begin(), users_.end(), std::size_t{0},
                               [](std::size_t sum, const User& user) { return sum + user.requests.size(); });
    }

  private:
    struct User {
        std::uint32_t userid = 0;
        std::deque<Waiting> requests;  ///< at least one
    };

    std::size_t of_user_max_;
    std::list<User> users_;  ///< the one who is served next first
};

/// When guests have their next turn, in seconds of one clock. A pause as long as the turn leaves half of the thread to
/// everybody else.
class GuestPace {
  public:
    /// So long a turn is put off while messages of others wait. Then it comes all the same: else guests would have no
    /// answer from an instance that is never idle.
    static constexpr double patience_s = 1.0;

    /// \param pause_min_s  after each turn
    /// \param yields       whether messages of others come first
    GuestPace(double pause_min_s, bool yields) : pause_min_s_(pause_min_s), yields_(yields) {}

    /// A request came, and none waited before.
    void came(double now_s) { next_s_ = std::max(next_s_, now_s); }
    void served(double began_s, double ended_s) { next_s_ = ended_s + std::max(pause_min_s_, ended_s - began_s); }
    bool is_due(double now_s, bool do_others_wait) const {
        return now_s >= next_s_ + (yields_ && do_others_wait ? patience_s : 0.);
    }
    /// How long no turn can be due. 0: as soon as no others wait.
    double pause_s(double now_s) const { return std::max(0., next_s_ - now_s); }

  private:
    double pause_min_s_;
    bool yields_;
    double next_s_ = 0;
};

}  // namespace weir
