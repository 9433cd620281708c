// SPDX-License-Identifier: LGPL-3.0-only
// Owns: streaming new entries of guest eventlogs. Must not know: who may read a job, processes.
#include "broker/services/job-manager/requests/guest_eventlogs.hpp"

#include <cerrno>

#include "broker/services/job-manager/codecs/exec_eventlog.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::broker::jobs {
namespace {

constexpr std::string_view exec_path = "guest.exec.eventlog";
constexpr std::string_view output_path = "guest.output";
/// One answer of job-info.lookup; a stream has no such end.
constexpr std::size_t text_bytes_max = 16u << 20;

std::string folder_of_output(flux_t* h) {
    const char* folder = flux_attr_get(h, "output-dir");
    return folder != nullptr ? folder : "";
}

std::string file_name(JobId id) {
    char text[64] = {};
    flux_job_id_encode(id, "f58plain", text, sizeof text);
    return text;
}

bool has_ended(const Job& job) {
    return job.wait_status >= 0 || job.state == State::inactive;
}

Error no_such_eventlog(std::string_view path) {
    return {std::errc::no_such_file_or_directory,
            std::string(path) + ": jobs of this instance have guest.exec.eventlog and guest.output alone"};
}

}  // namespace

GuestEventlogs::GuestEventlogs(Engine& engine) : engine_(engine), files_(folder_of_output(engine.handle()), false) {}

Status GuestEventlogs::start() {
    notices_ = std::make_unique<OutputNotices>(engine_.handle(),
                                               [this](std::uint64_t id) { advance_all(id, engine_.jobs().find(id)); });
    return Done{};
}

std::unique_ptr<OutputEventlog> GuestEventlogs::output_of(const Job& job) const {
    return std::make_unique<OutputEventlog>(files_, file_name(job.id), task_ranks(job),
                                            static_cast<double>(job.t_start_us) / 1e6);
}

Status GuestEventlogs::open(const flux_msg_t* request, const Job& job, std::string_view path, bool wants_sentinel) {
    if (path != exec_path && path != output_path) {
        return no_such_eventlog(path);
    }
    Stream stream{MessageRef(request)};
    stream.wants_sentinel = wants_sentinel;
    stream.is_output = path == output_path;
    stream.number = ++opened_;
    streams_[job.id].push_back(std::move(stream));
    advance_all(job.id, &job);
    return Done{};
}

Result<std::optional<std::string>> GuestEventlogs::text(const Job& job, std::string_view path) const {
    if (path != exec_path && path != output_path) {
        return no_such_eventlog(path);
    }
    if (!job.was_started) {
        return std::optional<std::string>();
    }
    if (path == exec_path) {
        return std::optional(exec_eventlog(job));
    }
    const auto output = output_of(job);
    std::string text;
    const double now = flux_reactor_time();
    for (auto entries = output->next(has_ended(job), now); !entries.empty();
         entries = output->next(has_ended(job), now)) {
        for (const std::string& entry : entries) {
            text += entry;
        }
        if (text.size() > text_bytes_max) {
            return Error{std::errc::file_too_large,
                         "guest.output: is larger than 16 MiB; read it as a stream (flux job attach), or the file"};
        }
    }
    return std::optional(std::move(text));
}

void GuestEventlogs::send_sentinel(Stream& stream) {
    if (std::exchange(stream.wants_sentinel, false)) {
        engine_.outbox().respond_empty(stream.request.get());
    }
}

/// The next part is sent when the client has read this one, so that a reader that is slow costs little memory.
void GuestEventlogs::wait_read(JobId id, Stream& stream) {
    const char* client = flux_msg_route_last(stream.request.get());
    stream.is_unread = true;
    engine_.outbox().request(
        "broker.wait-read",
        ObjectText().set("client", client != nullptr ? client : "").set("id", id).set("stream", stream.number).text());
}

GuestEventlogs::Progress GuestEventlogs::advance_output(JobId id, const Job* job, Stream& stream) {
    const bool is_over = job == nullptr || has_ended(*job);
    if (job != nullptr && job->was_started && !stream.output) {
        stream.output = output_of(*job);
        if (!is_over && !job->facts.is_simulated) {
            notices_->watch(job->id, stream.output->paths());
        }
    }
    if (!stream.output) {
        return job == nullptr || job->state == State::inactive ? Progress::ended : Progress::waits;
    }
    if (stream.is_unread) {
        return Progress::has_more;
    }
    const auto entries = stream.output->next(is_over, flux_reactor_time());
    for (const std::string& entry : entries) {
        engine_.outbox().respond(stream.request.get(), ObjectText().set("event", entry).text());
    }
    if (stream.output->is_at_end()) {
        return Progress::ended;
    }
    if (entries.empty()) {
        return Progress::waits;
    }
    wait_read(id, stream);
    return Progress::has_more;
}

GuestEventlogs::Progress GuestEventlogs::advance(JobId id, const Job* job, Stream& stream) {
    if (stream.is_output) {
        return advance_output(id, job, stream);
    }
    if (job == nullptr) {
        return Progress::ended;
    }
    const std::string log = exec_eventlog(*job);
    while (stream.bytes_sent < log.size()) {
        const std::size_t end = log.find('\n', stream.bytes_sent) + 1;
        const std::string entry = log.substr(stream.bytes_sent, end - stream.bytes_sent);
        engine_.outbox().respond(stream.request.get(), ObjectText().set("event", entry).text());
        stream.bytes_sent = end;
    }
    return has_ended(*job) ? Progress::ended : Progress::waits;
}

void GuestEventlogs::advance_all(JobId id, const Job* job) {
    const auto at = streams_.find(id);
    if (at == streams_.end()) {
        return;
    }
    for (auto stream = at->second.begin(); stream != at->second.end();) {
        const Progress progress = advance(id, job, *stream);
        if (progress != Progress::has_more) {
            send_sentinel(*stream);
        }
        if (progress == Progress::ended) {
            engine_.outbox().respond_error(stream->request.get(), ENODATA, "");
            stream = at->second.erase(stream);
        } else {
            ++stream;
        }
    }
    if (at->second.empty()) {
        streams_.erase(at);
        notices_->forget(id);
    }
    engine_.outbox().relieve();
}

void GuestEventlogs::on_read(const flux_msg_t* response) {
    const char* text = nullptr;
    if (flux_response_decode(response, nullptr, &text) < 0) {
        return;  // the client has left, and its streams end with it
    }
    const Json payload = Json::parse_payload(text != nullptr ? text : "");
    const auto id = static_cast<JobId>(payload.integer_at("id").value_or(0));
    const std::int64_t number = payload.integer_at("stream").value_or(0);
    const auto at = streams_.find(id);
    if (at == streams_.end()) {
        return;
    }
    for (Stream& stream : at->second) {
        stream.is_unread = stream.is_unread && stream.number != number;
    }
    advance_all(id, engine_.jobs().find(id));
}

void GuestEventlogs::on_event(const Job& job, const std::string& name) {
    if (!streams_.empty() && (name == "start" || name == "finish" || name == "clean" || name == "invalidate")) {
        advance_all(job.id, &job);
    }
}

void GuestEventlogs::end_all() {
    for (const auto& [id, list] : std::exchange(streams_, {})) {
        for (const Stream& stream : list) {
            engine_.outbox().respond_error(stream.request.get(), ENODATA, "");
        }
        notices_->forget(id);
    }
}

bool GuestEventlogs::cancel(const flux_msg_t* request) {
    for (auto& [id, list] : streams_) {
        for (auto at = list.begin(); at != list.end(); ++at) {
            if (!flux_cancel_match(request, at->request.get())) {
                continue;
            }
            engine_.outbox().respond_error(at->request.get(), ENODATA, "");
            list.erase(at);
            if (list.empty()) {
                notices_->forget(id);
                streams_.erase(id);
            }
            return true;
        }
    }
    return false;
}

void GuestEventlogs::disconnect(const flux_msg_t* request) {
    for (auto at = streams_.begin(); at != streams_.end();) {
        at->second.remove_if([&](const Stream& s) { return flux_disconnect_match(request, s.request.get()); });
        if (at->second.empty()) {
            notices_->forget(at->first);
            at = streams_.erase(at);
        } else {
            ++at;
        }
    }
}

std::vector<const flux_msg_t*> GuestEventlogs::requests(JobId id) const {
    std::vector<const flux_msg_t*> all;
    if (const auto at = streams_.find(id); at != streams_.end()) {
        for (const Stream& stream : at->second) {
            all.push_back(stream.request.get());
        }
    }
    return all;
}

std::size_t GuestEventlogs::size() const {
    std::size_t count = 0;
    for (const auto& [id, list] : streams_) {
        count += list.size();
    }
    return count;
}

}  // namespace weir::broker::jobs
