// SPDX-License-Identifier: LGPL-3.0-only
// Every parser of the job-manager: the first byte chooses which (j journal, s signed jobspec, v jobspec, c constraint,
// r resource set, i idset, h hostlist, q queues, d duration), the rest is its input. What is accepted must also survive
// being written again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "broker/services/job-manager/constraint.hpp"
#include "broker/services/job-manager/job_attrs.hpp"
#include "broker/services/job-manager/job_store.hpp"
#include "broker/services/job-manager/queues.hpp"
#include "broker/services/job-manager/resource_set.hpp"
#include "broker/services/job-manager/signed_jobspec.hpp"

using namespace weir::broker::jobs;

namespace {

void try_journal(std::string_view text) {
    EnvironmentPool pool;
    const auto read = read_journal(text, "fuzz", pool);
    if (!read)
        return;
    JournalWriter again;
    again.begin(read->max_id, read->next_sequence);
    for (const auto& job : read->jobs)
        again.add(*job);
    EnvironmentPool other;
    WEIR_CHECK(read_journal(again.text(), "again", other).has_value());
}

void try_json(char kind, const Json& value) {
    if (kind == 'v') {
        (void)validate_jobspec(value.get());
        (void)jobspec_facts(value.get());
    } else if (kind == 'c') {
        Job job;
        if (auto filter = compile_constraint(value.get()))
            WEIR_CHECK(!(*filter)(job) || (states_of_constraint(value.get()) & bit(job.state)) != 0);
    } else if (kind == 'q') {
        Queues queues;
        (void)queues.configure(value.get());
    } else {
        (void)resource_facts(value.get());
        ResourceUnion sum;
        if (sum.add(value.get()))
            WEIR_CHECK(ResourceUnion().add(sum.to_r().get()).has_value());
    }
}

void try_text(char kind, std::string_view text) {
    if (kind == 's') {
        (void)unwrap(text);
    } else if (kind == 'd') {
        (void)parse_duration(text);
    } else if (kind == 'i') {
        if (const auto ids = parse_idset(text))
            WEIR_CHECK(*parse_idset(idset_text(*ids)) == *ids);
    } else if (kind == 'h') {
        if (const auto hosts = parse_hostlist(text))
            (void)hostlist_text(*hosts);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const char kind = static_cast<char>(data[0]);
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (kind == 'j')
        try_journal(text);
    else if (kind == 'v' || kind == 'c' || kind == 'r' || kind == 'q') {
        if (const auto value = Json::parse(text))
            try_json(kind, *value);
    } else {
        try_text(kind, text);
    }
    return 0;
}
