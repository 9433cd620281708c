// SPDX-License-Identifier: LGPL-3.0-only
// Owns: decoding what job-manager.events-journal streams. An invalid entry is an error for the log; an unknown event is
// not. Source: RFC 18, 21.
#include "modules/job-route/messages_json.hpp"

#include <algorithm>
#include <array>
#include <bitset>
#include <string_view>
#include <utility>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/id_set.hpp"
#include "libfairshare/base/memory_size.hpp"

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
    {"jobspec-update", Kind::update}, {"invalidate", Kind::clean},  // refused by a plugin after its submission
};

constexpr int resource_depth_max = 8;

/// The first element of an array; nothing for any other value.
FlatValue first_of(FlatValue list) {
    return list.is_array() ? list.first() : FlatValue();
}

std::string text_at(FlatValue object, std::string_view key) {
    return object[key].string().value_or("");
}

/// The vertices of a jobspec that are counted.
enum Vertex : std::size_t { core, node, whole_node, slot, vertices };  // a whole node: the job has all of it
using Vertices = std::bitset<vertices>;
using Counts = std::array<std::int64_t, vertices>;

Vertices vertices_of(FlatValue vertex) {
    const FlatValue type = vertex["type"];
    Vertices is;
    is[core] = type == "core";
    is[node] = type == "node";
    is[whole_node] = is[node] && vertex["exclusive"].boolean().value_or(false);
    is[slot] = type == "slot";
    return is;
}

/// RFC 14: counts multiply from the outside to the inside. A count that is a range counts with its least value.
/// \param wanted  those that do not stand in one of their kind
void add_counts(Counts& counts, FlatValue resources, std::int64_t outside, Vertices wanted, int depth = 0) {
    for (FlatValue vertex = first_of(resources); vertex; vertex = vertex.next()) {
        const FlatValue count = vertex["count"];
        const FlatValue least = count.is_object() ? count["min"] : count;
        const std::int64_t number = std::clamp<std::int64_t>(least.integer().value_or(0), 0, cores_max);
        const std::int64_t product = std::min(outside * number, cores_max);
        const Vertices is = vertices_of(vertex);
        for (std::size_t kind = 0; kind < vertices; kind++) {
            if (is[kind] && wanted[kind]) {
                counts[kind] = std::min(counts[kind] + product, cores_max);
            }
        }
        if (depth < resource_depth_max) {
            add_counts(counts, vertex["with"], product, wanted & ~is, depth + 1);
        }
    }
}

/// RFC 20. 0 where it cannot be read.
std::int64_t cores_of(FlatValue R) {
    std::int64_t sum = 0;
    for (FlatValue one = first_of(R["execution"]["R_lite"]); one; one = one.next()) {
        const auto ranks = IdSet::parse(text_at(one, "rank"));
        const auto cores = IdSet::parse(text_at(one["children"], "core"));
        if (!ranks || !cores) {
            return 0;
        }
        const auto most = static_cast<std::uint64_t>(cores_max);
        sum +=
            static_cast<std::int64_t>(std::min(std::min(ranks->count(), most) * std::min(cores->count(), most), most));
        sum = std::min(sum, cores_max);
    }
    return sum;
}

/// 0 or an invalid duration: no limit.
Duration limit_of(FlatValue seconds) {
    const auto duration = duration_from_number(seconds.number().value_or(0));
    return duration ? *duration : Duration::zero();
}

/// Seconds since the epoch; none where they are no number or out of range.
std::optional<Instant> instant_of(FlatValue seconds) {
    const auto number = seconds.number();
    if (!number) {
        return std::nullopt;
    }
    const auto since = duration_from_number(*number);
    return since ? std::optional(Instant{*since}) : std::nullopt;
}

/// Without a valid amount: none. The scheduler complains of it.
std::uint32_t memory_of(FlatValue text) {
    const auto mib = text ? parse_mib(text.string().value_or("")) : Result<std::uint32_t>(0U);
    return mib ? *mib : 0;
}

/// RFC 31: the properties that every node of the job must have. Properties inside "or" and "not" are not among them.
void add_required(FlatValue constraints, int depth, std::vector<std::string>& properties) {
    for (FlatValue one = first_of(constraints["properties"]); one; one = one.next()) {
        std::string name = one.string().value_or("");
        if (!name.empty() && name[0] != '^') {
            properties.push_back(std::move(name));
        }
    }
    for (FlatValue one = first_of(constraints["and"]); one; one = one.next()) {
        if (depth < resource_depth_max) {
            add_required(one, depth + 1, properties);
        }
    }
}

bool has_bypass(FlatValue context) {
    for (FlatValue flag = first_of(context["flags"]); flag; flag = flag.next()) {
        if (flag == "alloc-bypass") {
            return true;
        }
    }
    return false;
}

void decode_update(JournalEvent& event, FlatValue context) {
    if (const FlatValue duration = context["attributes.system.duration"]; duration.number()) {
        event.duration = limit_of(duration);
    }
    event.account = context["attributes.system.bank"].string();
    event.queue = context["attributes.system.queue"].string();
    event.has_project = bool(context["attributes.system.project"]);
}

/// false: it is missing, or of another type.
template <typename Number>
bool take(Number& to, FlatValue from) {
    const auto number = from.integer();
    to = static_cast<Number>(number.value_or(0));
    return number.has_value();
}

bool take(std::string& to, FlatValue from) {
    to = from.string().value_or("");
    return from.is_string();
}

/// false: the context does not fit the name.
bool decode_context(JournalEvent& event, FlatValue context) {
    switch (event.kind) {
        case Kind::submit:
            return take(event.userid, context["userid"]) && take(event.urgency, context["urgency"]);
        case Kind::priority:
            return take(event.priority, context["priority"]);
        case Kind::urgency:
            return take(event.urgency, context["urgency"]);
        case Kind::route:
            return take(event.child, context["child"]);
        case Kind::alloc:
            (void)take(event.child, context["annotations"]["weir"]["child"]);
            return true;
        case Kind::finish:
            return take(event.status, context["status"]);
        case Kind::exception:
            event.note = text_at(context, "note");
            return take(event.type, context["type"]) && take(event.severity, context["severity"]);
        case Kind::prolog_start:
        case Kind::prolog_finish:
            return take(event.type, context["description"]);
        case Kind::memo_uri:
            event.note = text_at(context, "uri");
            return true;
        case Kind::update:
            decode_update(event, context);
            return true;
        case Kind::bypass:
        case Kind::start:
        case Kind::clean:
        case Kind::restart:
            return true;
    }
    return false;
}

const Name* find(std::string_view text) {
    for (const Name& name : event_kinds) {
        if (text == name.text) {
            return &name;
        }
    }
    return nullptr;
}

Status decode_journal_event(JournalEntry& entry, FlatValue value, FlatValue R) {
    const auto text = value["name"].string();
    if (!text) {
        return Error{std::errc::protocol_error, "an event without a name"};
    }
    const FlatValue context = value["context"];
    const Name* name = find(*text);
    if (name == nullptr || (name->kind == Kind::bypass && !has_bypass(context))) {
        return Done{};
    }
    JournalEvent event;
    event.kind = name->kind;
    if (event.kind == Kind::submit) {
        event.at = instant_of(value["timestamp"]).value_or(Instant{});
    }
    if (!decode_context(event, context)) {
        return Error{std::errc::protocol_error, "event " + *text + ": its context does not fit RFC 21"};
    }
    if (event.kind == Kind::memo_uri && event.note.empty()) {
        return Done{};
    }
    if (event.kind == Kind::alloc) {
        event.R = R.text();
        event.cores = cores_of(R);
    }
    entry.events.push_back(std::move(event));
    return Done{};
}

/// All of them are names, or there are none.
std::vector<std::string> names_in(FlatValue array) {
    std::vector<std::string> names;
    for (FlatValue one = first_of(array); one; one = one.next()) {
        auto name = one.string();
        if (!name) {
            return {};
        }
        names.push_back(std::move(*name));
    }
    return names;
}

}  // namespace

JobFacts decode_facts(FlatValue jobspec) {
    JobFacts facts;
    Counts counts{};
    add_counts(counts, jobspec["resources"], 1, Vertices().set());
    facts.cores = std::max<std::int64_t>(1, counts[core]);
    facts.nodes = std::max<std::int64_t>(1, counts[node]);
    facts.whole_nodes = counts[whole_node];
    facts.slots = std::max<std::int64_t>(1, counts[slot]);
    const FlatValue system = jobspec["attributes"]["system"];
    facts.account = text_at(system, "bank");
    facts.qos = text_at(system, "qos");
    facts.duration = limit_of(system["duration"]);
    add_required(system["constraints"], 0, facts.properties);
    facts.queue = text_at(system, "queue");
    facts.has_own_R = bool(system["alloc-bypass"]);
    const FlatValue weir = system["weir"];
    facts.memory_per_slot_mib = memory_of(weir["memory_per_slot"]);
    facts.serves = names_in(weir["serves"]);
    (void)take(facts.upstream, weir["jobid"]);
    (void)take(facts.upstream_userid, weir["userid"]);
    facts.upstream_queue = text_at(weir, "queue");
    facts.upstream_output = text_at(weir, "output");
    facts.upstream_submit = instant_of(weir["submit"]);
    const FlatValue partition = weir["partition"];
    if (partition["name"].is_string() && take(facts.partition_digest, partition["digest"])) {
        facts.partition = text_at(partition, "name");
        (void)take(facts.partition_folder, partition["folder"]);
    }
    return facts;
}

std::uint32_t updates_in(std::string_view eventlog) {
    std::uint32_t count = 0;
    FlatJson reader;
    while (!eventlog.empty()) {
        const std::string_view line = eventlog.substr(0, eventlog.find('\n'));
        const Name* name = find(text_at(reader.read(line), "name"));
        count += name != nullptr && name->kind == Kind::update ? 1 : 0;
        eventlog.remove_prefix(std::min(eventlog.size(), line.size() + 1));
    }
    return count;
}

Json journal_filter() {
    Json filter = Json::object();
    for (const Name& name : event_kinds) {
        filter.set(name.text, 1);
    }
    return filter;
}

Result<JournalEntry> decode_journal(FlatValue payload) {
    const auto id = payload["id"].integer();
    const FlatValue events = payload["events"];
    if (!id || !events) {
        return Error{std::errc::protocol_error, "a journal entry wants {id:I, events:[], jobspec?:o, R?:o}"};
    }
    JournalEntry entry;
    entry.id = static_cast<std::uint64_t>(*id);
    entry.is_end_of_backlog = *id == -1;
    if (const FlatValue jobspec = payload["jobspec"]) {
        entry.has_jobspec = true;
        entry.facts = decode_facts(jobspec);
    }
    for (FlatValue event = first_of(events); event; event = event.next()) {
        if (const Status status = decode_journal_event(entry, event, payload["R"]); !status) {
            return Error{status.error().code, "job " + std::to_string(entry.id) + ": " + status.error().message};
        }
    }
    return entry;
}

}  // namespace weir::route
