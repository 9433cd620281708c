// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the name -> pointer store behind every flux_*_aux_set. Must not know what is stored.
#pragma once
#include <flux/core.h>

#include <cerrno>
#include <string>
#include <string_view>
#include <vector>

namespace weir::broker {

/// Values with optional destructors, destroyed newest first; values without a key are destroyed last.
class AuxTable {
  public:
    AuxTable() = default;
    AuxTable(const AuxTable&) = delete;
    AuxTable& operator=(const AuxTable&) = delete;
    ~AuxTable() { clear(); }

    /// The value, or nullptr with errno EINVAL (no key) or ENOENT.
    void* get(const char* key) const {
        if (key == nullptr) {
            errno = EINVAL;
            return nullptr;
        }
        for (const Item& item : keyed_) {
            if (item.key == key) {
                return item.value;
            }
        }
        errno = ENOENT;
        return nullptr;
    }
    /// Replaces and destroys what the key held; a null value removes. 0, or -1 with EINVAL (as flux_aux_set).
    int set(const char* key, void* value, flux_free_f destroy) {
        const bool nothing = key == nullptr && (value == nullptr || destroy == nullptr);
        if (nothing || (value == nullptr && destroy != nullptr)) {
            errno = EINVAL;
            return -1;
        }
        if (key == nullptr) {
            unkeyed_.push_back({{}, value, destroy});
            return 0;
        }
        for (size_t i = 0; i < keyed_.size(); ++i) {
            if (keyed_[i].key == key) {
                const Item old = keyed_[i];
                keyed_.erase(keyed_.begin() + static_cast<std::ptrdiff_t>(i));
                old.end();
                break;
            }
        }
        if (value != nullptr) {
            keyed_.push_back({key, value, destroy});
        }
        return 0;
    }
    void clear() {
        const int saved = errno;
        for (auto* items : {&keyed_, &unkeyed_}) {
            const bool newest_first = items == &keyed_;
            while (!items->empty()) {
                const auto item = newest_first ? std::prev(items->end()) : items->begin();
                const Item taken = *item;
                items->erase(item);
                taken.end();
            }
        }
        errno = saved;
    }

  private:
    struct Item {
        std::string key;
        void* value;
        flux_free_f destroy;
        void end() const {
            if (destroy != nullptr && value != nullptr) {
                destroy(value);
            }
        }
    };
    std::vector<Item> keyed_;
    std::vector<Item> unkeyed_;
};

}  // namespace weir::broker
