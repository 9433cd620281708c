// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Questions. See questions.hpp.
#include "modules/job-route/questions.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "libfairshare/base/escaped_text.hpp"
#include "modules/common/parent_link.hpp"

namespace weir::route {
namespace {

using flux::Failure;
using flux::value_or_throw;

constexpr double question_tick_s = 0.25;  ///< of real time
constexpr int answer_ticks = 20;          ///< that a child has to answer: the commands wait longer
constexpr std::size_t pending_max = 256;
constexpr int pending_of_guest_max = 16;

}  // namespace

/// What the eventlog of an ended job says.
struct Questions::Past {
    std::uint32_t userid = 0;
    JobId child;  ///< 0: it ran here

    explicit Past(const std::string& eventlog) {
        std::istringstream lines(eventlog);
        for (std::string line; std::getline(lines, line);) {
            const Json event = Json::parse_payload(line);
            const std::string name = event.string_at("name").value_or("");
            const Json context = event.at("context");
            if (name == "submit") {
                userid = static_cast<std::uint32_t>(context.integer_at("userid").value_or(0));
            } else if (name == "alloc") {
                const Json mark = context.at("annotations").at("weir");
                child = JobId{static_cast<std::uint64_t>(mark.integer_at("child").value_or(0))};
            }
        }
    }
};

Questions::Questions(flux_t* h, const Facts& facts, Sessions sessions)
    : h_(h),
      table_(facts.table),
      link_(facts.link),
      privacy_(facts.guests.privacy),
      turns_(facts.guests.turns),
      sessions_(std::move(sessions)) {
    ticks_.reset(flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&Questions::tick>, this));
    if (!ticks_) {
        flux::fail_errno("timer");
    }
    const int request = FLUX_MSGTYPE_REQUEST;
    handlers_ = flux::add_handlers(
        h, flux::service_name(h, "job-route"),
        {
            // Guest: has up to 16 questions about any job on their way, of 4 KiB each, for 5 seconds each; a guest
            // cannot read another user's output, and the services answer what they answer a guest of theirs. Private:
            // about his own jobs; other jobs in an answer lose their ids and users.
            {request, "ask", flux::in_turn<Questions, flux::on_message<&Questions::ask>>, FLUX_ROLE_USER},
            // Guest: answers what his own child was asked, with what he likes, in up to 2 MiB: the askers about the
            // jobs that it was given read it.
            {request, "answer", flux::on_message<&Questions::on_answer>, FLUX_ROLE_USER},
            // Guest: learns which ids any job has, and in a partition whose job it is; up to 1000 in a request, each in
            // time in proportion to the jobs. One that is not known here counts as a question. Private: of his own
            // jobs.
            {request, "ids", flux::in_turn<Questions, flux::on_message<&Questions::ids>>, FLUX_ROLE_USER},
        },
        this);
}

Questions::~Questions() {
    for (const auto& [number, question] : pending_) {
        (void)flux::catching([&, &request = question.request] {
            flux::respond_error(h_, request.get(), ENOSYS, "job-route is unloaded: ask again");
        });
    }
}

// ---- the asker ----

void Questions::check_room(std::uint32_t userid, bool is_owner) const {
    const auto own = std::count_if(pending_.begin(), pending_.end(),
                                   [userid](const auto& entry) { return entry.second.userid == userid; });
    if (pending_.size() >= pending_max || (!is_owner && own >= pending_of_guest_max)) {
        throw Failure(EBUSY, "too many questions are on their way: ask again when some are answered");
    }
}

/// The asker of a question, which check_room() may refuse.
Questions::Pending Questions::begin(const flux_msg_t* msg, std::uint64_t id) const {
    const flux_msg_cred cred = flux::cred_of(msg);
    if (flux_msg_is_noresponse(msg)) {  // nothing would say that the asker is gone
        throw Failure(EPROTO, "a question wants an answer");
    }
    Pending question;
    question.userid = cred.userid;
    question.is_owner = (cred.rolemask & FLUX_ROLE_OWNER) != 0;
    question.only = privacy_.only(msg);
    check_room(question.userid, question.is_owner);
    question.request = flux::keep(msg);
    question.asked = id;
    question.id = known_id(id).value_or(JobId{id});
    question.ticks_left = answer_ticks;
    return question;
}

void Questions::ask(const flux_msg_t* msg) {
    json_int_t id = 0;
    const char* topic = nullptr;
    json_t* payload = nullptr;
    flux::unpack(msg, "{s:I s:s s?o}", "id", &id, "topic", &topic, "payload", &payload);
    const QuestionKind* kind = question_kind(topic);
    if (kind == nullptr) {
        throw Failure(EINVAL, "\"" + escaped(topic) + "\" is no question; questions are " + question_topics());
    }
    Json kept = json_is_object(payload) ? Json::ref(payload) : Json::object();
    if (kept.dump().size() > question_bytes_max) {
        throw Failure(EMSGSIZE, "a question has at most " + std::to_string(question_bytes_max) + " bytes");
    }
    Pending question = begin(msg, static_cast<std::uint64_t>(id));
    question.kind = kind;
    question.payload = std::move(kept);
    keep(std::move(question), &Questions::place);
}

/// Keeps a question and takes its first step. An error of that step is the answer.
void Questions::keep(Pending question, void (Questions::*first)(Number, Pending&)) {
    const Number number = next_++;
    pending_.emplace(number, std::move(question));
    step(number, [this, number, first](Pending& kept) { (this->*first)(number, kept); });
    arm();
}

/// The next step of a question. An error of it is the answer.
void Questions::step(Number number, const std::function<void(Pending&)>& next) {
    const flux::Caught caught = flux::catching([&] { next(pending_.at(number)); });
    const auto found = pending_.find(number);
    if (caught.errnum != 0 && found != pending_.end()) {
        flux::respond_error(h_, found->second.request.get(), caught.errnum, caught.message);
        pending_.erase(found);
    }
}

// ---- who answers ----

/// Of a private instance, another's job is answered as one that is not there.
void Questions::check_asker(const Pending& question, std::uint32_t userid_of_job) const {
    if (question.only && *question.only != userid_of_job) {
        throw Failure(ENOENT, "there is no such job here");
    }
    if (question.kind->audience == Audience::user_of_the_job && !question.is_owner &&
        question.userid != userid_of_job) {
        throw Failure(EPERM, "it belongs to another user");
    }
}

bool Questions::is_of(JobId id, std::uint32_t userid) const {
    const RouteJob* job = table_.active(id);
    return job != nullptr && job->userid == userid;
}

/// A job that no child has is this instance's: it is not routed, or waits here until a child may have it.
void Questions::place(Number number, Pending& question) {
    const RouteJob* job = table_.active(question.id);
    if (job == nullptr) {
        look_up(number, question);
        return;
    }
    if (job->given() == nullptr) {
        ask_here(question, job->userid);
        return;
    }
    check_asker(question, job->userid);
    question.candidates = {job->given()->child};
    ask_next(number, question);
}

/// The job has ended or does not exist: its eventlog tells which.
void Questions::look_up(Number /*number*/, Pending& question) {
    Json payload = Json::own(
        json_pack("{s:I s:[s] s:i}", "id", static_cast<json_int_t>(question.id.value), "keys", "eventlog", "flags", 0));
    question.future = flux::rpc(h_, "job-info.lookup", payload);
    flux::then<&Questions::on_looked_up>(question.future.get(), this);
}

void Questions::on_looked_up(flux_future_t* f) {
    const auto number = number_of(f);
    if (!number) {
        return;
    }
    const flux::Future done = std::move(pending_.at(*number).future);
    std::optional<Past> past;
    flux::catching([&] { past.emplace(flux::rpc_get(f, "job-info.lookup").string_at("eventlog").value_or("")); });
    step(*number, [&](Pending& question) {
        if (past) {
            has_ended(*number, question, *past);
        } else {
            ask_whose_id(*number, question);
        }
    });
}

/// A restarted partition is another job here and has kept its jobs: all children of the owner are asked.
void Questions::has_ended(Number number, Pending& question, const Past& past) {
    if (question.kind == nullptr) {
        finish_ids(number);
        return;
    }
    if (past.child.value == 0) {
        ask_here(question, past.userid);
        return;
    }
    check_asker(question, past.userid);
    question.candidates = table_.trusted_children();
    std::erase(question.candidates, past.child);
    question.candidates.push_back(past.child);
    if (question.kind->is_kept) {
        ask_here(question, past.userid);
    } else {
        ask_next(number, question);
    }
}

void Questions::not_known(Number number, const Pending& question) {
    if (question.kind == nullptr) {
        finish_ids(number);
    } else {
        throw Failure(ENOENT, "there is no such job here");
    }
}

/// Asked as the owner: job and user have been checked.
void Questions::ask_here(Pending& question, std::uint32_t userid_of_job) {
    check_asker(question, userid_of_job);
    Json payload = question.payload.deep_copy();
    payload.set("id", question.id.value);
    question.future = flux::rpc(h_, question.kind->topic, payload);
    flux::then<&Questions::on_answered_here>(question.future.get(), this);
}

void Questions::on_answered_here(flux_future_t* f) {
    const auto number = number_of(f);
    if (!number) {
        return;
    }
    Pending& question = pending_.at(*number);
    const flux::Future keep = std::move(question.future);
    Reply reply;
    reply.id = question.id.value;
    const flux::Caught caught = flux::catching([&] { reply.answer = flux::rpc_get(f, question.kind->topic); });
    if (goes_on(question, caught.errnum)) {
        ask_next(*number, question);
        return;
    }
    reply.errnum = caught.errnum;
    reply.error = caught.message;
    finish(*number, std::move(reply));
}

/// Whether a child is asked, since this instance or another child does not know.
bool Questions::goes_on(const Pending& question, int errnum) const {
    return (errnum == ENOENT || errnum == ENOSYS) && !question.candidates.empty();
}

/// Asks the next attached child; if there is none, answers so.
void Questions::ask_next(Number number, Pending& question) {
    while (!question.candidates.empty()) {
        question.child = question.candidates.back();
        question.candidates.pop_back();
        question.session = sessions_.session_of(question.child);
        if (question.session.empty()) {
            continue;
        }
        Json list = Json::array();
        list.append(encode(question.stage == IdStage::foreign
                               ? Question{number, question.id, whose_id_topic, Json::object()}
                               : Question{number, question.id, question.kind->topic, question.payload.share()}));
        Json message = Json::object();
        message.set("questions", std::move(list));
        sessions_.send(question.child, message);
        return;
    }
    if (question.stage == IdStage::foreign) {
        not_known(number, question);
        return;
    }
    const bool has_ended = table_.active(question.id) == nullptr;
    finish(number, has_ended ? unanswered(question, ENOENT, "no partition that is attached knows the job")
                             : unanswered(question, EHOSTUNREACH, "the partition has no link to this instance"));
}

// ---- answers ----

/// A guest who was asked nothing is not read.
void Questions::on_answer(const flux_msg_t* msg) {
    const std::size_t size = flux::payload_size(msg);
    if (size > answer_bytes_max) {
        throw Failure(EMSGSIZE, "an answer has at most " + std::to_string(answer_bytes_max) + " bytes");
    }
    const std::uint32_t userid = flux::cred_of(msg).userid;
    const bool is_asked = std::any_of(pending_.begin(), pending_.end(), [&](const auto& entry) {
        return sessions_.is_from(entry.second.child, entry.second.session, userid);
    });
    if (!is_asked && !flux::is_from_owner(msg)) {
        throw Failure(EOWNERDEAD, "nothing is asked of an instance of yours");
    }
    turns_.serve<&Questions::answer>(this, msg, size);
}

void Questions::answer(const flux_msg_t* msg) {
    json_int_t child = 0;
    json_int_t number = 0;
    const char* session = nullptr;
    json_t* body = nullptr;
    flux::unpack(msg, "{s:I s:s s:I s:o}", "jobid", &child, "session", &session, "number", &number, "body", &body);
    const JobId from{static_cast<std::uint64_t>(child)};
    if (!sessions_.is_from(from, session, flux::cred_of(msg).userid)) {
        throw Failure(EOWNERDEAD, "this session is over: attach again");
    }
    const auto found = pending_.find(static_cast<Number>(number));
    if (found == pending_.end() || found->second.child != from || found->second.session != session) {
        return;  // too late, or an answer without a question
    }
    auto reply = decode_reply(body);
    if (!reply) {
        finish(found->first, unanswered(found->second, EPROTO, reply.error().message));
        return;
    }
    step(found->first, [&, number = found->first](Pending& question) {
        if (question.stage == IdStage::foreign) {
            on_whose_id(number, question, *reply);
            return;
        }
        if (goes_on(question, reply->errnum)) {
            ask_next(number, question);
            return;
        }
        reply->hops.insert(reply->hops.begin(), hop_to(from, question.id, reply->id));
        reply->id = question.id.value;
        finish(number, std::move(reply).value());
    });
}

void Questions::finish(Number number, Reply reply) {
    const auto found = pending_.find(number);
    if (found != pending_.end() && found->second.kind == nullptr) {
        finish_ids(number, reply.errnum == ETIMEDOUT);
    } else if (found != pending_.end()) {
        if (const auto only = found->second.only) {  // the answer was given to the owner
            hide_jobs(reply.answer.get(), [&](JobId id) { return is_of(id, *only); });
        }
        flux::respond(h_, found->second.request.get(), encode(reply));
        pending_.erase(found);
    }
}

/// This instance's own facts, if no other instance answers.
Reply Questions::unanswered(const Pending& question, int errnum, const std::string& why) const {
    Reply reply;
    reply.id = question.id.value;
    reply.errnum = errnum;
    reply.error = why;
    const RouteJob* job = table_.active(question.id);
    if (job != nullptr && job->given() != nullptr) {
        reply.hops.push_back(hop_to(job->given()->child, question.id, job->given()->local.value));
    }
    return reply;
}

/// A child whose session ended does not answer either.
void Questions::tick() {
    is_ticking_ = false;
    std::vector<Number> late;
    for (auto& [number, question] : pending_) {
        const bool is_gone = question.child.value != 0 && sessions_.session_of(question.child) != question.session;
        if (--question.ticks_left <= 0 || is_gone) {
            late.push_back(number);
        }
    }
    for (const Number number : late) {
        finish(number, unanswered(pending_.at(number), ETIMEDOUT,
                                  "the partition did not answer within " +
                                      std::to_string(static_cast<int>(answer_ticks * question_tick_s)) + " seconds"));
    }
    arm();
}

void Questions::arm() {
    if (!pending_.empty() && !std::exchange(is_ticking_, true)) {
        flux_timer_watcher_reset(ticks_.get(), flux::real_seconds(h_, question_tick_s), 0.);
        flux_watcher_start(ticks_.get());
    }
}

std::optional<Questions::Number> Questions::number_of(flux_future_t* f) const {
    const auto found = std::find_if(pending_.begin(), pending_.end(),
                                    [f](const auto& entry) { return entry.second.future.get() == f; });
    return found != pending_.end() ? std::optional(found->first) : std::nullopt;
}

Reply::Hop Questions::hop_to(JobId child, JobId job, std::uint64_t below) const {
    const auto view = table_.child_without_counts(child);
    Reply::Hop hop{child.value, below, view ? view->serves : std::vector<std::string>{}, table_.partition_of(child)};
    for (const PartitionWord& word : table_.words_of(job)) {
        if (word.may_start) {
            hop.may_start_in.push_back(word.name);
        }
    }
    return hop;
}

}  // namespace weir::route
