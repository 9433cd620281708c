// SPDX-License-Identifier: LGPL-3.0-only
// Property: the journal's text of a job, read back, gives the job that was live, whatever events were posted, also
//   refused ones.
// Kills: JournalWriter::add() with seq 0; set-flags applying "debug" before it refuses "nonsense"; jobspec-update
// entering a
//   state before it refuses its keys.
#include <catch2/catch.hpp>

#include "broker/services/job-manager/journal/job_store.hpp"
#include "broker/services/job-manager/tables/job_attrs.hpp"
#include "t/unit/draws.hpp"
#include "t/unit/job_manager/testing.hpp"

using namespace weir;
using namespace weir::broker::jobs;
using namespace weir::broker::jobs::testing;

namespace {

/// Name and context of what may happen to a job, good and bad, in any order.
const std::vector<std::pair<std::string, std::string>> happenings = {
    {"validate", ""},
    {"depend", ""},
    {"dependency-add", R"({"description":"a"})"},
    {"dependency-remove", R"({"description":"a"})"},
    {"priority", R"({"priority":3})"},
    {"priority", R"({"priority":4294967295})"},
    {"priority", R"({"priority":"high"})"},
    {"urgency", R"({"urgency":0,"userid":1})"},
    {"urgency", R"({"urgency":99,"userid":1})"},
    {"flux-restart", ""},
    {"alloc", ""},
    {"start", ""},
    {"finish", R"({"status":0})"},
    {"finish", R"({"status":9})"},
    {"release", R"({"ranks":"all","final":true})"},
    {"free", ""},
    {"clean", ""},
    {"exception", R"({"type":"cancel","severity":0,"note":"n"})"},
    {"exception", R"({"type":"mild","severity":5,"note":"m"})"},
    {"memo", R"({"k":1})"},
    {"memo", R"({"k":null,"l":{"m":2}})"},
    {"set-flags", R"({"flags":["alloc-bypass"]})"},
    {"set-flags", R"({"flags":["debug","nonsense"]})"},
    {"prolog-start", R"({"description":"p"})"},
    {"prolog-finish", R"({"description":"p","status":0})"},
    {"epilog-start", R"({"description":"e"})"},
    {"jobspec-update", R"({"attributes.system.duration":99})"},
    {"jobspec-update", R"({"attributes.system.duration":7,"version":3})"},
    {"somebody-elses", R"({"x":1})"},
};

}  // namespace

TEST_CASE("eventlog: its fold is the live job") {
    draw::property("fold of the eventlog", [] {
        Life life(12);
        life.job.sequence = 6;
        RC_ASSERT(life.post("submit", R"({"userid":7,"urgency":16,"flags":0,"version":1})").has_value());
        for (std::size_t steps = draw::length(); steps > 0; steps--) {
            const auto& [event, context] = draw::element_of(happenings);
            (void)life.post(event, context);
        }
        JournalWriter writer;
        writer.begin(0, 0);
        writer.add(life.job);
        const std::string& text = writer.text();
        EnvironmentPool pool;
        const auto read = read_journal(text, "j", pool);
        RC_ASSERT(read.has_value());
        RC_ASSERT(read->jobs.size() == 1u);
        const Job& job = *read->jobs[0];
        const JobAttributes all = *JobAttributes::of(json(R"(["all"])").get());
        RC_ASSERT(job_text(job, all) == job_text(life.job, all));
        RC_ASSERT(job.eventlog == life.job.eventlog);
        RC_ASSERT(job.states_mask == life.job.states_mask);
        RC_ASSERT(job.has_resources == life.job.has_resources);
        RC_ASSERT(job.alloc_bypass == life.job.alloc_bypass);
        RC_ASSERT(job.flags == life.job.flags);
        RC_ASSERT(job.perilog_active == life.job.perilog_active);
        RC_ASSERT(job.priority == life.job.priority);
        RC_ASSERT(job.had_exception == life.job.had_exception);
        RC_ASSERT(job.sequence == life.job.sequence);
        RC_ASSERT(job.jobspec_text.redacted == life.job.jobspec_text.redacted);
        RC_ASSERT(job.end_event.dump() == life.job.end_event.dump());
    });
}
