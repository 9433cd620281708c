// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a reader of oracle files is given and what it reports. Must not know any system.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/json/json.hpp"

namespace weir::oracle {

/// The cases of one file. A case is what the file calls so (an entry of "cases", one mode of a tree, one job); it
/// passes when all of its comparisons do.
class Report {
  public:
    struct Failure {
        std::string name, what, expected, got;
        std::string record;  ///< the decision record that allows it; empty: it is a failure
    };
    /// Opens a case; what follows belongs to it.
    void begin(std::string name);
    /// |expected - got| <= tol, or <= tol * |expected|; NaN never passes, equal infinities do.
    void number(std::string_view what, double expected, double got, double tol);
    void integer(std::string_view what, std::int64_t expected, std::int64_t got);
    void text(std::string_view what, std::string_view expected, std::string_view got);
    void fail(std::string_view what, std::string_view expected, std::string_view got);
    /// The open case may differ, as that decision record says ("doc/adr/0013-...md"); its failures become remarks.
    void excuse(std::string_view record);
    int cases() const { return static_cast<int>(cases_.size()); }
    /// Cases without a failure, the excused among them. A case for which nothing was compared has failed.
    int passed() const;
    /// Cases that differ and may.
    int excused() const;
    /// Every comparison that did not hold, and every case that compared nothing.
    std::vector<Failure> failures() const;

  private:
    struct Case {
        std::string name, record;
        int compared = 0;
        std::vector<Failure> failures;
        bool holds() const { return compared > 0 && failures.empty(); }
    };
    Case& open_case();
    void compare(bool holds, std::string_view what, std::string_view expected, std::string_view got);
    std::vector<Case> cases_;
};

/// Throws std::exception with what is unreadable about the file; the runner makes that a failed file.
using Read = void (*)(const json_t* document, Report& report);

/// Files below a folder of that name ("slurm/other", "lsf"; "slurm/fairshare" is any "slurm/fairshare-VERSION" too) go
/// to `read`.
struct Reader {
    std::string_view folder;
    Read read;
};

// One function a system, each in a file of its own name.
void read_slurm_fairshare(const json_t* document, Report& report);
void read_slurm_other(const json_t* document, Report& report);
void read_slurm_documented(const json_t* document, Report& report);
void read_sprio(const json_t* document, Report& report);
void read_flux_accounting(const json_t* document, Report& report);
void read_flux_wiki(const json_t* document, Report& report);
void read_lsf(const json_t* document, Report& report);
void read_moab_maui(const json_t* document, Report& report);
void read_openpbs(const json_t* document, Report& report);
void read_gridengine(const json_t* document, Report& report);
void read_htcondor(const json_t* document, Report& report);
void read_torque_paper(const json_t* document, Report& report);

}  // namespace weir::oracle
