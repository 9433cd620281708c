// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading and writing of wire JSON. See wire.hpp.
#include "modules/job-priority/messages/wire.hpp"

#include <algorithm>
#include <cmath>

#include "libfairshare/base/json/r.hpp"
#include "modules/job-priority/state/state_log.hpp"

namespace weir::priority {
namespace {

Error malformed(const std::string& what) {
    return Error{std::errc::protocol_error, what};
}

}  // namespace

MachineSize machine_of_R(json_t* R) {
    const auto read = decode_r(R);
    MachineSize machine{0, 0, 0., 0.};
    if (!read) {
        return machine;
    }
    machine.cores = static_cast<std::uint32_t>(core_count(read->resources));
    machine.nodes = static_cast<std::uint32_t>(read->resources.nodes.size());
    for (const NodeResources& node : read->resources.nodes) {
        machine.node_cores = std::max(machine.node_cores, static_cast<std::uint32_t>(node.cores.count()));
        machine.gpus += static_cast<double>(node.gpus.count());
        machine.memory_gib += node.memory_mib / 1024.;
    }
    return machine;
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

Result<std::vector<GivenPriority>> read_given_priorities(const json_t* jobs) {
    std::vector<GivenPriority> rows;
    std::size_t index = 0;
    json_t* entry = nullptr;
    json_array_foreach(const_cast<json_t*>(jobs), index, entry) {  // it only walks
        const json_t* id = json_array_get(entry, 0);
        const json_t* priority = json_array_get(entry, 1);
        if (!json_is_integer(id) || (!json_is_integer(priority) && !json_is_null(priority))) {
            return Error{std::errc::protocol_error,
                         "jobs[" + std::to_string(index) + "] must be [job, priority], or null for none"};
        }
        rows.emplace_back(static_cast<FluxJobId>(json_integer_value(id)),
                          json_is_null(priority) ? std::nullopt : std::optional(json_integer_value(priority)));
    }
    return rows;
}

Result<std::vector<FluxJobId>> read_hosts(const json_t* hosts) {
    std::vector<FluxJobId> read;
    std::size_t index = 0;
    json_t* host = nullptr;
    if ((hosts != nullptr && !json_is_array(hosts)) || json_array_size(hosts) > StateLog::hosts_max) {
        return malformed("hosts must be a list of at most " + std::to_string(StateLog::hosts_max) + " job ids");
    }
    json_array_foreach(const_cast<json_t*>(hosts), index, host) {
        if (!json_is_integer(host)) {
            return malformed("hosts[" + std::to_string(index) + "] must be a job id");
        }
        read.push_back(static_cast<FluxJobId>(json_integer_value(host)));
    }
    return read;
}

Json write_hosts(const std::vector<FluxJobId>& hosts) {
    Json array = Json::array();
    for (const FluxJobId host : hosts) {
        array.append(static_cast<long long>(host));
    }
    return array;
}

Json write_order(const OrderChange& change) {
    Json gone = Json::array();
    for (const JobId id : change.gone) {
        gone.append(id.value);
    }
    Json jobs = Json::array();
    for (const OrderChange::Job& job : change.jobs) {
        jobs.append(job.id.value).append(job.part.group).append(job.part.own);
    }
    Json groups = Json::array();
    for (const auto& [group, added] : change.groups) {
        groups.append(group).append(added);
    }
    Json payload = Json::object();
    payload.set("all", change.is_all).set("bits", change.bits).set("gone", std::move(gone));
    payload.set("jobs", std::move(jobs)).set("groups", std::move(groups));
    return payload;
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
