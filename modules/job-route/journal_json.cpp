// SPDX-License-Identifier: LGPL-3.0-only
// Owns: decoding what job-manager.events-journal streams. An invalid entry is an error for the log; an unknown event is
// not. Source: RFC 18, 21.
#include "modules/job-route/messages_json.hpp"

#include <algorithm>
#include <string_view>

#include "libfairshare/base/fsd.hpp"

namespace weir::route {
namespace {

using Kind = JournalEvent::Kind;

struct Name {
    const char* text;
    Kind kind;
};
constexpr Name event_kinds[] = {
    {"submit", Kind::submit},         {"set-flags", Kind::bypass},
    {"priority", Kind::priority},     {"urgency", Kind::urgency},
    {"weir.route", Kind::route},      {"alloc", Kind::alloc},
    {"start", Kind::start},           {"finish", Kind::finish},
    {"exception", Kind::exception},   {"prolog-start", Kind::prolog_start},
    {"clean", Kind::clean},           {"prolog-finish", Kind::prolog_finish},
    {"memo", Kind::memo_uri},         {"flux-restart", Kind::restart},
    {"jobspec-update", Kind::update},
};

constexpr int resource_depth_max = 8;

/// RFC 14: counts multiply from the outside to the inside. A count that is a range counts with its least value.
/// \param wanted "core" or "node".
std::int64_t count_of(std::string_view wanted, const json_t* resources, std::int64_t outside, int depth) {
    std::int64_t sum = 0;
    std::size_t index = 0;
    json_t* vertex = nullptr;
    json_array_foreach(resources, index, vertex) {
        const json_t* count = json_object_get(vertex, "count");
        count = json_is_object(count) ? json_object_get(count, "min") : count;
        const char* type = json_string_value(json_object_get(vertex, "type"));
        const std::int64_t number = std::clamp<std::int64_t>(json_integer_value(count), 0, cores_max);
        const std::int64_t product = std::min(outside * number, cores_max);
        if (type != nullptr && wanted == type) {
            sum += product;
        } else if (depth < resource_depth_max) {
            sum += count_of(wanted, json_object_get(vertex, "with"), product, depth + 1);
        }
        sum = std::min(sum, cores_max);
    }
    return sum;
}

/// 0 or an invalid duration: no limit.
Duration limit_of(const json_t* seconds) {
    const auto duration = duration_from_number(json_number_value(seconds));
    return duration ? *duration : Duration::zero();
}

/// RFC 31: the properties that every node of the job must have. Properties inside "or" and "not" are not among them.
void add_required(const json_t* constraints, int depth, std::vector<std::string>& properties) {
    std::size_t index = 0;
    const json_t* one = nullptr;
    json_array_foreach(json_object_get(constraints, "properties"), index, one) {
        const char* name = json_string_value(one);
        if (name != nullptr && name[0] != '\0' && name[0] != '^') {
            properties.emplace_back(name);
        }
    }
    json_array_foreach(json_object_get(constraints, "and"), index, one) {
        if (depth < resource_depth_max) {
            add_required(one, depth + 1, properties);
        }
    }
}

bool has_bypass(json_t* context) {
    std::size_t index = 0;
    json_t* flag = nullptr;
    json_array_foreach(json_object_get(context, "flags"), index, flag) {
        if (json_is_string(flag) && std::string_view(json_string_value(flag)) == "alloc-bypass") {
            return true;
        }
    }
    return false;
}

void decode_update(JournalEvent& event, json_t* context) {
    if (const json_t* duration = json_object_get(context, "attributes.system.duration"); json_is_number(duration)) {
        event.duration = limit_of(duration);
    }
    if (const json_t* account = json_object_get(context, "attributes.system.bank"); json_is_string(account)) {
        event.account = json_string_value(account);
    }
}

/// false: the context does not fit the name.
bool decode_context(JournalEvent& event, json_t* context) {
    json_int_t number = 0;
    const char* type = nullptr;
    const char* note = nullptr;
    int rc = 0;
    switch (event.kind) {
        case Kind::submit:
            rc = json_unpack(context, "{s:I s:i}", "userid", &number, "urgency", &event.urgency);
            event.userid = static_cast<std::uint32_t>(number);
            break;
        case Kind::priority:
            rc = json_unpack(context, "{s:I}", "priority", &number);
            event.priority = number;
            break;
        case Kind::urgency:
            rc = json_unpack(context, "{s:i}", "urgency", &event.urgency);
            break;
        case Kind::route:
            rc = json_unpack(context, "{s:I}", "child", &number);
            event.child = static_cast<std::uint64_t>(number);
            break;
        case Kind::alloc:
            (void)json_unpack(context, "{s?{s?{s?I}}}", "annotations", "weir", "child", &number);
            event.child = static_cast<std::uint64_t>(number);
            break;
        case Kind::finish:
            rc = json_unpack(context, "{s:i}", "status", &event.status);
            break;
        case Kind::exception:
            rc = json_unpack(context, "{s:s s:i s?s}", "type", &type, "severity", &event.severity, "note", &note);
            break;
        case Kind::prolog_start:
        case Kind::prolog_finish:
            rc = json_unpack(context, "{s:s}", "description", &type);
            break;
        case Kind::memo_uri:
            (void)json_unpack(context, "{s?s}", "uri", &note);
            break;
        case Kind::update:
            decode_update(event, context);
            break;
        case Kind::bypass:
        case Kind::start:
        case Kind::clean:
        case Kind::restart:
            break;
    }
    event.type = type != nullptr ? type : "";
    event.note = note != nullptr ? note : "";
    return rc == 0;
}

const Name* find(std::string_view text) {
    for (const Name& name : event_kinds) {
        if (text == name.text) {
            return &name;
        }
    }
    return nullptr;
}

Status decode_journal_event(JournalEntry& entry, json_t* value, json_t* R) {
    const char* text = nullptr;
    json_t* context = nullptr;
    if (json_unpack(value, "{s:s s?o}", "name", &text, "context", &context) < 0) {
        return Error{std::errc::protocol_error, "an event without a name"};
    }
    const Name* name = find(text);
    if (name == nullptr || (name->kind == Kind::bypass && !has_bypass(context))) {
        return Done{};
    }
    JournalEvent event;
    event.kind = name->kind;
    if (!decode_context(event, context)) {
        return Error{std::errc::protocol_error, std::string("event ") + text + ": its context does not fit RFC 21"};
    }
    if (event.kind == Kind::memo_uri && event.note.empty()) {
        return Done{};
    }
    if (event.kind == Kind::alloc && R != nullptr) {
        event.R = Json::ref(R).dump();
    }
    entry.events.push_back(std::move(event));
    return Done{};
}

}  // namespace

JobFacts decode_facts(json_t* jobspec) {
    JobFacts facts;
    const json_t* resources = json_object_get(jobspec, "resources");
    facts.cores = std::max<std::int64_t>(1, count_of("core", resources, 1, 0));
    facts.nodes = std::max<std::int64_t>(1, count_of("node", resources, 1, 0));
    const json_t* system = json_object_get(json_object_get(jobspec, "attributes"), "system");
    const auto text_at = [system](const char* key) {
        const char* text = json_string_value(json_object_get(system, key));
        return std::string(text != nullptr ? text : "");
    };
    facts.account = text_at("bank");
    facts.qos = text_at("qos");
    facts.duration = limit_of(json_object_get(system, "duration"));
    add_required(json_object_get(system, "constraints"), 0, facts.properties);
    const char* queue = nullptr;
    const char* queue_above = nullptr;
    const char* output_above = nullptr;
    json_t* bypass = nullptr;
    json_t* serves = nullptr;
    json_int_t upstream = 0;
    json_int_t userid = 0;
    (void)json_unpack(jobspec, "{s:{s:{s?s s?o s?{s?o s?I s?I s?s s?s}}}}", "attributes", "system", "queue", &queue,
                      "alloc-bypass", &bypass, "weir", "serves", &serves, "jobid", &upstream, "userid", &userid,
                      "queue", &queue_above, "output", &output_above);
    const char* partition = nullptr;
    const char* digest = nullptr;
    (void)json_unpack(jobspec, "{s:{s:{s:{s:{s:s s:s s:i}}}}}", "attributes", "system", "weir", "partition", "name",
                      &partition, "digest", &digest, "folder", &facts.partition_folder);
    facts.partition = partition != nullptr && digest != nullptr ? partition : "";
    facts.partition_digest = digest != nullptr ? digest : "";
    facts.queue = queue != nullptr ? queue : "";
    facts.has_own_R = bypass != nullptr;
    facts.upstream = static_cast<std::uint64_t>(upstream);
    facts.upstream_userid = static_cast<std::uint32_t>(userid);
    facts.upstream_output = output_above != nullptr ? output_above : "";
    facts.upstream_queue = queue_above != nullptr ? queue_above : "";
    if (auto decoded = decode_names(serves, "serves")) {
        facts.serves = std::move(decoded).value();
    }
    return facts;
}

Json journal_filter() {
    Json filter = Json::object();
    for (const Name& name : event_kinds) {
        filter.set(name.text, 1);
    }
    return filter;
}

Result<JournalEntry> decode_journal(json_t* payload) {
    JournalEntry entry;
    json_int_t id = 0;
    json_t* events = nullptr;
    json_t* jobspec = nullptr;
    json_t* R = nullptr;
    if (json_unpack(payload, "{s:I s:o s?o s?o}", "id", &id, "events", &events, "jobspec", &jobspec, "R", &R) < 0) {
        return Error{std::errc::protocol_error, "a journal entry wants {id:I, events:[], jobspec?:o, R?:o}"};
    }
    entry.id = static_cast<std::uint64_t>(id);
    entry.is_end_of_backlog = id == -1;
    if (jobspec != nullptr) {
        entry.has_jobspec = true;
        entry.facts = decode_facts(jobspec);
    }
    std::size_t index = 0;
    json_t* event = nullptr;
    json_array_foreach(events, index, event) {
        if (const Status status = decode_journal_event(entry, event, R); !status) {
            return Error{status.error().code, "job " + std::to_string(entry.id) + ": " + status.error().message};
        }
    }
    return entry;
}

}  // namespace weir::route
