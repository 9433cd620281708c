// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the ordered map behind a namespace; a directory's entries are neighbours in it. Must not know messages.
#include "broker/services/kvs_store.hpp"

namespace weir::broker {
namespace {

Error bad_key(std::errc code, std::string_view key, const char* what) {
    return {code, "key '" + std::string(key) + "' " + what};
}

}  // namespace

std::string KvsStore::normal(std::string_view key) {
    std::string out;
    for (const char c : key) {
        if (c != '.' || (!out.empty() && out.back() != '.')) {
            out.push_back(c);
        }
    }
    while (!out.empty() && out.back() == '.') {
        out.pop_back();
    }
    return out;
}

bool KvsStore::is_dir(const std::string& key) const {
    const std::string prefix = key + ".";
    const auto it = values_.lower_bound(prefix);
    return it != values_.end() && it->first.compare(0, prefix.size(), prefix) == 0;
}

Status KvsStore::put(std::string_view given, std::string_view bytes, bool append) {
    const std::string key = normal(given);
    if (key.empty()) {
        return bad_key(std::errc::invalid_argument, given, "is empty");
    }
    if (is_dir(key)) {
        if (append) {
            return bad_key(std::errc::is_a_directory, key, "is a directory");
        }
        unlink(key);
    }
    make_way(key);
    Value& value = values_[key];
    bytes_ += bytes.size();
    if (!append) {
        bytes_ -= value.bytes.size();
        value.bytes.clear();
    }
    value.bytes.append(bytes);
    value.link.reset();
    return Done{};
}

Status KvsStore::make_dir(std::string_view given) {
    const std::string key = normal(given);
    if (key.empty()) {
        return bad_key(std::errc::invalid_argument, given, "is empty");
    }
    unlink(key);
    make_way(key);
    values_.try_emplace(key + ".");
    return Done{};
}

Status KvsStore::make_link(std::string_view given, KvsLink link) {
    const std::string key = normal(given);
    if (key.empty()) {
        return bad_key(std::errc::invalid_argument, given, "is empty");
    }
    unlink(key);
    make_way(key);
    values_[key].link = std::move(link);
    return Done{};
}

std::optional<KvsStore::Step> KvsStore::step(std::string_view given, bool with_last) const {
    const std::string key = normal(given);
    for (std::size_t end = key.find('.'); true; end = key.find('.', end + 1)) {
        const bool is_last = end == std::string::npos;
        const auto it = is_last && !with_last ? values_.end() : values_.find(key.substr(0, end));
        if (it != values_.end() && it->second.link) {
            return Step{*it->second.link, is_last ? "" : key.substr(end)};
        }
        if (is_last) {
            return std::nullopt;
        }
    }
}

KvsStore::Values::iterator KvsStore::drop(Values::iterator it) {
    bytes_ -= it->second.bytes.size();
    return values_.erase(it);
}

/// What the key is in is a directory, and no value.
void KvsStore::make_way(const std::string& key) {
    for (std::size_t end = key.find('.'); end != std::string::npos; end = key.find('.', end + 1)) {
        if (const auto it = values_.find(key.substr(0, end)); it != values_.end()) {
            drop(it);
        }
    }
}

void KvsStore::unlink(std::string_view given) {
    const std::string key = normal(given);
    if (const auto it = values_.find(key); it != values_.end()) {
        drop(it);
    }
    const std::string prefix = key.empty() ? key : key + ".";
    auto it = values_.lower_bound(prefix);
    while (it != values_.end() && it->first.compare(0, prefix.size(), prefix) == 0) {
        it = drop(it);
    }
}

Result<std::string_view> KvsStore::lookup(std::string_view given) const {
    const std::string key = normal(given);
    if (const auto it = values_.find(key); it != values_.end()) {
        return std::string_view(it->second.bytes);
    }
    return is_dir(key) || key.empty() ? bad_key(std::errc::is_a_directory, key, "is a directory")
                                      : bad_key(std::errc::no_such_file_or_directory, key, "is not there");
}

Result<std::vector<KvsStore::Entry>> KvsStore::list(std::string_view given) const {
    const std::string key = normal(given);
    if (values_.count(key) != 0) {
        return bad_key(std::errc::not_a_directory, key, "is not a directory");
    }
    if (!key.empty() && !is_dir(key)) {
        return bad_key(std::errc::no_such_file_or_directory, key, "is not there");
    }
    const std::string prefix = key.empty() ? key : key + ".";
    std::vector<Entry> entries;
    for (auto it = values_.lower_bound(prefix); it != values_.end();) {
        if (it->first.compare(0, prefix.size(), prefix) != 0) {
            break;
        }
        const std::string rest = it->first.substr(prefix.size());
        const auto dot = rest.find('.');
        if (!rest.empty()) {
            const bool is_dir = dot != std::string::npos;
            entries.push_back({rest.substr(0, dot), is_dir, is_dir ? std::nullopt : it->second.link});
        }
        // '/' follows '.' in ASCII: the first key behind everything in that directory
        it = dot == std::string::npos ? std::next(it) : values_.lower_bound(prefix + rest.substr(0, dot) + "/");
    }
    return entries;
}

}  // namespace weir::broker
