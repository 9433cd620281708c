// SPDX-License-Identifier: LGPL-3.0-only
// Every parser of the job-manager: the first byte chooses which (j journal, J a changed journal, s signed jobspec, v
// jobspec, c constraint, r resource set, i idset, h hostlist, q queues, d duration, e events of a job, u jobspec
// update, a attributes asked for), the rest is its input. What is accepted must also survive being written again; a
// line of a journal that was changed is never accepted.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "broker/services/job-manager/codecs/resource_set.hpp"
#include "broker/services/job-manager/journal/job_store.hpp"
#include "broker/services/job-manager/state/transition.hpp"
#include "broker/services/job-manager/tables/constraint.hpp"
#include "broker/services/job-manager/tables/job_attrs.hpp"
#include "broker/services/job-manager/tables/queues.hpp"
#include "libfairshare/base/fsd.hpp"
#include "libfairshare/base/hostlist.hpp"
#include "libfairshare/base/id_set.hpp"
#include "libfairshare/base/signed_jobspec.hpp"

using weir::Json;
using namespace weir::broker::jobs;

namespace {

void try_journal(std::string_view text) {
    EnvironmentPool pool;
    const auto read = read_journal(text, "fuzz", pool);
    if (!read) {
        return;
    }
    JournalWriter again;
    again.begin(read->max_id, read->next_sequence);
    for (const auto& job : read->jobs) {
        again.add(*job);
    }
    EnvironmentPool other;
    WEIR_CHECK(read_journal(again.text(), "again", other).has_value());
}

/// Lines that are whole again after any change are found: the second byte says where, the third what is changed.
void try_changed_journal(std::string_view text) {
    if (text.size() < 2) {
        return;
    }
    Job job;
    EnvironmentPool pool;
    job.id = 7;
    job.jobspec = *Json::parse(R"({"attributes":{"system":{"duration":1}}})");
    job.jobspec_text = redact(job.jobspec, pool);
    job.eventlog = R"({"timestamp":1.5,"name":"submit","context":{"userid":1,"urgency":16,"flags":0}})"
                   "\n"
                   R"({"timestamp":2.5,"name":"validate"})"
                   "\n";
    JournalWriter writer;
    writer.begin(7, 1);
    writer.add(job);
    std::string changed = writer.text();
    const std::size_t at = static_cast<unsigned char>(text[0]) * changed.size() / 256;
    changed.replace(at, text.size() - 2, text.substr(2));
    changed[at] = text[1];
    if (changed == writer.text()) {
        return;
    }
    const auto read = read_journal(changed, "fuzz", pool);
    WEIR_CHECK(!read || !read->warning.empty() || read->version == 1);
}

/// Events as a peer may send them, applied one after the other to one job.
void try_events(std::string_view text) {
    Job job;
    weir::FlatJson flat, other, contexts;
    for (weir::FlatValue value = flat.read(text).first(); value; value = value.next()) {
        if (const auto entry = read_entry(value)) {
            const Event event = event_of(*entry, contexts);
            const State before = job.state;
            if (!transition(job, event)) {
                WEIR_CHECK(job.state == before);
            }
            const std::string line = encode(event), same = encode_again(event, *entry);
            for (const std::string& again : {line, same}) {
                const auto read = read_entry(other.read(again));
                WEIR_CHECK(read && encode(event_of(*read, contexts)) == line &&
                           name_of_line(again) == name_of_line(line));
            }
            if (event.context) {
                merge_annotations(job.annotations, event.context.get());
            }
        }
    }
}

void try_request(char kind, const Json& value) {
    EnvironmentPool pool;
    Job job;
    job.jobspec = *Json::parse(R"({"attributes":{"system":{"duration":1}},"resources":[],"tasks":[]})");
    job.jobspec_text = redact(job.jobspec, pool);
    if (kind == 'a') {
        if (const auto shown = JobAttributes::of(value.get())) {
            (void)job_text(job, *shown);
        }
    } else if (auto updated = updated_jobspec(job, value.get())) {
        replace_jobspec(job, std::move(*updated));
    }
}

void try_json(char kind, const Json& value) {
    if (kind == 'v') {
        (void)validate_jobspec(value.get());
        (void)jobspec_facts(value.dump());
        (void)jobspec_names(value.dump());
    } else if (kind == 'c') {
        Job job;
        Comparisons comparisons(Comparisons::guest_max);
        if (auto filter = compile_constraint(value.get(), &comparisons)) {
            const bool is_match = (*filter)(job);
            WEIR_CHECK(!is_match || comparisons.is_exhausted() ||
                       (states_of_constraint(value.get()) & bit(job.state)) != 0);
        }
    } else if (kind == 'q') {
        Queues queues;
        (void)queues.configure(value.get());
    } else {
        (void)resource_facts(value.get());
        ResourceUnion sum;
        if (sum.add(value.get())) {
            WEIR_CHECK(ResourceUnion().add(sum.to_r().get()).has_value());
        }
    }
}

void try_text(char kind, std::string_view text) {
    if (kind == 's') {
        (void)weir::unwrap_signed(text);
    } else if (kind == 'd') {
        (void)weir::parse_fsd(text);
    } else if (kind == 'i') {
        if (const auto ids = weir::IdSet::parse(text)) {
            WEIR_CHECK(*weir::IdSet::parse(ids->encode()) == *ids);
        }
    } else if (kind == 'h') {
        if (const auto hosts = weir::hostlist_decode(text)) {
            (void)weir::hostlist_encode(*hosts);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const char kind = static_cast<char>(data[0]);
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (kind == 'j') {
        try_journal(text);
    } else if (kind == 'J') {
        try_changed_journal(text);
    } else if (kind == 'e') {
        try_events(text);
    } else if (kind == 'u' || kind == 'a') {
        if (const auto value = Json::parse(text)) {
            try_request(kind, *value);
        }
    } else if (kind == 'v' || kind == 'c' || kind == 'r' || kind == 'q') {
        if (const auto value = Json::parse(text)) {
            try_json(kind, *value);
        }
    } else {
        try_text(kind, text);
    }
    return 0;
}
