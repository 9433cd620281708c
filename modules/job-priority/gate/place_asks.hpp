// SPDX-License-Identifier: LGPL-3.0-only
// Owns: for which jobs this instance needs places of its parent, which it has been granted, and what must still be said
// to the parent. Must not know: the jobs themselves, links, how limits are counted.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "modules/job-priority/gate/place_wish.hpp"

namespace weir::priority {

class PlaceAsks {
  public:
    using Id = std::uint64_t;  ///< as in Admission
    /// The parent as it is known since this module was loaded.
    enum class Parent : std::uint8_t {
        unknown,  ///< it has not answered
        absent,   ///< it counts no jobs of ours
        counts,   ///< it does
    };
    /// Makes the wish of a job. A job that does not need a place any more is not asked for.
    using WishOf = std::function<PlaceWish(Id)>;

    Parent parent() const { return parent_; }
    /// True: it changed, and every job must be counted again.
    bool set_parent(Parent parent) { return std::exchange(parent_, parent) != parent; }
    /// A new link: the parent gets every job, and its answers are numbered anew.
    void attached(std::uint64_t link);
    /// The link is lost.
    void detached() { link_ = 0; }

    /// The job needs a place from now on, under that name above.
    /// \param has_place  it may be starting already: if it is not known yet, it counts as granted.
    void want(Id id, std::uint64_t name, bool has_place);
    /// It may be starting since before our start: it counts as granted.
    void keep(Id id);
    /// It needs none any more.
    void drop(Id id);
    /// The limits of a submission are to be checked.
    void check(Id id);
    /// What is said of it may have changed.
    void mark(Id id) {
        if (asks_.count(id) != 0) {
            dirty_.insert(id);
        }
    }
    /// The same of each job that waits for the parent: its priority changes with time.
    void mark_waiting();

    bool has(Id id) const { return asks_.count(id) != 0; }
    bool is_granted(Id id) const;
    /// Why the parent holds it back, in its words.
    const std::string& text(Id id) const;
    std::vector<Id> all() const;

    /// The next message; empty if there is nothing to say, or there is no link. A job that wants no place any more, and
    /// was granted one, gives it back. O(log jobs) a job that was marked.
    PlaceWishes take(const WishOf& wish_of);
    bool has_news() const { return link_ != 0 && (!dirty_.empty() || !gone_.empty() || is_complete_due_); }
    struct Told {
        Id id = 0;
        bool is_refused = false;
        std::string text;
    };
    /// Follows an answer. Nothing: the job needs no place any more.
    std::optional<Told> apply(const PlaceAnswer& answer);

  private:
    struct Ask {
        std::uint64_t name = 0;
        bool is_granted = false;
        bool is_new = false;
        std::uint64_t seen = 0;
        std::optional<PlaceWish> sent{};  ///< on this link
        std::string text{};
    };
    static bool is_news(const Ask& ask, const PlaceWish& wish);

    std::map<Id, Ask> asks_;
    std::map<std::uint64_t, Id> ids_;  ///< by name
    std::set<Id> dirty_;
    std::set<std::uint64_t> gone_;  ///< names that the parent has on this link
    Parent parent_ = Parent::unknown;
    std::uint64_t link_ = 0;  ///< 0: none
    bool is_complete_due_ = false;
};

}  // namespace weir::priority
