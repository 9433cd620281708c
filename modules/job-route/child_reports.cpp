// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the part of ChildLink that tells the parent of its jobs: their events, and what it says of all of them when it
// attaches. See child_link.hpp.
#include <algorithm>
#include <utility>

#include "modules/job-route/child_link.hpp"

namespace weir::route {

bool ToldEvents::has(ChildEvent::Kind kind) const {
    return std::any_of(begin(), end(), [kind](const Event& event) { return event.kind == kind; });
}

void ToldEvents::remove(ChildEvent::Kind kind) {
    Event* const last = events_.data() + count_;
    Event* const kept = std::remove_if(events_.data(), last, [kind](const Event& event) { return event.kind == kind; });
    count_ -= static_cast<std::uint8_t>(last - kept);
}

ChildLink::Words& ChildLink::words_of(Job& job) {
    if (!job.words) {
        job.words = std::make_unique<Words>();
    }
    return *job.words;
}

/// Each kind is reported once for a job.
void ChildLink::record(Entry& entry, ChildEvent event) {
    Job& job = entry.second;
    if (job.has(event.kind)) {
        return;
    }
    event.id = entry.first;
    job.told.add({event.kind, event.status, event.local});
    if (event.kind == ChildEvent::Kind::allocated) {
        job.R = event.R;
    } else if (event.kind == ChildEvent::Kind::exception) {
        Words& words = words_of(job);
        words.failure_type = event.type;
        words.failure_severity = event.severity;
        words.failure_note = event.note;
    } else if (event.kind == ChildEvent::Kind::published) {
        words_of(job).uri = event.note;
    }
    append(std::move(event));
}

void ChildLink::record(Entry& entry, ChildEvent::Kind kind) {
    ChildEvent event;
    event.kind = kind;
    event.local = entry.second.local;
    record(entry, std::move(event));
}

/// As it was recorded.
ChildEvent ChildLink::event_of(const Entry& entry, const ToldEvents::Event& told) {
    const Job& job = entry.second;
    ChildEvent event;
    event.id = entry.first;
    event.kind = told.kind;
    event.local = told.local;
    event.status = told.status;
    if (told.kind == ChildEvent::Kind::allocated) {
        event.R = job.R;
    } else if (told.kind == ChildEvent::Kind::exception) {
        event.type = job.words->failure_type;
        event.severity = job.words->failure_severity;
        event.note = job.words->failure_note;
    } else if (told.kind == ChildEvent::Kind::published) {
        event.note = job.words->uri;
    }
    return event;
}

void ChildLink::append(ChildEvent event) {
    if (!is_attached_) {
        return;
    }
    event.seq = ++last_seq_;
    Unacked unacked{event.seq, event.id, {event.kind, event.status, event.local}, nullptr};
    if (!event.R.empty() || !event.type.empty() || !event.note.empty() || event.severity != 0) {
        unacked.text = std::make_unique<const ChildEvent>(std::move(event));
    }
    outbox_.push_back(std::move(unacked));
}

ChildEvent ChildLink::full_event(const Unacked& unacked) {
    if (unacked.text) {
        return *unacked.text;
    }
    ChildEvent event;
    event.seq = unacked.seq;
    event.id = unacked.id;
    event.kind = unacked.told.kind;
    event.status = unacked.told.status;
    event.local = unacked.told.local;
    return event;
}

/// The parent must know when it attaches again only that a job is held back now.
void ChildLink::hold_back(Entry& entry, bool is_held_back) {
    Job& job = entry.second;
    if (std::exchange(job.is_held_back, is_held_back) == is_held_back) {
        return;
    }
    if (is_held_back) {
        record(entry, ChildEvent::Kind::held_back);
        return;
    }
    job.told.remove(ChildEvent::Kind::held_back);
    ChildEvent admitted;
    admitted.id = entry.first;
    admitted.kind = ChildEvent::Kind::admitted;
    admitted.local = job.local;
    append(std::move(admitted));
}

std::vector<const ChildLink::Entry*> ChildLink::by_id() const {
    std::vector<const Entry*> entries;
    entries.reserve(jobs_.size());
    for (const Entry& entry : jobs_) {
        entries.push_back(&entry);
    }
    std::sort(entries.begin(), entries.end(), [](const Entry* a, const Entry* b) { return a->first < b->first; });
    return entries;
}

std::vector<KnownJob> ChildLink::known() const {
    std::vector<KnownJob> known;
    known.reserve(jobs_.size());
    for (const Entry* entry : by_id()) {
        const auto& [id, job] = *entry;
        const bool is_unwanted = job.is_cancel_asked && !job.has(ChildEvent::Kind::started);
        known.push_back({id, job.has_ended, job.local_urgency, is_unwanted});
    }
    return known;
}

void ChildLink::attached() {
    is_attached_ = true;
    is_report_out_ = false;
    last_seq_ = 0;
    sent_seq_ = 0;
    outbox_.clear();
    for (const Entry* entry : by_id()) {
        for (const ToldEvents::Event& told : entry->second.told) {
            append(event_of(*entry, told));
        }
    }
}

std::vector<GivenPriority> ChildLink::priorities() const {
    std::vector<GivenPriority> all;
    for (const Entry* entry : by_id()) {
        const auto& [id, job] = *entry;
        if (job.priority && !job.has_ended) {
            all.push_back({id, job.priority});
        }
    }
    return all;
}

/// Meanwhile the parent may give this child more jobs: only the next session's `complete` is behind these.
void ChildLink::lost() {
    is_attached_ = false;
    is_complete_ordered_ = false;
    is_report_out_ = false;
    outbox_.clear();
}

std::vector<ChildEvent> ChildLink::next_report(std::size_t max) {
    if (!is_attached_ || is_report_out_ || outbox_.empty()) {
        return {};
    }
    std::vector<ChildEvent> batch(std::min(max, outbox_.size()));
    std::transform(outbox_.begin(), outbox_.begin() + std::ssize(batch), batch.begin(), full_event);
    sent_seq_ = batch.back().seq;
    is_report_out_ = true;
    return batch;
}

/// A job whose end the parent has recorded is forgotten. So is one that was returned: the parent may send it again, and
/// the events of the first copy must not be reported for the second.
void ChildLink::acked(std::uint64_t seq) {
    is_report_out_ = false;
    const auto end = std::find_if(outbox_.begin(), outbox_.end(), [seq](const Unacked& e) { return e.seq > seq; });
    for (auto event = outbox_.begin(); event != end; ++event) {
        const ToldEvents::Event& told = event->told;
        if (told.kind != ChildEvent::Kind::cleaned && told.kind != ChildEvent::Kind::returned) {
            continue;
        }
        const auto job = jobs_.find(event->id);
        if (job != jobs_.end() && job->second.local == told.local) {
            forget(job);
        }
    }
    outbox_.erase(outbox_.begin(), end);
}

}  // namespace weir::route
