// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_tree_builder.hpp.
// Three steps: check every line alone; find every line's parent (by path, or by name for the name + parent form, where
// alone cycles can arise); hand the nodes to share_tree_layout.hpp.
#include "libfairshare/tree/share_tree_builder.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>
#include <utility>

#include "libfairshare/base/nearest_name.hpp"
#include "libfairshare/tree/path_index.hpp"
#include "libfairshare/tree/share_tree_layout.hpp"

namespace weir {

namespace {

constexpr std::size_t name_length_max = 255;
constexpr std::size_t suggestions_max = 100;  // a file that is wrong throughout must not cost quadratic time

std::string_view last_component(std::string_view path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

std::string_view without_last(std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

constexpr std::array<bool, 256> is_name_byte = [] {
    std::array<bool, 256> is{};
    for (std::size_t byte = 0; byte < is.size(); ++byte) {
        is[byte] = byte > ' ' && byte != 0x7f &&
                   std::string_view{"/@*\"'\\=#,[]{}"}.find(static_cast<char>(byte)) == std::string_view::npos;
    }
    return is;
}();

}  // namespace

std::string component_error(std::string_view component) {
    if (component.empty()) {
        return "it has an empty component";
    }
    const bool is_user = component.starts_with('@');
    const std::string_view name = is_user ? component.substr(1) : component;
    if (name.empty()) {
        return "the at sign is followed by no user";
    }
    if (name.size() > name_length_max) {
        return "a component is longer than 255 bytes";
    }
    if (is_user && name == "*") {
        return {};
    }
    if (!is_user && kind_of_component(name) != NodeKind::account && name.ends_with(':')) {
        return "the colon is followed by no " + std::string{to_string(kind_of_component(name))};
    }
    if (is_user && (name.starts_with(':') || name.ends_with(':'))) {
        return "a user and a partition are written \"@alice:debug\"";
    }
    if (is_user && name.find(':') != name.rfind(':')) {
        return "a user's line is for one partition at most";
    }
    for (char c : name) {
        if (!is_name_byte[static_cast<unsigned char>(c)]) {
            const std::string shown = static_cast<unsigned char>(c) > ' ' && c != 0x7f ? std::string{c}
                                      : c == ' '                                       ? std::string{"space"}
                                                 : std::string{"control character"};
            return "component " + quoted(component) + " contains a character that names cannot have: " + shown;
        }
    }
    return {};
}

/// One run of build_share_tree(). Indices are into `specs`.
class ShareTreeRules {
  public:
    ShareTreeRules(const std::vector<NodeSpec>& specs, std::string_view file)
        : specs_(specs), file_(file), paths_(specs.size()), parents_(specs.size(), top), state_(specs.size()) {}

    ShareTreeOrDiagnostics run() {
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            check_line(i);
        }
        register_paths();
        resolve_named();
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            if (state_[i] == State::open) {
                resolve_by_path(i);
            }
        }
        check_depth_and_sums();
        check_default_projects();
        if (!diagnostics_.empty()) {
            sort_by_position(diagnostics_);
            return std::move(diagnostics_);
        }
        return lay_out_tree(specs_, parents_);
    }

  private:
    enum class State : std::uint8_t { open, resolved, faulty };
    static constexpr std::uint32_t top = below_root;

    bool has_parent_form(std::size_t i) const { return specs_[i].parent.has_value(); }
    bool is_user(std::size_t i) const { return last_component(specs_[i].name).starts_with('@'); }

    void fault(std::size_t i, std::string message, std::string hint = {}) {
        state_[i] = State::faulty;
        diagnostics_.push_back({std::string{file_}, specs_[i].position, std::move(message), std::move(hint)});
    }

    void check_line(std::size_t i) {
        const NodeSpec& spec = specs_[i];
        if (!spec.shares_parent && (spec.shares < 0 || spec.shares > std::int64_t{ShareTree::shares_max})) {
            fault(i, "shares of " + quoted(spec.name) + " are " + std::to_string(spec.shares),
                  "give a whole number from 0 to 4294967295");
        }
        std::string_view rest = spec.name;
        if (has_parent_form(i) && rest.find('/') != std::string_view::npos) {
            fault(i, quoted(spec.name) + " is a path and has a parent too",
                  "give the path alone, or the last component and `parent`");
            return;
        }
        for (bool is_last = false; !is_last;) {
            const std::size_t slash = rest.find('/');
            is_last = slash == std::string_view::npos;
            const std::string_view part = rest.substr(0, slash);
            if (std::string why = component_error(part); !why.empty()) {
                fault(i, quoted(spec.name) + " is not a path: " + why, "write paths like \"physics/lattice/@alice\"");
                return;
            }
            if (!is_last && part.starts_with('@')) {
                fault(i, quoted(spec.name) + " is below the user " + quoted(part),
                      "users have no nodes below them; accounts have no at sign");
                return;
            }
            rest.remove_prefix(is_last ? 0 : slash + 1);
        }
        check_terms(i);
    }

    void check_terms(std::size_t i) {
        const NodeSpec& spec = specs_[i];
        const NodeKind kind = kind_of_component(last_component(spec.name));
        if (spec.is_together && kind != NodeKind::any_member) {
            fault(i, quoted(spec.name) + " cannot be `together`", "only an \"@*\" line is for several users");
        }
        if (spec.is_default && kind != NodeKind::user) {
            fault(i, quoted(spec.name) + " cannot be a default", "one line of a user may be that user's default");
        } else if (spec.is_default) {
            const std::string_view component = last_component(spec.name);
            const auto [first, is_new] = defaults_.try_emplace(component.substr(0, component.find(':')), i);
            if (!is_new) {
                fault(i, quoted(spec.name) + " is a second default of the user " + quoted(first->first),
                      "the first is on line " + std::to_string(specs_[first->second].position.line) +
                          "; keep one of the two");
            }
        }
        const bool is_by_job = kind >= NodeKind::group || last_component(spec.name).find(':') != std::string_view::npos;
        if (is_by_job && (term_of<Projects>(spec.terms) != nullptr || term_of<DefaultProject>(spec.terms) != nullptr)) {
            fault(i, quoted(spec.name) + " cannot have projects",
                  "give them to an account, a user in it for all queues, or its \"@*\" line");
        }
        for (std::size_t a = 1; a < spec.terms.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                if (!comes_before(spec.terms[a], spec.terms[b]) && !comes_before(spec.terms[b], spec.terms[a])) {
                    fault(i, quoted(spec.name) + " has two terms of one kind", "keep one of the two");
                    return;
                }
            }
        }
    }

    /// Enters a node under its full path. A line that is only wrong in its shares still counts as there.
    void enter(std::size_t i, std::string_view path) {
        paths_[i] = path;
        const std::uint32_t found = by_path_.enter(static_cast<std::uint32_t>(i));
        if (found != i) {
            const SourcePosition first = specs_[found].position;
            fault(i, "duplicate " + quoted(paths_[i]),
                  first.line != 0 ? "first on line " + std::to_string(first.line) + "; keep one of the two"
                                  : "keep one of the two");
        }
    }

    void register_paths() {
        by_path_.reserve(specs_.size());
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            if (!has_parent_form(i)) {
                enter(i, specs_[i].name);
            } else {
                named_.push_back(i);
            }
        }
    }

    /// The parent of each name + parent line: by full path, else by last component.
    void resolve_named() {
        if (named_.empty()) {
            return;
        }
        std::unordered_map<std::string_view, std::vector<std::uint32_t>> by_name;
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            by_name[last_component(specs_[i].name)].push_back(static_cast<std::uint32_t>(i));
        }
        for (std::size_t i : named_) {
            const std::string& reference = *specs_[i].parent;
            if (state_[i] == State::faulty || reference.empty() || by_path_.find(reference) ||
                reference.find('/') != std::string::npos) {
                continue;
            }
            const auto found = by_name.find(reference);
            if (found == by_name.end()) {
                report_unknown_parent(i, reference);
            } else if (found->second.size() > 1) {
                report_ambiguous_parent(i, reference, found->second);
            } else {
                named_parent_[i] = found->second.front();
            }
        }
        find_cycles();
        bool is_progress = true;
        while (is_progress) {  // each round names at least one more level
            is_progress = false;
            for (std::size_t i : named_) {
                is_progress = (state_[i] == State::open && resolve_one_named(i)) || is_progress;
            }
        }
        for (std::size_t i : named_) {
            if (state_[i] == State::open) {
                report_unresolved(i);
            }
        }
    }

    bool resolve_one_named(std::size_t i) {
        const NodeSpec& spec = specs_[i];
        std::uint32_t parent = top;
        if (const auto by_name = named_parent_.find(i); by_name != named_parent_.end()) {
            parent = by_name->second;
            if (paths_[parent].empty()) {
                return false;  // the parent has no path yet
            }
        } else if (!spec.parent->empty()) {
            const auto found = by_path_.find(*spec.parent);
            if (!found) {
                return false;
            }
            parent = *found;
        }
        settle(i, parent, *spec.parent);
        enter(i, parent == top ? spec.name : made_paths_.emplace_back(std::string{paths_[parent]} + "/" + spec.name));
        return true;
    }

    void settle(std::size_t i, std::uint32_t parent, std::string_view reference) {
        state_[i] = State::resolved;
        parents_[i] = parent;
        if (parent != top && is_user(parent)) {
            fault(i, quoted(specs_[i].name) + " has the user " + quoted(reference) + " as its parent",
                  "users have no nodes below them; name an account");
        }
    }

    void resolve_by_path(std::size_t i) {
        const std::string_view prefix = without_last(specs_[i].name);
        if (prefix.empty()) {
            state_[i] = State::resolved;
            return;
        }
        const auto is_told_already = [&](std::size_t k) {
            return state_[k] == State::faulty && specs_[k].name == last_component(prefix);
        };
        // Most lines follow a sibling.
        const bool is_sibling = i > 0 && parents_[i - 1] != top && paths_[parents_[i - 1]] == prefix;
        if (const auto found = is_sibling ? parents_[i - 1] : by_path_.find(prefix)) {
            settle(i, *found, prefix);
        } else if (std::any_of(named_.begin(), named_.end(), is_told_already)) {
            state_[i] = State::faulty;
        } else {
            report_unknown_parent(i, prefix);
        }
    }

    /// Follows `parent` names only: a path is longer than its parent's, so path lines close no cycle.
    void find_cycles() {
        std::vector<std::uint8_t> is_done(specs_.size(), 0);
        for (std::size_t start : named_) {
            std::vector<std::size_t> way;
            std::size_t at = start;
            while (is_done[at] == 0 && named_parent_.contains(at)) {
                is_done[at] = 2;  // on the present way
                way.push_back(at);
                at = named_parent_[at];
            }
            if (is_done[at] == 2) {
                report_cycle(way, at);
            }
            for (std::size_t node : way) {
                is_done[node] = 1;
            }
        }
    }

    void report_cycle(const std::vector<std::size_t>& way, std::size_t first) {
        const auto begin = std::find(way.begin(), way.end(), first);
        std::string shown;
        for (auto at = begin; at != way.end(); ++at) {
            shown += specs_[*at].name + " -> ";
        }
        for (auto at = begin; at != way.end(); ++at) {
            state_[*at] = State::faulty;
        }
        fault(first, "cycle: " + shown + specs_[first].name, "give one of them a parent outside the cycle, or none");
    }

    void report_ambiguous_parent(std::size_t i, std::string_view reference,
                                 const std::vector<std::uint32_t>& candidates) {
        std::string lines;
        for (std::uint32_t candidate : candidates) {
            lines += (lines.empty() ? "" : ", ") + std::to_string(specs_[candidate].position.line);
        }
        fault(i, "parent " + quoted(reference) + " of " + quoted(specs_[i].name) + " is ambiguous: lines " + lines,
              "give the parent's full path");
    }

    /// A name + parent line whose parent never got a path: its own parent is faulty (told there), or not in the text.
    void report_unresolved(std::size_t i) {
        const auto by_name = named_parent_.find(i);
        if (by_name == named_parent_.end()) {
            report_unknown_parent(i, *specs_[i].parent);
        } else {
            state_[i] = State::faulty;
        }
    }

    void report_unknown_parent(std::size_t i, std::string_view reference) {
        std::string hint;
        if (suggestions_++ < suggestions_max) {
            std::vector<std::string_view> accounts;
            for (std::size_t k = 0; k < specs_.size(); ++k) {
                if (k != i && !is_user(k)) {
                    accounts.push_back(specs_[k].name);
                    accounts.push_back(last_component(specs_[k].name));
                }
            }
            hint = did_you_mean(reference, accounts);
        }
        if (hint.empty()) {
            hint = "add the line " + quoted(reference) + " = 1";
        }
        fault(i, "unknown parent " + quoted(reference) + " of " + quoted(specs_[i].name), std::move(hint));
    }

    void check_depth_and_sums() {
        if (!diagnostics_.empty()) {
            return;  // sums and depths of a broken tree mean nothing
        }
        std::vector<std::uint64_t> sums(specs_.size() + 1, 0);  // the last: below the root
        for (std::size_t i = 0; i < specs_.size(); ++i) {
            const std::string_view path = paths_[i];  // n slashes stand between n + 1 components
            if (path.size() > 2 * ShareTree::depth_max &&
                static_cast<std::size_t>(std::count(path.begin(), path.end(), '/')) >= ShareTree::depth_max) {
                fault(i, quoted(paths_[i]) + " is deeper than 64 levels", "flatten the tree");
            }
            std::uint32_t level = parents_[i];  // where the shares count: as ShareTree::level_parent()
            while (level != top && specs_[level].shares_parent) {
                level = parents_[level];
            }
            std::uint64_t& sum = sums[level == top ? specs_.size() : level];
            const bool was_below = sum <= ShareTree::child_shares_max;
            sum += greatest_shares(specs_[i]);
            if (was_below && sum > ShareTree::child_shares_max) {
                fault(i,
                      "the shares of the children of " + quoted(without_last(paths_[i])) + " add up to more than 2^48",
                      "only their proportions count: divide them all by the same number");
            }
        }
    }

    /// The nearest list of projects, at the line or above it.
    const Projects* projects_above(std::uint32_t at) const {
        const Projects* found = nullptr;
        for (; at != top && found == nullptr; at = parents_[at]) {
            found = term_of<Projects>(specs_[at].terms);
        }
        return found;
    }

    void check_default_projects() {
        for (std::size_t i = 0; i < specs_.size() && diagnostics_.empty(); ++i) {
            const auto* chosen = term_of<DefaultProject>(specs_[i].terms);
            if (chosen == nullptr) {
                continue;
            }
            const Projects* projects = projects_above(static_cast<std::uint32_t>(i));
            if (projects == nullptr ||
                std::find(projects->names.begin(), projects->names.end(), chosen->name) == projects->names.end()) {
                fault(i,
                      "`default_project` of " + quoted(specs_[i].name) +
                          " is none of its projects: " + quoted(chosen->name),
                      "name it in `projects`, there or on an account above");
            }
        }
    }

    /// Of all partitions: so that no partition's sum is out of range.
    static std::uint64_t greatest_shares(const NodeSpec& spec) {
        std::uint64_t greatest = spec.shares_parent ? 0 : static_cast<std::uint64_t>(spec.shares);
        for (const NodeTerm& term : spec.terms) {
            if (const auto* shares = std::get_if<PartitionShares>(&term)) {
                greatest = std::max<std::uint64_t>(greatest, shares->shares);
            }
        }
        return greatest;
    }

    const std::vector<NodeSpec>& specs_;
    std::string_view file_;
    std::vector<std::string_view> paths_;  // full path, empty while unknown; in specs_ or in made_paths_
    std::deque<std::string> made_paths_;   // of specs in the name + parent form
    std::vector<std::uint32_t> parents_;   // spec index or top
    std::vector<State> state_;
    std::vector<std::size_t> named_;                               // specs in the name + parent form
    std::unordered_map<std::size_t, std::uint32_t> named_parent_;  // of those whose parent was found by last component
    PathIndex by_path_{paths_};
    std::unordered_map<std::string_view, std::size_t> defaults_;  // "@user" to spec
    std::size_t suggestions_ = 0;
    Diagnostics diagnostics_;
};

ShareTreeOrDiagnostics build_share_tree(const std::vector<NodeSpec>& specs, std::string_view file) {
    return ShareTreeRules{specs, file}.run();
}

}  // namespace weir
