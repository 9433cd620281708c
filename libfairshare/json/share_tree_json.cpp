// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see share_tree_json.hpp.
// Jansson says whether a text is JSON, but not where its values stand; so a valid text is then split by hand.
#include "libfairshare/json/share_tree_json.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/tree/node_fields.hpp"

namespace weir {

namespace {

/// Splits the values of a text that is known to be JSON.
class Splitter {
  public:
    struct Member {
        std::string_view key;  // with its quotes
        std::string_view value;
    };
    explicit Splitter(std::string_view text) : text_(text) {}

    /// The members of the object (or, without keys, the elements of the array) that the text is.
    std::vector<Member> members() {
        std::vector<Member> found;
        skip_space();
        const bool is_object = text_[at_++] == '{';
        for (skip_space(); text_[at_] != '}' && text_[at_] != ']'; skip_space()) {
            Member member;
            if (is_object) {
                member.key = next_value();
                skip_space();
                ++at_;  // the colon
            }
            member.value = next_value();
            found.push_back(member);
            skip_space();
            at_ += text_[at_] == ',' ? 1 : 0;
        }
        return found;
    }

    std::string_view next_value() {
        skip_space();
        const std::size_t begin = at_;
        std::size_t depth = 0;
        do {
            const char c = text_[at_];
            if (c == '"') {
                skip_string();
            } else if (c == '{' || c == '[') {
                ++depth;
                ++at_;
            } else if (c == '}' || c == ']') {
                --depth;
                ++at_;
            } else if (c == ',' || c == ':' || is_space(c)) {
                ++at_;  // inside a container
            } else {
                at_ = std::min(text_.find_first_of(",]}: \t\r\n", at_), text_.size());
            }
        } while (depth > 0);
        return text_.substr(begin, at_ - begin);
    }

  private:
    static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
    void skip_space() {
        while (at_ < text_.size() && is_space(text_[at_])) {
            ++at_;
        }
    }
    void skip_string() {
        for (++at_; text_[at_] != '"'; ++at_) {
            at_ += text_[at_] == '\\' ? 1 : 0;
        }
        ++at_;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

std::string text_of(std::string_view string) {
    const std::string_view inside = string.substr(1, string.size() - 2);
    if (inside.find('\\') == inside.npos) {
        return std::string{inside};
    }
    const auto value = Json::parse(string);
    return {json_string_value(value->get()), json_string_length(value->get())};
}

FieldValue value_of(std::string_view written) {
    FieldValue made;
    made.written = written;
    switch (written.front()) {
        case '{': {
            FieldTable table;
            for (const auto& member : Splitter{written}.members()) {
                table.emplace_back(text_of(member.key), value_of(member.value));
            }
            made.value = std::move(table);
            break;
        }
        case '[': {
            FieldList list;
            for (const auto& member : Splitter{written}.members()) {
                list.push_back(value_of(member.value));
            }
            made.value = std::move(list);
            break;
        }
        case '"':
            made.value = text_of(written);
            break;
        case 't':
        case 'f':
            made.value = written == "true";
            break;
        case 'n':
            break;
        default: {
            std::int64_t integer = 0;
            const char* end = written.data() + written.size();
            const auto read = std::from_chars(written.data(), end, integer);
            double real = 0;
            if (read.ec == std::errc{} && read.ptr == end) {
                made.value = integer;
            } else if (std::from_chars(written.data(), end, real).ec == std::errc{}) {
                made.value = real;
            }
        }
    }
    return made;
}

class JsonReader {
  public:
    JsonReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    ShareTreeOrDiagnostics read() {
        json_error_t error;
        const Json document = Json::own(json_loadb(text_.data(), text_.size(), JSON_DECODE_ANY, &error));
        if (!document) {
            const SourcePosition at{static_cast<std::uint32_t>(std::max(error.line, 1)),
                                    static_cast<std::uint32_t>(std::max(error.column, 1))};
            report(at, "not JSON: " + std::string{static_cast<const char*>(error.text)},
                   R"(a tree reads {"version": 1, "nodes": {"physics/lattice/@alice": 1}})");
            return std::move(diagnostics_);
        }
        if (json_is_object(document.get())) {
            read_document();
        } else {
            report({1, 1}, "a share tree is an object", R"(write {"version": 1, "nodes": {}})");
        }
        ShareTreeOrDiagnostics built = build_share_tree(specs_, file_);
        if (diagnostics_.empty()) {
            return built;
        }
        if (auto* more = std::get_if<Diagnostics>(&built)) {
            diagnostics_.insert(diagnostics_.end(), more->begin(), more->end());
        }
        sort_by_position(diagnostics_);
        return std::move(diagnostics_);
    }

  private:
    void report(SourcePosition at, std::string message, std::string hint) {
        diagnostics_.push_back({std::string{file_}, at, std::move(message), std::move(hint)});
    }

    /// Of a part of the text. Parts come in the order of the text: one walk in all.
    SourcePosition position(std::string_view part) {
        for (const auto end = static_cast<std::size_t>(part.data() - text_.data()); walked_ < end; ++walked_) {
            const auto byte = static_cast<unsigned char>(text_[walked_]);
            at_ = byte == '\n'            ? SourcePosition{at_.line + 1, 1}
                  : (byte & 0xc0) == 0x80 ? at_
                                          : SourcePosition{at_.line, at_.column + 1};
        }
        return at_;
    }

    void read_document() {
        bool has_nodes = false;
        for (const auto& [key, value] : Splitter{text_}.members()) {
            const std::string name = text_of(key);
            const SourcePosition at = position(key);
            if (name == "version") {
                if (value != "1") {
                    report(at, "this program knows version 1 of the share tree's text alone", R"(write "version": 1)");
                }
            } else if (name != "nodes") {
                report(at, "unknown key " + quoted(name), R"(a share tree has "version" and "nodes")");
            } else if (has_nodes || value.front() != '{') {
                report(at, has_nodes ? "\"nodes\" is there twice" : "\"nodes\" is no object",
                       R"(write every node once in one object: {"physics/lattice/@alice": 1})");
            } else {
                has_nodes = true;
                for (const auto& node : Splitter{value}.members()) {
                    read_node(node);
                }
            }
        }
        if (!has_nodes && diagnostics_.empty()) {
            report({1, 1}, "the tree has no \"nodes\"", R"(write "nodes": {} for the lone root)");
        }
    }

    void read_node(const Splitter::Member& node) {
        NodeSpec spec;
        spec.name = text_of(node.key);
        spec.position = position(node.key);
        if (node.value.front() != '{') {
            enter(spec, "shares", node.value, node.value);
        } else {
            std::vector<std::string> seen;
            for (const auto& [key, value] : Splitter{node.value}.members()) {
                std::string field = text_of(key);
                if (std::find(seen.begin(), seen.end(), field) != seen.end()) {
                    report(position(key), quoted(field) + " of " + quoted(spec.name) + " is there twice",
                           "keep one of the two");
                    continue;
                }
                enter(spec, field, value, field == "shares" ? value : key);
                seen.push_back(std::move(field));
            }
        }
        specs_.push_back(std::move(spec));
    }

    void enter(NodeSpec& spec, std::string_view field, std::string_view value, std::string_view place) {
        const auto mistakes = read_field(field, value_of(value), spec);
        for (const auto& [message, hint] : mistakes) {
            report(position(place), message, hint);
        }
    }

    std::string_view text_;
    std::string_view file_;
    std::size_t walked_ = 0;
    SourcePosition at_{1, 1};
    std::vector<NodeSpec> specs_;
    Diagnostics diagnostics_;
};

std::string json_of(const FieldTable& table);

std::string json_of(const FieldValue& field) {
    if (const auto* table = std::get_if<FieldTable>(&field.value)) {
        return json_of(*table);
    }
    if (const auto* list = std::get_if<FieldList>(&field.value)) {
        std::string text;
        for (const FieldValue& one : *list) {
            text += (text.empty() ? "" : ", ") + json_of(one);
        }
        return "[" + text + "]";
    }
    return field.written;
}

std::string json_of(const FieldTable& table) {
    std::string text;
    for (const auto& [key, value] : table) {
        text += (text.empty() ? "{" : ", ") + quoted(key) + ": " + json_of(value);
    }
    return text + "}";
}

void write_json_below(const ShareTree& tree, NodeId account, std::string& text) {
    for (NodeId child : tree.children(account)) {
        if (!tree.is_materialised(child)) {
            const FieldTable fields = fields_of(tree, child);
            text += (text.ends_with('{') ? "\n    " : ",\n    ") + quoted(tree.path(child)) + ": " +
                    (fields.size() == 1 ? json_of(fields.front().second) : json_of(fields));
            write_json_below(tree, child, text);
        }
    }
}

}  // namespace

ShareTreeOrDiagnostics parse_share_tree_json(std::string_view text, std::string_view file) {
    return JsonReader{text, file}.read();
}

std::string write_share_tree_json(const ShareTree& tree) {
    std::string text = "{\n  \"version\": 1,\n  \"nodes\": {";
    write_json_below(tree, root_node, text);
    return text + (text.ends_with('{') ? "}\n}\n" : "\n  }\n}\n");
}

}  // namespace weir
