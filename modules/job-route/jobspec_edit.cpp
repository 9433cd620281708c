// SPDX-License-Identifier: LGPL-3.0-only
// Owns: jobspec_edit.hpp.
#include "modules/job-route/jobspec_edit.hpp"

#include "libsched/json/json.hpp"

namespace weir::route {

Result<std::string> localize(const Order& submit, const std::set<std::string>& own_queues) {
    auto jobspec = Json::parse(submit.jobspec);
    if (!jobspec) {
        return Error{std::errc::invalid_argument, "jobspec: " + jobspec.error().message};
    }
    json_t* system = nullptr;
    if (json_unpack(jobspec->get(), "{s:{s:o}}", "attributes", "system", &system) < 0 || !json_is_object(system)) {
        return Error{std::errc::invalid_argument, "jobspec: attributes.system is missing"};
    }
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
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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
