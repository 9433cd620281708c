// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a guest whose running job says to job-route that it is a child instance, takes jobs, and reports what it likes.
// It may move nothing but jobs of its own user. Must not know what is checked.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "modules/world/route_part.hpp"

namespace weir::world {

class GuestRoute : public Part, public RouteChild {
  public:
    struct Facts {
        std::uint64_t host = 0;  ///< his job
        std::uint32_t userid = 0;
        std::vector<std::string> serves;
        std::uint32_t cores = 0;  ///< that he says he has
    };
    /// \param got  he gets the job with this jobspec
    GuestRoute(RoutePart& parent, Facts facts, std::function<void(const std::string& jobspec)> got);
    /// Says which jobs he has.
    void attach(const std::vector<route::JobId>& known);

    void on_attached() override {}
    void on_acked(std::uint64_t) override {}
    void on_orders(const std::vector<route::Order>& orders) override;

  private:
    void lie_about(route::JobId id);
    void report(route::ChildEvent event);

    RoutePart& parent_;
    Facts facts_;
    std::function<void(const std::string&)> got_;
    std::shared_ptr<Link> link_;
    std::string session_;
    std::uint64_t seq_ = 0;
};

}  // namespace weir::world
