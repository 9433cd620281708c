// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the endpoint of each service name. A service name is a topic's part before the first dot.
// Must not know messages or sockets.
// Source: RFC 3 (topic strings), flux-core service.add; FLUX module names (RFC 5).
#pragma once
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

/// The service that a topic names: "a.b.c" -> "a", "a" -> "a".
std::string_view service_of(std::string_view topic);

/// Owner ids are endpoint uuids; the broker's own services belong to broker_id.
class ServiceTable {
  public:
    static constexpr std::string_view broker_id = "broker";

    /// Registers a name. \return EEXIST if it is taken, EINVAL if it is empty or contains a dot.
    Status add(std::string_view name, std::string_view owner);
    /// \return ENOENT if the name is not registered, EINVAL if another owner has it.
    Status remove(std::string_view name, std::string_view owner);
    void remove_all(std::string_view owner);
    /// The owner's id, empty if the service is not registered. O(log n).
    std::string_view find(std::string_view name) const;
    /// The names of one owner, sorted.
    std::vector<std::string> names(std::string_view owner) const;

  private:
    std::map<std::string, std::string, std::less<>> owners_;
};

}  // namespace weir::broker
