// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the paths of the files that the configuration names or may name. Must not read them.
#pragma once
#include <flux/core.h>

#include <filesystem>
#include <system_error>

namespace weir::priority {

/// The places of the instance's configuration; both empty where it has none.
struct ConfigPlaces {
    std::filesystem::path folder;  ///< a relative path in the configuration begins here
    /// A place where no file is read as configuration: beside the folder of which the broker reads every *.toml, or
    /// beside the only file that it reads.
    std::filesystem::path beside;
    bool is_folder_read = false;  ///< the broker reads every *.toml of the folder

    static ConfigPlaces of(flux_t* h) {
        const char* attribute = flux_attr_get(h, "config.path");
        if (attribute == nullptr || *attribute == '\0') {
            return {};
        }
        std::error_code failed;
        std::filesystem::path path = std::filesystem::absolute(attribute, failed).lexically_normal();
        if (!path.has_filename()) {
            path = path.parent_path();  // "/etc/flux/conf.d/"
        }
        const bool is_folder = std::filesystem::is_directory(path, failed);
        const std::filesystem::path above = path.parent_path();
        return {is_folder ? path : above, above, is_folder};
    }

    std::filesystem::path resolved(const std::filesystem::path& path) const { return folder / path; }
};

}  // namespace weir::priority
