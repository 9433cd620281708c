// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see output_log.hpp.
#include "cmd/common/output_log.hpp"

#include <sstream>

#include "cmd/common/reader.hpp"
#include "libfairshare/base/base64.hpp"
#include "libfairshare/base/id_set.hpp"
#include "libfairshare/base/json/json.hpp"

namespace weir::cmd {
namespace {

std::string data_of(const json_t* context) {
    const std::string data = text_at(context, "data");
    if (text_at(context, "encoding") != "base64") {
        return data;
    }
    const auto bytes = base64_decode(data);
    return bytes ? *bytes : "";
}

std::int64_t tasks_of(const json_t* context) {
    const auto ranks = IdSet::parse(text_at(context, "rank"));
    return ranks ? static_cast<std::int64_t>(ranks->count()) : 0;
}

}  // namespace

JobOutput read_output_log(std::string_view log) {
    JobOutput output;
    std::int64_t open = -1;  // streams of tasks that may still write; before the header nothing is known of them
    std::istringstream lines{std::string(log)};
    for (std::string line; std::getline(lines, line);) {
        const auto entry = Json::parse_with_nuls(line);
        if (!entry) {
            continue;
        }
        const std::string name = text_at(entry->get(), "name");
        const json_t* context = json_object_get(entry->get(), "context");
        if (name == "header") {
            const json_t* count = json_object_get(context, "count");
            open = integer_at(count, "stdout") + integer_at(count, "stderr");
        } else if (name == "data") {
            output.data += data_of(context);
            open -= json_is_true(json_object_get(context, "eof")) ? tasks_of(context) : 0;
        } else if (name == "redirect") {
            output.path = output.path.empty() ? text_at(context, "path") : output.path;
            open -= tasks_of(context);
        }
    }
    output.is_complete = open == 0;
    return output;
}

}  // namespace weir::cmd
