// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading and writing a report. See report_wire.hpp.
#include "modules/job-priority/messages/report_wire.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "libfairshare/base/json/text_writer.hpp"
#include "libsched/config/usage_settings.hpp"
#include "modules/job-priority/jobs/job_cost.hpp"
#include "modules/job-priority/messages/bounded_name.hpp"

namespace weir::priority {
namespace {

// Bounds of a valid report: names are bounded as JSON, and dates lie within three thousand years of 1970.
constexpr std::size_t report_name_max = 1024;
static_assert(name_bytes_max <= report_name_max && account_bytes_max <= report_name_max);
constexpr std::int64_t report_seq_max = std::int64_t{1} << 62;  // the records behind it have numbers, too
constexpr std::int64_t report_date_max_us = 100'000'000'000'000'000;
constexpr std::int64_t report_gpus_max = std::int64_t{1} << 28;

Error malformed_report(const std::string& what) {
    return Error{std::errc::protocol_error, what};
}

Error malformed_record(std::size_t index) {
    return malformed_report(
        "record " + std::to_string(index) +
        " must be [id, t, user, account, cores >= 0, inside?, queue?, project?, rate?, gpus?, prepaid?, committed?, "
        "qos?] or [id, t]: t and \"since\" whole microseconds that give a date, a name a text of at most " +
        std::to_string(report_name_max) + " bytes or the number of one before it, a rate from 0 to " +
        std::to_string(billed_rate_max) + ", gpus from 0 to " + std::to_string(report_gpus_max) +
        ", prepaid and committed microseconds from 0 to a year");
}

class ReportWriter {
  public:
    explicit ReportWriter(const UplinkBatch& batch) {
        text_.reserve(batch.records.size() * 40);
        const std::int64_t since = batch.records.empty() ? 0 : micros(batch.records.front().time);
        text_ += "\"since\":";
        number(since);
        text_ += ",\"records\":[";
        for (const UplinkRow& record : batch.records) {
            text_ += &record == &batch.records.front() ? "[" : ",[";
            add(record, since);
            text_ += ']';
        }
        text_ += ']';
    }
    std::string take() { return std::move(text_); }

  private:
    void add(const UplinkRow& record, std::int64_t since) {
        number(static_cast<std::int64_t>(record.job));
        next(micros(record.time) - since);
        if (!record.is_start) {
            return;
        }
        name(record.user);
        name(record.account);
        next(record.cores);
        // Up to the last field that is not as without it.
        const Bill& bill = record.bill;
        const std::array<bool, 8> says{record.inside != 0,
                                       !bill.queue.empty(),
                                       !bill.project.empty(),
                                       bill.rate != core_rate(record.cores),
                                       bill.gpus != 0,
                                       bill.prepaid != Duration{},
                                       bill.committed != Duration{},
                                       !bill.qos.empty()};
        const auto fields = static_cast<std::size_t>(says.rend() - std::find(says.rbegin(), says.rend(), true));
        for (std::size_t field = 0; field < fields; ++field) {
            add(record, bill, field);
        }
    }
    void add(const UplinkRow& record, const Bill& bill, std::size_t field) {
        switch (field) {
            case 0:
                return next(static_cast<std::int64_t>(record.inside));
            case 1:
                return name(bill.queue);
            case 2:
                return name(bill.project);
            case 3:
                return next(bill.rate);
            case 4:
                return next(bill.gpus);
            case 5:
                return next(bill.prepaid.count());
            case 6:
                return next(bill.committed.count());
            default:
                return name(bill.qos);
        }
    }
    void number(std::int64_t value) {
        char digits[24];
        const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
        text_.append(digits, end);
    }
    void next(std::int64_t value) {
        text_ += ',';
        number(value);
    }
    void name(const std::string& text) {
        const auto [known, is_new] = names_.try_emplace(text, static_cast<std::int64_t>(names_.size()));
        if (!is_new) {
            next(known->second);
            return;
        }
        text_ += ',';
        append_quoted(text_, text);
    }

    std::string text_;
    std::map<std::string_view, std::int64_t> names_;
};

/// The values of one record, in their order.
class RecordFields {
  public:
    RecordFields(FlatValue record, std::vector<std::string>& names) : at_(record.first()), names_(names) {}

    bool is_over() const { return !at_; }
    std::int64_t integer() {
        const auto value = at_.integer();
        is_good_ = is_good_ && value.has_value();
        at_ = at_.next();
        return value.value_or(0);
    }
    void name(std::string& into) {
        const FlatValue value = std::exchange(at_, at_.next());
        if (const auto number = value.integer();
            number && *number >= 0 && *number < static_cast<std::int64_t>(names_.size())) {
            into = names_[static_cast<std::size_t>(*number)];
            return;
        }
        auto text = value.string();
        is_good_ = is_good_ && text && is_bounded(*text, report_name_max);
        if (is_good_) {
            into = names_.emplace_back(std::move(*text));
        }
    }
    bool is_good() const { return is_good_; }

  private:
    FlatValue at_;
    std::vector<std::string>& names_;
    bool is_good_ = true;
};

/// The fields from `inside` on, as far as the record has them.
void read_rest(RecordFields& fields, UplinkRow& row) {
    const auto integer_or = [&fields](std::int64_t none) { return fields.is_over() ? none : fields.integer(); };
    const auto name_or_none = [&fields](std::string& into) {
        if (!fields.is_over()) {
            fields.name(into);
        }
    };
    Bill& bill = row.bill;
    row.inside = static_cast<FluxJobId>(integer_or(0));
    name_or_none(bill.queue);
    name_or_none(bill.project);
    bill.rate = integer_or(core_rate(row.cores));
    bill.gpus = integer_or(0);
    bill.prepaid = Duration(integer_or(0));
    bill.committed = Duration(integer_or(0));
    name_or_none(bill.qos);
}

bool is_report_bill(const Bill& bill) {
    const auto is_time = [](Duration time) { return time >= Duration{} && time <= bill_time_max; };
    return bill.rate >= 0 && bill.rate <= billed_rate_max && bill.gpus >= 0 && bill.gpus <= report_gpus_max &&
           is_time(bill.prepaid) && is_time(bill.committed);
}

bool is_report_date(std::int64_t us) {
    return us >= -report_date_max_us && us <= report_date_max_us;
}

/// False if it is no record.
bool read_record(FlatValue value, std::int64_t since, std::vector<std::string>& names, UplinkRow& row) {
    RecordFields fields(value, names);
    row.job = static_cast<FluxJobId>(fields.integer());
    const std::int64_t after = fields.integer();
    row.is_start = !fields.is_over();
    if (row.is_start) {
        fields.name(row.user);
        fields.name(row.account);
        row.cores = fields.integer();
        if (row.cores < 0) {
            return false;  // before anything is computed from it
        }
        read_rest(fields, row);
    }
    if (!value.is_array() || !fields.is_good() || !fields.is_over() || !is_report_bill(row.bill) ||
        after < -2 * report_date_max_us || after > 2 * report_date_max_us || !is_report_date(since + after)) {
        return false;
    }
    row.time = Instant(Duration(since + after));
    return true;
}

}  // namespace

std::string write_report(FluxJobId child, const UplinkBatch& batch) {
    return "{\"jobid\":" + std::to_string(static_cast<std::int64_t>(child)) +
           ",\"seq\":" + std::to_string(batch.first_seq) + "," + ReportWriter(batch).take() + "}";
}

Result<ReportHead> read_report_head(FlatValue message) {
    const auto child = message["jobid"].integer();
    const FlatValue records = message["records"];
    if (!child || !records.is_array()) {
        return malformed_report("a report must be {jobid, seq, since, records: [...]}");
    }
    ReportHead head{static_cast<FluxJobId>(*child), 0};
    for (FlatValue record = records.first(); record; record = record.next()) {
        head.records += 1;
    }
    if (head.records > UplinkQueue::batch_max) {
        return malformed_report("a report has at most " + std::to_string(UplinkQueue::batch_max) + " records, not " +
                                std::to_string(head.records));
    }
    return head;
}

Result<UplinkBatch> read_report(FlatValue message) {
    const auto head = read_report_head(message);
    if (!head) {
        return head.error();
    }
    const auto seq = message["seq"].integer();
    const auto since = message["since"] ? message["since"].integer() : std::optional<std::int64_t>(0);
    if (!seq || *seq < 0 || *seq > report_seq_max || !since || !is_report_date(*since)) {
        return malformed_report(
            "a report must be {jobid, seq, since, records}: seq an integer from 0, since microseconds of a date");
    }
    UplinkBatch batch{static_cast<std::uint64_t>(*seq), {}};
    batch.records.reserve(head->records);
    std::vector<std::string> names;
    for (FlatValue record = message["records"].first(); record; record = record.next()) {
        if (!read_record(record, *since, names, batch.records.emplace_back())) {
            return malformed_record(batch.records.size() - 1);
        }
    }
    return batch;
}

}  // namespace weir::priority
