// SPDX-License-Identifier: LGPL-3.0-only
// Owns: job-manager.wait.
// Must not know: the queue, jobtap.
#include "broker/services/job-manager/requests/waits.hpp"
#include "libfairshare/base/json/text_writer.hpp"

#include <sys/wait.h>

#include <cerrno>
#include <cstring>

namespace weir::broker::jobs {
namespace {

std::string words_of_status(int status) {
    if (WIFSIGNALED(status)) {
        return std::string("job shell ") + strsignal(WTERMSIG(status));
    }
    const int code = WEXITSTATUS(status);
    if (code > 128) {
        return std::string("task(s) ") + strsignal(code - 128);
    }
    return code == 0 ? "" : "task(s) exited with exit code " + std::to_string(code);
}

bool is_waitable(const Job& job) {
    return (job.flags & FLUX_JOB_WAITABLE) != 0;
}

}  // namespace

std::string wait_payload(const Job& job) {
    const json_t* context = json_object_get(job.end_event.get(), "context");
    std::string words;
    bool success = false;
    if (const auto status = read_integer(context, "status")) {
        words = words_of_status(static_cast<int>(*status));
        success = *status == 0;
    } else {
        words = "Fatal exception type=" + std::string(read_string(context, "type").value_or("")) + " " +
                std::string(read_string(context, "note").value_or(""));
    }
    return ObjectText().set("id", job.id).set("success", success).set("errstr", words).text();
}

struct WaitsTable {
    static constexpr flux_msg_handler_spec specs[] = {
        {FLUX_MSGTYPE_REQUEST, "job-manager.wait", on_request<Waits, &Waits::wait>, 0},
        FLUX_MSGHANDLER_TABLE_END,
    };
};

Status Waits::start() {
    return handlers_.add(engine_.handle(), WaitsTable::specs, this);
}

void Waits::on_active(const Job& job) {
    waitables_ += is_waitable(job);
}

void Waits::on_inactive(const Job& job) {
    if (!is_waitable(job) || waitables_ == 0) {
        return;
    }
    --waitables_;
    if (const auto at = waiting_.find(job.id); at != waiting_.end()) {
        outbox().respond(at->second.get(), wait_payload(job));
        waiting_.erase(at);
    } else if (!any_.empty()) {
        outbox().respond(any_.front().get(), wait_payload(job));
        any_.pop_front();
    } else {
        ended_.emplace(job.id, wait_payload(job));
    }
}

Answer Waits::wait(const Request& request) {
    const auto given = read_integer(request.body(), "id");
    if (!given) {
        return protocol_error("malformed wait request");
    }
    const auto id = static_cast<JobId>(*given);
    const auto ended = id == FLUX_JOBID_ANY ? ended_.begin() : ended_.find(id);
    if (ended != ended_.end()) {
        std::string payload = std::move(ended->second);
        ended_.erase(ended);
        return Reply::of(std::move(payload));
    }
    if (id == FLUX_JOBID_ANY) {
        any_.emplace_back(request.msg);
        fail_surplus();
        return Reply::later();
    }
    const Job* job = engine_.jobs().active(id);
    if (!job) {
        return Error{std::errc::no_child_process, "invalid job id, or job may be inactive and not waitable"};
    }
    if (waiting_.count(id) > 0) {
        return Error{std::errc::no_child_process, "job id already has a waiter"};
    }
    if (!is_waitable(*job)) {
        return Error{std::errc::no_child_process, "job was not submitted with FLUX_JOB_WAITABLE"};
    }
    waiting_.emplace(id, MessageRef(request.msg));
    fail_surplus();
    return Reply::later();
}

void Waits::fail_surplus() {
    if (any_.empty() || any_.size() + waiting_.size() <= waitables_) {
        return;
    }
    outbox().respond_error(any_.back().get(), ECHILD, "there are no more waitable jobs");
    any_.pop_back();
}

void Waits::on_disconnect(const flux_msg_t* msg) {
    std::erase_if(waiting_, [msg](const auto& entry) { return flux_disconnect_match(msg, entry.second.get()); });
    any_.remove_if([msg](const MessageRef& request) { return flux_disconnect_match(msg, request.get()); });
}

void Waits::end_all() {
    for (const auto& [id, request] : waiting_) {
        outbox().respond_error(request.get(), ENOSYS, "job-manager is unloading");
    }
    for (const MessageRef& request : any_) {
        outbox().respond_error(request.get(), ENOSYS, "job-manager is unloading");
    }
    waiting_.clear();
    any_.clear();
}

}  // namespace weir::broker::jobs
