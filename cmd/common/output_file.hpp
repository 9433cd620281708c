// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a file that exists completely or not at all: it is written under a temporary name and renamed at the end; it is
// compressed if its name ends in .gz. Must not know what is written.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "libfairshare/base/result.hpp"

namespace weir::cmd {

class OutputFile {
  public:
    /// Error: the folder is missing or cannot be written to; nothing was created. "-" is stdout, "/dev/..." is written
    /// as it is.
    static Result<OutputFile> create(const std::string& path);
    OutputFile(OutputFile&& other) noexcept;
    OutputFile& operator=(OutputFile&&) = delete;
    /// Without commit() no file remains.
    ~OutputFile();

    /// Writes to a buffer; errors are returned by commit() at the latest.
    Status write(std::string_view text);
    /// Renames the file to its final name. Call it once.
    Status commit();
    const std::string& path() const { return path_; }

  private:
    explicit OutputFile(std::string path) : path_(std::move(path)) {}
    Status flush();
    Error failed(const char* what) const;

    std::string path_;
    std::string temporary_;  ///< empty: written in place
    int fd_ = -1;
    void* gzip_ = nullptr;  ///< gzFile; null: plain
    std::string pending_;
};

/// Name without ".gz", then what follows its last dot, in lower case: "swf" of "a/b.SWF.gz"; empty without a dot.
std::string format_of(const std::string& path);

}  // namespace weir::cmd
