// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the temporary folders of jobs and the files in them that came with the jobspec. Must not know processes or
// messages. Source: RFC 14 attributes.system.files, RFC 37 (file archive format).
#pragma once
#include <string>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::broker {

class JobFolders {
  public:
    /// Folders are below `dir`/jobtmp; what an earlier broker left there is removed.
    explicit JobFolders(const std::string& dir);
    ~JobFolders();
    JobFolders(const JobFolders&) = delete;
    JobFolders& operator=(const JobFolders&) = delete;

    /// Makes a job's folder (mode 0700) and writes its files. \param files name -> {mode, encoding, data}, or nothing.
    /// A file is regular, with data in utf-8, in base64 or as JSON, or a symbolic link. \return the folder's path, or
    /// an error that names the file; then no folder is left.
    Result<std::string> make(const std::string& job, const Json& files);
    /// Removes the folder with all that is in it. No effect if there is none.
    void remove(const std::string& job);

  private:
    std::string dir_;
};

}  // namespace weir::broker
