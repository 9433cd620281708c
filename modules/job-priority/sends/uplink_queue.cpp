// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the record queue. See uplink_queue.hpp.
#include "modules/job-priority/sends/uplink_queue.hpp"

#include <algorithm>
#include <utility>

namespace weir::priority {

UplinkQueue::UplinkQueue(std::uint64_t last_seq, const std::map<std::uint64_t, UplinkRow>& records)
    : last_seq_(last_seq) {
    for (const auto& [seq, record] : records) {
        records_.push_back(record);
        last_seq_ = std::max(last_seq_, seq);
    }
    sent_seq_ = last_seq_;
}

std::uint64_t UplinkQueue::add(UplinkRow record) {
    last_seq_ += 1;
    records_.push_back(std::move(record));
    return last_seq_;
}

bool UplinkQueue::attached(std::uint64_t acked) {
    if (acked > sent_seq_) {
        return false;
    }
    is_attached_ = true;
    out_ = 0;
    acknowledged(acked);
    return true;
}

void UplinkQueue::detached() {
    is_attached_ = false;
    out_ = 0;
}

std::optional<UplinkBatch> UplinkQueue::next(std::uint64_t last) {
    if (!is_attached_ || out_ != 0 || first_seq() > last || records_.empty()) {
        return std::nullopt;
    }
    const std::uint64_t known = std::min<std::uint64_t>(records_.size(), last - first_seq() + 1);
    out_ = std::min<std::size_t>(limit_, known);
    UplinkBatch batch{first_seq(), {records_.begin(), records_.begin() + static_cast<std::ptrdiff_t>(out_)}};
    sent_seq_ = std::max(sent_seq_, batch.first_seq + batch.records.size() - 1);
    return batch;
}

std::optional<std::uint64_t> UplinkQueue::refused() {
    const std::size_t out = std::exchange(out_, 0);
    limit_ = std::max<std::size_t>(1, out / 2);
    return out == 1 ? std::optional(first_seq()) : std::nullopt;
}

std::uint64_t UplinkQueue::acknowledged(std::uint64_t acked) {
    if (std::exchange(out_, 0) != 0) {
        limit_ = std::min(batch_max, limit_ * 2);
    }
    sent_seq_ = std::max(sent_seq_, acked);
    const std::uint64_t known = acked < first_seq() ? 0 : acked - first_seq() + 1;
    records_.erase(records_.begin(),
                   records_.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(records_.size(), known)));
    return acked;
}

}  // namespace weir::priority
