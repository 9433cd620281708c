// SPDX-License-Identifier: LGPL-3.0-only
// Owns: questions about jobs (ask), and which instance answers them: this one, or the child that has the job. The asker
// is checked here, where the job has its user. Also which ids a job has (ids). An id that this instance does not know
// may be that of a job in a partition of a partition: the children are asked. Source: payloads in README.md.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "modules/common/flux_cpp.hpp"
#include "modules/job-route/child_link.hpp"
#include "modules/job-route/guests.hpp"
#include "modules/job-route/question_json.hpp"
#include "modules/job-route/route_table.hpp"

namespace weir::route {

class Questions {
  public:
    /// The sessions of children.
    struct Sessions {
        /// The session of a child; empty where it is not attached.
        std::function<std::string(JobId child)> session_of;
        std::function<void(JobId child, const Json& message)> send;
        /// Whether the session is this child's and the user its own.
        std::function<bool(JobId child, const std::string& session, std::uint32_t userid)> is_from;
    };
    /// The tables that it reads, and what holds for guests.
    struct Facts {
        const RouteTable& table;
        const ChildLink& link;  ///< the jobs that this instance has of its parent; none if it has no parent
        const Guests& guests;
    };
    Questions(flux_t* h, const Facts& facts, Sessions sessions);
    ~Questions();
    Questions(const Questions&) = delete;
    Questions& operator=(const Questions&) = delete;
    flux_t* flux() const { return h_; }
    flux::GuestTurns& turns() { return turns_; }

  private:
    /// Which id `id` is.
    enum class IdStage : std::uint8_t {
        own,      ///< one of this instance, by what it knows itself
        foreign,  ///< not one of this instance: the children are asked whose it is
        found,    ///< the one of this instance that a child named
    };
    struct Pending {
        flux::MessageRef request;
        std::uint32_t userid = 0;
        bool is_owner = false;
        std::optional<std::uint32_t> only;   ///< the user of whose jobs alone the answer may tell
        const QuestionKind* kind = nullptr;  ///< null: which ids the job has
        Json payload;
        std::uint64_t asked = 0;  ///< the id in the request
        JobId id;
        IdStage stage = IdStage::own;
        int ticks_left = 0;
        std::vector<JobId> candidates;  ///< children still to be asked, the next one last
        JobId child;                    ///< the one that was asked; 0: none
        std::string session;            ///< its session
        flux::Future future;            ///< a request to this instance
    };
    using Number = std::uint64_t;
    struct Past;

    void ask(const flux_msg_t* msg);
    void on_answer(const flux_msg_t* msg);
    void answer(const flux_msg_t* msg);
    void ids(const flux_msg_t* msg);
    void tick();
    void arm();
    Pending begin(const flux_msg_t* msg, std::uint64_t id) const;
    void keep(Pending question, void (Questions::*first)(Number, Pending&));
    void step(Number number, const std::function<void(Pending&)>& next);
    std::optional<JobId> known_id(std::uint64_t id) const;
    Json ids_of(std::uint64_t asked, JobId id, std::optional<std::uint32_t> only) const;
    void check_asker(const Pending& question, std::uint32_t userid_of_job) const;
    bool is_of(JobId id, std::uint32_t userid) const;
    void check_room(std::uint32_t userid, bool is_owner) const;
    void place(Number number, Pending& question);
    void look_up(Number number, Pending& question);
    void on_looked_up(flux_future_t* f);
    void has_ended(Number number, Pending& question, const Past& past);
    void ask_whose_id(Number number, Pending& question);
    void on_whose_id(Number number, Pending& question, const Reply& reply);
    void not_known(Number number, const Pending& question);
    void finish_ids(Number number, bool is_late = false);
    void ask_here(Pending& question, std::uint32_t userid_of_job);
    void on_answered_here(flux_future_t* f);
    bool goes_on(const Pending& question, int errnum) const;
    void ask_next(Number number, Pending& question);
    void finish(Number number, Reply reply);
    Reply unanswered(const Pending& question, int errnum, const std::string& why) const;
    std::optional<Number> number_of(flux_future_t* f) const;
    Reply::Hop hop_to(JobId child, JobId job, std::uint64_t below) const;

    flux_t* h_;
    const RouteTable& table_;
    const ChildLink& link_;
    const flux::PrivateMode& privacy_;
    flux::GuestTurns& turns_;
    Sessions sessions_;
    Number next_ = 1;
    std::map<Number, Pending> pending_;
    flux::Watcher ticks_;
    bool is_ticking_ = false;
    flux::Handlers handlers_;
};

}  // namespace weir::route
