// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see exec_marks.hpp.
#include "broker/services/exec_marks.hpp"

namespace weir::broker {

std::string encode_id(flux_jobid_t id, const char* kind) {
    char text[64] = {};
    flux_job_id_encode(id, kind, text, sizeof text);
    return text;
}

Marks marks_of(flux_jobid_t id, const ExecSpec& spec, const std::string& folder) {
    const std::string f58 = encode_id(id, "f58plain");
    Marks marks{{"tmpdir", folder},
                {"id", f58},
                {"jobid", f58},
                {"id.f58", f58},
                {"id.f58plain", f58},
                {"id.dec", encode_id(id, "dec")},
                {"id.hex", encode_id(id, "hex")},
                {"id.words", encode_id(id, "words")},
                {"name", spec.name},
                {"size", std::to_string(spec.task_count)},
                {"ntasks", std::to_string(spec.task_count)},
                {"nnodes", std::to_string(spec.node_count)}};
    if (spec.task_count == 1) {
        for (const char* name : task_marks) {
            marks.emplace_back(name, "0");
        }
    }
    if (spec.node_count == 1) {
        marks.emplace_back("node.id", "0");
        marks.emplace_back("node.name", spec.node_name);
    }
    return marks;
}

}  // namespace weir::broker
