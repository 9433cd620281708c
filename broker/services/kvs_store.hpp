// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one namespace of the key-value store, in memory: values by dotted key; a directory is a key that others begin
// with. Must not know messages.
// Source: RFC 11 (treeobj val and dir), flux_kvs_lookup(3) for the errors.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

class KvsStore {
  public:
    /// \param append add to the end of the present value instead of replacing it.
    /// \return EINVAL for an empty key, EISDIR if the key is a directory.
    Status put(std::string_view key, std::string_view bytes, bool append);
    /// Removes a value, or a directory with all that is in it. No error if there is none.
    void unlink(std::string_view key);
    /// \return ENOENT, or EISDIR for a directory.
    Result<std::string_view> lookup(std::string_view key) const;

    struct Entry {
        std::string name;
        bool is_dir = false;
    };
    /// The entries of a directory in name order; the empty key is the root. \return ENOENT, or ENOTDIR for a value.
    Result<std::vector<Entry>> list(std::string_view key) const;

    std::uint64_t sequence() const { return sequence_; }
    void commit() { ++sequence_; }
    std::size_t size() const { return values_.size(); }
    std::size_t bytes() const { return bytes_; }

    /// Without leading, trailing and double dots.
    static std::string normal(std::string_view key);

  private:
    bool is_dir(const std::string& key) const;

    std::map<std::string, std::string, std::less<>> values_;
    std::size_t bytes_ = 0;  // of all values
    std::uint64_t sequence_ = 0;
};

}  // namespace weir::broker
