// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the commands of PMI-1. Must not know processes or descriptors.
#include "broker/core/pmi_exchange.hpp"

namespace weir::broker {
namespace {

constexpr std::size_t key_bytes_max = 64;
constexpr std::size_t value_bytes_max = 1024;
/// The limit for all tasks together: the launcher stores the keys, and a task must not be able to exhaust its memory.
constexpr std::size_t keys_max = 1u << 20;

/// NAME=VALUE words; `value` and `error_msg` reach to the end of the line.
std::map<std::string, std::string> words_of(const std::string& line) {
    std::map<std::string, std::string> words;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t equals = line.find('=', at);
        if (equals == std::string::npos) {
            break;
        }
        const std::string name = line.substr(at, equals - at);
        const bool reaches_end = name == "value" || name == "error_msg";
        const std::size_t end = reaches_end ? std::string::npos : line.find(' ', equals);
        words.emplace(name, line.substr(equals + 1, end == std::string::npos ? end : end - equals - 1));
        at = end == std::string::npos ? line.size() : end + 1;
    }
    return words;
}

std::string word(const std::map<std::string, std::string>& words, const char* name) {
    const auto found = words.find(name);
    return found == words.end() ? std::string() : found->second;
}

}  // namespace

PmiExchange::PmiExchange(int task_count, std::string jobid, int level)
    : task_count_(task_count), jobid_(std::move(jobid)) {
    values_["flux.instance-level"] = std::to_string(level);
    // All tasks run on this one machine, even if the instance simulates several nodes.
    values_["PMI_process_mapping"] = "(vector,(0,1," + std::to_string(task_count) + "))";
    values_["flux.taskmap"] = R"({"version":1,"map":[[0,1,)" + std::to_string(task_count) + R"(,1]]})";
}

std::string PmiExchange::put(const std::map<std::string, std::string>& words) {
    const std::string key = word(words, "key");
    const std::string value = word(words, "value");
    const bool is_good = !key.empty() && key.size() <= key_bytes_max && value.size() <= value_bytes_max &&
                         word(words, "kvsname") == jobid_ && values_.size() < keys_max;
    if (is_good) {
        values_[key] = value;
    }
    return std::string("cmd=put_result rc=") + (is_good ? "0" : "-1") + "\n";
}

std::string PmiExchange::get(const std::map<std::string, std::string>& words) const {
    const auto found = values_.find(word(words, "key"));
    if (word(words, "kvsname") != jobid_ || found == values_.end()) {
        return "cmd=get_result rc=-1\n";
    }
    return "cmd=get_result rc=0 value=" + found->second + "\n";
}

std::vector<PmiExchange::Answer> PmiExchange::take(int task, const std::string& line) {
    const auto words = words_of(line);
    const std::string command = word(words, "cmd");
    if (command == "init") {
        const bool is_ours = word(words, "pmi_version") == "1";
        return {{task, is_ours ? "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n"
                               : "cmd=response_to_init rc=-1\n"}};
    }
    if (command == "get_maxes") {
        return {{task, "cmd=maxes rc=0 kvsname_max=64 keylen_max=" + std::to_string(key_bytes_max) +
                           " vallen_max=" + std::to_string(value_bytes_max) + "\n"}};
    }
    if (command == "get_universe_size") {
        return {{task, "cmd=universe_size rc=0 size=" + std::to_string(task_count_) + "\n"}};
    }
    if (command == "get_appnum") {
        return {{task, "cmd=appnum rc=0 appnum=0\n"}};
    }
    if (command == "get_my_kvsname") {
        return {{task, "cmd=my_kvsname rc=0 kvsname=" + jobid_ + "\n"}};
    }
    if (command == "put") {
        return {{task, put(words)}};
    }
    if (command == "get") {
        return {{task, get(words)}};
    }
    if (command == "finalize") {
        return {{task, "cmd=finalize_ack rc=0\n"}};
    }
    if (command == "barrier_in") {
        at_barrier_.insert(task);
        std::vector<Answer> answers;
        if (at_barrier_.size() == static_cast<std::size_t>(task_count_)) {
            at_barrier_.clear();
            for (int other = 0; other < task_count_; ++other) {
                answers.push_back({other, "cmd=barrier_out rc=0\n"});
            }
        }
        return answers;
    }
    return {};
}

}  // namespace weir::broker
