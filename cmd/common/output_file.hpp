// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a file that exists completely or not at all: it is written under a temporary name, synced, and renamed at the
// end; it is compressed if its name ends in .gz. Must not know what is written.
#pragma once
#include <initializer_list>
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
    /// commit() of all files or of none: all are complete and on the disk before the first is renamed, and if one
    /// cannot be renamed, what stood in the places of the others stands there again (where the file system can exchange
    /// two names: not over NFS).
    static Status commit_together(std::initializer_list<OutputFile*> files);
    const std::string& path() const { return path_; }

  private:
    explicit OutputFile(std::string path) : path_(std::move(path)) {}
    enum class Before : std::uint8_t { unknown, nothing, another };
    Status flush();
    Status finish();
    Status put_in_place();
    void take_back();
    Error failed(const char* what) const;

    std::string path_;
    std::string temporary_;  ///< empty: written in place
    int fd_ = -1;
    void* gzip_ = nullptr;  ///< gzFile; null: plain
    std::string pending_;
    Before before_ = Before::unknown;  ///< what stood in its place; another is under the temporary name now
};

/// Name without ".gz", then what follows its last dot, in lower case: "swf" of "a/b.SWF.gz"; empty without a dot.
std::string format_of(const std::string& path);

}  // namespace weir::cmd
