// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the files of the page, compressed, which are part of this program. cmd/page has their sources.
#pragma once
#include <memory>
#include <string>
#include <vector>

namespace weir::cmd {

struct PageFile {
    std::string path;  ///< "/page.js"
    std::string type;
    std::shared_ptr<const std::string> gzip;
    std::string etag;  ///< of the contents
};

/// In any order; the same objects at each call.
const std::vector<PageFile>& page_files();
/// The text of a gzip file of at most `bytes_max`; empty if it is none.
std::string gunzipped(const std::string& gzip, std::size_t bytes_max);
std::string gzipped(const std::string& text);

}  // namespace weir::cmd
