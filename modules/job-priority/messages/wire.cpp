// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading and writing of wire JSON. See wire.hpp.
#include "modules/job-priority/messages/wire.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/json/r.hpp"
#include "libfairshare/base/memory_size.hpp"
#include "modules/job-priority/sends/uplink_queue.hpp"

namespace weir::priority {
namespace {

// A jobspec beyond these is nonsense; the limits keep products inside 64 bits.
constexpr std::int64_t count_max = 1'000'000'000;
constexpr int depth_max = 32;

// Beyond these a report is no child's: names are components of paths, dates lie within three thousand years of 1970.
constexpr std::size_t name_max = 1024;
constexpr double date_max_s = 1e11;

Error malformed(const std::string& what) {
    return Error{std::errc::protocol_error, what};
}

std::string text_of(const json_t* object, const char* key) {
    const char* text = json_string_value(json_object_get(object, key));
    return text != nullptr ? text : "";
}

const json_t* at(const json_t* object, std::initializer_list<const char*> path) {
    for (const char* key : path) {
        object = json_object_get(object, key);
    }
    return object;
}

/// A count: a number, {"min": n, ...} or an RFC 14 range as text "2+".
std::int64_t count_of(const json_t* resource) {
    const json_t* count = json_object_get(resource, "count");
    std::int64_t value = 1;
    if (json_is_integer(count)) {
        value = json_integer_value(count);
    } else if (json_is_object(count)) {
        value = json_integer_value(json_object_get(count, "min"));
    } else if (const char* text = json_string_value(count)) {
        std::from_chars(text, text + std::string_view(text).size(), value);
    }
    return std::clamp<std::int64_t>(value, 0, count_max);
}

std::int64_t cores_in(const json_t* resources, std::int64_t factor, int depth) {
    std::int64_t cores = 0;
    std::size_t index = 0;
    json_t* resource = nullptr;
    if (depth > depth_max) {
        return 0;
    }
    json_array_foreach(resources, index, resource) {
        const std::int64_t count = std::min(count_max, factor * count_of(resource));
        cores +=
            text_of(resource, "type") == "core" ? count : cores_in(json_object_get(resource, "with"), count, depth + 1);
    }
    return std::min(cores, count_max);
}

/// Adds what the jobspec asks for of each type but cores and nodes; counts multiply along the way.
void add_amounts(const json_t* resources, std::int64_t factor, int depth, std::map<std::string, double>& amounts) {
    std::size_t index = 0;
    json_t* resource = nullptr;
    if (depth > depth_max) {
        return;
    }
    json_array_foreach(resources, index, resource) {
        const std::int64_t count = std::min(count_max, factor * count_of(resource));
        const std::string type = text_of(resource, "type");
        if (type != "core" && type != "node") {
            amounts[type == "gpu" ? "gpus" : type] += static_cast<double>(count);
        }
        add_amounts(json_object_get(resource, "with"), count, depth + 1, amounts);
    }
}

/// See JobRequest::amounts.
std::map<std::string, double> amounts_of_jobspec(const json_t* jobspec, const json_t* system) {
    std::map<std::string, double> amounts;
    add_amounts(json_object_get(jobspec, "resources"), 1, 0, amounts);
    const auto slots = amounts.extract("slot");
    if (const auto mib = parse_mib(text_of(at(system, {"weir"}), "memory_per_slot")); mib && slots) {
        amounts["memory"] += slots.mapped() * *mib / 1024.;
    }
    return amounts;
}

/// The nodes it names; 1 where it names none.
std::int64_t nodes_of_jobspec(const json_t* jobspec) {
    const json_t* first = json_array_get(json_object_get(jobspec, "resources"), 0);
    return text_of(first, "type") == "node" ? std::max<std::int64_t>(1, count_of(first)) : 1;
}

/// 0, nothing and what cannot be read: no limit.
Duration wall_time_of(const json_t* value) {
    const auto read = json_is_number(value) ? duration_from_number(json_number_value(value))
                                            : parse_fsd(json_is_string(value) ? json_string_value(value) : "0");
    return read && *read > Duration::zero() ? *read : Duration::max();
}

JobRequest read_request(const json_t* jobspec) {
    const json_t* system = at(jobspec, {"attributes", "system"});
    JobRequest request;
    request.account = text_of(system, "bank");
    request.queue = text_of(system, "queue");
    request.qos = text_of(system, "qos");
    request.cores = cores_of_jobspec(jobspec);
    request.nodes = nodes_of_jobspec(jobspec);
    request.wall_time = wall_time_of(json_object_get(system, "duration"));
    request.amounts = amounts_of_jobspec(jobspec, system);
    if (const json_t* routed = at(system, {"weir", "userid"}); json_is_integer(routed)) {
        request.routed_for = static_cast<std::uint32_t>(json_integer_value(routed));
    }
    const json_t* serves = at(system, {"weir", "serves"});
    request.is_instance = json_array_size(serves) > 0;
    if (json_array_size(serves) == 1) {
        const char* queue = json_string_value(json_array_get(serves, 0));
        request.serves = queue != nullptr ? queue : "";
    }
    return request;
}

SubmitEvent read_submit(const json_t* context, const json_t* jobspec) {
    SubmitEvent submit;
    submit.userid = static_cast<std::uint32_t>(json_integer_value(json_object_get(context, "userid")));
    if (const json_t* urgency = json_object_get(context, "urgency"); json_is_integer(urgency)) {
        submit.urgency = static_cast<int>(json_integer_value(urgency));
    }
    submit.request = read_request(jobspec);
    return submit;
}

UpdateEvent read_update(const json_t* context) {
    const auto changed = [context](const char* key) -> std::optional<std::string> {
        const char* text = json_string_value(json_object_get(context, key));
        return text != nullptr ? std::optional<std::string>(text) : std::nullopt;
    };
    const json_t* duration = json_object_get(context, "attributes.system.duration");
    return {changed("attributes.system.bank"), changed("attributes.system.queue"), changed("attributes.system.qos"),
            duration != nullptr ? std::optional(wall_time_of(duration)) : std::nullopt};
}

AllocEvent read_alloc(const json_t* context, json_t* R) {
    const auto read = decode_r(R);
    const auto cores = read ? static_cast<std::int64_t>(core_count(read->resources)) : 0;
    const auto nodes = read ? static_cast<std::int64_t>(read->resources.nodes.size()) : 1;
    return {cores, at(context, {"annotations", "weir", "child"}) != nullptr, nodes};
}

/// The event is that of the broker's return, `seconds` after it was last seen: before it goes the one of its end. Each
/// has its place among the other jobs' events.
void push_down(const JobEvent& up, double seconds, JournalMessage& into) {
    const auto length = duration_from_number(seconds);
    if (length && *length < up.time.time_since_epoch()) {
        into.events.push_back({up.id, up.time - *length, DownEvent{*length}});
    }
}

/// Appends the event if it is one of ours. False when the entry is no RFC 18 event.
bool read_event(const json_t* entry, const json_t* message, JournalMessage& into) {
    const json_t* time = json_object_get(entry, "timestamp");
    const char* name = json_string_value(json_object_get(entry, "name"));
    const json_t* context = json_object_get(entry, "context");
    if (!json_is_number(time) || name == nullptr || !std::isfinite(json_number_value(time))) {
        return false;
    }
    JobEvent event{into.id, instant_from_seconds(json_number_value(time)), CleanEvent{}};
    const std::string_view kind(name);
    if (kind == "submit") {
        event.what = read_submit(context, json_object_get(message, "jobspec"));
    } else if (kind == "depend") {
        event.what = DependEvent{};
    } else if (kind == "urgency") {
        event.what = UrgencyEvent{static_cast<int>(json_integer_value(json_object_get(context, "urgency")))};
    } else if (kind == "jobspec-update") {
        event.what = read_update(context);
    } else if (kind == "alloc") {
        event.what = read_alloc(context, json_object_get(message, "R"));
    } else if (kind == "free") {
        event.what = FreeEvent{};
    } else if (kind == "weir.down") {
        push_down(event, json_number_value(json_object_get(context, "seconds")), into);
        event.what = UpEvent{};
    } else if (kind != "clean") {
        return true;
    }
    into.events.push_back(std::move(event));
    return true;
}

}  // namespace

Json journal_filter() {
    Json names = Json::object();
    for (const char* name : {"submit", "depend", "urgency", "jobspec-update", "alloc", "free", "weir.down", "clean"}) {
        names.set(name, 1);
    }
    return names;
}

MachineSize machine_of_R(json_t* R) {
    const auto read = decode_r(R);
    MachineSize machine{0, 0, 0., 0.};
    if (!read) {
        return machine;
    }
    machine.cores = static_cast<std::uint32_t>(core_count(read->resources));
    machine.nodes = static_cast<std::uint32_t>(read->resources.nodes.size());
    for (const NodeResources& node : read->resources.nodes) {
        machine.gpus += static_cast<double>(node.gpus.count());
        machine.memory_gib += node.memory_mib / 1024.;
    }
    return machine;
}

Result<JournalMessage> read_journal(const json_t* message) {
    JournalMessage read;
    const json_t* id = json_object_get(message, "id");
    json_t* events = json_object_get(message, "events");
    if (!json_is_integer(id) || !json_is_array(events)) {
        return malformed("a journal response without id and events");
    }
    if (json_integer_value(id) == -1) {
        read.is_sentinel = true;
        return read;
    }
    read.id = static_cast<FluxJobId>(json_integer_value(id));
    std::size_t index = 0;
    json_t* entry = nullptr;
    json_array_foreach(events, index, entry) {
        if (!read_event(entry, message, read)) {
            return malformed("a journal entry without timestamp and name");
        }
    }
    return read;
}

std::int64_t cores_of_jobspec(const json_t* jobspec) {
    return std::max<std::int64_t>(1, cores_in(json_object_get(jobspec, "resources"), 1, 0));
}

Json write_records(const std::vector<UplinkRow>& records) {
    Json array = Json::array();
    for (const UplinkRow& record : records) {
        Json entry = Json::object();
        entry.set("op", record.is_start ? "start" : "end").set("id", static_cast<long long>(record.job));
        entry.set("user", record.user)
            .set("account", record.account)
            .set("cores", static_cast<long long>(record.cores));
        entry.set("t", to_seconds(record.time));
        if (record.inside != 0) {
            entry.set("inside", static_cast<long long>(record.inside));
        }
        array.append(std::move(entry));
    }
    return array;
}

Result<std::vector<UplinkRow>> read_records(const json_t* records) {
    std::vector<UplinkRow> rows;
    std::size_t index = 0;
    json_t* entry = nullptr;
    if (!json_is_array(records)) {
        return malformed("records must be a list");
    }
    if (json_array_size(records) > UplinkQueue::batch_max) {
        return malformed("a report has at most " + std::to_string(UplinkQueue::batch_max) + " records, not " +
                         std::to_string(json_array_size(records)));
    }
    json_array_foreach(const_cast<json_t*>(records), index, entry) {
        const char* op = nullptr;
        const char* user = nullptr;
        const char* account = nullptr;
        json_int_t id = 0;
        json_int_t cores = 0;
        json_int_t inside = 0;
        double time = 0;
        if (json_unpack(entry, "{s:s s:I s:s s:s s:I s:F s?I}", "op", &op, "id", &id, "user", &user, "account",
                        &account, "cores", &cores, "t", &time, "inside", &inside) < 0 ||
            cores < 0 || !(std::fabs(time) <= date_max_s) ||
            (std::string_view(op) != "start" && std::string_view(op) != "end") ||
            std::string_view(user).size() > name_max || std::string_view(account).size() > name_max) {
            return malformed(
                "record " + std::to_string(index) +
                " must be {op:\"start\"|\"end\", id, user, account, cores >= 0, t, inside?}, names of at most " +
                std::to_string(name_max) + " bytes, t a date");
        }
        rows.push_back({std::string_view(op) == "start", static_cast<FluxJobId>(id), user, account, cores,
                        instant_from_seconds(time), static_cast<FluxJobId>(inside)});
    }
    return rows;
}

Result<std::vector<std::pair<FluxJobId, std::optional<double>>>> read_site_values(const json_t* values) {
    std::vector<std::pair<FluxJobId, std::optional<double>>> read;
    std::size_t index = 0;
    json_t* entry = nullptr;
    if (!json_is_array(values)) {
        return malformed("values must be a list of [job, value]");
    }
    json_array_foreach(const_cast<json_t*>(values), index, entry) {
        const json_t* id = json_array_get(entry, 0);
        const json_t* value = json_array_get(entry, 1);
        const bool is_number = json_is_number(value) && std::isfinite(json_number_value(value));
        if (json_array_size(entry) != 2 || !json_is_integer(id) || !(is_number || json_is_null(value))) {
            return malformed("value " + std::to_string(index) +
                             " must be [job id, number], or [job id, null] to remove it");
        }
        read.emplace_back(static_cast<FluxJobId>(json_integer_value(id)),
                          is_number ? std::optional(json_number_value(value)) : std::nullopt);
    }
    return read;
}

Json write_factors(const std::vector<FactorRow>& rows) {
    Json array = Json::array();
    for (const FactorRow& row : rows) {
        Json entry = Json::object();
        if (row.userid) {
            entry.set("userid", static_cast<long long>(*row.userid));
        }
        entry.set("user", row.user).set("account", row.account).set("factor", row.factor);
        if (row.is_default) {
            entry.set("default", true);
        }
        array.append(std::move(entry));
    }
    return array;
}

Result<std::vector<FactorRow>> read_factors(const json_t* rows) {
    std::vector<FactorRow> read;
    std::size_t index = 0;
    json_t* entry = nullptr;
    if (!json_is_array(rows)) {
        return malformed("factors must be a list");
    }
    json_array_foreach(const_cast<json_t*>(rows), index, entry) {
        const char* user = nullptr;
        const char* account = nullptr;
        json_t* userid = nullptr;
        FactorRow row;
        int is_default = 0;
        if (json_unpack(entry, "{s?o s:s s:s s:F s?b}", "userid", &userid, "user", &user, "account", &account, "factor",
                        &row.factor, "default", &is_default) < 0) {
            return malformed("factor " + std::to_string(index) + " must be {userid?, user, account, factor, default?}");
        }
        if (json_is_integer(userid)) {
            row.userid = static_cast<std::uint32_t>(json_integer_value(userid));
        }
        row.user = user;
        row.account = account;
        row.is_default = is_default != 0;
        read.push_back(std::move(row));
    }
    return read;
}

}  // namespace weir::priority
