// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files of a running slurmctld whose associations change: what sshare says at once and after the next pass.
// Must not know the formulas.
#include <algorithm>
#include <memory>
#include <regex>
#include <stdexcept>

#include "libfairshare/usage/slurm_usage.hpp"
#include "t/oracle/runner/slurm_other.hpp"
#include "t/oracle/runner/slurm_shares.hpp"
#include "t/oracle/runner/slurm_text.hpp"

namespace weir::oracle {

namespace {

/// The associations as the operator has them, and what the last pass made of them.
class LiveSite {
  public:
    explicit LiveSite(const Value* document)
        : conf_(all_words(text_at(document, "slurm_conf"))),
          rows_(slurm_tree_rows(member(document, "tree"))),
          made_(std::make_unique<SlurmTree>(slurm_tree(rows_))),
          usage_(made_->tree, decay_of(conf_)) {
        for (const Value* row : each(member(document, "tree"))) {
            if (find(row, "usage") != nullptr) {
                usage_.add(made_->by_name.at(text_at(row, "account") + "/" + text_at(row, "name")),
                           static_cast<long double>(number_at(row, "usage")));
            }
        }
        for (SlurmAssociation& row : rows_) {
            row.usage = nullptr;  // from now on usage_ has it
        }
    }

    /// What the operator did, in the words of the file. Throws for words that are not known.
    void change(const std::string& what) {
        std::smatch said;
        const auto says = [&](const char* form) { return std::regex_match(what, said, std::regex{form}); };
        if (says(R"(add user (\w+) (?:to|in) (?:account )?(\w+)(?: \(fairshare=(\w+)\))?)")) {
            rows_.push_back({next_id(), said[2], said[1], "", "", shares_of(said[3]), nullptr});
        } else if (says(R"(add account (\w+) (?:to|under|in) (\w+)(?: \(fairshare=(\w+)\))?)")) {
            rows_.push_back({next_id(), said[1], "", "", said[2], shares_of(said[3]), nullptr});
        } else if (says(R"(delete (user|account) (\w+)(?: (?:from|of) (?:account )?(\w+))?)")) {
            std::erase_if(rows_, [&](const SlurmAssociation& row) { return is_meant(row, said[1], said[2], said[3]); });
        } else if (says(R"(reset RawUsage of (user|account) (\w+)(?: (?:in|of) (?:account )?(\w+))?)")) {
            for (const SlurmAssociation& row : rows_) {
                if (is_meant(row, said[1], said[2], said[3])) {
                    usage_.reset(made_->by_name.at(name_of(row)));
                }
            }
        } else if (says(R"((user|account) (\w+)(?: (?:in|of) (?:account )?(\w+))? fairshare ?(?:=|\w+ -> )(\w+))")) {
            for (SlurmAssociation& row : rows_) {
                if (is_meant(row, said[1], said[2], said[3])) {
                    row.shares = shares_of(said[4]);
                }
            }
        } else if (says(R"(account (\w+) moved (?:under|to) (\w+))")) {
            move(said[1], said[2]);
        } else if (says(R"((Priority\w+|FairShareDampeningFactor) ?(?:=|\S+ -> )(\S+))")) {
            conf_.insert_or_assign(said[1], said[2]);  // weights change no row of sshare
            usage_.set_decay(decay_of(conf_));
        } else {
            throw std::runtime_error{"a step that this reader does not know: " + what};
        }
        auto made = std::make_unique<SlurmTree>(slurm_tree(rows_));
        usage_.rebind(made->tree);
        made_ = std::move(made);
    }

    /// `at`: where the file dates its passes; usage decays in between.
    void pass(std::optional<Instant> at) {
        if (at && last_pass_) {
            usage_.decay(*at - *last_pass_);
        }
        last_pass_ = at ? at : last_pass_;
        passed_ = live();
    }
    const ShareRows& passed() const { return passed_; }

    /// Between two passes: shares and raw usage as they are now, all else as the last pass made it. What is new since
    /// then stands last.
    ShareRows between() const {
        ShareRows rows = live();
        for (auto& [name, row] : rows) {
            const auto old = passed_.find(name);
            const bool is_new = old == passed_.end();
            row.norm_usage = is_new ? std::nullopt : old->second.norm_usage;
            row.effective_usage = is_new ? 0 : old->second.effective_usage;
            row.factor = is_new ? 0 : old->second.factor;
            row.level_fs = is_new ? std::optional{0.0} : old->second.level_fs;
        }
        return rows;
    }

  private:
    static SlurmDecay decay_of(const Words& conf) {
        return SlurmDecay{slurm_duration(word(conf, "PriorityDecayHalfLife", "0"))};
    }
    static std::string name_of(const SlurmAssociation& row) {
        return row.account + (row.user.empty() ? "" : "/" + row.user);
    }
    static std::optional<std::int64_t> shares_of(const std::string& word) {
        return word.empty()       ? std::optional<std::int64_t>{1}
               : word == "parent" ? std::nullopt
                                  : std::optional<std::int64_t>{std::stoll(word)};
    }
    static bool is_meant(const SlurmAssociation& row, const std::string& kind, const std::string& name,
                         const std::string& account) {
        return kind == "user" ? row.user == name && (account.empty() || row.account == account)
                              : row.user.empty() && row.account == name;
    }
    std::int64_t next_id() const { return static_cast<std::int64_t>(rows_.size()) + 1000; }

    /// Rows stand behind their parents': those of the account that has moved go to the end.
    void move(const std::string& account, const std::string& to) {
        std::vector<std::string> moved{account};
        for (std::size_t i = 0; i < moved.size(); ++i) {
            for (const SlurmAssociation& row : rows_) {
                if (row.user.empty() && row.parent == moved[i]) {
                    moved.push_back(row.account);
                }
            }
        }
        for (SlurmAssociation& row : rows_) {
            row.parent = row.user.empty() && row.account == account ? to : row.parent;
        }
        std::stable_partition(rows_.begin(), rows_.end(), [&](const SlurmAssociation& row) {
            return std::find(moved.begin(), moved.end(), row.account) == moved.end();
        });
    }

    ShareRows live() const {
        return share_rows(
            *made_,
            slurm_algorithm("PriorityFlags=" + word(conf_, "PriorityFlags") +
                            "\nFairShareDampeningFactor=" + word(conf_, "FairShareDampeningFactor", "1")),
            {usage_.snapshot(0x1p44L), [this](NodeId id) { return static_cast<double>(usage_.usage(id)); }});
    }

    Words conf_;
    std::vector<SlurmAssociation> rows_;
    std::unique_ptr<SlurmTree> made_;
    SlurmUsage usage_;
    ShareRows passed_;
    std::optional<Instant> last_pass_;
};

}  // namespace

void read_slurm_live(const Value* document, Report& report) {
    LiveSite site{document};
    std::string changed;
    for (const Value* step : each(member(document, "steps"))) {
        const std::string text = text_at(step, "step");
        report.leave(find(step, "sacctmgr"), "what sacctmgr says that it did");
        report.attempt(text, [&] {
            const std::size_t cut = text.rfind(" : ");
            const std::string what = text.substr(0, cut);
            const std::string when = cut == std::string::npos ? "" : text.substr(cut + 3);
            if (what != "start" && what != changed) {
                site.change(what);
                changed = what;
            }
            if (when.empty() || when == "after the next pass") {
                const Value* at = find(step, "pass_time");
                site.pass(is_number(at) ? std::optional{instant_from_seconds(number_of(at))} : std::nullopt);
                compare_share_text(report, texts_of(member(step, "sshare")), site.passed());
            } else if (when == "immediately") {
                compare_share_text(report, texts_of(member(step, "sshare")), site.between());
            } else {
                throw std::runtime_error{"\"" + when + "\" is neither immediately nor after the next pass"};
            }
        });
    }
}

}  // namespace weir::oracle
