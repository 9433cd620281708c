// SPDX-License-Identifier: LGPL-3.0-only
// Owns: folding events into jobs.
#include "libsched/sim/journal.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include "libfairshare/base/json/r.hpp"
#include "libfairshare/base/json/reader.hpp"
#include "libfairshare/base/resource_set.hpp"
#include "libsched/json/jobspec.hpp"

namespace weir {
namespace {

constexpr double seconds_max = 4e12;

/// A job between its submission and its end.
struct Open {
    SimJob job;
    std::optional<Instant> start;
    bool is_over = false;
    bool is_instance = false;  ///< that serves queues
};

/// Gives names numbers from 1 as they appear; 0 is the empty one.
class Names {
  public:
    explicit Names(std::vector<std::string>& list) : list_(list) {}
    std::uint32_t number(const std::string& name) {
        if (name.empty()) {
            return 0;
        }
        const auto [at, is_new] = numbers_.try_emplace(name, static_cast<std::uint32_t>(list_.size() + 1));
        if (is_new) {
            list_.push_back(name);
        }
        return at->second;
    }

  private:
    std::vector<std::string>& list_;
    std::map<std::string, std::uint32_t> numbers_;
};

class Fold {
  public:
    explicit Fold(JournalJobs& out) : out_(out), accounts_(out.accounts), queues_(out.queues) {}

    /// Throws json::BadValue.
    void header(const json::Value& line) const {
        const auto version = line.at("weir-jobs").integer(0, std::numeric_limits<std::int64_t>::max());
        if (version < 1 || version > 3) {
            line.fail("is no job journal of the versions 1 to 3");
        }
    }
    void event(const json::Value& line) {
        const auto id = line.at("id").integer(0, std::numeric_limits<std::int64_t>::max());
        const json::Value event = line.at("event");
        const std::string name = event.at("name").string();
        const double seconds = event.at("timestamp").number();
        if (!(seconds >= 0 && seconds <= seconds_max)) {
            event.fail("timestamp must be seconds since the epoch, not " + std::to_string(seconds));
        }
        const Instant at = instant_from_seconds(seconds);
        if (name == "submit") {
            open_[id] = submitted(line, event, id, at);
            return;
        }
        const auto job = open_.find(id);
        if (job == open_.end()) {
            line.fail("event \"" + name + "\" of job " + std::to_string(id) + ", which is not submitted above");
        }
        if (name == "depend") {
            job->second.job.submit = at;
        } else if (name == "alloc") {
            allocated(line, job->second, at);
        } else if (name == "free" && job->second.start) {
            freed(job->second, at);
        } else if (name == "clean") {
            out_.never_ran += job->second.is_over || job->second.is_instance ? 0 : 1;
            open_.erase(job);
        }
    }
    void finish() {
        for (const auto& [id, job] : open_) {
            out_.unfinished += job.is_over || job.is_instance ? 0 : 1;
        }
        std::sort(out_.jobs.begin(), out_.jobs.end(), [](const SimJob& a, const SimJob& b) {
            return std::tie(a.submit, a.number) < std::tie(b.submit, b.number);
        });
    }

  private:
    Open submitted(const json::Value& line, const json::Value& event, std::int64_t id, Instant at) {
        const json::Value jobspec = line.at("jobspec");
        const Jobspec spec = jobspec.take(decode_jobspec(jobspec.get()));
        Open open;
        open.is_instance = !spec.weir_serves.empty();
        out_.instances += open.is_instance ? 1 : 0;
        if (open.is_instance) {
            return open;
        }
        open.job.number = id;
        open.job.submit = at;
        open.job.limit = spec.limit;
        open.job.user = static_cast<std::uint32_t>(
            event.at("context").at("userid").integer(0, std::numeric_limits<std::uint32_t>::max()));
        open.job.group = accounts_.number(spec.account);
        open.job.queue = static_cast<std::uint16_t>(queues_.number(spec.queue));
        return open;
    }
    static void allocated(const json::Value& line, Open& open, Instant at) {
        const json::Value r = line.at("R");
        const std::uint64_t cores = core_count(r.take(decode_r(r.get())).resources);
        if (cores == 0 || cores > std::numeric_limits<std::uint32_t>::max()) {
            r.fail("holds " + std::to_string(cores) + " cores");
        }
        open.job.cores = static_cast<std::uint32_t>(cores);
        open.start = std::max(at, open.job.submit);
    }
    void freed(Open& open, Instant at) {
        open.job.run = std::max(at - *open.start, Duration{});
        open.is_over = true;
        if (!open.is_instance) {
            out_.jobs.push_back(open.job);
        }
    }

    JournalJobs& out_;
    Names accounts_;
    Names queues_;
    std::map<std::int64_t, Open> open_;
};

Status take(Fold& fold, std::string_view line, bool is_first) {
    auto document = Json::parse(line);
    if (!document) {
        return document.error();
    }
    const auto taken = json::read_json(document->get(), "job journal", [&](const json::Value& value) {
        if (is_first) {
            fold.header(value);
        } else {
            fold.event(value);
        }
        return Done{};
    });
    return taken;
}

}  // namespace

Result<JournalJobs> read_journal(LineReader lines, bool lenient) {
    JournalJobs journal;
    Fold fold(journal);
    while (true) {
        auto line = lines.next();
        if (!line && lenient && line.error().code == std::errc::io_error) {
            journal.skipped.add("behind the end of what can be read", line.error().message);
            fold.finish();
            return journal;
        }
        if (!line) {
            return line.error();
        }
        if (!*line) {
            fold.finish();
            return journal;
        }
        if (!lines.is_terminated()) {
            journal.is_torn = true;
            continue;
        }
        const bool is_first = lines.line() == 1;
        if (auto taken = take(fold, **line, is_first); !taken) {
            const Error error = lines.at_line(taken.error().message);
            if (!lenient || is_first) {
                return error;
            }
            journal.skipped.add("no event of a job", error.message);
        }
    }
}

}  // namespace weir
