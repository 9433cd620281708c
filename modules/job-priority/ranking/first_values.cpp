// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see first_values.hpp.
#include "modules/job-priority/ranking/first_values.hpp"

#include <utility>

namespace weir::priority {

void FirstValues::note(const std::string& kind, const JobInputs& like, const Compute& compute) {
    if (kinds_.count(kind) != 0) {
        return;
    }
    if (kinds_.size() >= kinds_max) {
        clear();
    }
    Kind& added = kinds_[kind];
    added.like = like;
    added.value = compute(added.like);
    dirty_.push_back(kind);
}

void FirstValues::renew(const Compute& compute) {
    dirty_.clear();
    for (auto& [name, kind] : kinds_) {
        kind.value = compute(kind.like);
        if (kind.acknowledged != kind.value) {
            dirty_.push_back(name);
        }
    }
}

void FirstValues::clear() {
    is_all_ = is_all_ || !kinds_.empty();
    kinds_.clear();
    dirty_.clear();
    out_ = {};
}

std::optional<std::uint32_t> FirstValues::known(const std::string& kind) const {
    const auto found = kinds_.find(kind);
    return found == kinds_.end() ? std::nullopt : found->second.acknowledged;
}

FirstValueRows FirstValues::take() {
    out_ = {};
    out_.is_all = std::exchange(is_all_, false);
    for (std::string& name : dirty_) {
        const std::uint32_t value = kinds_.at(name).value;
        out_.rows.emplace_back(std::move(name), value);
    }
    dirty_.clear();
    return out_;
}

void FirstValues::acknowledge() {
    for (const auto& [name, value] : out_.rows) {
        if (const auto kind = kinds_.find(name); kind != kinds_.end()) {
            kind->second.acknowledged = value;
        }
    }
    out_ = {};
}

void FirstValues::fail() {
    is_all_ = is_all_ || out_.is_all || !kinds_.empty();
    out_ = {};
    dirty_.clear();
    for (auto& [name, kind] : kinds_) {
        kind.acknowledged.reset();
        dirty_.push_back(name);
    }
}

}  // namespace weir::priority
