// SPDX-License-Identifier: LGPL-3.0-only
// Owns: draining and undraining of nodes. Must not know messages or files.
#include "broker/services/resource_drain.hpp"

namespace weir::broker {
namespace {

Error of_ranks(std::errc code, const IdSet& ranks, const char* what) {
    return {code, std::string(ranks.count() > 1 ? "ranks " : "rank ") + ranks.encode() + what};
}

}  // namespace

std::optional<Drains::Mode> Drains::mode_of(const std::optional<std::string>& text) {
    if (!text) {
        return Mode::fresh;
    }
    if (text == "update") {
        return Mode::update;
    }
    if (text == "overwrite") {
        return Mode::overwrite;
    }
    return *text == "force-overwrite" ? std::optional(Mode::force) : std::nullopt;
}

Status Drains::check_drain(const IdSet& ranks, Mode mode) const {
    IdSet both;
    ranks.each([&](std::uint32_t rank) {
        const auto at = drains_.find(rank);
        if (at != drains_.end() && at->second.reason) {
            both.add(rank);
        }
    });
    return mode == Mode::fresh && !both.empty() ? Status(of_ranks(std::errc::file_exists, both, " already drained"))
                                                : Status(Done{});
}

void Drains::drain(const IdSet& ranks, const std::optional<std::string>& reason, double time_s, Mode mode) {
    ranks.each([&](std::uint32_t rank) {
        const auto [at, is_new] = drains_.try_emplace(rank, Drain{time_s, reason});
        Drain& drain = at->second;
        if (is_new) {
            return;
        }
        if (mode == Mode::overwrite || mode == Mode::force || !drain.reason) {
            drain.reason = reason;
        }
        if (mode == Mode::force) {
            drain.time_s = time_s;
        }
    });
    ranks_.add(ranks);
}

Status Drains::check_undrain(const IdSet& ranks, Mode mode) const {
    IdSet missing = ranks;
    missing.remove(ranks_);
    return mode == Mode::fresh && !missing.empty() ? Status(of_ranks(std::errc::file_exists, missing, " not drained"))
                                                   : Status(Done{});
}

void Drains::undrain(const IdSet& ranks) {
    ranks.each([&](std::uint32_t rank) { drains_.erase(rank); });
    ranks_.remove(ranks);
}

Json Drains::to_json() const {
    Json out = Json::object();
    for (auto at = drains_.begin(); at != drains_.end();) {
        IdSet same;
        const Drain drain = at->second;
        for (; at != drains_.end() && at->second == drain; ++at) {
            same.add(at->first);
        }
        Json entry = Json::object();
        entry.set("timestamp", drain.time_s).set("reason", drain.reason.value_or(""));
        out.set(same.encode().c_str(), std::move(entry));
    }
    return out;
}

}  // namespace weir::broker
