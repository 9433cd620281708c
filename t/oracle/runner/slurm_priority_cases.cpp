// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files about a job's age and about INCR_ONLY in a slurmctld. Must not know the formulas: ages come out of
// Ageing, numbers out of the priority engine.
#include <algorithm>
#include <optional>
#include <regex>
#include <stdexcept>

#include "libsched/priority/ageing.hpp"
#include "libsched/priority/explain.hpp"
#include "libsched/priority/slurm.hpp"
#include "t/oracle/runner/slurm_other.hpp"
#include "t/oracle/runner/slurm_text.hpp"
#include "t/oracle/runner/world.hpp"

namespace weir::oracle {
namespace {

Instant at(std::int64_t seconds) {
    return Instant{Duration{std::chrono::seconds{seconds}}};
}

/// A job of a timeline, as far as snapshots and actions have told of it.
struct TimedJob {
    Ageing ageing;
    std::optional<Instant> eligible;  ///< as the last snapshot says
    bool is_blocked = false;
    bool is_noted = false;           ///< a snapshot has shown an accrue time
    Instant judged;                  ///< when its priority was last computed by itself
    std::optional<Instant> changed;  ///< when an operator did something with it since the last snapshot
    bool is_reset = false;           ///< and that was to reset its age
};

/// An operator's command is dated by who gave it; the controller carries it out up to so much later.
constexpr std::chrono::seconds command_lag{2};

/// One site's settings and its jobs over time.
class Timeline {
  public:
    Timeline(const Value* variant, Report& report)
        : variant_(variant),
          report_(report),
          conf_(all_words(text_at(variant, "conf"))),
          flags_(slurm::priority_flags(word(conf_, "PriorityFlags"))),
          engine_(settings()),
          start_(integer_at(variant, "T0")) {}

    void compare() {
        for (const Value* snapshot : each(member(variant_, "snapshots"))) {
            const std::int64_t until = integer_at(snapshot, "t");
            if (find(snapshot, "pass_t") != nullptr) {
                report_.integer("pass_t", integer_at(snapshot, "pass_t"), integer_at(snapshot, "pass_time") - start_);
            }
            replay_actions(until);
            std::vector<double> split_ages;
            for (const Value* job : each(member(snapshot, "jobs"))) {
                try {
                    compare_job(snapshot, job, split_ages);
                } catch (const std::exception& error) {
                    report_.fail(text_at(job, "key"), "a job that can be read", error.what());
                }
            }
            compare_split(snapshot, split_ages);
        }
    }

  private:
    PrioritySettings settings() const {
        slurm::PriorityWeights weights;
        weights.age = number_word(conf_, "PriorityWeightAge", 0.);
        PrioritySettings settings = slurm::priority_settings(flags_, false, weights);
        settings.wait_max = slurm_duration(word(conf_, "PriorityMaxAge", "7-0"));
        return settings;
    }
    AgeRule rule() const {
        if (flags_.accrue_always) {
            return AgeRule::since_submit;
        }
        const bool has_limits = word(conf_, "AccountingStorageEnforce").find("limits") != std::string::npos;
        return has_limits ? AgeRule::since_last_eligible : AgeRule::since_eligible;
    }
    /// With a limit on how many may age, a scheduler cycle of unknown time says who does: the file's word is taken.
    bool is_limited() const {
        const Value* limits = find(variant_, "limits");
        return limits != nullptr && !is_null(limits);
    }
    TimedJob& job_named(const std::string& name, Instant submit) {
        return jobs_.try_emplace(name, TimedJob{Ageing(rule(), submit), {}, false, false, submit, {}, false})
            .first->second;
    }

    void replay_actions(std::int64_t until) {
        const Value* actions = member(variant_, "actions");
        for (; next_action_ < size_of(actions); next_action_++) {
            const Value* action = item(actions, next_action_);
            const std::int64_t t = integer_at(action, "t");
            if (t >= until) {  // a snapshot is taken before what is done in its second
                return;
            }
            const std::string what = text_at(action, "what");
            std::smatch names;
            if (!std::regex_search(what, names, std::regex{"\\{(\\w+)\\}"}) || what.starts_with("submit")) {
                continue;
            }
            TimedJob& job = job_named(names[1], at(start_));
            job.changed = at(start_ + t);
            if (what.starts_with("scontrol hold")) {
                job.ageing.pause(at(start_ + t));
                job.is_blocked = true;
            } else if (what.starts_with("scontrol release")) {
                job.judged = at(start_ + t);
            } else if (what.find("ResetAccrueTime") != std::string::npos) {
                job.ageing.restart(at(start_ + t));
                job.judged = at(start_ + t);
                job.is_reset = true;
            }
        }
    }

    /// What the program says of the job's eligibility; the ages follow from it.
    static void learn(TimedJob& job, const Value* told) {
        const std::string reason = text_at(told, "Reason");
        const bool is_blocked = reason.starts_with("JobHeld") || reason.starts_with("Dependency");
        if (is_blocked && !job.is_blocked && job.eligible) {
            job.ageing.pause(*job.eligible);
        }
        const std::string eligible = text_at(told, "EligibleTime");
        if (!is_blocked && slurm_instant(eligible, never) != never) {
            job.eligible = slurm_instant(eligible, never);
            job.ageing.begin(*job.eligible);
        }
        job.is_blocked = is_blocked;
    }

    void compare_job(const Value* snapshot, const Value* told, std::vector<double>& split_ages) {
        const std::string key = text_at(told, "key");
        const std::string where = text_at(snapshot, "label") + ": " + key + " ";
        TimedJob& job = job_named(key, slurm_instant(text_at(told, "SubmitTime"), at(start_)));
        learn(job, told);
        const Instant noted = slurm_instant(text_at(told, "AccrueTime"), never);
        if (job.is_reset && job.changed && noted >= *job.changed && noted <= *job.changed + command_lag) {
            job.ageing.restart(noted);
        }
        if (!is_limited() && noted != never) {
            report_.integer(where + "AccrueTime", noted.time_since_epoch() / std::chrono::seconds{1},
                            job.ageing.eligible().time_since_epoch() / std::chrono::seconds{1});
        }
        if (text_at(told, "JobState") == "PENDING") {
            compare_priority(snapshot, told, job, noted, split_ages);
        }
        job.is_noted = job.is_noted || noted != never;
        job.changed.reset();
        job.is_reset = false;
    }

    /// What the files do not date is when a cycle of the scheduler notes that an eligible job accrues, and when the
    /// controller carries a command out. Until the first snapshot that shows an accrue time the pass may have seen the
    /// job with or without it, and a command may have come up to two seconds later; one of these answers must be the
    /// program's, in priority and age alike.
    void compare_priority(const Value* snapshot, const Value* told, const TimedJob& job, Instant noted,
                          std::vector<double>& split_ages) {
        const std::string key = text_at(told, "key");
        const std::string where = text_at(snapshot, "label") + ": " + key + " ";
        const std::int64_t expected = std::stoll(text_at(told, "Priority"));
        std::vector<Instant> since{noted == never || is_limited() ? noted : job.ageing.eligible()};
        if (noted != never && !job.is_noted) {
            since.push_back(never);
        }
        const Instant pass = at(integer_at(snapshot, "pass_time"));
        std::vector<Instant> judged{std::max(pass, job.judged)};
        for (Duration lag = std::chrono::seconds{1}; job.changed == job.judged && lag <= command_lag;
             lag += std::chrono::seconds{1}) {
            judged.push_back(std::max(pass, job.judged + lag));
        }
        JobInputs in;
        in.id = JobId{1};
        in.submit = at(start_);
        in.urgency = text_at(told, "Reason").starts_with("JobHeld") ? 0 : 16;
        std::optional<std::int64_t> priority;
        double age = 0;
        for (const Instant from : since) {
            for (const Instant now : judged) {
                in.eligible = from;
                const PriorityEngine::Slot slot = engine_.insert(in);
                const std::int64_t got = engine_.priority(slot, now, {});
                if (!priority || (got == expected && *priority != expected)) {
                    priority = got;
                    age = breakdown(engine_, slot, now, {}).terms[index_of(Factor::wait)].contribution;
                }
                engine_.remove(slot);
            }
        }
        report_.integer(where + "Priority", expected, priority.value_or(-1));
        if (const Value* printed = find(member(snapshot, "sprio_age"), key)) {
            report_.printed(where + "sprio age", number_of(printed), age, 0);
        } else if (key.ends_with("]")) {
            split_ages.push_back(age);
        }
    }

    /// sprio names single jobs of an array by numbers which stand nowhere else: their ages are compared as a set.
    void compare_split(const Value* snapshot, std::vector<double>& ages) {
        std::vector<double> printed;
        for (const auto& [key, age] : entries(member(snapshot, "sprio_age"))) {
            if (jobs_.count(key) == 0) {
                printed.push_back(number_of(age));
            }
        }
        std::sort(ages.begin(), ages.end());
        std::sort(printed.begin(), printed.end());
        const std::string where = text_at(snapshot, "label") + ": split arrays";
        report_.integer(where, static_cast<std::int64_t>(printed.size()), static_cast<std::int64_t>(ages.size()));
        for (std::size_t i = 0; i < std::min(ages.size(), printed.size()); i++) {
            report_.printed(where + " sprio age", printed[i], ages[i], 0);
        }
    }

    const Value* variant_;
    Report& report_;
    Words conf_;
    slurm::PriorityFlags flags_;
    PriorityEngine engine_;
    std::int64_t start_;
    std::map<std::string, TimedJob> jobs_;
    std::size_t next_action_ = 0;
};

/// Two jobs, "1" in qa and "2" in qb; each step's text says what the operator did before it.
class IncrOnly {
  public:
    IncrOnly(const std::string& flag, const std::string& first_step, double first_priority)
        : settings_(slurm::priority_settings(slurm::priority_flags(flag), false, {})), engine_(settings_) {
        read_priorities(first_step, std::regex{"(q\\w+)=(\\d+)"});
        const double greatest = *std::max_element(settings_.qos_priority.begin(), settings_.qos_priority.end());
        // The weight is what the file does not tell; the other nine figures check it.
        settings_.weights[index_of(Factor::qos)] = first_priority * greatest / settings_.qos_priority[index("qa")];
        engine_.configure(settings_);
        for (const auto& [id, qos] : {std::pair{"1", "qa"}, std::pair{"2", "qb"}}) {
            inputs_[id].id = JobId{std::stoull(id)};
            inputs_[id].qos = index(qos);
            slots_[id] = engine_.insert(inputs_[id]);
        }
        pass();
    }

    void step(const std::string& text) {
        if (read_priorities(text, std::regex{"(q\\w+) (?:lowered|raised) to (\\d+)"})) {
            engine_.configure(settings_);
        }
        std::smatch moved;
        if (std::regex_search(text, moved, std::regex{"(first|second) job moved to qos (\\w+)"})) {
            const std::string id = moved[1] == "first" ? "1" : "2";
            inputs_[id].qos = index(moved[2]);
            engine_.update(slots_[id], inputs_[id]);
            engine_.pass_one(slots_[id], Instant{}, {}, changed_);
        }
        if (text.find("pass") != std::string::npos) {
            pass();
        }
    }
    std::int64_t priority(const std::string& id) const { return engine_.pushed(slots_.at(id)); }

  private:
    void pass() { engine_.pass(Instant{}, {}, changed_); }
    std::uint8_t index(const std::string& qos) {
        const auto [known, is_new] = qos_.try_emplace(qos, static_cast<std::uint8_t>(settings_.qos_priority.size()));
        if (is_new) {
            settings_.qos_priority.push_back(0.);
        }
        return known->second;
    }
    bool read_priorities(const std::string& text, const std::regex& form) {
        const auto begin = std::sregex_iterator(text.begin(), text.end(), form);
        std::for_each(begin, std::sregex_iterator{},
                      [&](const std::smatch& found) { settings_.qos_priority[index(found[1])] = std::stod(found[2]); });
        return begin != std::sregex_iterator{};
    }

    PrioritySettings settings_;
    PriorityEngine engine_;
    std::map<std::string, std::uint8_t> qos_;
    std::map<std::string, JobInputs> inputs_;
    std::map<std::string, PriorityEngine::Slot> slots_;
    std::vector<PriorityEngine::Change> changed_;
};

}  // namespace

void read_slurm_age(const Value* document, Report& report) {
    for (const auto& [name, variant] : entries(member(document, "variants"))) {
        report.begin(name);
        Timeline(variant, report).compare();
    }
}

void read_slurm_incr_only(const Value* document, Report& report) {
    std::optional<IncrOnly> site;
    std::string flag;
    for (const Value* entry : each(member(document, "cases"))) {
        const std::string text = text_at(entry, "step");
        const Value* expected = member(entry, "priorities");
        const std::string named = text_at(entry, "flag");
        report.begin((named.empty() ? "no flag" : named) + ": " + text);
        if (!site || named != flag) {
            flag = named;
            site.emplace(flag, text, number_at(expected, "1"));
        } else {
            site->step(text);
        }
        for (const auto& [id, priority] : entries(expected)) {
            report.integer(std::string{"job "} + id, integer_of(priority), site->priority(id));
        }
    }
}

}  // namespace weir::oracle
