// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the text of the configurations.
#include "cmd/instance/plan.hpp"

#include "cmd/common/instance_queue.hpp"
#include "cmd/common/text.hpp"

namespace weir::cmd {
namespace {

std::string plugin_line(const Plan& plan, const char* name) {
    return "    { load = " + toml_string(plan.plugins + "/" + name) + " },\n";
}

std::string clock_table(const Plan& plan) {
    if (plan.scale == 1) {
        return "";
    }
    const std::string origin = plan.origin ? "origin = " + fixed(*plan.origin, 6) + "\n" : "";
    return "\n[clock]\nscale = " + fixed(plan.scale, 3) + "\n" + origin;
}

std::string weir_tables(const Plan& plan) {
    std::string text = "\n[weir]\nshare-tree = " + toml_string(plan.share_tree) + "\n";
    for (const auto& [key, value] : plan.weir) {
        text += key + " = " + toml_string(value) + "\n";
    }
    if (!plan.weights.empty()) {
        text += "\n[weir.weights]\n";
        for (const auto& [key, value] : plan.weights) {
            text += key + " = " + fixed(value, 0) + "\n";
        }
    }
    if (!plan.users.empty()) {
        text += "\n[weir.users]\n";
        for (const auto& [name, id] : plan.users) {
            text += toml_string(name) + " = " + std::to_string(id) + "\n";
        }
    }
    return text;
}

std::string common_head(const Plan& plan, const std::string& scheduler) {
    std::string text = "# Written by weir at each start; changes here are lost.\n[weir-broker]\nmodules = [";
    for (const char* name : {"kvs", "resource", "job-manager", "job-exec"}) {
        text += toml_string(name) + ", ";
    }
    text += toml_string(scheduler) + ", \"job-priority\", \"job-route\"]\n\n[job-manager]\ninactive-num-limit = " +
            std::to_string(plan.jobs_kept) + "\nplugins = [\n";
    return text + plugin_line(plan, "job-priority-tap.so") + plugin_line(plan, "job-route-tap.so") + "]\n" +
           clock_table(plan);
}

std::string text_list(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) {
        list += (list.empty() ? "" : ", ") + toml_string(text);
    }
    return "[" + list + "]";
}

}  // namespace

std::string toml_string(const std::string& text) {
    std::string out = "\"";
    for (const char c : text) {
        static constexpr char hex[] = "0123456789ABCDEF";
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            out += std::string("\\") + c;
        } else if (byte < 0x20 || byte == 0x7f) {
            out += std::string("\\u00") + hex[byte >> 4] + hex[byte & 15];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string parent_config(const Plan& plan, const std::vector<std::string>& queues) {
    const std::string last = std::to_string(plan.nodes - 1);
    const std::string hosts = plan.nodes == 1 ? plan.host : plan.host + "[0-" + last + "]";
    std::string text = common_head(plan, "sched-weir-fcfs");
    text += "\n[[resource.config]]\nhosts = " + toml_string(hosts) + "\ncores = \"0-" +
            std::to_string(plan.cores_per_node - 1) + "\"\n";
    text += weir_tables(plan) + "\n";
    for (const std::string& queue : queues) {
        text += "[queues." + toml_string(queue) + "]\n";
    }
    // [policy.limits] of the site are for jobs, not for the partitions that run them: it must be said for each limit.
    text += "[queues." + std::string(instance_queue) + ".policy.limits]\nduration = \"0\"\n";
    for (const char* bound : {"max", "min"}) {
        text += "job-size." + std::string(bound) + " = { nnodes = -1, ncores = -1, ngpus = -1 }\n";
    }
    if (!plan.default_queue.empty()) {
        text += "\n[policy.jobspec.defaults.system]\nqueue = " + toml_string(plan.default_queue) + "\n";
    }
    for (const Partition& partition : plan.partitions) {
        text += "\n[[partition]]\nname = " + toml_string(partition.name) +
                "\nscheduler = " + toml_string(partition.scheduler) + "\n";
        text += partition.overflow.empty() ? "" : "overflow = " + text_list(partition.overflow) + "\n";
        text += plan.nodes == 1 ? "cores = " + std::to_string(partition.cores()) + "\n"
                                : "nodes = " + std::to_string(partition.nodes) +
                                      "\ncores-per-node = " + std::to_string(partition.cores_per_node) + "\n";
    }
    return text;
}

}  // namespace weir::cmd
