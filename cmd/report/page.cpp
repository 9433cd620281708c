// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the page's text.
#include "cmd/report/page.hpp"

#include "cmd/report/svg.hpp"

namespace weir::cmd {
namespace {

constexpr const char* page_style = R"(
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,"DejaVu Sans",sans-serif;max-width:980px;
margin:24px auto;padding:0 16px}
h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:32px 0 4px}p{margin:2px 0 8px}
figure{margin:0}figcaption{margin:2px 0 8px;opacity:.85}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13px;margin:6px 0}
caption{text-align:left;opacity:.85;margin-bottom:4px}
th,td{padding:3px 9px;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th:first-child{text-align:left}thead th{vertical-align:bottom;white-space:normal}
table.words :is(th,td):last-child{text-align:left;opacity:.85}
summary{cursor:pointer;margin:4px 0}
)";

std::string cell(const char* tag, const char* scope, const std::string& words) {
    return std::string("<") + tag + scope + ">" + escaped(words) + "</" + tag + ">";
}

}  // namespace

void Page::heading(const std::string& words) {
    body_ += "<h2>" + escaped(words) + "</h2>\n";
}

void Page::paragraph(const std::string& words) {
    body_ += "<p>" + escaped(words) + "</p>\n";
}

void Page::figure(const std::string& heading, const std::string& caption, const std::string& svg) {
    body_ += "<h2>" + escaped(heading) + "</h2>\n<figure><figcaption>" + escaped(caption) + "</figcaption>\n" + svg +
             "</figure>\n";
}

void Page::table(const std::string& caption, const std::vector<std::string>& columns,
                 const std::vector<std::vector<std::string>>& rows, unsigned styles) {
    const bool is_folded = (styles & folded) != 0;
    std::string text = std::string("<div class=\"scroll\"><table") +
                       ((styles & last_is_words) != 0 ? " class=\"words\">" : ">") +
                       (is_folded ? "" : "<caption>" + escaped(caption) + "</caption>") + "\n<thead><tr>";
    for (const std::string& column : columns) {
        text += cell("th", " scope=\"col\"", column);
    }
    text += "</tr></thead>\n<tbody>\n";
    for (const auto& row : rows) {
        text += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i) {
            text += i == 0 ? cell("th", " scope=\"row\"", row[i]) : cell("td", "", row[i]);
        }
        text += "</tr>\n";
    }
    text += "</tbody></table></div>\n";
    body_ += is_folded ? "<details><summary>" + escaped(caption) + "</summary>\n" + text + "</details>\n" : text;
}

void Page::data(const std::string& id, const std::string& json) {
    std::string safe;  // nothing in it may end the element or begin another; JSON allows every character escaped
    for (const char c : json) {
        safe += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : c == '&' ? "\\u0026" : std::string(1, c);
    }
    body_ += "<script type=\"application/json\" id=\"" + id + "\">\n" + safe + "</script>\n";
}

std::string Page::str() const {
    return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>" +
           escaped(title_) + "</title>\n<style>" + picture_style() + page_style + "</style>\n</head>\n<body>\n<h1>" +
           escaped(title_) + "</h1>\n" + body_ + "</body>\n</html>\n";
}

}  // namespace weir::cmd
