// SPDX-License-Identifier: LGPL-3.0-only
// Owns: accepting jobs. Must not know: what happens to an accepted job. RFC 21, 25, 30.
#include "broker/services/job-manager/requests/submit.hpp"

#include <cmath>

#include "broker/services/job-manager/codecs/shell_options.hpp"
#include "broker/services/job-manager/dependencies/dependencies.hpp"
#include "broker/services/job-manager/jobtap/jobtap.hpp"
#include "broker/services/job-manager/requests/waits.hpp"
#include "libfairshare/base/json/text_writer.hpp"
#include "libfairshare/base/signed_jobspec.hpp"

namespace weir::broker::jobs {
namespace {

constexpr int flags_known = FLUX_JOB_DEBUG | FLUX_JOB_WAITABLE | FLUX_JOB_NOVALIDATE;

Error refused(const std::string& why) {
    return Error{std::errc::invalid_argument, why};
}

Status check_wish(const Request& request, std::int64_t urgency, std::int64_t flags) {
    if (flags & ~flags_known) {
        return refused("invalid job flags");
    }
    if ((flags & FLUX_JOB_NOVALIDATE) && !request.is_owner()) {
        return not_permitted("only the instance owner can submit with FLUX_JOB_NOVALIDATE");
    }
    if (urgency < urgency_hold || urgency > urgency_expedite) {
        return refused("urgency range is [0:31]");
    }
    if (!request.is_owner() && urgency > urgency_default) {
        return refused("only the instance owner can submit with urgency >16");
    }
    if (!request.is_owner() && (flags & FLUX_JOB_WAITABLE)) {
        return refused("only the instance owner can submit with FLUX_JOB_WAITABLE");
    }
    return Done{};
}

}  // namespace

struct SubmitTable {
    static constexpr flux_msg_handler_spec specs[] = {
        {FLUX_MSGTYPE_REQUEST, "job-ingest.submit", on_request<Submit, &Submit::ingest>, FLUX_ROLE_USER},
        // Guest: no effect.
        {FLUX_MSGTYPE_REQUEST, "job-ingest.disconnect", on_request<Submit, &Submit::ping_nothing>, FLUX_ROLE_USER},
        {FLUX_MSGTYPE_REQUEST, "job-manager.submit", on_request<Submit, &Submit::manager_submit>, 0},
        FLUX_MSGHANDLER_TABLE_END,
    };
};

Status Submit::start() {
    flux_jobid_t in_parent = 0;
    const char* jobid = flux_attr_get(engine_.handle(), "jobid");
    if (jobid != nullptr && flux_job_id_parse(jobid, &in_parent) < 0) {
        return refused("attribute jobid: \"" + std::string(jobid) + "\" is no job id");
    }
    ids_ = IdGenerator(engine_.jobs().max_id(), engine_.now_us(), id_generator_of(in_parent));
    return handlers_.add(engine_.handle(), SubmitTable::specs, this);
}

Result<JobId> Submit::accept(Wish wish) {
    if (auto room = engine_.make_room(); !room) {
        return room.error();
    }
    if ((wish.flags & FLUX_JOB_NOVALIDATE) == 0) {
        if (auto valid = validate_jobspec(wish.jobspec.get()); !valid) {
            return not_permitted(valid.error().message);  // the number of flux-core's validator
        }
    }
    if (!json_is_object(read_path(wish.jobspec.get(), "attributes.system"))) {
        return refused("jobspec: attributes.system: must be an object");
    }
    if (auto known = check_shell_options(wish.jobspec.get()); !known) {
        return known.error();
    }
    if (auto ready = engine_.queues().prepare(wish.jobspec.get()); !ready) {
        return ready.error();
    }
    auto owned = std::make_unique<Job>();
    const std::int64_t now = engine_.next_time_us();
    owned->id = wish.id != 0 ? wish.id : ids_.next(now);
    owned->sequence = engine_.next_sequence();
    owned->jobspec_text = redact(wish.jobspec, engine_.environments());
    owned->facts = jobspec_facts(owned->jobspec_text.redacted);
    owned->jobspec = std::move(wish.jobspec);
    if (auto kept = engine_.queues().check_limits(owned->facts, owned->jobspec_text.redacted); !kept) {
        return kept.error();
    }
    if (engine_.jobs().find(owned->id)) {
        return Error{std::errc::file_exists, "job id " + f58(owned->id) + " exists"};
    }
    Job& job = engine_.jobs().add(std::move(owned));
    Json context = Json::object();
    context.set("userid", wish.userid);
    context.set("urgency", wish.urgency);
    context.set("flags", wish.flags);
    context.set("version", 1);
    const std::int64_t t = wish.t_submit_us != 0 ? wish.t_submit_us : now;
    if (auto done = engine_.post_at(job, Event{t, "submit", std::move(context)}, false); !done) {
        return done.error();
    }
    if (auto admitted = engine_.jobtap().admit(job); !admitted) {
        (void)engine_.post(job, "invalidate", {}, true);
        engine_.jobtap().on_rejected(job);
        engine_.dependencies().on_rejected(job);
        engine_.jobs().drop(job.id);
        return admitted.error();
    }
    ++engine_.next_sequence();
    engine_.jobs().raise_max_id(job.id);
    const JobId id = job.id;
    engine_.jobtap().on_new(job);
    engine_.dependencies().on_new(job);
    engine_.waits().on_active(job);
    if (auto done = engine_.post(job, "validate"); !done) {
        return done.error();
    }
    return id;
}

// Guest: is refused: who signs with "none" must be the owner. Costs reading the request, 256 KiB.
Answer Submit::ingest(const Request& request) {
    const auto signed_text = read_string(request.body(), "J");
    const auto urgency = read_integer(request.body(), "urgency");
    const auto flags = read_integer(request.body(), "flags");
    if (!signed_text || !urgency || !flags) {
        return protocol_error("error decoding job request: needs J (string), urgency and flags (integers)");
    }
    if (auto allowed = check_wish(request, *urgency, *flags); !allowed) {
        return allowed.error();
    }
    auto unwrapped = unwrap_signed(*signed_text);
    if (!unwrapped) {
        return unwrapped.error();
    }
    if (unwrapped->userid != request.userid) {
        return not_permitted("signer=" + std::to_string(unwrapped->userid) +
                             " != requestor=" + std::to_string(request.userid));
    }
    if (!request.is_owner()) {
        return not_permitted("only instance owner can use sign-type=none");
    }
    auto jobspec = read_bounded(unwrapped->jobspec);
    if (!jobspec || !json_is_object(jobspec->get())) {
        return refused("jobspec: " + (jobspec ? "must be an object" : jobspec.error().message));
    }
    auto id = accept({0, std::move(*jobspec), request.userid, static_cast<int>(*urgency), static_cast<int>(*flags), 0});
    if (!id) {
        return id.error();
    }
    return Reply::of(ObjectText().set("id", *id).text());
}

Answer Submit::manager_submit(const Request& request) {
    const json_t* jobs = json_object_get(request.body(), "jobs");
    if (!json_is_array(jobs)) {
        return protocol_error("jobs must be an array");
    }
    Json errors = Json::array();
    for (std::size_t i = 0; i < json_array_size(jobs); ++i) {
        const json_t* one = json_array_get(jobs, i);
        const auto id = read_integer(one, "id");
        const auto userid = read_integer(one, "userid");
        const auto urgency = read_integer(one, "urgency");
        const auto t_submit = read_number(one, "t_submit");
        const auto flags = read_integer(one, "flags");
        json_t* jobspec = json_object_get(one, "jobspec");
        if (!id || *id == 0 || !userid || !urgency || !t_submit || !flags || !json_is_object(jobspec)) {
            return protocol_error("jobs[" + std::to_string(i) +
                                  "] needs id, userid, urgency, t_submit, flags, jobspec");
        }
        if (auto valid = check_event_time(*t_submit); !valid) {
            errors.append(std::move(Json::array().append(*id).append("t_submit " + valid.error().message)));
            continue;
        }
        auto accepted = accept({static_cast<JobId>(*id), Json::ref(jobspec), static_cast<std::uint32_t>(*userid),
                                static_cast<int>(*urgency), static_cast<int>(*flags), std::llround(*t_submit * 1e6)});
        if (accepted) {
            continue;
        }
        errors.append(std::move(Json::array().append(*id).append(accepted.error().message)));
    }
    return Reply::of(Json::object().set("errors", std::move(errors)));
}

}  // namespace weir::broker::jobs
