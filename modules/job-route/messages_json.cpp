// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the codec of attach, report and orders. The journal's: journal_json.cpp; the plugin's: tap_json.cpp.
#include "modules/job-route/messages_json.hpp"

#include <array>
#include <csignal>
#include <cstring>
#include <string_view>

#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/json/text_writer.hpp"

namespace weir::route {
namespace {

using EventKind = ChildEvent::Kind;
using OrderKind = Order::Kind;

constexpr std::size_t serves_max = 256;        ///< queues of a child
constexpr std::size_t queue_name_max = 256;    ///< bytes
constexpr std::size_t attach_text_max = 4096;  ///< bytes of a session's name, and of a URI
// About so long is the text of an event, of one in a few with R, and that of a report without its events.
constexpr std::size_t event_bytes = 100;
constexpr std::size_t report_bytes = 120;
/// The same of a message with one order without its jobspec, whose quotes are escaped: a fifth of it.
constexpr std::size_t order_bytes = 250;

constexpr std::array<const char*, ChildEvent::kinds> event_names{
    "submit", "returned", "alloc", "start", "finish", "exception", "clean", "held-back", "admitted", "uri"};
constexpr std::array<const char*, 7> order_names{"submit", "cancel", "urgency", "go", "priority", "complete", "signal"};

template <std::size_t N>
std::optional<std::size_t> index_of(const std::array<const char*, N>& names, std::string_view name) {
    for (std::size_t i = 0; i < N; i++) {
        if (name == names.at(i)) {
            return i;
        }
    }
    return std::nullopt;
}

Error bad(const std::string& what) {
    return Error{std::errc::protocol_error, what};
}

Error too_much(const std::string& what) {
    return Error{std::errc::invalid_argument, what};
}

json_int_t number(std::uint64_t value) {
    return static_cast<json_int_t>(value);
}

std::string text_or_empty(const char* text) {
    return text != nullptr ? text : "";
}

bool read(FlatValue value, std::int64_t& to) {
    const auto integer = value.integer();
    to = integer.value_or(0);
    return integer.has_value();
}

/// Of 64 bits: jansson writes the higher half as negative numbers.
bool read(FlatValue value, std::uint64_t& to) {
    const auto integer = value.integer();
    to = static_cast<std::uint64_t>(integer.value_or(0));
    return integer.has_value();
}

bool read(FlatValue value, int& to) {
    const auto integer = value.integer();
    to = static_cast<int>(integer.value_or(0));
    return integer == to;
}

bool read(FlatValue value, double& to) {
    const auto number = value.number();
    to = number.value_or(0);
    return number.has_value();
}

bool read(FlatValue value, std::string& to) {
    auto text = value.string();
    to = text ? std::move(*text) : std::string();
    return text.has_value();
}

template <typename T>
constexpr const char* kind_of_value = std::is_same_v<T, std::string> ? "a text"
                                      : std::is_same_v<T, double>    ? "a number"
                                                                     : "an integer";

/// Members of an object, read one by one, each once. The first one that is not as it must be is the error.
class Members {
  public:
    explicit Members(FlatValue object) : object_(object) {
        if (!object.is_object()) {
            error_ = "must be an object";
        }
        for (FlatValue key = object_.first(); key; key = key.next().next()) {
            left_ += 1;
        }
    }
    template <typename T>
    Members& must(std::string_view key, T& to) {
        return take(key, to, true);
    }
    template <typename T>
    Members& may(std::string_view key, T& to) {
        return take(key, to, false);
    }
    /// Empty: none.
    const std::string& error() const { return error_; }

  private:
    template <typename T>
    Members& take(std::string_view key, T& to, bool is_needed) {
        const FlatValue value = left_ > 0 ? object_[key] : FlatValue();
        left_ -= value ? 1 : 0;
        if (error_.empty() && (value ? !read(value, to) : is_needed)) {
            error_ = std::string(key) + " must be " + kind_of_value<T>;
        }
        return *this;
    }
    FlatValue object_;
    std::size_t left_ = 0;  ///< at most so many members have not been found yet
    std::string error_;
};

Result<ChildEvent> decode_child_event(FlatValue value) {
    ChildEvent event;
    std::string name;
    const Members members = Members(value)
                                .must("id", event.id.value)
                                .must("name", name)
                                .may("local", event.local.value)
                                .may("R", event.R)
                                .may("status", event.status)
                                .may("type", event.type)
                                .may("severity", event.severity)
                                .may("note", event.note);
    if (!members.error().empty()) {
        return bad(members.error());
    }
    const auto kind = index_of(event_names, name);
    if (!kind) {
        return bad("unknown event \"" + name + "\"");
    }
    event.kind = static_cast<EventKind>(*kind);
    if (event.kind == EventKind::exception && (event.type.empty() || event.severity < 0 || event.severity > 7)) {
        return bad("an exception needs a type, and a severity from 0 to 7");
    }
    if (event.kind == EventKind::allocated && event.R.empty()) {
        return bad("alloc needs R");
    }
    return event;
}

/// Written behind `before`.
std::string text_of(const ChildEvent& event, std::string&& before) {
    ObjectText value(std::move(before));
    value.set("id", number(event.id.value)).set("name", event_names.at(static_cast<std::size_t>(event.kind)));
    if (event.local.value != 0) {
        value.set("local", number(event.local.value));
    }
    if (event.kind == EventKind::allocated) {
        value.set("R", event.R);
    } else if (event.kind == EventKind::finished) {
        value.set("status", event.status);
    } else if (event.kind == EventKind::exception) {
        value.set("type", event.type).set("severity", event.severity).set("note", event.note);
    } else if (event.kind == EventKind::published) {
        value.set("note", event.note);
    }
    return value.text();
}

Result<Order> decode_order(FlatValue value) {
    Order order;
    std::string op;
    std::uint64_t userid = 0;
    double submit = 0.;
    order.type = "cancel";
    const Members members = Members(value)
                                .must("id", order.id.value)
                                .must("op", op)
                                .may("jobspec", order.jobspec)
                                .may("urgency", order.urgency)
                                .may("userid", userid)
                                .may("queue", order.queue)
                                .may("output", order.output)
                                .may("priority", order.priority)
                                .may("submit", submit)
                                .may("type", order.type)
                                .may("note", order.note)
                                .may("signum", order.signum);
    if (!members.error().empty()) {
        return bad(members.error());
    }
    const auto kind = index_of(order_names, op);
    if (!kind) {
        return bad("unknown op \"" + op + "\"");
    }
    order.kind = static_cast<OrderKind>(*kind);
    order.userid = static_cast<std::uint32_t>(userid);
    if (const auto since = duration_from_number(submit)) {
        order.submit = Instant{*since};
    }
    if (order.kind == OrderKind::submit && order.jobspec.empty()) {
        return bad("submit needs a jobspec");
    }
    if (order.kind == OrderKind::signal && (order.signum <= 0 || order.signum >= NSIG)) {
        return bad("signal needs a signum from 1 to " + std::to_string(NSIG - 1));
    }
    return order;
}

/// Written behind `before`.
std::string text_of(const Order& order, std::string&& before) {
    ObjectText value(std::move(before));
    value.set("op", order_names.at(static_cast<std::size_t>(order.kind))).set("id", number(order.id.value));
    if (order.kind == OrderKind::submit) {
        value.set("jobspec", order.jobspec).set("urgency", order.urgency).set("userid", order.userid);
        value.set("queue", order.queue).set("output", order.output);
        value.set("priority", order.priority).set("submit", to_seconds(order.submit));
    } else if (order.kind == OrderKind::priority) {
        value.set("priority", order.priority);
    } else if (order.kind == OrderKind::urgency) {
        value.set("urgency", order.urgency);
    } else if (order.kind == OrderKind::cancel) {
        value.set("type", order.type).set("note", order.note);
    } else if (order.kind == OrderKind::signal) {
        value.set("signum", order.signum);
    }
    return value.text();
}

/// Every element of an array through `decode`; errors are prefixed with "where[i]: ".
template <typename T, typename Decode>
Result<std::vector<T>> decode_array(json_t* array, const std::string& where, Decode&& decode) {
    std::vector<T> values;
    if (!json_is_array(array)) {
        return bad(where + " must be an array");
    }
    std::size_t index = 0;
    json_t* element = nullptr;
    json_array_foreach(array, index, element) {
        Result<T> value = decode(element);
        if (!value) {
            return bad(where + "[" + std::to_string(index) + "]: " + value.error().message);
        }
        values.push_back(std::move(value).value());
    }
    return values;
}

/// How many elements an array has; 0 of another value.
std::size_t size_of(FlatValue array) {
    std::size_t count = 0;
    for (FlatValue element = array.is_array() ? array.first() : FlatValue(); element; element = element.next()) {
        count += 1;
    }
    return count;
}

/// The same of an array that is read in place.
template <typename T, typename Decode>
Result<std::vector<T>> decode_elements(FlatValue array, const std::string& where, Decode&& decode) {
    std::vector<T> values;
    if (!array.is_array()) {
        return bad(where + " must be an array");
    }
    values.reserve(size_of(array));
    for (FlatValue element = array.first(); element; element = element.next()) {
        Result<T> value = decode(element);
        if (!value) {
            return bad(where + "[" + std::to_string(values.size()) + "]: " + value.error().message);
        }
        values.push_back(std::move(value).value());
    }
    return values;
}

Result<KnownJob> decode_known(json_t* value) {
    KnownJob job;
    json_int_t id = 0;
    int has_ended = 0;
    int is_unwanted = 0;
    json_error_t error;
    if (json_unpack_ex(value, &error, 0, "[I,b,i,b]", &id, &has_ended, &job.urgency, &is_unwanted) < 0) {
        return bad(static_cast<const char*>(error.text));
    }
    job.id = JobId{static_cast<std::uint64_t>(id)};
    job.has_ended = has_ended != 0;
    job.is_unwanted = is_unwanted != 0;
    return job;
}

}  // namespace

Result<std::vector<std::string>> decode_names(json_t* array, const std::string& where) {
    return decode_array<std::string>(array, where, [](json_t* value) -> Result<std::string> {
        if (!json_is_string(value)) {
            return bad("must be a name in quotes");
        }
        return std::string(json_string_value(value));
    });
}

Json encode(const Attach& attach) {
    Json serves = Json::array();
    for (const std::string& queue : attach.serves) {
        serves.append(Json::string(queue));
    }
    Json known = Json::array();
    for (const KnownJob& job : attach.known) {
        known.append(Json::own(
            json_pack("[I,b,i,b]", number(job.id.value), job.has_ended ? 1 : 0, job.urgency, job.is_unwanted ? 1 : 0)));
    }
    Json payload = Json::object();
    payload.set("jobid", attach.child.value).set("session", attach.session).set("serves", std::move(serves));
    payload.set("known", std::move(known)).set("R", attach.resources).set("uri", attach.uri);
    payload.set("cores", static_cast<long long>(attach.cores)).set("own", attach.own_jobs);
    payload.set("own_cores", attach.own_cores).set("signals", attach.takes_signals);
    payload.set("drains", attach.takes_drains);
    return payload;
}

namespace {

/// Of an attach, which a guest may send.
Result<std::vector<std::string>> decode_serves(json_t* serves) {
    if (json_array_size(serves) > serves_max) {
        return too_much("attach: serves has " + std::to_string(json_array_size(serves)) +
                        " names; it must have at most " + std::to_string(serves_max));
    }
    auto names = decode_names(serves, "attach: serves");
    for (std::size_t i = 0; names && i < names->size(); i++) {
        const std::size_t size = (*names)[i].size();
        if (size == 0 || size > queue_name_max) {
            return too_much("attach: serves[" + std::to_string(i) + "] has " + std::to_string(size) +
                            " bytes; the name of a queue must have 1 to " + std::to_string(queue_name_max));
        }
    }
    return names;
}

}  // namespace

Result<Attach> decode_attach(json_t* payload) {
    Attach attach;
    json_int_t child = 0;
    json_int_t cores = 0;
    json_int_t own = 0;
    json_int_t own_cores = 0;
    int takes_signals = 0;
    int takes_drains = 0;
    json_t* serves = nullptr;
    json_t* known = nullptr;
    const char* session = nullptr;
    const char* resources = nullptr;
    const char* uri = nullptr;
    json_error_t error;
    if (json_unpack_ex(payload, &error, 0, "{s:I s:s s:o s:o s?s s?s s?I s?I s?I s?b s?b}", "jobid", &child, "session",
                       &session, "serves", &serves, "known", &known, "R", &resources, "uri", &uri, "cores", &cores,
                       "own", &own, "own_cores", &own_cores, "signals", &takes_signals, "drains", &takes_drains) < 0) {
        return bad(std::string("attach: ") + static_cast<const char*>(error.text));
    }
    if (cores < 0 || cores > cores_max || own_cores < 0 || own_cores > cores_max) {
        return bad("attach: cores and own_cores must be from 0 to " + std::to_string(cores_max));
    }
    if (own < 0 || own > own_jobs_max) {
        return bad("attach: own must be from 0 to " + std::to_string(own_jobs_max));
    }
    auto names = decode_serves(serves);
    if (!names) {
        return names.error();
    }
    for (const auto& [name, value] : {std::pair("session", session), std::pair("uri", uri)}) {
        if (value != nullptr && std::strlen(value) > attach_text_max) {
            return too_much(std::string("attach: ") + name + " has " + std::to_string(std::strlen(value)) +
                            " bytes; it must have at most " + std::to_string(attach_text_max));
        }
    }
    auto jobs = decode_array<KnownJob>(known, "attach: known", decode_known);
    if (!jobs) {
        return jobs.error();
    }
    attach.child = JobId{static_cast<std::uint64_t>(child)};
    attach.session = session;
    attach.serves = std::move(names).value();
    attach.known = std::move(jobs).value();
    attach.resources = text_or_empty(resources);
    attach.uri = text_or_empty(uri);
    attach.cores = cores;
    attach.own_jobs = own;
    attach.own_cores = own_cores;
    attach.takes_signals = takes_signals != 0;
    attach.takes_drains = takes_drains != 0;
    return attach;
}

Result<AttachHead> read_attach_head(FlatValue payload) {
    const auto child = payload["jobid"].integer();
    if (!child) {
        return bad("attach: jobid must be an integer");
    }
    return AttachHead{JobId{static_cast<std::uint64_t>(*child)}, size_of(payload["serves"]), size_of(payload["known"])};
}

std::string text_of(const Report& report) {
    std::string events;
    events.reserve(event_bytes * (report.events.size() + 1));
    for (const ChildEvent& event : report.events) {
        events += events.empty() ? "[" : ",";
        events = text_of(event, std::move(events));
    }
    events += events.empty() ? "[]" : "]";
    ObjectText payload(report_bytes + events.size());
    payload.set("jobid", number(report.child.value)).set("session", report.session);
    payload.set("seq", number(report.events.empty() ? 0 : report.events.front().seq)).splice("events", events);
    return payload.set("own", report.own_jobs).set("own_cores", report.own_cores).text();
}

Result<Report> decode_report(FlatValue payload) {
    Report report;
    std::uint64_t seq = 0;
    const Members members = Members(payload)
                                .must("jobid", report.child.value)
                                .must("session", report.session)
                                .must("seq", seq)
                                .may("own", report.own_jobs)
                                .may("own_cores", report.own_cores);
    if (!members.error().empty()) {
        return bad("report: " + members.error());
    }
    if (report.own_cores < 0 || report.own_cores > cores_max) {
        return bad("report: own_cores must be from 0 to " + std::to_string(cores_max));
    }
    if (report.own_jobs < 0 || report.own_jobs > own_jobs_max) {
        return bad("report: own must be from 0 to " + std::to_string(own_jobs_max));
    }
    auto decoded = decode_elements<ChildEvent>(payload["events"], "report: events", decode_child_event);
    if (!decoded) {
        return decoded.error();
    }
    report.events = std::move(decoded).value();
    for (ChildEvent& event : report.events) {
        event.seq = seq++;
    }
    return report;
}

Result<ReportHead> read_report_head(FlatValue payload) {
    const auto child = payload["jobid"].integer();
    auto session = payload["session"].string();
    if (!child || !session) {
        return bad("report: jobid must be an integer, and session a text");
    }
    return ReportHead{JobId{static_cast<std::uint64_t>(*child)}, std::move(*session), size_of(payload["events"])};
}

void OrdersText::add(const Order& order) {
    if (text_.empty()) {
        text_.reserve(order_bytes + order.jobspec.size() * 5 / 4);
    }
    text_ += text_.empty() ? "{\"orders\":[" : ",";
    text_ = text_of(order, std::move(text_));
}

std::string OrdersText::text() {
    text_ += text_.empty() ? "{\"orders\":[]}" : "]}";
    return std::move(text_);
}

Result<std::vector<Order>> decode_orders(FlatValue payload) {
    return decode_elements<Order>(payload["orders"], "orders", decode_order);
}

}  // namespace weir::route
