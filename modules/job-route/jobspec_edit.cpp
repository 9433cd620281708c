// SPDX-License-Identifier: LGPL-3.0-only
// Owns: jobspec_edit.hpp.
#include "modules/job-route/jobspec_edit.hpp"

#include <algorithm>

#include "libfairshare/json/json.hpp"

namespace weir::route {

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

json_t* environment_of(const Json& jobspec) {
    json_t* environment = nullptr;
    (void)json_unpack(jobspec.get(), "{s:{s:{s?o}}}", "attributes", "system", "environment", &environment);
    return environment;
}

Result<Json> parse_jobspec(const std::string& text) {
    auto jobspec = Json::parse(text);
    if (!jobspec) {
        return Error{std::errc::invalid_argument, "jobspec: " + jobspec.error().message};
    }
    json_t* system = nullptr;
    if (json_unpack(jobspec->get(), "{s:{s:o}}", "attributes", "system", &system) < 0 || !json_is_object(system)) {
        return Error{std::errc::invalid_argument, "jobspec: attributes.system is missing"};
    }
    return jobspec;
}

json_t* system_of(const Json& jobspec) {
    return json_object_get(json_object_get(jobspec.get(), "attributes"), "system");
}

}  // namespace

bool has_environment(const std::string& jobspec) {
    const auto parsed = parse_jobspec(jobspec);
    return parsed && environment_of(*parsed) != nullptr;
}

Result<std::string> with_environment(const std::string& jobspec, const std::string& J) {
    auto parsed = parse_jobspec(jobspec);
    if (!parsed) {
        return parsed.error();
    }
    const std::size_t begin = J.find('.');
    const std::size_t end = begin != std::string::npos ? J.find('.', begin + 1) : std::string::npos;
    if (end == std::string::npos) {
        return Error{std::errc::invalid_argument, "J: must be header.payload.signature"};
    }
    const auto payload = unbase64(std::string_view(J).substr(begin + 1, end - begin - 1));
    if (!payload) {
        return payload.error();
    }
    const auto original = parse_jobspec(*payload);
    if (!original) {
        return original.error();
    }
    if (json_t* environment = environment_of(*original); environment != nullptr) {
        json_object_set(system_of(*parsed), "environment", environment);
    }
    return parsed->dump();
}

Result<std::string> unbase64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return Error{std::errc::invalid_argument, "base64: the length must be a multiple of 4"};
    }
    const std::size_t padding =
        text.empty() ? 0 : text.size() - 1 - std::min(text.size() - 1, text.find_last_not_of('='));
    std::string bytes;
    for (std::size_t i = 0; i < text.size(); i += 4) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 4; k++) {
            const bool is_padding = i + k >= text.size() - padding;
            const std::size_t digit = is_padding ? 0 : digits.find(text[i + k]);
            if (digit == std::string_view::npos || padding > 2) {
                return Error{std::errc::invalid_argument, "base64: unexpected character at " + std::to_string(i + k)};
            }
            group = group << 6U | static_cast<std::uint32_t>(digit);
        }
        for (std::uint32_t shift : {16U, 8U, 0U}) {
            bytes += static_cast<char>(group >> shift & 255U);
        }
    }
    bytes.resize(bytes.size() - padding);
    return bytes;
}

Result<std::string> localize(const Order& submit, const std::set<std::string>& own_queues) {
    auto jobspec = parse_jobspec(submit.jobspec);
    if (!jobspec) {
        return jobspec.error();
    }
    json_t* system = system_of(*jobspec);
    Json weir = Json::object();
    weir.set("jobid", submit.id.value).set("userid", submit.userid);
    Json owned = Json::ref(system);
    owned.set("weir", std::move(weir));
    json_object_del(system, "dependencies");
    const char* queue = json_string_value(json_object_get(system, "queue"));
    if (queue != nullptr && own_queues.count(queue) == 0) {
        json_object_del(system, "queue");
    }
    return jobspec->dump();
}

std::string base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        std::uint32_t group = 0;
        for (std::size_t k = 0; k < 3; k++) {
            group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
        }
        for (std::size_t k = 0; k < 4; k++) {
            text += i + k <= bytes.size() ? digits[group >> (18U - 6U * k) & 63U] : '=';
        }
    }
    return text;
}

std::string sign_none(std::string_view jobspec, std::uint32_t userid) {
    using namespace std::string_literals;
    const std::string header = "version\0i1\0userid\0i"s + std::to_string(userid) + "\0mechanism\0snone\0"s;
    return base64(header) + "." + base64(jobspec) + ".none";
}

}  // namespace weir::route
