// SPDX-License-Identifier: LGPL-3.0-only
// Owns: compiling and evaluating job list constraints.
// Must not know: how jobs are stored, flux_t. RFC 31, 43.
// libsched/json/constraint.hpp has the constraints that choose nodes for a job; these choose jobs for a listing.
#include "broker/services/job-manager/tables/constraint.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_set>

#include "broker/services/job-manager/codecs/jobspec.hpp"
#include "libfairshare/base/hostlist.hpp"
#include "libfairshare/base/id_set.hpp"

namespace weir::broker::jobs {
namespace {

constexpr int all_states = 127;
constexpr std::size_t hosts_max = 1U << 16;   // names in all hostlists of a constraint, before they are expanded
constexpr std::uint64_t operator_cost = 100;  // comparisons, for the memory and time to compile one

/// What the rest of a constraint may still take.
struct Budget {
    Comparisons* comparisons;
    std::size_t hosts = hosts_max;

    /// False if an operator with so many values is too much to compile.
    bool pay(std::size_t values) { return !comparisons || comparisons->spend(operator_cost + values); }
};

Error bad_constraint(const std::string& what) {
    return Error{std::errc::protocol_error, what};
}

Result<std::vector<std::string>> strings(const std::string& op, const json_t* values) {
    std::vector<std::string> list;
    for (std::size_t i = 0; i < json_array_size(values); ++i) {
        const char* text = json_string_value(json_array_get(values, i));
        if (!text) {
            return bad_constraint(op + " value must be a string");
        }
        list.emplace_back(text);
    }
    return list;
}

Result<JobFilter> by_userid(const json_t* values) {
    std::vector<std::uint32_t> ids;
    for (std::size_t i = 0; i < json_array_size(values); ++i) {
        const json_t* value = json_array_get(values, i);
        if (!json_is_integer(value)) {
            return bad_constraint("userid value must be an integer");
        }
        ids.push_back(static_cast<std::uint32_t>(json_integer_value(value)));
    }
    return JobFilter([ids](const Job& job) {
        return std::any_of(ids.begin(), ids.end(), [&](auto id) { return id == 0xFFFFFFFFu || id == job.userid; });
    });
}

Result<JobFilter> by_text(const std::string& op, const json_t* values, std::string (*text_of)(const Job&)) {
    auto list = strings(op, values);
    if (!list) {
        return list.error();
    }
    return JobFilter([wanted = *list, text_of](const Job& job) {
        const std::string value = text_of(job);
        return !value.empty() && std::find(wanted.begin(), wanted.end(), value) != wanted.end();
    });
}

Result<int> one_bit(const std::string& op, const json_t* value, const std::vector<std::string>& names) {
    if (json_is_integer(value)) {
        return static_cast<int>(json_integer_value(value));
    }
    const char* text = json_string_value(value);
    if (!text) {
        return bad_constraint(op + " value invalid type");
    }
    std::string lower = text;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == lower) {
            return 1 << i;
        }
    }
    if (op == "states" && lower == "pending") {
        return mask_pending;
    }
    if (op == "states" && lower == "running") {
        return mask_running;
    }
    if (op == "states" && lower == "active") {
        return mask_active;
    }
    return bad_constraint("invalid " + op + " value '" + text + "' specified");
}

Result<int> mask_of(const std::string& op, const json_t* values) {
    static const std::vector<std::string> states = {"new", "depend", "priority", "sched", "run", "cleanup", "inactive"};
    static const std::vector<std::string> results = {"completed", "failed", "canceled", "timeout"};
    int mask = 0;
    for (std::size_t i = 0; i < json_array_size(values); ++i) {
        auto value = one_bit(op, json_array_get(values, i), op == "states" ? states : results);
        if (!value) {
            return value.error();
        }
        mask |= *value;
    }
    return mask;
}

Result<JobFilter> by_hosts(const json_t* values, Budget& budget) {
    auto texts = strings("host", values);
    if (!texts) {
        return texts.error();
    }
    std::unordered_set<std::string> wanted;
    for (const std::string& text : *texts) {
        auto hosts = hostlist_decode(text, budget.hosts);
        if (!hosts) {
            return bad_constraint("host value not in valid Hostlist format: " + hosts.error().message +
                                  "; a constraint names at most " + std::to_string(hosts_max) +
                                  " hosts in all: ask in parts");
        }
        budget.hosts -= hosts->size();
        wanted.insert(hosts->begin(), hosts->end());
    }
    return JobFilter([wanted = std::move(wanted)](const Job& job) {
        auto hosts = hostlist_decode(job.r->facts.nodelist);
        return hosts && std::any_of(hosts->begin(), hosts->end(),
                                    [&](const std::string& host) { return wanted.count(host) != 0; });
    });
}

Result<JobFilter> by_ranks(const json_t* values) {
    auto texts = strings("ranks", values);
    if (!texts) {
        return texts.error();
    }
    std::vector<IdSet::Range> ranges;
    for (const std::string& text : *texts) {
        auto ranks = IdSet::parse(text);
        if (!ranks) {
            return bad_constraint("ranks value " + ranks.error().message);
        }
        ranges.insert(ranges.end(), ranks->ranges().begin(), ranks->ranges().end());
    }
    // In ascending order each is added at the end. In another order each addition would move those after it.
    std::sort(ranges.begin(), ranges.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    IdSet wanted;
    for (const IdSet::Range& range : ranges) {
        wanted.add(range);
    }
    return JobFilter([wanted](const Job& job) {
        auto ranks = IdSet::parse(job.r->facts.ranks);
        return ranks && ranks->intersects(wanted);
    });
}

Result<JobFilter> by_time(const std::string& op, const json_t* values) {
    static const std::vector<std::string> names = {"t_submit", "t_depend",  "t_priority", "t_sched",
                                                   "t_run",    "t_cleanup", "t_inactive"};
    const char* text = json_string_value(json_array_get(values, 0));
    if (!text) {
        return bad_constraint(op + " value must be a string");
    }
    std::string_view rest = text;
    const bool is_greater = rest.starts_with('>'), is_less = rest.starts_with('<');
    if (!is_greater && !is_less) {
        return bad_constraint("timestamp comparison operator not specified");
    }
    rest.remove_prefix(1);
    const bool with_equal = rest.starts_with('=');
    rest.remove_prefix(with_equal ? 1 : 0);
    double seconds = 0;
    const auto parsed = std::from_chars(rest.data(), rest.data() + rest.size(), seconds);
    if (parsed.ec != std::errc() || parsed.ptr != rest.data() + rest.size()) {
        return bad_constraint("Invalid timestamp value specified");
    }
    if (seconds < 0) {
        return bad_constraint("timestamp value must be >= 0.0");
    }
    const auto limit = std::llround(seconds * 1e6);
    const auto index = static_cast<std::size_t>(std::find(names.begin(), names.end(), op) - names.begin());
    return JobFilter([=](const Job& job) {
        const std::int64_t t = job.t_state_us[index];
        if (t == 0) {
            return false;
        }
        return (with_equal && t == limit) || (is_greater ? t > limit : t < limit);
    });
}

Result<JobFilter> compile(const json_t* constraint, Budget& budget);

Result<JobFilter> combine(const std::string& op, const json_t* values, Budget& budget) {
    std::vector<JobFilter> parts;
    for (std::size_t i = 0; i < json_array_size(values); ++i) {
        auto part = compile(json_array_get(values, i), budget);
        if (!part) {
            return part.error();
        }
        parts.push_back(std::move(*part));
    }
    if (op == "or") {
        return JobFilter([parts = std::move(parts)](const Job& job) {
            return parts.empty() || std::any_of(parts.begin(), parts.end(), [&](const auto& p) { return p(job); });
        });
    }
    const bool expected = op == "and";
    return JobFilter([parts = std::move(parts), expected](const Job& job) {
        return std::all_of(parts.begin(), parts.end(), [&](const auto& p) { return p(job); }) == expected;
    });
}

Result<JobFilter> compile_comparison(const std::string& op, const json_t* values, Budget& budget) {
    if (op == "userid") {
        return by_userid(values);
    }
    if (op == "name") {
        return by_text(op, values, [](const Job& job) { return jobspec_names(job.jobspec_text.redacted).name; });
    }
    if (op == "queue") {
        return by_text(op, values, [](const Job& job) { return job.facts.queue; });
    }
    if (op == "states" || op == "results") {
        auto mask = mask_of(op, values);
        if (!mask) {
            return mask.error();
        }
        if (op == "states") {
            return JobFilter([m = *mask](const Job& job) { return is_in(job.state, m); });
        }
        return JobFilter([m = *mask](const Job& job) {
            return job.state == State::inactive && (static_cast<int>(job.result()) & m) != 0;
        });
    }
    if (op == "hostlist") {
        return by_hosts(values, budget);
    }
    if (op == "ranks") {
        return by_ranks(values);
    }
    if (op.starts_with("t_")) {
        for (const char* name : {"t_submit", "t_depend", "t_priority", "t_sched", "t_run", "t_cleanup", "t_inactive"}) {
            if (op == name) {
                return by_time(op, values);
            }
        }
    }
    return bad_constraint("unknown constraint operator: " + op);
}

/// What a comparison reads of a job, in comparisons.
std::size_t reading_cost(const std::string& op, const Job& job) {
    constexpr std::size_t bytes_of_one = 1024;
    if (op == "name") {
        return job.jobspec_text.redacted.size() / bytes_of_one;
    }
    const bool reads_nodes = (op == "hostlist" || op == "ranks");
    return reads_nodes ? static_cast<std::size_t>(std::max(job.r->facts.nnodes, 0)) : 0;
}

/// Spends one for the operator, one for each value of a comparison, and what is read of the job.
JobFilter counted(JobFilter filter, const std::string& op, std::size_t values, Comparisons* comparisons) {
    if (comparisons == nullptr) {
        return filter;
    }
    return [=, filter = std::move(filter)](const Job& job) {
        return comparisons->spend(1 + values + reading_cost(op, job)) && filter(job);
    };
}

Result<JobFilter> compile_operator(const std::string& op, const json_t* values, Budget& budget) {
    if (!json_is_array(values)) {
        return bad_constraint("operator " + op + " values not an array");
    }
    const bool is_combination = op == "and" || op == "or" || op == "not";
    const std::size_t compared = is_combination ? 0 : json_array_size(values);
    if (!budget.pay(compared)) {
        return bad_constraint("too long");
    }
    auto filter = is_combination ? combine(op, values, budget) : compile_comparison(op, values, budget);
    return filter ? counted(std::move(*filter), op, compared, budget.comparisons) : std::move(filter);
}

Result<JobFilter> compile(const json_t* constraint, Budget& budget) {
    if (!constraint || (json_is_object(constraint) && json_object_size(constraint) == 0)) {
        return budget.pay(0) ? counted([](const Job&) { return true; }, "", 0, budget.comparisons)
                             : Result<JobFilter>(bad_constraint("too long"));
    }
    if (!json_is_object(constraint)) {
        return bad_constraint("constraint must be JSON object");
    }
    if (json_object_size(constraint) > 1) {
        return bad_constraint("constraint must only contain 1 element");
    }
    void* first = json_object_iter(const_cast<json_t*>(constraint));
    return compile_operator(json_object_iter_key(first), json_object_iter_value(first), budget);
}

}  // namespace

Result<JobFilter> compile_constraint(const json_t* constraint, Comparisons* comparisons) {
    Budget budget{comparisons};
    return compile(constraint, budget);
}

int states_of_constraint(const json_t* constraint) {
    void* first = json_is_object(constraint) ? json_object_iter(const_cast<json_t*>(constraint)) : nullptr;
    if (!first) {
        return all_states;
    }
    const std::string op = json_object_iter_key(first);
    const json_t* values = json_object_iter_value(first);
    if (op == "states") {
        auto mask = mask_of(op, values);
        return mask ? *mask : all_states;
    }
    if (op == "results") {
        return bit(State::inactive);
    }
    if (op == "and" || (op == "or" && json_array_size(values) > 0)) {
        int mask = op == "and" ? all_states : 0;
        for (std::size_t i = 0; i < json_array_size(values); ++i) {
            const int part = states_of_constraint(json_array_get(values, i));
            mask = op == "and" ? mask & part : mask | part;
        }
        return mask;
    }
    return all_states;
}

}  // namespace weir::broker::jobs
