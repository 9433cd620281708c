// SPDX-License-Identifier: LGPL-3.0-only
// Owns: composing task environments. Must not know processes.
#include "broker/services/exec_environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace weir::broker {
namespace {

std::map<std::string, std::string> own_environment() {
    std::map<std::string, std::string> variables;
    for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
        const std::string entry = *at;
        const auto equals = entry.find('=');
        if (equals != std::string::npos) {
            variables[entry.substr(0, equals)] = entry.substr(equals + 1);
        }
    }
    return variables;
}

}  // namespace

std::vector<std::string> task_environment(const ExecSpec& spec, const ExecPlace& place, const std::string& jobid,
                                          const Marks& marks, const std::string& folder) {
    std::map<std::string, std::string> variables = spec.environment ? *spec.environment : own_environment();
    for (auto& [name, value] : variables) {
        value = filled_in(value, marks);
    }
    for (const char* inherited : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) {  // a broker's own, where it was started by PMI
        variables.erase(inherited);
    }
    variables["FLUX_URI"] = place.uri;
    variables["FLUX_JOB_TMPDIR"] = folder;
    variables["WEIR_JOB_LEVEL"] = std::to_string(place.level + 1);
    variables["FLUX_JOB_ID"] = jobid;
    variables["FLUX_JOB_ID_PATH"] = (place.jobid_path == "/" ? "" : place.jobid_path) + "/" + jobid;
    variables["FLUX_JOB_SIZE"] = std::to_string(spec.task_count);
    variables["FLUX_JOB_NNODES"] = std::to_string(spec.node_count);
    variables["WEIR_CLOCK"] = place.clock;
    variables["WEIR_JOB_LIMITS"] = spec.limits;
    variables["WEIR_TASK_GPUS"] = "";
    if (!spec.nodes.empty()) {
        const char* told = place.has_own_gpus ? std::getenv("CUDA_VISIBLE_DEVICES") : nullptr;
        variables["WEIR_TASK_GPUS"] = gpus_of_tasks(spec.nodes, told != nullptr ? told : "", spec.is_gpu_per_task);
        variables.try_emplace("CUDA_DEVICE_ORDER", "PCI_BUS_ID");  // the order in which hwloc counts
    }
    std::vector<std::string> environment;
    for (const auto& [name, value] : variables) {
        environment.push_back(name + "=" + value);
    }
    return environment;
}

}  // namespace weir::broker
