// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the JSON of the messages between the two sides of a route, of the journal's entries and of the plugin's orders.
// All input is checked; an error names what is wrong and where. Must not know what the messages cause.
// Source: README.md of this folder (payloads), RFC 18, 21.
#pragma once
#include <jansson.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/flat_json.hpp"
#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"
#include "modules/job-route/journal_event.hpp"
#include "modules/job-route/messages.hpp"
#include "modules/job-route/route_table.hpp"

namespace weir::route {

Json encode(const Attach& attach);
Result<Attach> decode_attach(json_t* payload);
/// Read where it stands: a guest's payload may have megabytes, of which a tree is many times as large. O(size).
Result<AttachHead> read_attach_head(FlatValue payload);

/// Written without a tree of values, and read where it stands: each job that ends costs an instance some of these.
std::string text_of(const Report& report);
Result<Report> decode_report(FlatValue payload);
Result<ReportHead> read_report_head(FlatValue payload);

/// The text of the message that brings orders. There may be many: written without a tree of values.
class OrdersText {
  public:
    void add(const Order& order);
    /// Ends the message; to be called once.
    std::string text();

  private:
    std::string text_;
};
Result<std::vector<Order>> decode_orders(FlatValue payload);

/// One entry of job-manager.jobroute.update's `jobs`. For alloc, `R` is the document that the parent's job gets.
Json encode(const TapOp& op, const Json& R);

/// What job-route reads of a jobspec.
JobFacts decode_facts(FlatValue jobspec);

/// One response of job-manager.events-journal.
struct JournalEntry {
    std::uint64_t id = 0;
    bool is_end_of_backlog = false;
    std::vector<JournalEvent> events;  ///< those that job-route knows, in order
    JobFacts facts;                    ///< of the jobspec, when the entry has one
    bool has_jobspec = false;
};
Result<JournalEntry> decode_journal(FlatValue payload);
/// The changes of the jobspec that an eventlog has, each of which the journal told as Kind::update.
std::uint32_t updates_in(std::string_view eventlog);
/// The event names that decode_journal() understands, as the journal's `allow` object.
Json journal_filter();

/// A set of queue names: an array of strings. Errors name `where`.
Result<std::vector<std::string>> decode_names(json_t* array, const std::string& where);

}  // namespace weir::route
