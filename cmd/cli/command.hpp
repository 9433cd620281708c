// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the description of a command (a row of the one table that parsing, help and tests read) and the context in
// which it runs. Must not know any command, nor the parser.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cmd/common/exit_code.hpp"
#include "cmd/common/terminal.hpp"
#include "libfairshare/base/time.hpp"

namespace weir::cmd {

/// `seconds`: a duration that may be a bare number, because its name says the unit; `duration` needs a unit.
enum class Kind { flag, text, integer, number, duration, seconds };

struct Option {
    std::string name;   ///< long name without dashes
    char letter = 0;    ///< 0: none
    std::string value;  ///< the name of the value in help; empty for a flag
    std::string help;   ///< one line
    Kind kind = Kind::text;
    std::int64_t low = 0;  ///< bounds of an integer
    std::int64_t high = 0;
};

/// The words after the options, for help and for counting.
struct Words {
    std::string shown;  ///< "JOB...", "PATH N"
    std::size_t count_min = 0;
    std::size_t count_max = 0;     ///< SIZE_MAX: any number
    bool is_command_line = false;  ///< everything from the first word on is a command line of its own, also options
};

struct Context;
struct Command {
    std::string name;                   ///< "submit", or "share set" in a group
    std::string summary;                ///< one line, no full stop
    std::vector<std::string> examples;  ///< three command lines, each with `  # what it does`
    Words words;
    std::vector<Option> options;
    bool has_json = true;
    bool has_uri = true;  ///< false: there is no instance that it could talk to
    Exit (*run)(Context&) = nullptr;
};

/// A command line as parsed: values are checked against the kinds in the table.
class Args {
  public:
    std::vector<std::string> words;
    std::map<std::string, std::vector<std::string>> values;  // by long name; a flag has one empty value

    bool has(const std::string& name) const { return values.count(name) > 0; }
    std::string text(const std::string& name, const std::string& otherwise = {}) const {
        const auto it = values.find(name);
        return it == values.end() ? otherwise : it->second.back();
    }
    std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
    double number(const std::string& name, double otherwise) const;
    std::optional<Duration> duration(const std::string& name) const;
};

struct Context {
    Args args;
    std::string uri;                 ///< --uri, or empty: the client finds it
    bool json = false;               ///< --json
    std::vector<std::string> words;  ///< as given, without the program's name
    Screen out;                      ///< stdout
    Screen err;                      ///< stderr
    const std::vector<Command>* table = nullptr;

    /// Prints to stdout without changes.
    void print(const std::string& text) const;
    /// "weir: sentence" to stderr, without control characters: it may quote what some user chose. Returns `code`.
    Exit fail(Exit code, const std::string& sentence) const;
    Exit fail(const Error& error) const { return fail(exit_of(error), error.message); }
    /// Prints a remark to stderr, in the same way.
    void note(const std::string& sentence) const;
};

/// --uri, --json, --help: what commands have in common.
const std::vector<Option>& global_options();
/// Those of them that this command takes.
std::vector<Option> global_options_of(const Command& command);

}  // namespace weir::cmd
