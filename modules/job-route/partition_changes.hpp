// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the changes of [[partition]] tables that operators made by `weir partition`, as JSON. Must not know files or
// what the tables say. Source: doc/configuration.md.
#pragma once
#include <jansson.h>

#include <string>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::route {

/// The changes made by `weir partition`, on top of the configuration, and what they leave behind: which folder the
/// latest instance of each partition has. A change of a partition is in force while the configuration's table of the
/// partition is the one that it replaced.
class PartitionChanges {
  public:
    PartitionChanges() : changes_(Json::object()), folders_(Json::object()) {}
    /// Of a file that text() wrote. Errors: it is no such file.
    static Result<PartitionChanges> parse(const std::string& text);
    std::string text() const;

    /// The array that is in force.
    Json applied_to(const json_t* configured) const;
    /// Forgets the changes of partitions whose tables are different now. \return their names
    std::vector<std::string> forget_stale(const json_t* configured);
    /// Forgets everything but which partitions are drained.
    void forget_tables();
    /// `table` null: the partition is removed.
    void set(const json_t* configured, const std::string& name, Json table);
    void set_drained(const json_t* configured, const std::string& name, bool is_drained);
    bool is_drained(const std::string& name) const;
    /// \return whether it is another one than before.
    bool set_folder(const std::string& name, int folder);
    int folder_of(const std::string& name) const;

  private:
    PartitionChanges(Json changes, Json folders) : changes_(std::move(changes)), folders_(std::move(folders)) {}
    Json change_of(const json_t* configured, const std::string& name);

    Json changes_;  // name -> {over: table or null, now?: table or null, drained?: b}
    Json folders_;  // name -> number; not those of 0
};

}  // namespace weir::route
