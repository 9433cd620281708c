// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the list of what a file has and a share tree has no place for: each fact once, with its first line. Must not
// know: what the facts are.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::cmd {

class LeftOut {
  public:
    explicit LeftOut(std::string file) : file_(std::move(file)) {}

    /// \param text what is left out, the same for all of `owner`s that have it
    void add(std::size_t line, const std::string& text, const std::string& why = {}, const std::string& owner = {}) {
        const auto [found, is_new] = by_text_.try_emplace(text + "\n" + why, facts_.size());
        if (is_new) {
            facts_.push_back({line, text + (owner.empty() ? "" : " " + owner), why});
        } else {
            ++facts_[found->second].more;
        }
    }

    /// By line: "tux.cfg:4: QOS='+fast' of user bob, and 2 times more: why".
    std::vector<std::string> lines() const {
        std::vector<Fact> sorted = facts_;
        std::stable_sort(sorted.begin(), sorted.end(), [](const Fact& a, const Fact& b) { return a.line < b.line; });
        std::vector<std::string> made;
        for (const Fact& fact : sorted) {
            made.push_back(file_ + ":" + std::to_string(fact.line) + ": " + fact.text +
                           (fact.more == 0 ? "" : ", and " + std::to_string(fact.more) + " times more") +
                           (fact.why.empty() ? "" : ": " + fact.why));
        }
        return made;
    }

  private:
    struct Fact {
        std::size_t line = 0;
        std::string text;
        std::string why;
        std::size_t more = 0;
    };
    std::string file_;
    std::vector<Fact> facts_;
    std::unordered_map<std::string, std::size_t> by_text_;
};

}  // namespace weir::cmd
