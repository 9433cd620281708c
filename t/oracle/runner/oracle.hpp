// SPDX-License-Identifier: LGPL-3.0-only
// Owns: what a reader of oracle files is given and what it reports. Must not know any system.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "t/oracle/runner/value.hpp"

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
    /// Opens a case and calls `read`; what it throws fails the case, and the file goes on.
    void attempt(std::string name, const std::function<void()>& read);
    /// |expected - got| <= tol, or <= tol * |expected|; NaN never passes, equal infinities do.
    void number(std::string_view what, double expected, double got, double tol);
    /// |expected - got| <= distance, whatever their size.
    void within(std::string_view what, double expected, double got, double distance);
    /// What a program printed with so many decimals: got, rounded to these.
    void printed(std::string_view what, double expected, double got, int decimals);
    void integer(std::string_view what, std::int64_t expected, std::int64_t got);
    void text(std::string_view what, std::string_view expected, std::string_view got);
    void fail(std::string_view what, std::string_view expected, std::string_view got);
    /// Neither this value nor any below it is compared, and why. The runner tells how many such values a file has.
    void leave(const Value* value, std::string_view why);
    /// The open case may differ, as that decision record says ("doc/adr/0091-other-systems.md"); its failures become
    /// remarks.
    void excuse(std::string_view record);
    /// Comparisons made, in all cases.
    int figures() const;
    struct Left {
        std::string why;
        int values = 0;
    };
    const std::vector<Left>& left() const { return left_; }
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
    std::vector<Left> left_;
};

/// Throws std::exception with what is unreadable about the file; the runner makes that a failed file.
using Read = void (*)(const Value* document, Report& report);

/// Files below a folder of that name ("slurm/other", "lsf"; "slurm/fairshare" is any "slurm/fairshare-VERSION" too) go
/// to `read`.
struct Reader {
    std::string_view folder;
    Read read;
};

// One function a system, each in a file of its own name.
void read_slurm_fairshare(const Value* document, Report& report);
void read_slurm_other(const Value* document, Report& report);
void read_slurm_documented(const Value* document, Report& report);
void read_sprio(const Value* document, Report& report);
void read_flux_accounting(const Value* document, Report& report);
void read_flux_wiki(const Value* document, Report& report);
void read_lsf(const Value* document, Report& report);
void read_moab_maui(const Value* document, Report& report);
void read_openpbs(const Value* document, Report& report);
void read_gridengine(const Value* document, Report& report);
void read_htcondor(const Value* document, Report& report);
void read_torque_paper(const Value* document, Report& report);

}  // namespace weir::oracle
