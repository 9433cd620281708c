// SPDX-License-Identifier: LGPL-3.0-only
// Owns: PartitionKeeper's work for the table: jobs, and the journal. See partition_keeper.hpp.
#include "modules/job-route/partition_keeper.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "libfairshare/base/signed_jobspec.hpp"
#include "libfairshare/base/wait_status.hpp"
#include "modules/common/monotonic_clock.hpp"
#include "modules/common/parent_link.hpp"
#include "modules/job-route/partition_checks.hpp"

namespace weir::route {
namespace {

using flux::Failure;

constexpr std::size_t words_max = 300;  ///< bytes of a dead partition's last line

std::string attribute_of(flux_t* h, const char* name) {
    const char* value = flux_attr_get(h, name);
    return value != nullptr ? value : "";
}

std::vector<std::string> split_paths(const std::string& text) {
    std::vector<std::string> paths;
    std::istringstream in(text);
    for (std::string path; std::getline(in, path, ':');) {
        paths.push_back(path);
    }
    return paths;
}

LaunchPlace place_of(flux_t* h) {
    LaunchPlace place;
    std::error_code ignored;
    const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", ignored);
    place.broker = program.filename() == "weir-broker" ? program.string() : "";
    place.rundir = attribute_of(h, "rundir");
    place.statedir = attribute_of(h, "statedir");
    const std::string log = attribute_of(h, "log-filename");
    place.log_folder = log.empty() ? "" : std::filesystem::path(log).parent_path().string();
    place.config_files = split_paths(attribute_of(h, "config.files"));
    for (const char* name : {"PATH", "HOME", "USER", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "TMPDIR",
                             "FLUX_MODULE_PATH"}) {  // with the last a partition finds the modules that the parent has
        if (const char* value = std::getenv(name)) {
            place.environment[name] = value;
        }
    }
    return place;
}

Duration monotonic_now() {
    return duration_from_seconds(flux::monotonic_seconds());
}

KeptPartition kept_of(const PartitionSpec& spec) {
    KeptPartition kept{spec.name, {}, spec.queues, spec.overflow, spec.cores_in_all(), spec.takes, spec.limits};
    kept.node_cores = spec.cores;
    return kept;
}

/// See KeptPartition::away.
std::string away_text(const PartitionTable::Partition& partition) {
    const bool is_up = partition.current && partition.current->is_attached;
    return partition.is_drained ? "is drained"
           : is_up              ? ""
           : partition.is_down  ? "is down"
           : partition.is_off   ? "is off"
                                : "has not started yet";
}

std::string last_line(const std::string& text) {
    std::istringstream lines(text);
    std::string last;
    for (std::string line; std::getline(lines, line);) {
        last = line.empty() ? last : line;
    }
    return last.substr(0, words_max);
}

}  // namespace

PartitionKeeper::PartitionKeeper(flux_t* h, RouteTable& routes, const Guests& guests, std::function<void()> changed)
    : h_(h),
      routes_(routes),
      privacy_(guests.privacy),
      turns_(guests.turns),
      changed_(std::move(changed)),
      place_(place_of(h)) {
    place_.job_manager = Json::ref(flux::conf_table(h, "job-manager")).deep_copy();
    configured_ = Json::ref(flux::conf_table(h, "partition")).deep_copy();
    queues_ = Json::ref(flux::conf_table(h, "queues")).deep_copy();
    const Json weir = Json::ref(flux::conf_table(h, "weir"));
    route_ = weir.at("route").deep_copy();
    started_with_ = flux::value_or_throw(decode_route_settings(route_.get()));
    users_ = weir.at("users").deep_copy();
    place_.has_instance_queue = queues_.at(instance_queue).get() != nullptr;
    read_changes();
    (void)flux::value_or_throw(check_instances(checked(configured_.get()), place_));
    put_in_force();
    timer_.reset(
        flux_timer_watcher_create(flux_get_reactor(h), 0., 0., flux::on_watcher<&PartitionKeeper::look>, this));
    if (!timer_) {
        flux::fail_errno("timer");
    }
    const int request = FLUX_MSGTYPE_REQUEST;
    handlers_ = flux::add_handlers(
        h, flux::service_name(h, "job-route"),
        {
            {request, "config-reload", flux::on_message<&PartitionKeeper::config_reload>, 0},
            {request, "partitions", flux::in_turn<PartitionKeeper, flux::on_request<&PartitionKeeper::partitions>>,
             FLUX_ROLE_USER},
            {request, "partition-change", flux::on_message<&PartitionKeeper::change>, 0},
            {request, "tap-loaded", flux::on_message<&PartitionKeeper::tap_loaded>, 0},
            {request, "partitions-submitted", flux::on_message<&PartitionKeeper::partitions_submitted>, 0},
        },
        this);
}

PartitionKeeper::~PartitionKeeper() {
    for (const flux::MessageRef& manager : managers_) {
        flux::respond_error(h_, manager.get(), ENOSYS, "job-route was removed");
    }
}

// ---- the journal ----

/// Only of the owner's jobs: the attribute in another user's jobspec is ignored.
void PartitionKeeper::submitted(JobId id, const JournalEvent& event, const JobFacts& facts) {
    if (facts.partition.empty() || event.userid != getuid()) {
        return;
    }
    if (!is_ready_) {
        backlog_.emplace(id, facts);
        return;
    }
    take_instance(id, facts);
    look();  // the routes know which partition it is before it attaches
}

void PartitionKeeper::take_instance(JobId id, const JobFacts& facts) {
    jobs_[id];
    table_.started(facts.partition, facts.partition_folder, id);
    if (!table_.has_job(id)) {
        PartitionInstance instance;
        instance.job = id;
        instance.digest = facts.partition_digest;
        instance.folder = facts.partition_folder;
        table_.adopt(facts.partition, instance);
    }
}

void PartitionKeeper::event(JobId id, const JournalEvent& event) {
    if (event.kind == JournalEvent::Kind::clean) {
        backlog_.erase(id);
    }
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) {
        return;
    }
    if (event.kind == JournalEvent::Kind::finish) {
        job->second.status = event.status;
    } else if (event.kind == JournalEvent::Kind::exception && event.severity == 0) {
        job->second.note = event.type + (event.note.empty() ? "" : ": " + event.note);
    } else if (event.kind == JournalEvent::Kind::clean && !std::exchange(job->second.is_told, true)) {
        ask_state(id);
    }
}

void PartitionKeeper::ready() {
    is_ready_ = true;
    // The newest first: after a restart of a partition the old instance and the new one have the same digest.
    const std::map<JobId, JobFacts> backlog = std::exchange(backlog_, {});
    for (auto known = backlog.rbegin(); known != backlog.rend(); ++known) {
        take_instance(known->first, known->second);
    }
    notify_plugin();
    look();
    answer_managers();
}

/// The embedded job-manager keeps the other jobs from the scheduler until it has the answer.
void PartitionKeeper::partitions_submitted(const flux_msg_t* msg) {
    managers_.push_back(flux::keep(msg));
    answer_managers();
}

void PartitionKeeper::answer_managers() {
    is_first_look_over_ = is_first_look_over_ || (is_ready_ && starting_.empty());
    if (is_first_look_over_) {
        for (const flux::MessageRef& manager : std::exchange(managers_, {})) {
            flux::respond(h_, manager.get(), Json::object());
        }
    }
}

void PartitionKeeper::reset() {
    is_ready_ = false;
    is_first_look_over_ = false;
    backlog_.clear();
    starting_.clear();
    ends_.clear();
    jobs_.clear();
    table_ = PartitionTable();
    put_in_force();
}

// ---- the table ----

void PartitionKeeper::look() {
    if (!is_ready_) {
        return;
    }
    std::vector<KeptPartition> partitions = kept();
    warn_of_jobs_left(partitions);
    bool is_news = routes_.set_partitions(std::move(partitions));
    table_.look({monotonic_now(),
                 [this](JobId job) {
                     const auto child = routes_.child_without_counts(job);
                     return child ? ChildLoad{child->is_attached, routes_.jobs_with(job)} : ChildLoad{};
                 },
                 [this](const PartitionSpec& spec) { return routes_.is_awaited(kept_of(spec)); }});
    perform();
    is_news = routes_.set_partitions(kept()) || is_news;  // who serves, and why another does not, after this look
    arm();
    if (is_news) {
        changed_();
    }
}

/// No partition has a queue any more, and jobs wait for it. `weir reload` shows what is logged as a warning meanwhile.
void PartitionKeeper::warn_of_jobs_left(const std::vector<KeptPartition>& partitions) {
    std::set<std::string> queues;
    for (const KeptPartition& partition : partitions) {
        queues.insert(partition.queues.begin(), partition.queues.end());
    }
    warnings_.clear();
    for (const std::string& queue : std::exchange(queues_kept_, std::move(queues))) {
        const std::int64_t left = queues_kept_.count(queue) == 0 ? routes_.waiting_for(queue) : 0;
        if (left > 0) {
            warnings_.push_back((left == 1 ? "1 job waits" : std::to_string(left) + " jobs wait") + " for the queue " +
                                queue + ", which no partition has any more, and " + (left == 1 ? "stays" : "stay") +
                                " until one has it or somebody cancels. See: weir jobs -q " + queue);
            flux::log(h_, LOG_WARNING, warnings_.back());
        }
    }
}

std::vector<KeptPartition> PartitionKeeper::kept() const {
    std::vector<std::pair<std::size_t, KeptPartition>> placed;
    for (const auto& [name, partition] : table_.partitions()) {
        const PartitionSpec& spec = partition.spec;
        if (partition.is_wanted) {
            KeptPartition one = kept_of(spec);
            one.job = partition.current ? partition.current->job : JobId{};
            one.away = away_text(partition);
            one.is_drained = partition.is_drained;
            for (const PartitionInstance& old : partition.old) {
                if (old.job.value != 0) {
                    one.old.push_back(old.job);
                }
            }
            placed.push_back({spec.place, std::move(one)});
        }
    }
    std::sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<KeptPartition> partitions;
    for (auto& [place, one] : placed) {
        partitions.push_back(std::move(one));
    }
    return partitions;
}

void PartitionKeeper::arm() {
    flux_watcher_stop(timer_.get());
    if (!table_.partitions().empty()) {
        const double pause = std::max(0.01, to_seconds(table_.next_look(monotonic_now())));
        flux_timer_watcher_reset(timer_.get(), flux::real_seconds(h_, pause), 0.);
        flux_watcher_start(timer_.get());
    }
}

void PartitionKeeper::perform() {
    bool is_news = false;
    for (const PartitionAction& action : table_.take()) {
        switch (action.kind) {
            case PartitionAction::Kind::start:
                start(action);
                break;
            case PartitionAction::Kind::drain:
            case PartitionAction::Kind::resume:
                routes_.set_drained(action.job, action.kind == PartitionAction::Kind::drain);
                is_news = true;
                break;
            case PartitionAction::Kind::cancel:
                cancel(action.job, action.text);
                break;
            case PartitionAction::Kind::give_back:
                if (flux::is_embedded(h_)) {
                    (void)flux::rpc(h_, "job-manager.alloc-free", Json::object().set("id", action.job.value),
                                    FLUX_RPC_NORESPONSE);
                }
                break;
            case PartitionAction::Kind::log:
                flux::log(h_, action.severity, action.text);
                break;
        }
    }
    if (is_news) {
        changed_();
    }
}

void PartitionKeeper::start(const PartitionAction& action) {
    const std::string& name = action.name;
    const int folder = action.folder;
    const flux::Caught caught = flux::catching([&] {
        const PartitionSpec& spec = table_.partitions().at(name).spec;
        const PartitionPaths paths = partition_paths(spec, place_, folder);
        for (const std::string& path : {paths.rundir, paths.statedir}) {
            if (!path.empty() && mkdir(path.c_str(), 0700) < 0 && errno != EEXIST) {
                flux::fail_errno(path);
            }
        }
        record_folder(name, folder);
        Json payload = Json::object();
        payload.set("J", sign_none(partition_jobspec(spec, place_, folder), getuid()));
        // One that follows another has its cores, also where jobs or the next instance of another partition wait for
        // them. At a start of the instance those of the configuration are before the jobs that waited when it stopped.
        const bool is_first = action.is_expedited || (!is_first_look_over_ && flux::is_embedded(h_));
        payload.set("urgency", is_first ? FLUX_JOB_URGENCY_EXPEDITE : FLUX_JOB_URGENCY_DEFAULT).set("flags", 0);
        flux::Future future = flux::rpc(h_, "job-ingest.submit", payload);
        flux_future_t* key = future.get();
        flux::then<&PartitionKeeper::on_started>(key, this);
        starting_.emplace(key, Starting{std::move(future), name, folder});
    });
    if (caught.errnum != 0) {
        table_.start_failed(name, folder, caught.message, monotonic_now());
        perform();
    }
}

/// The journal reports the submission too; the first of both is used.
void PartitionKeeper::on_started(flux_future_t* f) {
    const auto found = starting_.find(f);
    if (found == starting_.end()) {
        return;
    }
    const Starting starting = std::move(found->second);
    starting_.erase(found);
    json_int_t id = 0;
    const flux::Caught caught = flux::catching([&] {
        const Json answer = flux::rpc_get(f, "submit");
        if (json_unpack(answer.get(), "{s:I}", "id", &id) < 0) {
            throw Failure(EPROTO, "submit: the answer has no id");
        }
    });
    if (caught.errnum != 0) {
        table_.start_failed(starting.name, starting.folder, caught.message, monotonic_now());
    } else {
        table_.started(starting.name, starting.folder, JobId{static_cast<std::uint64_t>(id)});
    }
    look();
    answer_managers();
}

void PartitionKeeper::cancel(JobId job, const std::string& why) {
    Json payload = Json::object();
    payload.set("id", job.value).set("type", "cancel").set("severity", 0).set("note", why);
    flux::Future future = flux::rpc(h_, "job-manager.raise", payload);
    flux_future_t* key = future.get();
    flux::then<&PartitionKeeper::on_canceled>(key, this);
    cancels_.emplace(key, std::move(future));
}

/// The plugin then refuses jobs that no partition takes. Without the plugin no job is routed.
void PartitionKeeper::notify_plugin() {
    Json payload = Json::object();
    payload.set("partitions", in_force_.share()).set("users", users_ ? users_.share() : Json::object());
    told_ = flux::rpc(h_, "job-manager.jobroute.partitions", payload);
    flux::then<&PartitionKeeper::on_told>(told_.get(), this);
}

/// Nobody waits for an answer.
void PartitionKeeper::tap_loaded(const flux_msg_t*) {
    if (is_ready_) {
        notify_plugin();
    }
}

void PartitionKeeper::on_told(flux_future_t* f) {
    const flux::Caught caught = flux::catching([f] { (void)flux::rpc_get(f, "telling the plugin of the partitions"); });
    if (caught.errnum != 0 && caught.errnum != ENOSYS) {
        flux::log(h_, LOG_WARNING, caught.message);
    }
    told_.reset();
}

/// A job that has ended in the meantime needs none.
void PartitionKeeper::on_canceled(flux_future_t* f) {
    const flux::Caught caught = flux::catching([f] { (void)flux::rpc_get(f, "ending a partition"); });
    if (caught.errnum != 0 && caught.errnum != ENOENT) {
        flux::log(h_, LOG_WARNING, caught.message);
    }
    cancels_.erase(f);
}

// ---- the end of an instance ----

/// A stock Flux that ends cancels all jobs. A partition that is started again then is submitted while the job-manager
/// is unloaded, which stock Flux does not always survive.
void PartitionKeeper::ask_state(JobId job) {
    flux::Future future = flux::rpc(h_, "state-machine.get", Json::object());
    flux_future_t* key = future.get();
    flux::then<&PartitionKeeper::on_state>(key, this);
    ends_.emplace(key, std::pair(std::move(future), job));
}

void PartitionKeeper::on_state(flux_future_t* f) {
    const auto found = ends_.find(f);
    if (found == ends_.end()) {
        return;
    }
    const auto [future, job] = std::move(found->second);
    ends_.erase(found);
    std::string state;
    (void)flux::catching([&state, f] { state = flux::rpc_get(f, "state").string_at("state").value_or(""); });
    for (const char* ending : {"cleanup", "shutdown", "finalize", "goodbye"}) {
        if (state == ending) {
            table_.close();
        }
    }
    ask_last_words(job);
}

/// A stock Flux has no such service; then the exit code is shown.
void PartitionKeeper::ask_last_words(JobId job) {
    Json payload = Json::object();
    payload.set("id", job.value).set("offset", 0).set("stream", "stderr");
    flux::Future future = flux::rpc(h_, "job-exec.output", payload);
    flux_future_t* key = future.get();
    flux::then<&PartitionKeeper::on_last_words>(key, this);
    ends_.emplace(key, std::pair(std::move(future), job));
}

void PartitionKeeper::on_last_words(flux_future_t* f) {
    const auto found = ends_.find(f);
    if (found == ends_.end()) {
        return;
    }
    const auto [future, job] = std::move(found->second);
    ends_.erase(found);
    std::string words;
    (void)flux::catching([&words, f] {
        const Json answer = flux::rpc_get(f, "output");
        words = last_line(answer.string_at("data").value_or(""));
    });
    table_.ended(job, how_it_ended(job, words), monotonic_now());
    jobs_.erase(job);
    look();
}

std::string PartitionKeeper::how_it_ended(JobId job, const std::string& words) const {
    const auto found = jobs_.find(job);
    const End end = found != jobs_.end() ? found->second : End{};
    if (const auto signal = end.status >= 0 ? ending_signal(end.status) : std::nullopt) {
        return "killed by signal " + std::to_string(*signal);
    }
    const std::string how = !end.note.empty() ? end.note
                            : end.status < 0  ? "it never ran"
                                              : "exit code " + std::to_string(WEXITSTATUS(end.status));
    return how + (words.empty() || end.status == 0 ? "" : "; its last line: " + words);
}

}  // namespace weir::route
