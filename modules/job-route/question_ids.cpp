// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the part of Questions that says which job of this instance an id means, and which other ids that job has. See
// questions.hpp.
#include "modules/job-route/questions.hpp"

namespace weir::route {
namespace {

using flux::Failure;

constexpr std::size_t ids_max = 1000;  ///< in one request

}  // namespace

/// The job that has this id here, else at the parent, else in a child.
std::optional<JobId> Questions::known_id(std::uint64_t id) const {
    if (table_.active(JobId{id}) != nullptr) {
        return JobId{id};
    }
    if (const LocalId local = link_.local_of(JobId{id}); local.value != 0) {
        return JobId{local.value};
    }
    const JobId above = table_.id_of(LocalId{id});
    return above.value != 0 ? std::optional(above) : std::nullopt;
}

/// Asks the owner's children, one after the other.
void Questions::ask_whose_id(Number number, Pending& question) {
    if (question.stage != IdStage::own) {
        not_known(number, question);
        return;
    }
    question.stage = IdStage::foreign;
    question.candidates = table_.trusted_children();
    ask_next(number, question);
}

/// A child that names a job which it does not have is not believed.
void Questions::on_whose_id(Number number, Pending& question, const Reply& reply) {
    const RouteJob* job = table_.active(JobId{reply.id});
    const bool is_elsewhere = job != nullptr && (job->given() == nullptr || job->given()->child != question.child);
    if (reply.errnum != 0 || reply.id == 0 || is_elsewhere) {
        ask_next(number, question);
        return;
    }
    question.id = JobId{reply.id};
    question.stage = IdStage::found;
    question.child = JobId{};
    question.session.clear();
    if (question.kind == nullptr) {
        finish_ids(number);
    } else {
        place(number, question);
    }
}

/// {asked, id, above?, child?, below?, userid?}
Json Questions::ids_of(std::uint64_t asked, JobId id, std::optional<std::uint32_t> only) const {
    Json row = Json::object();
    if (only && !is_of(id, *only)) {  // as one that is not known
        return std::move(row.set("asked", asked).set("id", asked));
    }
    row.set("asked", asked).set("id", id.value);
    if (const JobId above = link_.parent_of(LocalId{id.value}); above.value != 0) {
        row.set("above", above.value);
    }
    const RouteJob* job = table_.active(id);
    if (job != nullptr && job->facts.upstream != 0) {
        row.set("userid", job->facts.upstream_userid);
    }
    if (job != nullptr && job->given() != nullptr) {
        row.set("child", job->given()->child.value).set("below", job->given()->local.value);
    }
    return row;
}

/// The children are asked about a single id only, as a person writes it: commands send lists of ids that they were
/// told.
void Questions::ids(const flux_msg_t* msg) {
    json_t* list = nullptr;
    flux::unpack(msg, "{s:o}", "ids", &list);
    if (!json_is_array(list) || json_array_size(list) > ids_max) {
        throw Failure(EINVAL, "ids must be an array of at most " + std::to_string(ids_max) + " job ids");
    }
    const auto id_at = [list](std::size_t index) {
        return static_cast<std::uint64_t>(json_integer_value(json_array_get(list, index)));
    };
    if (json_array_size(list) == 1 && !known_id(id_at(0))) {
        keep(begin(msg, id_at(0)), &Questions::look_up);
        return;
    }
    Json rows = Json::array();
    for (std::size_t index = 0; index < json_array_size(list); index++) {
        const std::uint64_t asked = id_at(index);
        rows.append(ids_of(asked, known_id(asked).value_or(JobId{asked}), privacy_.only(msg)));
    }
    Json answer = Json::object();
    answer.set("jobs", std::move(rows));
    flux::respond(h_, msg, answer);
}

/// Of a private instance a guest is not told whether there is a job that is not his. Where a partition did not answer,
/// the id is not said to be unknown.
void Questions::finish_ids(Number number, bool is_late) {
    const Pending& question = pending_.at(number);
    Json row = ids_of(question.asked, question.id, question.only);
    if (question.stage == IdStage::foreign && !question.only && !is_late) {
        row.set("unknown", Json::boolean(true));
    }
    Json rows = Json::array();
    rows.append(std::move(row));
    Json answer = Json::object();
    answer.set("jobs", std::move(rows));
    flux::respond(h_, question.request.get(), answer);
    pending_.erase(number);
}

}  // namespace weir::route
