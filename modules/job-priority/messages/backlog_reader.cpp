// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see backlog_reader.hpp.
#include "modules/job-priority/messages/backlog_reader.hpp"

#include <utility>

namespace weir::priority {
namespace {

/// So many portions are held, read or not, before the first is delivered.
constexpr std::size_t portions_max = 3;

}  // namespace

BacklogReader::Read BacklogReader::read(const Portion& portion) {
    Read read;
    read.reserve(portion.ends.size());
    FlatJson json;
    std::size_t begin = 0;
    for (const std::size_t end : portion.ends) {
        read.push_back(read_journal(json.read(std::string_view(portion.texts).substr(begin, end - begin))));
        begin = end;
    }
    return read;
}

void BacklogReader::add(std::string_view response) {
    portion_.texts += response;
    portion_.ends.push_back(portion_.texts.size());
    if (portion_.ends.size() < portion_size) {
        return;
    }
    // If no thread can be started, the portion is read when its turn comes.
    ahead_.push_back(std::async(std::launch::async | std::launch::deferred,
                                [portion = std::exchange(portion_, {})] { return read(portion); }));
    if (ahead_.size() >= portions_max) {
        give_on_first();
    }
}

void BacklogReader::give_on_first() {
    Read messages = ahead_.front().get();
    ahead_.pop_front();
    for (Result<JournalMessage>& message : messages) {
        taker_(std::move(message));
    }
}

void BacklogReader::finish() {
    while (!ahead_.empty()) {
        give_on_first();
    }
    for (Result<JournalMessage>& message : read(std::exchange(portion_, {}))) {
        taker_(std::move(message));
    }
}

void BacklogReader::clear() {
    portion_ = {};
    ahead_.clear();
}

}  // namespace weir::priority
