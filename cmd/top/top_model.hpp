// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the effect of keys in `weir top`: the reader's choices, and the requests to the instance that follow. Pure.
// Must not draw or send requests.
#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "cmd/top/keys.hpp"
#include "cmd/view/top_view.hpp"

namespace weir::cmd {

/// The effect of a key beyond a new picture of the same scene.
struct TopWish {
    enum class What { nothing, quit, look, explain_job, explain_share };
    What what = What::nothing;
    std::uint64_t job = 0;
    std::string path;
};

class TopModel {
  public:
    /// The first choices.
    void choose(const std::string& order, const std::string& filter) {
        choice_.order = order;
        choice_.filter = filter;
    }
    TopWish apply(const Key& key);
    /// The marks stay at their account and job, where these are still shown.
    void take(TopScene scene);
    /// Whether the last answer is outdated.
    void set_problem(const std::string& problem) { scene_.problem = problem; }
    void show_page(std::string text);

    const TopScene& scene() const { return scene_; }
    const TopChoice& choice() const { return choice_; }
    const std::set<std::string>& open() const { return open_; }
    const std::set<std::string>& shut() const { return shut_; }

  private:
    TopWish apply_to_page(const Key& key);
    TopWish apply_to_filter(const Key& key);
    TopWish apply_character(const std::string& text);
    bool move(const Key& key);
    TopWish explain();
    /// Opens or closes the marked account.
    TopWish set_open(bool is_open);
    TopWish toggle();
    const ShareLine* marked_share() const;

    TopScene scene_;
    TopChoice choice_;
    std::set<std::string> open_, shut_;
};

}  // namespace weir::cmd
