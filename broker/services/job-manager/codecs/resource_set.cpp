// SPDX-License-Identifier: LGPL-3.0-only
// Owns: idsets, hostlists and the union of R.
// Must not know: jobs' states, flux_t. RFC 20, 22, 29.
#include "broker/services/job-manager/codecs/resource_set.hpp"

#include <charconv>

namespace weir::broker::jobs {
namespace {

constexpr unsigned id_max = 1u << 20;

struct HostName {
    std::string prefix;
    std::string digits;
};

HostName split_digits(const std::string& host) {
    std::size_t at = host.size();
    while (at > 0 && host[at - 1] >= '0' && host[at - 1] <= '9' && host.size() - at < 9) {
        --at;
    }
    return {host.substr(0, at), host.substr(at)};
}

/// Splits at commas outside brackets.
std::vector<std::string_view> split_list(std::string_view text) {
    std::vector<std::string_view> parts;
    std::size_t begin = 0, depth = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i == text.size() || (text[i] == ',' && depth == 0)) {
            if (i > begin) {
                parts.push_back(text.substr(begin, i - begin));
            }
            begin = i + 1;
        } else if (text[i] == '[') {
            ++depth;
        } else if (text[i] == ']' && depth > 0) {
            --depth;
        }
    }
    return parts;
}

Status expand_bracket(std::string_view item, std::vector<std::string>& hosts) {
    const std::size_t open = item.find('['), close = item.find(']');
    if (close == std::string_view::npos || close < open) {
        return Error{std::errc::invalid_argument, "hostlist \"" + std::string(item) + "\": brackets do not match"};
    }
    for (const std::string_view range : split_list(item.substr(open + 1, close - open - 1))) {
        const std::size_t dash = range.find('-');
        const std::string_view low = range.substr(0, dash);
        const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
        auto from = parse_idset(low), to = parse_idset(high);
        if (!from || !to || from->size() != 1 || to->size() != 1) {
            return Error{std::errc::invalid_argument, "hostlist \"" + std::string(item) + "\": bad range"};
        }
        for (unsigned n = *from->begin(); n <= *to->begin(); ++n) {
            std::string digits = std::to_string(n);
            if (digits.size() < low.size()) {
                digits.insert(0, low.size() - digits.size(), '0');
            }
            hosts.push_back(std::string(item.substr(0, open)) + digits + std::string(item.substr(close + 1)));
        }
    }
    return Done{};
}

std::vector<std::string> hosts_of(const json_t* r) {
    std::vector<std::string> hosts;
    const json_t* list = read_path(r, "execution.nodelist");
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        if (const char* text = json_string_value(json_array_get(list, i))) {
            if (auto names = parse_hostlist(text)) {
                hosts.insert(hosts.end(), names->begin(), names->end());
            }
        }
    }
    return hosts;
}

}  // namespace

Result<std::set<unsigned>> parse_idset(std::string_view text) {
    const Error bad{std::errc::invalid_argument, "\"" + std::string(text) + "\" is not an idset, for example 0-3,7"};
    std::set<unsigned> ids;
    if (text.size() >= 2 && text.front() == '[' && text.back() == ']') {
        text = text.substr(1, text.size() - 2);
    }
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        unsigned low = 0;
        auto [next, status] = std::from_chars(at, end, low);
        unsigned high = low;
        if (status == std::errc() && next != end && *next == '-') {
            const auto upper = std::from_chars(next + 1, end, high);
            next = upper.ptr;
            status = upper.ec;
        }
        if (status != std::errc() || high < low || high > id_max ||
            (next != end && (*next != ',' || next + 1 == end))) {
            return bad;
        }
        for (unsigned id = low; id <= high; ++id) {
            ids.insert(id);
        }
        at = next == end ? end : next + 1;
    }
    return ids;
}

std::string idset_text(const std::set<unsigned>& ids) {
    std::string out;
    for (auto at = ids.begin(); at != ids.end();) {
        const unsigned low = *at;
        unsigned high = low;
        while (++at != ids.end() && *at == high + 1) {
            high = *at;
        }
        out += (out.empty() ? "" : ",") + std::to_string(low);
        if (high != low) {
            out += "-" + std::to_string(high);
        }
    }
    return out;
}

Result<std::vector<std::string>> parse_hostlist(std::string_view text) {
    std::vector<std::string> hosts;
    for (const std::string_view item : split_list(text)) {
        if (item.find('[') == std::string_view::npos) {
            hosts.emplace_back(item);
        } else if (auto done = expand_bracket(item, hosts); !done) {
            return done.error();
        }
    }
    return hosts;
}

std::string hostlist_text(const std::vector<std::string>& hosts) {
    std::string out;
    for (std::size_t i = 0; i < hosts.size();) {
        const HostName first = split_digits(hosts[i]);
        std::size_t j = i + 1;
        while (!first.digits.empty() && j < hosts.size()) {
            const HostName next = split_digits(hosts[j]);
            const std::string expected = std::to_string(std::stoul(first.digits) + (j - i));
            if (next.prefix != first.prefix || next.digits.size() != std::max(first.digits.size(), expected.size()) ||
                std::stoul(next.digits) != std::stoul(expected)) {
                break;
            }
            ++j;
        }
        out += out.empty() ? "" : ",";
        if (j - i == 1) {
            out += hosts[i];
        } else {
            out += first.prefix + "[" + first.digits + "-" + split_digits(hosts[j - 1]).digits + "]";
        }
        i = j;
    }
    return out;
}

ResourceFacts resource_facts(const json_t* r) {
    ResourceFacts facts;
    const json_t* execution = json_object_get(r, "execution");
    const json_t* list = json_object_get(execution, "R_lite");
    std::set<unsigned> ranks;
    int cores = 0;
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        const json_t* entry = json_array_get(list, i);
        auto of_entry = parse_idset(read_string(entry, "rank").value_or(""));
        auto core_ids = parse_idset(read_string(json_object_get(entry, "children"), "core").value_or(""));
        if (!of_entry || !core_ids) {
            return facts;
        }
        cores += static_cast<int>(of_entry->size() * core_ids->size());
        ranks.insert(of_entry->begin(), of_entry->end());
    }
    facts.ncores = cores;
    facts.nnodes = static_cast<int>(ranks.size());
    facts.ranks = ranks.size() > 1 ? "[" + idset_text(ranks) + "]" : idset_text(ranks);
    facts.nodelist = hostlist_text(hosts_of(r));
    facts.expiration = read_number(execution, "expiration").value_or(-1);
    return facts;
}

Allocation allocation_of(Json r) {
    std::string text = r.text();
    ResourceFacts facts = resource_facts(r.get());
    return {std::move(text), std::move(r), std::move(facts)};
}

Status ResourceUnion::add(const json_t* r) {
    const json_t* list = read_path(r, "execution.R_lite");
    auto merged = nodes_;
    std::set<unsigned> all_ranks;
    for (std::size_t i = 0; i < json_array_size(list); ++i) {
        const json_t* entry = json_array_get(list, i);
        auto ranks = parse_idset(read_string(entry, "rank").value_or(""));
        if (!ranks) {
            return ranks.error();
        }
        all_ranks.insert(ranks->begin(), ranks->end());
        const char* kind;
        json_t* value;
        json_object_foreach(json_object_get(entry, "children"), kind, value) {
            auto ids = parse_idset(json_string_value(value) ? json_string_value(value) : "x");
            if (!ids) {
                return ids.error();
            }
            for (const unsigned rank : *ranks) {
                merged[rank].children[kind].insert(ids->begin(), ids->end());
            }
        }
    }
    const std::vector<std::string> hosts = hosts_of(r);
    std::size_t n = 0;
    for (const unsigned rank : all_ranks) {
        if (n < hosts.size()) {
            merged[rank].host = hosts[n++];
        }
    }
    nodes_ = std::move(merged);
    return Done{};
}

Json ResourceUnion::to_r() const {
    Json lite = Json::array();
    std::vector<std::string> hosts;
    for (auto at = nodes_.begin(); at != nodes_.end();) {
        std::set<unsigned> ranks;
        const Node& node = at->second;
        for (; at != nodes_.end() && at->second.children == node.children; ++at) {
            ranks.insert(at->first);
            hosts.push_back(at->second.host);
        }
        Json children = Json::object();
        for (const auto& [kind, ids] : node.children) {
            children.set(kind.c_str(), Json::string(idset_text(ids)));
        }
        Json entry = Json::object();
        entry.set("rank", Json::string(idset_text(ranks)));
        entry.set("children", std::move(children));
        lite.append(std::move(entry));
    }
    Json nodelist = Json::array();
    if (!hosts.empty()) {
        nodelist.append(Json::string(hostlist_text(hosts)));
    }
    Json execution = Json::object();
    execution.set("R_lite", std::move(lite));
    execution.set("starttime", Json::real(0));
    execution.set("expiration", Json::real(0));
    execution.set("nodelist", std::move(nodelist));
    Json r = Json::object();
    r.set("version", Json::integer(1));
    r.set("execution", std::move(execution));
    return r;
}

}  // namespace weir::broker::jobs
