// SPDX-License-Identifier: LGPL-3.0-only
// Owns: one namespace of the key-value store, in memory: values and links by dotted key; a directory is a key that
// others begin with. Must not know messages, nor follow links. Source: RFC 11 (treeobj val, dir and symlink),
// flux_kvs_lookup(3) for the errors.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libfairshare/base/result.hpp"

namespace weir::broker {

struct KvsLink {
    std::string target;  ///< a key
    std::string space;   ///< its namespace; empty: that of the link
};

class KvsStore {
  public:
    /// A value on the way to the key becomes a directory here and below.
    /// \param append add to the end of the present value instead of replacing what is there.
    /// \return EINVAL for an empty key, EISDIR for adding to a directory.
    Status put(std::string_view key, std::string_view bytes, bool append);
    /// In place of what is at the key. \return EINVAL for an empty key.
    Status make_dir(std::string_view key);
    Status make_link(std::string_view key, KvsLink link);
    /// Removes a value, a link, or a directory with all that is in it. No error if there is none.
    void unlink(std::string_view key);
    /// \return ENOENT, or EISDIR for a directory.
    Result<std::string_view> lookup(std::string_view key) const;

    /// A link on the way to a key, and what of the key is behind it: "" or ".b.c".
    struct Step {
        KvsLink link;
        std::string rest;
    };
    /// The first; one that is the key itself only with `with_last`.
    std::optional<Step> step(std::string_view key, bool with_last) const;

    struct Entry {
        std::string name;
        bool is_dir = false;
        std::optional<KvsLink> link = {};
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
    struct Value {
        std::string bytes;
        std::optional<KvsLink> link = {};
    };
    using Values = std::map<std::string, Value, std::less<>>;

    bool is_dir(const std::string& key) const;
    Values::iterator drop(Values::iterator it);
    void make_way(const std::string& key);

    /// A directory that was made is the key of nothing in it: "a.b.".
    Values values_;
    std::size_t bytes_ = 0;  // of all values
    std::uint64_t sequence_ = 0;
};

}  // namespace weir::broker
