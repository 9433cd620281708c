// SPDX-License-Identifier: LGPL-3.0-only
// Owns: see sacctmgr_dump.hpp.
#include "cmd/accounting/sacctmgr_dump.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "cmd/accounting/accounting_row.hpp"

namespace weir::cmd {
namespace {

constexpr std::array<std::pair<std::string_view, DumpTitle>, 5> dump_titles{{{"qos", DumpTitle::qos},
                                                                             {"cluster", DumpTitle::cluster},
                                                                             {"parent", DumpTitle::parent},
                                                                             {"account", DumpTitle::account},
                                                                             {"user", DumpTitle::user}}};
constexpr std::string_view line_blanks = " \t";
constexpr std::string_view dump_form = "a line is: Title - 'name':Key=Value:...";

/// The front of a text that an error names.
std::string shown_front(std::string_view text) {
    constexpr std::size_t shown = 60;
    return in_quotes(std::string(text.substr(0, shown)) + (text.size() > shown ? "..." : ""));
}

class DumpLineReader {
  public:
    /// \param text one line without its end; it has more than blanks and a comment
    DumpLineReader(std::string_view text, std::string place) : text_(text), place_(std::move(place)) {}

    Result<DumpLine> read() {
        DumpLine line;
        if (const Status title = read_title(line); !title) {
            return title.error();
        }
        const auto name = read_value();
        if (!name) {
            return name.error();
        }
        if (name->empty()) {
            return mistake("the line has no name; " + std::string(dump_form));
        }
        line.name = *name;
        while (at_ < text_.size() && text_[at_] == ':') {
            ++at_;
            if (const Status field = read_field(line); !field) {
                return field.error();
            }
        }
        return line;
    }

  private:
    Error mistake(const std::string& what) const { return table_error(place_ + ": " + what); }

    void skip_blanks() { at_ = std::min(text_.find_first_not_of(line_blanks, at_), text_.size()); }

    Status read_title(DumpLine& line) {
        const std::size_t border = text_.find(" - ");
        if (border == std::string_view::npos) {
            return mistake("there is no \" - \" in " + shown_front(text_) + "; " + std::string(dump_form));
        }
        skip_blanks();
        const std::size_t begin = std::min(at_, border);
        const std::string_view title = text_.substr(begin, border - begin);
        const std::string lower = in_small_letters(title);
        const auto* found = std::find_if(dump_titles.begin(), dump_titles.end(),
                                         [&lower](const auto& known) { return known.first == lower; });
        if (found == dump_titles.end()) {
            return mistake("the title " + shown_front(title) +
                           " is unknown; a line begins with QOS, Cluster, Parent, Account or User");
        }
        line.title = found->second;
        at_ = border + 3;
        skip_blanks();
        return Done{};
    }

    Status read_field(DumpLine& line) {
        skip_blanks();
        const std::size_t begin = at_;
        const std::size_t end = std::min(text_.find_first_of("=:#", at_), text_.size());
        if (end == text_.size() || text_[end] != '=') {
            at_ = end;
            const std::string_view word = text_.substr(begin, end - begin);
            return word.find_first_not_of(line_blanks) == std::string_view::npos
                       ? Status(Done{})
                       : mistake(shown_front(word) + " has no value; write Key=Value");
        }
        at_ = end + 1;
        const auto value = read_value();
        if (!value) {
            return value.error();
        }
        if (!value->empty()) {
            const auto behind = static_cast<std::size_t>(value->data() + value->size() - text_.data());
            const std::size_t closed = behind + (text_[end + 1] == '\'' || text_[end + 1] == '"' ? 1 : 0);
            line.fields.push_back(
                {in_small_letters(text_.substr(begin, end - begin)), *value, text_.substr(begin, closed - begin)});
        }
        return Done{};
    }

    /// Up to the colon or comment behind it, or the end.
    Result<std::string_view> read_value() {
        if (at_ < text_.size() && (text_[at_] == '\'' || text_[at_] == '"')) {
            return read_quoted();
        }
        const std::size_t begin = at_;
        std::size_t item = at_;  // of a list
        for (; at_ < text_.size() && text_[at_] != '#'; ++at_) {
            item = text_[at_] == ',' ? at_ + 1 : item;
            const std::string_view before = text_.substr(item, at_ - item);
            if (text_[at_] == ':' && !is_type_due(before)) {
                break;
            }
        }
        const std::size_t last = text_.find_last_not_of(line_blanks, at_ - 1);
        const std::size_t end = at_ == begin || last == std::string_view::npos || last < begin ? begin : last + 1;
        return text_.substr(begin, end - begin);
    }

    /// Whether the colon behind "gres/gpu" is that of gres/gpu:a100.
    static bool is_type_due(std::string_view item) {
        return item.starts_with("gres/") && item.find_first_of("=:") == std::string_view::npos;
    }

    Result<std::string_view> read_quoted() {
        const char quote = text_[at_];
        const std::size_t begin = at_ + 1;
        for (std::size_t end = begin;; ++end) {
            end = text_.find(quote, end);
            if (end == std::string_view::npos) {
                return mistake("the quote before " + shown_front(text_.substr(begin)) + " is not closed; write " +
                               quote + " behind the value");
            }
            const std::size_t next = std::min(text_.find_first_not_of(line_blanks, end + 1), text_.size());
            if (next == text_.size() || text_[next] == ':' || text_[next] == '#') {
                at_ = next;
                return text_.substr(begin, end - begin);
            }
        }
    }

    std::string_view text_;
    std::string place_;
    std::size_t at_ = 0;
};

}  // namespace

std::string dump_place(const std::string& file, std::size_t line) {
    return file + ":" + std::to_string(line);
}

std::string in_small_letters(std::string_view text) {
    std::string made(text);
    for (char& c : made) {
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
    return made;
}

Result<std::vector<DumpLine>> read_dump(std::string_view text, const std::string& file) {
    constexpr std::string_view mark = "\xEF\xBB\xBF";
    text.remove_prefix(text.starts_with(mark) ? mark.size() : 0);
    std::vector<DumpLine> lines;
    for (std::size_t begin = 0, number = 1; begin < text.size(); ++number) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        std::string_view line = text.substr(begin, end - begin);
        begin = end + 1;
        line.remove_suffix(line.ends_with('\r') ? 1 : 0);
        if (line.size() > dump_line_max) {
            return table_error(dump_place(file, number) + ": the line has " + std::to_string(line.size()) +
                               " bytes; a line has at most " + std::to_string(dump_line_max));
        }
        const std::size_t first = line.find_first_not_of(line_blanks);
        if (first == std::string_view::npos || line[first] == '#') {
            continue;
        }
        auto read = DumpLineReader(line, dump_place(file, number)).read();
        if (!read) {
            return read.error();
        }
        read->number = number;
        lines.push_back(std::move(*read));
    }
    return lines;
}

}  // namespace weir::cmd
