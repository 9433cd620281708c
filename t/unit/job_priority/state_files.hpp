// SPDX-License-Identifier: LGPL-3.0-only
// State files of tests: a folder of its own for one, and a batch with a row of each kind.
#pragma once
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "modules/job-priority/state/state_store.hpp"
#include "t/unit/job_priority/support.hpp"

namespace weir::priority::testing {

class Folder {
  public:
    Folder() {
        std::string name = (std::filesystem::temp_directory_path() / "weir-state-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    std::string file() const { return (path_ / "state.sqlite").string(); }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

inline StateStore opened(const std::string& path, std::vector<std::string>* warnings = nullptr) {
    std::vector<std::string> ignored;
    auto store = StateStore::open(path, warnings != nullptr ? *warnings : ignored);
    if (!store) {
        throw std::runtime_error(store.error().message);
    }
    return std::move(*store);
}

inline const JobRun ended_run{9, at(2), at(3)}, first_run{0x8000000000000001ULL, at(5), at(6)};

inline StateBatch everything() {
    StateBatch batch;
    batch.meta = StateMeta{at(1), at(2), 77, "me", at(3), {5, 0xfedcba9876543210}, {6, 0xfedcba9876543210}};
    batch.revisions = {{1, at(3), "a", "b", "\"x\" = 1\n"}};
    batch.checkpoint = LedgerState{std::chrono::hours(1), 5, {{"x/@u", {-3, 9}, {1, 0xffffffffffffffffULL}, 12}}};
    batch.payers["x/@v"] = PayerState{"x/@v", {4, 5}, {-1, 6}, 7};
    batch.payers["x/@w"] = std::nullopt;
    batch.running[first_run.id] = RunningRow{"x/@u", 8, at(6), 0, {}, {}, first_run};
    batch.charged[ended_run] = at(7);
    batch.site[5] = SiteRow{0.5, at(2)};
    batch.reported[{1, 2}] = RunningRow{"", 3, at(8), 6};
    batch.downlinks[1] = DownlinkRow{"child", 11, at(9), at(10)};
    batch.uplink.emplace_back(77, UplinkRow{true, 5, "u", "x", 2, at(11), 4});
    return batch;
}

}  // namespace weir::priority::testing
