// SPDX-License-Identifier: LGPL-3.0-only
// Owns: weir-broker's entry: the command line, then a broker or, for a job's processes, the launcher.
// Must not know how either works.
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "broker/api/standard_streams.hpp"
#include "broker/core/broker.hpp"
#include "broker/core/launcher.hpp"
#include "broker/core/options.hpp"

namespace {

int run(const std::vector<std::string>& arguments) {
    using namespace weir::broker;
    const auto options = parse_options(arguments);
    if (!options) {
        std::fprintf(stderr, "weir-broker: %s\n", options.error().message.c_str());
        return 2;
    }
    if (options->wants_help) {
        std::fputs(usage().c_str(), stdout);
        return 0;
    }
    if (options->wants_version) {
        std::puts("weir-broker " WEIR_VERSION);
        return 0;
    }
    const auto broker = Broker::create(*options);
    if (!broker) {
        std::fprintf(stderr, "weir-broker: %s\n", broker.error().message.c_str());
        return 1;
    }
    return (*broker)->run();
}

}  // namespace

int main(int argc, char** argv) {
    weir::broker::occupy_standard_streams();
    try {
        if (argc > 1 && std::string_view(argv[1]) == weir::broker::launch_option) {
            return weir::broker::launch_tasks(argc - 2, argv + 2);
        }
        return run(std::vector<std::string>(argv + 1, argv + argc));
    } catch (const std::exception& failed) {
        std::fprintf(stderr, "weir-broker: %s\n", failed.what());
        return 1;
    }
}
