// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the page's text. Colours are those of Okabe and Ito 2008, which people with any colour vision tell apart, each
// with a dash of its own.
#include "cmd/report/page.hpp"

#include "cmd/report/svg.hpp"

namespace weir::cmd {
namespace {

constexpr const char* style = R"(
:root{color-scheme:light dark;--bg:#fff;--fg:#1a1d21;--line:#8888884d;
--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#aa4c86;--c4:#b07c00;--c5:#3a93c9;--c6:#555;--c7:#7a5230}
@media(prefers-color-scheme:dark){:root{--bg:#15181c;--fg:#e6e8ea;
--c0:#56b4e9;--c1:#ff8c3a;--c2:#2fc79a;--c3:#e39cc6;--c4:#f0c23c;--c5:#9ad1f2;--c6:#aaa;--c7:#c9a27e}}
body{background:var(--bg);color:var(--fg);font:15px/1.5 system-ui,"DejaVu Sans",sans-serif;max-width:980px;
margin:24px auto;padding:0 16px}
h1{font-size:22px;margin:0 0 4px}h2{font-size:17px;margin:32px 0 4px}p{margin:2px 0 8px}
figure{margin:0}figcaption{margin:2px 0 8px;opacity:.85}
svg{display:block;width:100%;height:auto;fill:currentColor;font-size:12px}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:13px;margin:6px 0}
caption{text-align:left;opacity:.85;margin-bottom:4px}
th,td{padding:3px 9px;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th:first-child{text-align:left}thead th{vertical-align:bottom;white-space:normal}
table.words :is(th,td):last-child{text-align:left;opacity:.85}
summary{cursor:pointer;margin:4px 0}
.grid{stroke:var(--line)}.rule{stroke:currentColor;opacity:.55}.due{stroke:currentColor;stroke-dasharray:5 4}
.faint{opacity:.75;font-size:11px}.bold{font-weight:600}.end{text-anchor:end}.middle{text-anchor:middle}
.curve{fill:none;stroke-width:1.8;stroke-linejoin:round}.mark{stroke-width:1.6}.area{stroke:none;fill-opacity:.3}
.job{fill-opacity:.55;stroke:var(--bg);stroke-width:.6}.other{fill:currentColor;fill-opacity:.2}.on{font-size:10px}
)";

std::string cell(const char* tag, const char* scope, const std::string& words) {
    return std::string("<") + tag + scope + ">" + escaped(words) + "</" + tag + ">";
}

/// Colours and dashes of the series.
std::string series_style() {
    static constexpr const char* dashes[series_max] = {"none", "7 3",  "2 2.5", "9 3 2 3",
                                                       "4 4",  "12 3", "1 4",   "6 2 1 2 1 2"};
    std::string css;
    for (std::size_t i = 0; i < series_max; ++i) {
        const std::string n = std::to_string(i);
        css += ".s" + n + "{stroke:var(--c" + n + ");fill:var(--c" + n + ")}.curve.s" + n +
               "{fill:none;stroke-dasharray:" + dashes[i] + "}\n";
    }
    return css + ".mark{stroke-dasharray:none}.job{stroke:var(--bg)}.thin,.area{stroke:none}\n";
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
           escaped(title_) + "</title>\n<style>" + style + series_style() + "</style>\n</head>\n<body>\n<h1>" +
           escaped(title_) + "</h1>\n" + body_ + "</body>\n</html>\n";
}

}  // namespace weir::cmd
