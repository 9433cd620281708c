// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one self-contained HTML page: its head, style sheet and parts. No script runs and nothing is fetched, so the
// page opens in any browser for years. It follows the reader's choice of light or dark and is well-formed XML. Pure.
// Must not know what it shows.
#pragma once
#include <string>
#include <vector>

namespace weir::cmd {

class Page {
  public:
    explicit Page(const std::string& title) : title_(title) {}

    void heading(const std::string& words);
    /// Plain words, escaped.
    void paragraph(const std::string& words);
    /// A picture with a caption below its heading. `svg` is made by Svg.
    void figure(const std::string& heading, const std::string& caption, const std::string& svg);
    enum TableStyle : unsigned {
        folded = 1,         ///< under a line that opens
        last_is_words = 2,  ///< the last column stands left
    };
    /// The first column is the row's heading, the others are numbers.
    void table(const std::string& caption, const std::vector<std::string>& columns,
               const std::vector<std::vector<std::string>>& rows, unsigned styles = 0);
    /// JSON for programs, in an element with this `id`; it is not executed.
    void data(const std::string& id, const std::string& json);

    std::string str() const;

  private:
    std::string title_;
    std::string body_;
};

}  // namespace weir::cmd
