// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the event topics one endpoint listens to. A subscription is a plain string prefix: "foo" matches foo, foobar
// and foo.bar, "" matches all. Subscribing twice needs unsubscribing twice. Must not know messages. Source:
// flux_event_subscribe(3).
#pragma once
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace weir::broker {

class Subscriptions {
  public:
    void add(std::string_view prefix);
    /// \return false if there was no such subscription.
    bool remove(std::string_view prefix);
    /// O(n) in the distinct prefixes, of which an endpoint has a handful.
    bool match(std::string_view topic) const;
    std::size_t size() const { return counts_.size(); }

  private:
    std::map<std::string, std::size_t, std::less<>> counts_;
};

}  // namespace weir::broker
