// SPDX-License-Identifier: LGPL-3.0-only
// Owns: Questions. See questions.hpp.
#include "modules/job-route/questions.hpp"

#include <algorithm>
#include <cstring>
#include <sstream>

#include "modules/common/parent_link.hpp"

namespace weir::route {
namespace {

using flux::Failure;
using flux::value_or_throw;

constexpr double question_tick_s = 0.25;  ///< of real time
constexpr int answer_ticks = 20;          ///< that a child has to answer: the commands wait longer
constexpr std::size_t pending_max = 256;
constexpr int pending_of_guest_max = 16;
constexpr std::size_t ids_max = 1000;  ///< in one request

/// What the eventlog of an ended job says.
struct Past {
    std::uint32_t userid = 0;
    JobId child;  ///< 0: it ran here
};

Past read_eventlog(const std::string& eventlog) {
    Past past;
    std::istringstream lines(eventlog);
    for (std::string line; std::getline(lines, line);) {
        const Json event = Json::parse_payload(line);
        const std::string name = event.string_at("name").value_or("");
        const Json context = event.at("context");
        if (name == "submit") {
            past.userid = static_cast<std::uint32_t>(context.integer_at("userid").value_or(0));
        } else if (name == "alloc") {
            const Json mark = context.at("annotations").at("weir");
            past.child = JobId{static_cast<std::uint64_t>(mark.integer_at("child").value_or(0))};
        }
    }
    return past;
}

std::string name_of(JobId id) {
    char text[64];
    return flux_job_id_encode(id.value, "f58", text, sizeof(text)) == 0 ? text : std::to_string(id.value);
}

}  // namespace

Questions::Questions(flux_t* h, const Facts& facts, Sessions sessions)
    : h_(h), table_(facts.table), link_(facts.link), privacy_(facts.privacy), sessions_(std::move(sessions)) {
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
            {request, "ask", flux::on_message<&Questions::ask>, FLUX_ROLE_USER},
            // Guest: answers what his own child was asked, with what he likes, in up to 2 MiB: the askers about the
            // jobs that it was given read it.
            {request, "answer", flux::on_message<&Questions::answer>, FLUX_ROLE_USER},
            // Guest: learns which ids any job has; up to 1000 in a request, each in time in proportion to the jobs.
            // Private: of his own jobs.
            {request, "ids", flux::on_request<&Questions::ids>, FLUX_ROLE_USER},
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

void Questions::ask(const flux_msg_t* msg) {
    json_int_t id = 0;
    const char* topic = nullptr;
    json_t* payload = nullptr;
    flux::unpack(msg, "{s:I s:s s?o}", "id", &id, "topic", &topic, "payload", &payload);
    const flux_msg_cred cred = flux::cred_of(msg);
    Pending question;
    question.kind = question_kind(topic);
    if (question.kind == nullptr) {
        throw Failure(EINVAL, "\"" + std::string(topic) + "\" is no question; questions are " + question_topics());
    }
    question.payload = json_is_object(payload) ? Json::ref(payload) : Json::object();
    if (question.payload.dump().size() > question_bytes_max) {
        throw Failure(EMSGSIZE, "a question has at most " + std::to_string(question_bytes_max) + " bytes");
    }
    question.userid = cred.userid;
    question.is_owner = (cred.rolemask & FLUX_ROLE_OWNER) != 0;
    question.only = privacy_.only(msg);
    check_room(question.userid, question.is_owner);
    question.request = flux::keep(msg);
    question.id = id_here(static_cast<std::uint64_t>(id));
    question.ticks_left = answer_ticks;
    const Number number = next_++;
    Pending& kept = pending_.emplace(number, std::move(question)).first->second;
    const flux::Caught caught = flux::catching([&] { place(number, kept); });
    if (caught.errnum != 0) {
        pending_.erase(number);
        throw Failure(caught.errnum, caught.message);
    }
    arm();
}

/// An id of this instance, else of the one above, else of one below.
JobId Questions::id_here(std::uint64_t id) const {
    if (table_.active(JobId{id}) != nullptr) {
        return JobId{id};
    }
    if (const LocalId local = link_.local_of(JobId{id}); local.value != 0) {
        return JobId{local.value};
    }
    const JobId above = table_.id_of(LocalId{id});
    return above.value != 0 ? above : JobId{id};
}

// ---- who answers ----

/// Of a private instance, another's job is answered as one that is not there.
void Questions::check_asker(const Pending& question, std::uint32_t userid_of_job) const {
    if (question.only && *question.only != userid_of_job) {
        throw Failure(ENOENT, "no job " + name_of(question.id) + " here");
    }
    if (question.kind->audience == Audience::user_of_the_job && !question.is_owner &&
        question.userid != userid_of_job) {
        throw Failure(EPERM, name_of(question.id) + " belongs to another user");
    }
}

bool Questions::is_of(JobId id, std::uint32_t userid) const {
    const RouteJob* job = table_.active(id);
    return job != nullptr && job->userid == userid;
}

void Questions::place(Number number, Pending& question) {
    const RouteJob* job = table_.active(question.id);
    if (job == nullptr) {
        look_up(question);
        return;
    }
    if (job->routed() == nullptr) {
        ask_here(question, job->userid);
        return;
    }
    check_asker(question, job->userid);
    if (job->given() == nullptr) {
        finish(number, unanswered(question, EHOSTUNREACH, "no partition has the job yet"));
        return;
    }
    question.candidates = {job->given()->child};
    ask_next(number, question);
}

/// The job has ended or does not exist: its eventlog tells which.
void Questions::look_up(Pending& question) {
    Json payload = Json::own(
        json_pack("{s:I s:[s] s:i}", "id", static_cast<json_int_t>(question.id.value), "keys", "eventlog", "flags", 0));
    question.future = flux::rpc(h_, "job-info.lookup", payload);
    flux::then<&Questions::on_looked_up>(question.future.get(), this);
}

/// A restarted partition is another job here and has kept its jobs: all children of the owner are asked.
void Questions::on_looked_up(flux_future_t* f) {
    const auto number = number_of(f);
    if (!number) {
        return;
    }
    Pending& question = pending_.at(*number);
    const flux::Future keep = std::move(question.future);
    const flux::Caught caught = flux::catching([&] {
        Past past;
        try {
            past = read_eventlog(flux::rpc_get(f, "job-info.lookup").string_at("eventlog").value_or(""));
        } catch (const Failure&) {
            throw Failure(ENOENT, "no job " + name_of(question.id) + " here");
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
            ask_next(*number, question);
        }
    });
    if (caught.errnum != 0) {
        flux::respond_error(h_, question.request.get(), caught.errnum, caught.message);
        pending_.erase(*number);
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
        list.append(encode(Question{number, question.id, question.kind->topic, question.payload.share()}));
        Json message = Json::object();
        message.set("questions", std::move(list));
        sessions_.send(question.child, message);
        return;
    }
    const bool has_ended = table_.active(question.id) == nullptr;
    finish(number, has_ended ? unanswered(question, ENOENT, "no partition that is attached knows the job")
                             : unanswered(question, EHOSTUNREACH, "the partition has no link to this instance"));
}

// ---- answers ----

void Questions::answer(const flux_msg_t* msg) {
    const char* text = nullptr;
    json_int_t child = 0;
    json_int_t number = 0;
    const char* session = nullptr;
    json_t* body = nullptr;
    if (flux_request_decode(msg, nullptr, &text) == 0 && text != nullptr && std::strlen(text) > answer_bytes_max) {
        throw Failure(EMSGSIZE, "an answer has at most " + std::to_string(answer_bytes_max) + " bytes");
    }
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
    if (goes_on(found->second, reply->errnum)) {
        ask_next(found->first, found->second);
        return;
    }
    reply->hops.insert(reply->hops.begin(), hop_to(from, reply->id));
    reply->id = found->second.id.value;
    finish(found->first, std::move(reply).value());
}

void Questions::finish(Number number, Reply reply) {
    const auto found = pending_.find(number);
    if (found != pending_.end()) {
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
        reply.hops.push_back(hop_to(job->given()->child, job->given()->local.value));
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

Reply::Hop Questions::hop_to(JobId child, std::uint64_t id) const {
    Reply::Hop hop{child.value, id, {}, table_.partition_of(child)};
    for (const ChildView& view : table_.children()) {
        if (view.job == child) {
            hop.serves = view.serves;
        }
    }
    return hop;
}

// ---- ids ----

/// {asked, id, above?, child?, below?}
Json Questions::ids_of(std::uint64_t asked, std::optional<std::uint32_t> only) const {
    const JobId id = id_here(asked);
    Json row = Json::object();
    if (only && !is_of(id, *only)) {  // as one that is not known
        return std::move(row.set("asked", asked).set("id", asked));
    }
    row.set("asked", asked).set("id", id.value);
    if (const JobId above = link_.parent_of(LocalId{id.value}); above.value != 0) {
        row.set("above", above.value);
    }
    const RouteJob* job = table_.active(id);
    if (job != nullptr && job->given() != nullptr) {
        row.set("child", job->given()->child.value).set("below", job->given()->local.value);
    }
    return row;
}

Json Questions::ids(const flux_msg_t* msg) {
    json_t* list = nullptr;
    flux::unpack(msg, "{s:o}", "ids", &list);
    if (!json_is_array(list) || json_array_size(list) > ids_max) {
        throw Failure(EINVAL, "ids must be an array of at most " + std::to_string(ids_max) + " job ids");
    }
    Json rows = Json::array();
    std::size_t index = 0;
    json_t* id = nullptr;
    json_array_foreach(list, index, id) {
        rows.append(ids_of(static_cast<std::uint64_t>(json_integer_value(id)), privacy_.only(msg)));
    }
    Json answer = Json::object();
    answer.set("jobs", std::move(rows));
    return answer;
}

}  // namespace weir::route
