// SPDX-License-Identifier: LGPL-3.0-only
// Owns: reading parsed values and writing to the two streams.
#include "cmd/cli/command.hpp"

#include <cstdio>

namespace weir::cmd {

std::int64_t Args::integer(const std::string& name, std::int64_t otherwise) const {
    return has(name) ? parse_integer(text(name), INT64_MIN, INT64_MAX).value_or(otherwise) : otherwise;
}

double Args::number(const std::string& name, double otherwise) const {
    return has(name) ? parse_number(text(name)).value_or(otherwise) : otherwise;
}

std::optional<Duration> Args::duration(const std::string& name) const {
    const std::string value = text(name);
    return has(name) ? parse_duration(parse_number(value) ? value + "s" : value) : std::nullopt;
}

void Context::print(const std::string& text) const {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

Exit Context::fail(Exit code, const std::string& sentence) const {
    std::fflush(stdout);
    std::fprintf(stderr, "weir: %s\n", printable_lines(sentence).c_str());
    return code;
}

void Context::note(const std::string& sentence) const {
    std::fflush(stdout);
    std::fprintf(stderr, "%s\n", printable_lines(sentence).c_str());
}

const std::vector<Option>& global_options() {
    static const std::vector<Option> options{
        {"uri", 0, "URI", "the instance to talk to (default: $FLUX_URI, else the one started by `weir start`)",
         Kind::text},
        {"json", 0, "", "print JSON, one object with a \"schema\" member", Kind::flag},
        {"help", 'h', "", "print this help", Kind::flag},
    };
    return options;
}

std::vector<Option> global_options_of(const Command& command) {
    std::vector<Option> options = global_options();
    std::erase_if(options, [&command](const Option& option) {
        return (option.name == "json" && !command.has_json) || (option.name == "uri" && !command.has_uri);
    });
    return options;
}

}  // namespace weir::cmd
