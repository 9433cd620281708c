// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading of journal responses. See journal_events.hpp.
#include "modules/job-priority/messages/journal_events.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/json/r.hpp"
#include "libfairshare/base/memory_size.hpp"
#include "libfairshare/tree/node_terms.hpp"
#include "modules/job-priority/messages/bounded_name.hpp"
#include "modules/job-priority/tap/job_kind.hpp"

namespace weir::priority {
namespace {

Error incomplete(const std::string& what) {
    return Error{std::errc::protocol_error, what};
}

std::string text_at(FlatValue object, std::string_view key) {
    return object[key].string().value_or("");
}

std::int64_t integer_at(FlatValue object, std::string_view key) {
    return object[key].integer().value_or(0);
}

// A guest chooses these texts: a long one is not stored.
std::string name_at(FlatValue object, std::string_view key, std::size_t max = name_bytes_max) {
    return bounded_name(text_at(object, key), max);
}

/// Nothing if the update does not name it.
std::optional<std::string> new_name_at(FlatValue context, std::string_view key, std::size_t max = name_bytes_max) {
    auto name = context[key].string();
    return name ? std::optional(bounded_name(std::move(*name), max)) : std::nullopt;
}

std::string project_at(FlatValue value) {
    const std::string name = value.string().value_or("");
    return name == no_project ? "" : bounded_name(name, name_bytes_max);
}

/// The first element of an array; nothing for any other value.
FlatValue first_of(FlatValue list) {
    return list.is_array() ? list.first() : FlatValue();
}

/// Adds the jobspec's amounts of each type but cores and nodes; counts multiply from the outside to the inside.
void add_amounts(FlatValue resources, std::int64_t factor, int depth, std::map<std::string, double>& amounts) {
    if (depth > requested_depth_max) {
        return;
    }
    for (FlatValue resource = first_of(resources); resource; resource = resource.next()) {
        const std::int64_t count = std::min(requested_count_max, factor * requested_count(resource));
        const std::string type = text_at(resource, "type");
        if (type != "core" && type != "node") {
            amounts[type == "gpu" ? "gpus" : type] += static_cast<double>(count);
        }
        add_amounts(resource["with"], count, depth + 1, amounts);
    }
}

/// See JobRequest::amounts.
std::map<std::string, double> requested_amounts(FlatValue resources, FlatValue system) {
    std::map<std::string, double> amounts;
    add_amounts(resources, 1, 0, amounts);
    const auto slots = amounts.extract("slot");
    if (const auto mib = parse_mib(text_at(system["weir"], "memory_per_slot")); mib && slots) {
        amounts["memory"] += slots.mapped() * *mib / 1024.;
    }
    return amounts;
}

/// Nodes and slots of a jobspec; counts multiply from the outside to the inside.
struct NodesAndSlots {
    std::int64_t nodes = 0;
    std::int64_t whole_nodes = 0;
    std::int64_t slots = 0;
};

void add_nodes(FlatValue resources, std::int64_t factor, int depth, NodesAndSlots& sums) {
    const auto add = [](std::int64_t& sum, std::int64_t count) { sum = std::min(requested_count_max, sum + count); };
    if (depth > requested_depth_max) {
        return;
    }
    for (FlatValue resource = first_of(resources); resource; resource = resource.next()) {
        const std::int64_t count = std::min(requested_count_max, factor * requested_count(resource));
        const std::string type = text_at(resource, "type");
        if (type == "node") {
            add(sums.nodes, count);
            add(sums.whole_nodes, resource["exclusive"].boolean().value_or(false) ? count : 0);
        } else if (type == "slot") {
            add(sums.slots, count);
        }
        add_nodes(resource["with"], count, depth + 1, sums);
    }
}

void read_nodes(FlatValue resources, JobRequest& request) {
    NodesAndSlots sums;
    add_nodes(resources, 1, 0, sums);
    request.nodes = std::max<std::int64_t>(1, sums.nodes);
    request.spread = sums.nodes == 0 ? sums.slots : 0;
    request.whole_nodes = sums.whole_nodes;
}

/// 0, absent or unreadable: no limit.
Duration wall_time_of(FlatValue value) {
    const auto number = value.number();
    const auto read = number ? duration_from_number(*number) : parse_fsd(value.string().value_or("0"));
    return read && *read > Duration::zero() ? *read : Duration::max();
}

JobRequest read_request(FlatValue jobspec) {
    const FlatValue system = jobspec["attributes"]["system"];
    const FlatValue resources = jobspec["resources"];
    JobRequest request;
    request.account = name_at(system, "bank", account_bytes_max);
    request.queue = name_at(system, "queue");
    request.qos = name_at(system, "qos");
    request.project = project_at(system["project"]);
    request.cores = requested_cores(resources);
    read_nodes(resources, request);
    request.wall_time = wall_time_of(system["duration"]);
    request.amounts = requested_amounts(resources, system);
    const FlatValue weir = system["weir"];
    request.is_account_filled_in =
        !request.account.empty() && request.account == name_at(weir, "default_bank", account_bytes_max);
    if (const auto routed = weir["userid"].integer()) {
        request.routed_for = static_cast<std::uint32_t>(*routed);
    }
    request.queue_above = name_at(weir, "queue");
    const FlatValue serves = first_of(weir["serves"]);
    request.is_instance = static_cast<bool>(serves);
    if (serves && !serves.next()) {
        request.serves = bounded_name(serves.string().value_or(""), name_bytes_max);
    }
    return request;
}

SubmitEvent read_submit(FlatValue context, FlatValue jobspec) {
    SubmitEvent submit;
    submit.userid = static_cast<std::uint32_t>(integer_at(context, "userid"));
    if (const auto urgency = context["urgency"].integer()) {
        submit.urgency = static_cast<int>(*urgency);
    }
    submit.request = read_request(jobspec);
    const FlatValue weir = jobspec["attributes"]["system"]["weir"];
    submit.copy_of = static_cast<FluxJobId>(integer_at(weir, "jobid"));
    if (const auto since = duration_from_number(weir["submit"].number().value_or(-1.))) {
        submit.submit_above = Instant{*since};
    }
    return submit;
}

UpdateEvent read_update(FlatValue context) {
    const FlatValue duration = context["attributes.system.duration"];
    const FlatValue project = context["attributes.system.project"];
    return {new_name_at(context, "attributes.system.bank", account_bytes_max),
            new_name_at(context, "attributes.system.queue"),
            new_name_at(context, "attributes.system.qos"),
            duration ? std::optional(wall_time_of(duration)) : std::nullopt,
            project ? std::optional(project_at(project)) : std::nullopt,
            new_name_at(context, "attributes.system.weir.default_bank", account_bytes_max)};
}

AllocEvent read_alloc(FlatValue context, FlatValue R) {
    const Json document = Json::of(R);
    const auto read = decode_r(document.get());
    const auto cores = read ? static_cast<std::int64_t>(core_count(read->resources)) : 0;
    const auto nodes = read ? static_cast<std::int64_t>(read->resources.nodes.size()) : 1;
    return {cores, static_cast<bool>(context["annotations"]["weir"]["child"]), nodes};
}

/// The event says that the broker returned, `seconds` after it was last seen. It becomes two events, the end and the
/// return, which are sorted among the other jobs' events by their own times.
void push_down(const JobEvent& up, double seconds, JournalMessage& into) {
    const auto length = duration_from_number(seconds);
    if (length && *length < up.time.time_since_epoch()) {
        into.events.push_back({up.id, up.time - *length, DownEvent{*length}});
    }
}

/// Appends the event if it is one of ours. False when the entry is no RFC 18 event.
bool read_event(FlatValue entry, FlatValue message, JournalMessage& into) {
    const auto time = entry["timestamp"].number();
    const auto kind = entry["name"].string();
    const FlatValue context = entry["context"];
    if (!time || !kind) {
        return false;
    }
    JobEvent event{into.id, instant_from_seconds(*time), CleanEvent{}};
    if (*kind == "submit") {
        event.what = read_submit(context, message["jobspec"]);
    } else if (*kind == "depend") {
        event.what = DependEvent{};
    } else if (*kind == "urgency") {
        event.what = UrgencyEvent{static_cast<int>(integer_at(context, "urgency"))};
    } else if (*kind == "jobspec-update") {
        event.what = read_update(context);
    } else if (*kind == "alloc") {
        event.what = read_alloc(context, message["R"]);
    } else if (*kind == "free") {
        event.what = FreeEvent{};
    } else if (*kind == "weir.down") {
        push_down(event, context["seconds"].number().value_or(0), into);
        event.what = UpEvent{};
    } else if (*kind != "clean" && *kind != "invalidate") {  // a plugin refused what was submitted
        return true;
    }
    into.events.push_back(std::move(event));
    return true;
}

}  // namespace

Json journal_filter() {
    Json names = Json::object();
    for (const char* name :
         {"submit", "depend", "urgency", "jobspec-update", "alloc", "free", "weir.down", "clean", "invalidate"}) {
        names.set(name, 1);
    }
    return names;
}

Result<JournalMessage> read_journal(FlatValue message) {
    JournalMessage read;
    const auto id = message["id"].integer();
    const FlatValue events = message["events"];
    if (!id || !events.is_array()) {
        return incomplete("a journal response without id and events");
    }
    if (*id == -1) {
        read.is_sentinel = true;
        return read;
    }
    read.id = static_cast<FluxJobId>(*id);
    for (FlatValue entry = events.first(); entry; entry = entry.next()) {
        if (!read_event(entry, message, read)) {
            return incomplete("a journal entry without timestamp and name");
        }
    }
    return read;
}

}  // namespace weir::priority
