// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading the responses of a journal's backlog ahead, in other threads, and delivering them in their order.
// Must not know: handles, streams, what the events lead to.
#pragma once
#include <deque>
#include <functional>
#include <future>
#include <string>
#include <string_view>
#include <vector>

#include "modules/job-priority/messages/journal_events.hpp"

namespace weir::priority {

/// A backlog has a response for each job of the instance. Reading them is most of the cost of a start, and each can be
/// read independently.
class BacklogReader {
  public:
    using Taker = std::function<void(Result<JournalMessage>)>;
    /// \param taker  is called for each response in the order of add(), from within add() and finish(); must not throw
    explicit BacklogReader(Taker taker) : taker_(std::move(taker)) {}
    /// Copies the text.
    void add(std::string_view response);
    /// Delivers all that is left.
    void finish();
    /// Drops the responses that were not delivered.
    void clear();

    /// Responses that are read at a time.
    static constexpr std::size_t portion_size = 1000;

  private:
    struct Portion {
        std::string texts;
        std::vector<std::size_t> ends;  ///< of each text in `texts`
    };
    using Read = std::vector<Result<JournalMessage>>;

    static Read read(const Portion& portion);
    void give_on_first();

    Taker taker_;
    Portion portion_;  ///< being filled
    std::deque<std::future<Read>> ahead_;
};

}  // namespace weir::priority
