// SPDX-License-Identifier: LGPL-3.0-only
// Owns: questions about one job that instances pass on to each other, their answers, and the JSON of both. All input is
// checked. Must not know Flux, or who may ask. Source: README.md of this folder.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"
#include "modules/job-route/messages.hpp"

namespace weir::route {

/// Who may ask it, beside the owner of the instance.
enum class Audience : std::uint8_t { everybody, user_of_the_job };

/// A request to a service, about one job: `payload` gets the job's id in the instance that answers.
struct QuestionKind {
    const char* topic;
    Audience audience;
    bool is_kept = false;  ///< of a job that has ended this instance has the answer itself, as a rule
};
/// nullptr if instances pass no such question on.
const QuestionKind* question_kind(std::string_view topic);
/// The topics, for messages: "sched.why, ...".
std::string question_topics();
/// What an instance asks its children about an id that it does not know: which job of it has that id below.
inline constexpr const char* whose_id_topic = "job-route.ids";

inline constexpr std::size_t question_bytes_max = 4096;    ///< of a payload
inline constexpr std::size_t answer_bytes_max = 2u << 20;  ///< of an answer; a part of an output has 256 KiB
inline constexpr std::size_t answer_depth_max = 16;        ///< instances on the way of an answer

struct Question {
    std::uint64_t number = 0;  ///< of the parent; the answer quotes it
    JobId id;                  ///< in the parent; with whose_id_topic as somebody wrote it
    std::string topic;
    Json payload;  ///< an object
};

/// An answer. `id` is the job's id in the instance that sends it; the hops lead to the instance that answered, none if
/// it is this one. Either `answer` or an errnum and a sentence is set.
struct Reply {
    struct Hop {
        std::uint64_t child = 0;  ///< the partition, as a job of the instance above it
        std::uint64_t id = 0;     ///< the job in the partition; 0: unknown
        std::vector<std::string> serves;
        std::string partition = {};                  ///< its name; empty: no configured partition
        std::vector<std::string> may_start_in = {};  ///< other partitions beside it in which the job may start
    };
    std::uint64_t id = 0;
    std::vector<Hop> hops;
    Json answer;
    int errnum = 0;
    std::string error;
};

Json encode(const Question& question);
Result<Question> decode_question(json_t* value);
Json encode(const Reply& reply);
/// Takes out of an answer (to sched.why or job-priority.explain) what tells who the other jobs in it are. A job of the
/// instance that answered, which has no id here, counts as another's.
void hide_jobs(json_t* answer, const std::function<bool(JobId)>& is_told);
Result<Reply> decode_reply(json_t* value);

}  // namespace weir::route
