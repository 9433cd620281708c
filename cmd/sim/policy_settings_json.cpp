// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the defaults as a site would write them. A unit test reads them back and holds them to PolicySettings.
#include "cmd/sim/policy_settings_json.hpp"

#include "libfairshare/base/fsd.hpp"
#include "libsched/config/policy_keys.hpp"

namespace weir::cmd {
namespace {

Json weights_json(const Weights& weights) {
    Json out = Json::object();
    out.set("wait", weights.wait)
        .set("fairshare", weights.fairshare)
        .set("qos", weights.qos)
        .set("queue", weights.queue)
        .set("size", weights.size)
        .set("user", weights.user)
        .set("association", weights.association)
        .set("site", weights.site)
        .set("resources", weights.resources);
    return out;
}

Json defaults(PolicyKind kind) {
    const PolicySettings s;
    Json wait_after = Json::object(), window = Json::object(), out = Json::object();
    wait_after.set("time", encode_fsd(s.wait_after.time)).set("limits", s.wait_after.limits);
    window.set("interval", encode_fsd(s.window.interval)).set("depth", s.window.depth).set("factor", s.window.factor);
    out.set("policy", name_of(kind))
        .set("update-interval", encode_fsd(s.update_interval))
        .set("algorithm", s.algorithm)
        .set("decay", kind == PolicyKind::moab ? "window" : "half-life")
        .set("half-life", encode_fsd(s.half_life))
        .set("window", std::move(window))
        .set("usage-reset", "none")
        .set("charging", "as-it-runs")
        .set("weights", weights_json(s.weights))
        .set("wait-max", encode_fsd(s.wait_max))
        .set("wait-after", std::move(wait_after))
        .set("size-favors", "large")
        .set("size-rule", "cores")
        .set("rounding", "nearest")
        .set("ageing", "while-eligible")
        .set("only-raises", s.only_raises);
    return out;
}

/// Tables key by key, all else as a whole.
void overlay(json_t* onto, const json_t* written) {
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(const_cast<json_t*>(written), key, value) {  // it only walks
        json_t* below = json_object_get(onto, key);
        if (json_is_object(below) && json_is_object(value)) {
            overlay(below, value);
        } else {
            WEIR_CHECK(json_object_set(onto, key, value) == 0);
        }
    }
}

}  // namespace

Json settings_in_force(PolicyKind kind, const json_t* written) {
    const Json all = defaults(kind);
    Json out = Json::object();
    const char* key = nullptr;
    json_t* value = nullptr;
    json_object_foreach(all.get(), key, value) {
        if (config::heeds(kind, key)) {
            out.set(key, Json::ref(value));
        }
    }
    overlay(out.get(), written);
    return out;
}

}  // namespace weir::cmd
