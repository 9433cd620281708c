// SPDX-License-Identifier: LGPL-3.0-only
// Owns: jobspecs of submissions, and who is on which core. See submissions.hpp.
#include "modules/world/submissions.hpp"

#include <charconv>

#include "libfairshare/base/json/text_writer.hpp"

namespace weir::world {
namespace {

constexpr std::string_view submission_key = "\"world\":";

}  // namespace

std::string jobspec_of(const Submission& submission) {
    ObjectText core;
    core.set("type", "core").set("count", 1);
    ObjectText slot;
    slot.set("type", "slot").set("count", submission.cores).set("label", "t");
    slot.splice("with", ArrayText().splice(core.text()).text());
    ObjectText system;
    system.set("duration", to_seconds(submission.limit));
    if (!submission.queue.empty()) {
        system.set("queue", submission.queue);
    }
    if (!submission.serves.empty()) {
        system.splice("weir", ObjectText().splice("serves", ArrayText().append(submission.serves).text()).text());
    }
    ObjectText user;
    user.set("world", submission.number);
    ObjectText attributes;
    attributes.splice("system", system.text()).splice("user", user.text());
    ObjectText task;
    task.splice("command", "[\"app\"]").set("slot", "t").splice("count", "{\"per_slot\":1}");
    ObjectText all;
    all.splice("resources", ArrayText().splice(slot.text()).text())
        .splice("tasks", ArrayText().splice(task.text()).text());
    return all.splice("attributes", attributes.text()).set("version", 1).text();
}

std::size_t submission_in(const std::string& jobspec) {
    const std::size_t at = jobspec.find(submission_key);
    std::size_t number = 0;
    if (at != std::string::npos) {
        const char* begin = jobspec.data() + at + submission_key.size();
        std::from_chars(begin, jobspec.data() + jobspec.size(), number);
    }
    return number;
}

void Machine::take(const std::vector<std::uint32_t>& cores, std::size_t submission) {
    last_change_ = ground_.now();
    for (const std::uint32_t core : cores) {
        if (core >= holders_.size()) {
            ground_.fail("machine", "job " + std::to_string(submission) + " runs on core " + std::to_string(core) +
                                        ", which the machine does not have");
        } else if (holders_[core] != 0) {
            ground_.fail("machine", "core " + std::to_string(core) + " is used by job " +
                                        std::to_string(holders_[core] - 1) + " and by job " +
                                        std::to_string(submission));
        } else {
            holders_[core] = submission + 1;
        }
    }
}

std::map<std::size_t, std::uint32_t> Machine::running() const {
    std::map<std::size_t, std::uint32_t> cores;
    for (const std::size_t holder : holders_) {
        if (holder != 0) {
            cores[holder - 1] += 1;
        }
    }
    return cores;
}

void Machine::release(const std::vector<std::uint32_t>& cores, std::size_t submission) {
    for (const std::uint32_t core : cores) {
        if (core < holders_.size() && holders_[core] == submission + 1) {
            holders_[core] = 0;
            last_change_ = ground_.now();
        }
    }
}

}  // namespace weir::world
