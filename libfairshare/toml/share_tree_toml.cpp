// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_tree_toml.hpp. The only file that sees toml++.
// toml++ stops at the first syntax error; so a faulty line is reported, blanked and the text read again.
#include "libfairshare/toml/share_tree_toml.hpp"

#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace weir {

namespace {

constexpr int syntax_errors_max = 100;

std::string quoted(std::string_view text) {
    return "\"" + std::string{text} + "\"";
}

/// Where lines begin, and byte offsets of (line, column in code points).
class Lines {
  public:
    explicit Lines(std::string_view text) : text_(text), begin_{0} {
        for (std::size_t i = 0; i < text.size(); ++i) {
            if (text[i] == '\n') {
                begin_.push_back(i + 1);
            }
        }
    }
    std::size_t begin(std::uint32_t line) const {
        return line == 0 ? 0 : line > begin_.size() ? text_.size() : begin_[line - 1];
    }
    /// Past the newline.
    std::size_t end(std::uint32_t line) const { return begin(line + 1); }
    std::size_t offset(SourcePosition at) const {
        std::size_t i = begin(at.line);
        for (std::uint32_t column = 1; column < at.column && i < text_.size(); ++column) {
            ++i;
            while (i < text_.size() && (static_cast<unsigned char>(text_[i]) & 0xc0) == 0x80) {
                ++i;
            }
        }
        return i;
    }
    SourcePosition position(std::size_t offset) const {
        const auto after = std::upper_bound(begin_.begin(), begin_.end(), offset);
        SourcePosition at{static_cast<std::uint32_t>(after - begin_.begin()), 1};
        for (std::size_t i = *(after - 1); i < offset; ++i) {
            at.column += (static_cast<unsigned char>(text_[i]) & 0xc0) == 0x80 ? 0 : 1;
        }
        return at;
    }
    std::string_view line(std::uint32_t number) const {
        return text_.substr(begin(number), end(number) - begin(number));
    }
    std::uint32_t count() const { return static_cast<std::uint32_t>(begin_.size()); }

  private:
    std::string_view text_;
    std::vector<std::size_t> begin_;
};

SourcePosition position_of(const toml::source_position& at) {
    return {static_cast<std::uint32_t>(at.line), static_cast<std::uint32_t>(at.column)};
}

/// The key of a line such as `"a/b" = 1` or `a = 1`, if it looks like one.
std::optional<std::string> key_of_line(std::string_view line) {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    std::size_t end = 0;
    std::string key;
    if (line.starts_with('"') || line.starts_with('\'')) {
        end = line.find(line.front(), 1);
        if (end == std::string_view::npos) {
            return std::nullopt;
        }
        key = line.substr(1, end - 1);
        ++end;
    } else {
        end = std::min(line.find_first_of(" \t=.#[\n\r"), line.size());
        key = line.substr(0, end);
    }
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    return key.empty() || !line.starts_with('=') ? std::nullopt : std::optional{key};
}

struct Stray {
    std::size_t offset;
    std::string_view message;
    std::string_view hint;
};

/// The first thing outside strings and comments that no share tree has but that must not reach toml++ 3.3, whose test
/// for white space is undefined for most characters beyond ASCII.
std::optional<Stray> find_stray(std::string_view text) {
    char quote = 0;  // the open string's, '#' in a comment
    for (std::size_t i = text.starts_with("\xef\xbb\xbf") ? 3 : 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\n') {
            quote = 0;
        } else if (quote != 0) {
            i += quote == '"' && c == '\\' && text.substr(i + 1, 1) != "\n" ? 1 : 0;
            quote = c == quote && quote != '#' ? '\0' : quote;
        } else if ((c == '"' || c == '\'') && text.substr(i, 3) == std::string(3, c)) {
            return Stray{i, "multi-line text has no place in a share tree", "names and parents are single lines"};
        } else if (c == '"' || c == '\'' || c == '#') {
            quote = c;
        } else if (static_cast<unsigned char>(c) >= 0x80) {
            return Stray{i, "a character beyond ASCII stands outside quotes", "put the whole path in quotes"};
        }
    }
    return std::nullopt;
}

class Reader {
  public:
    Reader(std::string_view text, std::string_view file) : text_(text), file_(file), lines_(text) {}

    void read() {
        toml::table table;
        if (parse(table)) {
            for (const auto& [key, value] : table) {
                read_entry(key, value);
            }
        }
        std::sort(nodes_.begin(), nodes_.end(), [](const TomlNode& a, const TomlNode& b) {
            return a.spec.position < b.spec.position;  // a toml::table is sorted by key
        });
    }

    std::vector<TomlNode> take_nodes() { return std::move(nodes_); }
    Diagnostics take_diagnostics() { return std::move(diagnostics_); }
    /// Nodes on lines with syntax errors: so that what stands below them is not reported as an orphan.
    const std::vector<NodeSpec>& faulty() const { return faulty_; }

  private:
    void report(SourcePosition at, std::string message, std::string hint) {
        diagnostics_.push_back({std::string{file_}, at, std::move(message), std::move(hint)});
    }

    bool parse(toml::table& into) {
        std::string text{text_};
        for (int i = 0; i < syntax_errors_max; ++i) {
            if (const auto stray = find_stray(text)) {
                const SourcePosition at = lines_.position(stray->offset);
                report(at, std::string{stray->message}, std::string{stray->hint});
                blank(text, at.line);
                continue;
            }
            toml::parse_result result = toml::parse(std::string_view{text});
            if (result) {
                into = std::move(result).table();
                return true;
            }
            const SourcePosition at = position_of(result.error().source().begin);
            report_syntax(at, result.error().description());
            if (!blank(text, at.line)) {
                return false;  // the fault is not in this line
            }
        }
        return false;
    }

    /// Whether there was anything to blank.
    bool blank(std::string& text, std::uint32_t line) const {
        bool was_blank = true;
        const std::size_t end = std::min(lines_.end(line), text.size());
        for (std::size_t k = lines_.begin(line); k < end; ++k) {
            was_blank = was_blank && (text[k] == ' ' || text[k] == '\n' || text[k] == '\r');
            text[k] = text[k] == '\n' || text[k] == '\r' ? text[k] : ' ';
        }
        return !was_blank;
    }

    void report_syntax(SourcePosition at, std::string_view what) {
        const auto key = key_of_line(lines_.line(at.line));
        if (key && what.find("redefine") != std::string_view::npos) {
            for (std::uint32_t line = 1; line < at.line; ++line) {
                if (key_of_line(lines_.line(line)) == key) {
                    const auto column = static_cast<std::uint32_t>(lines_.line(at.line).find_first_not_of(" \t") + 1);
                    report({at.line, column}, "duplicate " + quoted(*key),
                           "first on line " + std::to_string(line) + "; keep one of the two");
                    return;
                }
            }
        }
        if (key) {
            faulty_.push_back({*key, std::nullopt, 1, at});
        }
        report(at, "not TOML: " + std::string{what}, "a node's line reads \"physics/lattice/@alice\" = 1");
    }

    void read_entry(const toml::key& key, const toml::node& value) {
        const SourcePosition at = position_of(key.source().begin);
        if (const toml::table* table = value.as_table()) {
            if (table->is_inline()) {
                read_inline(key, *table, at);
            } else if (key.str() == "weir") {
                read_header(*table);
            } else {
                report(at, quoted(key.str()) + " is a table",
                       "write one line a node, paths in quotes: \"physics/lattice\" = 1");
            }
            return;
        }
        TomlNode node = node_at(key, at);
        read_shares(value, node);
        nodes_.push_back(std::move(node));
    }

    TomlNode node_at(const toml::key& key, SourcePosition at) const {
        TomlNode node;
        node.spec.name = std::string{key.str()};
        node.spec.position = at;
        node.line_begin = lines_.begin(at.line);
        node.line_end = lines_.end(at.line);
        return node;
    }

    void read_shares(const toml::node& value, TomlNode& node) {
        node.shares_begin = lines_.offset(position_of(value.source().begin));
        node.shares_end = lines_.offset(position_of(value.source().end));
        if (const auto* integer = value.as_integer()) {
            node.spec.shares = integer->get();
            return;
        }
        const std::string_view written = text_.substr(node.shares_begin, node.shares_end - node.shares_begin);
        report(position_of(value.source().begin),
               "shares of " + quoted(node.spec.name) + " are " + std::string{written},
               "give a whole number from 0 to 4294967295");
    }

    void read_inline(const toml::key& key, const toml::table& table, SourcePosition at) {
        static constexpr std::array<std::string_view, 2> known{"parent", "shares"};
        TomlNode node = node_at(key, at);
        for (const auto& [name, value] : table) {
            const SourcePosition name_at = position_of(name.source().begin);
            if (name.str() == "shares") {
                read_shares(value, node);
            } else if (name.str() != "parent") {
                const std::string hint = did_you_mean(name.str(), known);
                report(name_at, "unknown key " + quoted(name.str()) + " of " + quoted(key.str()),
                       hint.empty() ? "a node has `parent` and `shares`" : hint);
            } else if (const auto* parent = value.as_string()) {
                node.spec.parent = parent->get();
            } else {
                report(name_at, "the parent of " + quoted(key.str()) + " is no text", "write parent = \"physics\"");
            }
        }
        nodes_.push_back(std::move(node));
    }

    void read_header(const toml::table& header) {
        for (const auto& [key, value] : header) {
            const SourcePosition at = position_of(key.source().begin);
            if (key.str() != "version") {
                report(at, "unknown key " + quoted(key.str()) + " in [weir]",
                       "nodes stand above the [weir] table; it has the key `version` alone");
            } else if (value.value_or(std::int64_t{0}) != 1) {
                report(at, "this program knows version 1 of the share tree's text alone", "write version = 1");
            }
        }
    }

    std::string_view text_;
    std::string_view file_;
    Lines lines_;
    std::vector<TomlNode> nodes_;
    std::vector<NodeSpec> faulty_;
    Diagnostics diagnostics_;
};

void write_below(const ShareTree& tree, NodeId account, std::string& text) {
    for (NodeId child : tree.children(account)) {
        if (!tree.is_materialised(child)) {
            text += quoted(tree.path(child)) + " = " + std::to_string(tree.shares(child)) + "\n";
            write_below(tree, child, text);
        }
    }
}

}  // namespace

std::variant<std::vector<TomlNode>, Diagnostics> read_share_tree_lines(std::string_view text, std::string_view file) {
    Reader reader{text, file};
    reader.read();
    Diagnostics diagnostics = reader.take_diagnostics();
    if (diagnostics.empty()) {
        return reader.take_nodes();
    }
    sort_by_position(diagnostics);
    return diagnostics;
}

ShareTreeOrDiagnostics parse_share_tree(std::string_view text, std::string_view file) {
    Reader reader{text, file};
    reader.read();
    Diagnostics diagnostics = reader.take_diagnostics();
    std::vector<NodeSpec> specs;
    {
        std::vector<TomlNode> nodes = reader.take_nodes();
        specs.reserve(nodes.size());
        for (TomlNode& node : nodes) {
            specs.push_back(std::move(node.spec));
        }
    }
    const std::size_t read_count = specs.size();
    specs.insert(specs.end(), reader.faulty().begin(), reader.faulty().end());
    ShareTreeOrDiagnostics built = build_share_tree(specs, file);
    if (diagnostics.empty()) {
        return built;
    }
    if (auto* more = std::get_if<Diagnostics>(&built)) {
        const auto is_of_faulty_line = [&](const Diagnostic& diagnostic) {
            return std::any_of(specs.begin() + static_cast<std::ptrdiff_t>(read_count), specs.end(),
                               [&](const NodeSpec& spec) { return spec.position == diagnostic.position; });
        };
        std::copy_if(more->begin(), more->end(), std::back_inserter(diagnostics),
                     [&](const Diagnostic& diagnostic) { return !is_of_faulty_line(diagnostic); });
    }
    sort_by_position(diagnostics);
    return diagnostics;
}

std::string write_share_tree(const ShareTree& tree) {
    std::string text;
    write_below(tree, root_node, text);
    return text;
}

}  // namespace weir
