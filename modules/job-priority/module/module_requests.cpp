// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the table of the module's requests with who may ask, and the requests that change something. See module.hpp;
// payloads in README.md.
#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "libfairshare/base/flat_json.hpp"
#include "modules/job-priority/messages/report_wire.hpp"
#include "modules/job-priority/messages/views.hpp"
#include "modules/job-priority/messages/wire.hpp"
#include "modules/job-priority/module/module.hpp"

namespace weir::priority {
namespace {

constexpr std::size_t instance_name_max = 256;
constexpr std::size_t policy_text_max = 500;
constexpr double report_pause_s = 0.1;          // of real time, between two turns of guests' reports
constexpr std::size_t records_per_turn = 2000;  // over all guests
constexpr std::size_t questions_max = 64;       // of one guest that wait

/// The change is not in force, since it could not be written.
void written_or_throw(const Status& written, const char* what) {
    if (!written) {
        throw flux::Failure(EIO, std::string(what) + " not changed: " + written.error().message);
    }
}

void kept_or_throw(const Status& kept) {
    if (!kept) {
        throw flux::Failure(EAGAIN, "the parent's state file cannot be written now: try again");
    }
}

/// A report's payload, valid as long as `msg`. Errors: EPROTO.
std::string_view report_text(const flux_msg_t* msg) {
    const char* text = nullptr;
    if (flux_request_decode(msg, nullptr, &text) < 0 || text == nullptr) {
        throw flux::Failure(EPROTO, "a report has a payload");
    }
    const std::string_view payload(text);
    if (payload.size() > report_bytes_max) {
        throw flux::Failure(EPROTO, "a report has at most " + std::to_string(report_bytes_max) + " bytes");
    }
    return payload;
}

}  // namespace

/// A guest's requests wait for their turns, but `policy`, which costs a look-up, and `disconnect`, which takes those
/// that wait back. Reports have turns of their own.
std::vector<flux_msg_handler_spec> Module::handlers() {
    constexpr int request = FLUX_MSGTYPE_REQUEST;
    constexpr std::uint32_t owner = 0;
    return {
        {request, "tree-get", in_turn<flux::on_request<&Module::on_tree_get>>, FLUX_ROLE_USER},
        {request, "tree-set", flux::on_request<&Module::on_tree_set>, owner},
        {request, "tree-diff", in_turn<flux::on_request<&Module::on_tree_diff>>, FLUX_ROLE_USER},
        {request, "history", in_turn<flux::on_request<&Module::on_history>>, FLUX_ROLE_USER},
        {request, "usage", in_turn<flux::on_request<&Module::on_usage>>, FLUX_ROLE_USER},
        {request, "usage-report", in_turn<flux::on_request<&Module::on_usage_report>>, FLUX_ROLE_USER},
        {request, "list", in_turn<flux::on_request<&Module::on_list>>, FLUX_ROLE_USER},
        {request, "places", in_turn<flux::on_request<&Module::on_places>>, FLUX_ROLE_USER},
        {request, "explain", in_turn<flux::on_request<&Module::on_explain>>, FLUX_ROLE_USER},
        {request, "share-explain", in_turn<flux::on_request<&Module::on_share_explain>>, FLUX_ROLE_USER},
        {request, "share-after", in_turn<flux::on_request<&Module::on_share_after>>, FLUX_ROLE_USER},
        {request, "share-compare", in_turn<flux::on_request<&Module::on_share_compare>>, FLUX_ROLE_USER},
        {request, "when", in_turn<flux::on_request<&Module::on_when>>, FLUX_ROLE_USER},
        {request, "weights", in_turn<flux::on_request<&Module::on_weights>>, FLUX_ROLE_USER},
        {request, "site-set", flux::on_request<&Module::on_site_set>, owner},
        {request, "share-rows", in_turn<flux::on_request<&Module::on_share_rows>>, FLUX_ROLE_USER},
        {request, "share-figures", in_turn<flux::on_message<&Module::on_share_figures>>, FLUX_ROLE_USER},
        {request, "metrics", in_turn<flux::on_message<&Module::on_metrics>>, FLUX_ROLE_USER},
        {request, "stats-get", in_turn<flux::on_request<&Module::on_stats>>, FLUX_ROLE_ALL},
        {request, "sync", flux::on_message<&Module::on_sync>, owner},
        {request, "attach", in_turn<flux::on_message<&Module::on_attach>>, FLUX_ROLE_USER},
        {request, "admit", flux::on_request<&Module::on_admit>, owner},
        {request, "policy", flux::on_message<&Module::on_policy>, FLUX_ROLE_USER},
        {request, "report", flux::on_message<&Module::on_report>, FLUX_ROLE_USER},
        {request, "disconnect", flux::on_message<&Module::on_disconnect>, FLUX_ROLE_USER},
        {request, "tap-loaded", flux::on_message<&Module::on_tap_loaded>, owner},
        {request, "sched-ready", flux::on_message<&Module::on_sched_ready>, owner},
        {request, "config-reload", flux::on_request<&Module::on_config_reload>, owner},
    };
}

// ---- guests' turns ----

flux::GuestTurns::Rules Module::question_rules() const {
    return {questions_max, 1, GuestPace(0., true),
            std::to_string(questions_max) + " of your requests to job-priority wait: ask again when one is answered"};
}

/// Reports do not yield: children wait for the answers, and a turn is bounded by its records.
flux::GuestTurns::Rules Module::report_rules() const {
    return {std::numeric_limits<std::size_t>::max(), records_per_turn, GuestPace(report_pause_s, false),
            "another report of this job came before this one was applied: wait for the answer"};
}

/// The text of a tree-set, or of the revision that it names.
TreeEdit Module::tree_edit_of(const flux_msg_t* msg, bool& is_dry_run) const {
    const char* toml = nullptr;
    const char* author = "";
    const char* reason = "";
    int dry_run = 0;
    int allow_empty = 0;
    json_int_t base = -1;
    json_int_t to_revision = -1;
    flux::unpack(msg, "{s?s s?s s?s s?b s?b s?I s?I}", "toml", &toml, "author", &author, "reason", &reason, "dry_run",
                 &dry_run, "allow_empty", &allow_empty, "base_revision", &base, "to_revision", &to_revision);
    if ((toml == nullptr) == (to_revision < 0)) {
        throw flux::Failure(EPROTO, "tree-set wants either toml or to_revision");
    }
    TreeEdit edit{toml != nullptr ? toml : flux::value_or_throw(service_->trees().text_of(to_revision)), author, reason,
                  base < 0 ? std::nullopt : std::optional<std::int64_t>(base),
                  allow_empty != 0 || to_revision >= 0};  // who names a revision asks for what it holds
    if (edit.author.empty()) {
        edit.author = service_->users().name(flux::cred_of(msg).userid);
    }
    is_dry_run = dry_run != 0;
    return edit;
}

Json Module::on_tree_set(const flux_msg_t* msg) {
    bool is_dry_run = false;
    const TreeEdit edit = tree_edit_of(msg, is_dry_run);
    TreeProposal proposal = flux::value_or_throw(service_->propose(edit, "share tree", now()));
    Json answer = Json::object();
    answer.set("revision", static_cast<long long>(proposal.revision.revision));
    answer.set("changes", changes_view(proposal.changes)).set("is_new", proposal.is_new);
    if (is_dry_run) {
        answer.set("dry_run", true);
        return answer;
    }
    if (!proposal.is_new) {
        return answer;
    }
    if (policy_->has_parents_tree()) {
        throw flux::Failure(EPERM, "this instance has the share tree of its parent: change it there");
    }
    TreeChangeover changeover = service_->prepare(std::move(proposal), now());
    written_or_throw(state_->write(changeover.batch), "the share tree was");
    service_->accept(std::move(changeover));
    service_->trees().set_problem({});
    is_pass_due_ = true;
    return answer;
}

Json Module::on_site_set(const flux_msg_t* msg) {
    json_t* values = nullptr;
    flux::unpack(msg, "{s:o}", "values", &values);
    const auto read = flux::value_or_throw(read_site_values(values));
    const SiteEdit edit = SiteValues::propose(service_->book(), read);
    StateBatch batch;
    batch.site = edit.rows;
    written_or_throw(state_->write(batch), "the values were");
    service_->accept(edit);
    Json ids = Json::array();
    for (const FluxJobId id : edit.unknown) {
        ids.append(Json::own(json_integer(static_cast<json_int_t>(id))));
    }
    Json answer = Json::object();
    answer.set("set", static_cast<long long>(read.size() - edit.unknown.size())).set("unknown", std::move(ids));
    const Settings& settings = service_->settings();
    const bool is_admin = settings.policy == PolicyKind::lsf && settings.lsf.aps;  // added as it is
    answer.set("weight", is_admin ? 1. : service_->ranking().order().is_sum() ? settings.weights.site : 0.);
    return answer;
}

// ---- sync: answered when the queues are known as they are now, and the plugin has acknowledged everything ----

void Module::on_sync(const flux_msg_t* msg) {
    if (syncs_.empty()) {
        pushed_before_sync_ = service_->sends().plugin().pushed_total();
    }
    syncs_.push_back(flux::keep(msg));
    plugin_->want_all(true);
    queues_->ask();  // a stock Flux tells no change
    is_pass_due_ = true;
}

void Module::answer_syncs() {
    if (syncs_.empty() || is_pass_due_ || !queues_->is_settled() || !(plugin_->is_absent() || plugin_->is_settled()) ||
        !scheduler_->is_settled()) {
        return;
    }
    plugin_->want_all(false);
    (void)state_->keep();  // told
    Json answer = Json::object();
    answer.set("pushed", static_cast<long long>(service_->sends().plugin().pushed_total() - pushed_before_sync_));
    answer.set("pending", static_cast<long long>(service_->ranking().queue().size()));
    for (const flux::MessageRef& msg : std::exchange(syncs_, {})) {
        if (plugin_->is_absent()) {
            flux::respond_error(h_, msg.get(), ENOSYS, "the jobtap plugin job-priority-tap.so is not loaded");
        } else {
            flux::respond(h_, msg.get(), answer);
        }
    }
}

// ---- children ----

void Module::authorize(const flux_msg_t* msg, FluxJobId child) const {
    const flux_msg_cred cred = flux::cred_of(msg);
    (void)flux::value_or_throw(
        service_->children().authorize(child, cred.userid, (cred.rolemask & FLUX_ROLE_OWNER) != 0, private_.is_on()));
}

// Guest: for a job of his that runs, holds one stream open. It brings the factors that tree-get shows him, and how much
// of his own reports was applied. Another attach of that job ends the stream. It causes no commit of its own. Private:
// it brings his own factors alone.
void Module::on_attach(const flux_msg_t* msg) {
    json_int_t jobid = 0;
    json_int_t first_seq = 1;
    const char* instance = nullptr;
    json_t* hosts = nullptr;
    flux::unpack(msg, "{s:I s:s s?I s?o}", "jobid", &jobid, "instance", &instance, "first_seq", &first_seq, "hosts",
                 &hosts);
    if (!flux_msg_is_streaming(msg)) {
        throw flux::Failure(EPROTO, "attach is a streaming request");
    }
    const std::string name = instance;
    if (name.size() > instance_name_max) {
        throw flux::Failure(EPROTO, "an instance's name has at most " + std::to_string(instance_name_max) + " bytes");
    }
    const auto child = static_cast<FluxJobId>(jobid);
    authorize(msg, child);
    const std::uint64_t acked =
        service_->attach_child(child, name, static_cast<std::uint64_t>(std::max<json_int_t>(1, first_seq)), now(),
                               flux::value_or_throw(read_hosts(hosts)));
    Json answer = Json::object();
    answer.set("seq_acked", static_cast<long long>(acked));
    answer.set("half_life_s", to_seconds(service_->settings().half_life));
    answer
        .set("factors", factors_for(child, factor_rows(service_->accounting().tree(),
                                                       service_->ranking().shares().standings(), service_->users())))
        .set("complete", true)
        .set("policy", policy_for(child));
    const bool is_owners = (flux::cred_of(msg).rolemask & FLUX_ROLE_OWNER) != 0;
    // What a guest's attach changes is in the next commit, and follows from another attach as well. But while commits
    // fail, reports may be applied that are not written. The child would forget those that it is told of.
    if (is_owners || state_->has_failed()) {
        kept_or_throw(state_->keep());
    }
    open_places(answer, child);
    flux::respond(h_, msg, answer);
    const flux::MessageRef before = std::exchange(attached_[child], flux::keep(msg));
    if (before) {
        flux::respond_error(h_, before.get(), ENODATA, "the job attached again");
    }
}

// Guest: says of his own running job which settings are in force in it: three short texts, which views show as his.
void Module::on_policy(const flux_msg_t* msg) {
    json_int_t jobid = 0;
    json_int_t tree = 0;
    const char* settings = "";
    const char* from = "";
    const char* refused = "";
    flux::unpack(msg, "{s:I s:s s:I s:s s?s}", "jobid", &jobid, "settings", &settings, "tree", &tree, "from", &from,
                 "refused", &refused);
    const auto child = static_cast<FluxJobId>(jobid);
    authorize(msg, child);
    const auto bounded = [](const char* text) { return std::string(text).substr(0, policy_text_max); };
    policy_->note_child(child, {bounded(settings), tree, bounded(from), bounded(refused)});
}

// Guest: moves what his running job is charged, from its start to now and no core twice, between his own associations.
// Of all his reports one is applied in a tenth of a second, with at most 500 records, and all guests' together cost one
// commit of the state file; each record believed costs a row for the parent instance. Who sends faster waits.
void Module::on_report(const flux_msg_t* msg) {
    FlatJson reader;
    const ReportHead head = flux::value_or_throw(read_report_head(reader.read(report_text(msg))));
    const FluxJobId child = head.child;
    authorize(msg, child);
    const flux_msg_cred cred = flux::cred_of(msg);
    if ((cred.rolemask & FLUX_ROLE_OWNER) != 0) {
        std::vector<flux::GuestTurns::Request> now;
        now.push_back({flux::keep(msg)});
        answer_reports(std::move(now));
    } else {
        reports_->add({flux::keep(msg)}, child, head.records);
    }
}

/// \return the number up to which the child's records are applied.
std::uint64_t Module::apply_report(const flux_msg_t* msg) {
    FlatJson reader;
    const FlatValue message = reader.read(report_text(msg));
    const FluxJobId child = flux::value_or_throw(read_report_head(message)).child;
    authorize(msg, child);  // it may have ended since
    const Instant read_at = now();
    UplinkBatch batch = flux::value_or_throw(read_report(message));
    for (UplinkRow& record : batch.records) {
        record.time -= time_->ahead();
    }
    return service_->report(child, batch.first_seq, std::move(batch.records), read_at);
}

/// An acknowledged report is on disk: one commit serves all of the turn.
void Module::answer_reports(std::vector<flux::GuestTurns::Request> reports) {
    std::vector<std::pair<flux::MessageRef, std::uint64_t>> applied;
    for (flux::GuestTurns::Request& report : reports) {
        flux::MessageRef& msg = report.msg;
        std::uint64_t acked = 0;
        const flux::Caught caught = flux::catching([&] { acked = apply_report(msg.get()); });
        if (caught.errnum != 0) {
            flux::respond_error(h_, msg.get(), caught.errnum, caught.message);
        } else {
            applied.emplace_back(std::move(msg), acked);
        }
    }
    const flux::Caught kept = flux::catching([this] { kept_or_throw(state_->keep()); });
    for (const auto& [msg, acked] : applied) {
        if (kept.errnum != 0) {
            flux::respond_error(h_, msg.get(), kept.errnum, kept.message);
        } else {
            flux::respond(h_, msg.get(), Json::own(json_pack("{s:I}", "seq_acked", static_cast<json_int_t>(acked))));
        }
    }
}

// Guest: ends the streams of his own connection, and its questions that wait. A report that has come is applied.
void Module::on_disconnect(const flux_msg_t* msg) {
    questions_->drop(msg);
    std::erase_if(attached_, [this, msg](const auto& one) {
        const bool is_lost = flux_disconnect_match(msg, one.second.get());
        if (is_lost) {
            service_->close_places(one.first);
        }
        return is_lost;
    });
}

void Module::end_attached() {
    for (auto one = attached_.begin(); one != attached_.end();) {
        const bool is_over = service_->children().children().count(one->first) == 0;
        if (is_over) {
            flux::respond_error(h_, one->second.get(), ENODATA, "the job has ended");
        }
        one = is_over ? attached_.erase(one) : std::next(one);
    }
    policy_->forget_ended();  // a child that was killed is not among the attached any more
}

/// The broker does not fail the open requests of a module that is removed. Without this response a child would wait for
/// factors from nobody, and its reports would go to a module that does not know it.
void Module::detach_children() {
    for (const auto& [child, msg] : attached_) {
        flux::respond_error(h_, msg.get(), EHOSTUNREACH, "job-priority was removed");
    }
    attached_.clear();
}

// ---- the rest ----

void Module::on_tap_loaded(const flux_msg_t*) {
    plugin_->plugin_appeared();
}

void Module::on_sched_ready(const flux_msg_t*) {
    scheduler_->look_again();
}

Json Module::on_config_reload(const flux_msg_t* msg) {
    json_t* table = nullptr;
    json_t* access = nullptr;
    json_t* queues = nullptr;
    json_t* partitions = nullptr;
    flux::unpack(msg, "{s?o s?o s?o s?o}", "weir", &table, "access", &access, "queues", &queues, "partition",
                 &partitions);
    // A bad table is refused as a whole: the old settings stay in force.
    Settings settings = flux::value_or_throw(policy_->settings_of(table));
    private_ = flux::PrivateMode(access);
    put_settings(std::move(settings));
    policy_->reloaded(table);
    if (!policy_->has_parents_tree()) {
        (void)share_tree_file_->read(now());
    }
    if (!is_journal_due_) {
        read_machine();
    }
    take_names(queues, partitions);
    return {};
}

}  // namespace weir::priority
