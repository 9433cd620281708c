// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see place_wire.hpp.
#include "modules/job-priority/messages/place_wire.hpp"

#include <array>
#include <optional>
#include <string_view>

#include "modules/job-priority/messages/bounded_name.hpp"

namespace weir::priority {
namespace {

// In the order of their values.
constexpr std::array<std::string_view, 5> wish_states{"gone", "parked", "waits", "holds", "running"};
constexpr std::array<std::string_view, 3> answer_words{"waits", "granted", "refused"};
constexpr std::size_t wish_fields = 12;
constexpr json_int_t wish_amount_max = json_int_t{1} << 32;  // of nodes and cores: sums of them do not wrap

template <std::size_t count>
std::optional<std::size_t> index_of(const std::array<std::string_view, count>& words, const json_t* value) {
    const char* text = json_string_value(value);
    for (std::size_t i = 0; text != nullptr && i < count; ++i) {
        if (words.at(i) == text) {
            return i;
        }
    }
    return std::nullopt;
}

Error malformed_wish(std::size_t index) {
    return Error{std::errc::protocol_error,
                 "jobs[" + std::to_string(index) +
                     "] must be [id, \"gone\"] or [id, state, seen, new, user, account, queue, qos, nodes, cores, "
                     "wall time or null, priority]"};
}

json_int_t signed_bits(std::uint64_t value) {
    return static_cast<json_int_t>(value);
}

std::uint64_t bits_in(const json_t* value) {
    return static_cast<std::uint64_t>(json_integer_value(value));
}

Json write_wish(const PlaceWish& wish) {
    Json entry = Json::array();
    entry.append(signed_bits(wish.id)).append(Json::string(wish_states.at(static_cast<std::size_t>(wish.state))));
    if (wish.state == PlaceWish::State::gone) {
        return entry;
    }
    const PlaceRow& job = wish.job;
    entry.append(signed_bits(wish.seen)).append(Json::own(json_boolean(wish.is_new)));
    for (const std::string* name : {&job.user, &job.account, &job.queue, &job.qos}) {
        entry.append(Json::string(*name));
    }
    entry.append(signed_bits(job.nodes)).append(signed_bits(job.cores));
    entry.append(job.wall_time == Duration::max() ? Json::own(json_null())
                                                  : Json::own(json_integer(job.wall_time.count())));
    entry.append(signed_bits(wish.priority));
    return entry;
}

bool read_wish_name(const json_t* value, std::string& into) {
    const char* text = json_string_value(value);
    if (text == nullptr || !is_bounded({text, json_string_length(value)}, account_bytes_max)) {
        return false;
    }
    into = text;
    return true;
}

bool is_amount(const json_t* value) {
    return json_is_integer(value) && json_integer_value(value) > 0 && json_integer_value(value) <= wish_amount_max;
}

/// False if it is none.
bool read_wish(const json_t* entry, PlaceWish& wish) {
    const auto at = [entry](std::size_t index) { return json_array_get(entry, index); };
    const auto state = index_of(wish_states, at(1));
    if (!json_is_integer(at(0)) || !state) {
        return false;
    }
    wish.id = bits_in(at(0));
    wish.state = static_cast<PlaceWish::State>(*state);
    if (wish.state == PlaceWish::State::gone) {
        return true;
    }
    PlaceRow& job = wish.job;
    const json_t* wall = at(10);
    const bool is_good = json_array_size(entry) >= wish_fields && json_is_integer(at(2)) && json_is_boolean(at(3)) &&
                         read_wish_name(at(4), job.user) && read_wish_name(at(5), job.account) &&
                         read_wish_name(at(6), job.queue) && read_wish_name(at(7), job.qos) && is_amount(at(8)) &&
                         is_amount(at(9)) && (json_is_null(wall) || json_integer_value(wall) > 0) &&
                         json_is_integer(at(11));
    wish.seen = bits_in(at(2));
    wish.is_new = json_is_true(at(3));
    job.nodes = bits_in(at(8));
    job.cores = bits_in(at(9));
    job.wall_time = json_is_null(wall) ? Duration::max() : Duration(json_integer_value(wall));
    wish.priority = bits_in(at(11));
    return is_good;
}

}  // namespace

Json write_wishes(FluxJobId child, const PlaceWishes& wishes) {
    Json jobs = Json::array();
    for (const PlaceWish& wish : wishes.jobs) {
        jobs.append(write_wish(wish));
    }
    Json payload = Json::object();
    payload.set("jobid", signed_bits(child)).set("link", signed_bits(wishes.link));
    payload.set("complete", wishes.is_complete).set("jobs", std::move(jobs));
    return payload;
}

Result<PlaceWishes> read_wishes(const json_t* payload) {
    PlaceWishes wishes;
    const json_t* jobs = json_object_get(payload, "jobs");
    if (!json_is_array(jobs) || json_array_size(jobs) > PlaceWishes::batch_max) {
        return Error{std::errc::protocol_error,
                     "jobs must be a list of at most " + std::to_string(PlaceWishes::batch_max)};
    }
    wishes.link = bits_in(json_object_get(payload, "link"));
    wishes.is_complete = json_is_true(json_object_get(payload, "complete"));
    for (std::size_t i = 0; i < json_array_size(jobs); ++i) {
        if (!read_wish(json_array_get(jobs, i), wishes.jobs.emplace_back())) {
            return malformed_wish(i);
        }
    }
    return wishes;
}

Json write_answers(const std::vector<PlaceAnswer>& answers) {
    Json array = Json::array();
    for (const PlaceAnswer& answer : answers) {
        Json entry = Json::array();
        entry.append(signed_bits(answer.id)).append(signed_bits(answer.number));
        entry.append(Json::string(answer_words.at(static_cast<std::size_t>(answer.what))));
        entry.append(Json::string(answer.text));
        array.append(std::move(entry));
    }
    return array;
}

Result<std::vector<PlaceAnswer>> read_answers(const json_t* answers) {
    std::vector<PlaceAnswer> read;
    for (std::size_t i = 0; i < json_array_size(answers); ++i) {
        const json_t* entry = json_array_get(answers, i);
        const auto what = index_of(answer_words, json_array_get(entry, 2));
        const char* text = json_string_value(json_array_get(entry, 3));
        if (!json_is_integer(json_array_get(entry, 0)) || !json_is_integer(json_array_get(entry, 1)) || !what ||
            text == nullptr) {
            return Error{std::errc::protocol_error,
                         "admissions[" + std::to_string(i) + "] must be [id, number, what, text]"};
        }
        read.push_back({bits_in(json_array_get(entry, 0)), bits_in(json_array_get(entry, 1)),
                        static_cast<PlaceAnswer::What>(*what), text});
    }
    return read;
}

}  // namespace weir::priority
