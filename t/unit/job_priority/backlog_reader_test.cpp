// SPDX-License-Identifier: LGPL-3.0-only
// A backlog that is read in other threads comes out as it went in.
#include "modules/job-priority/messages/backlog_reader.hpp"

#include <catch2/catch.hpp>
#include <string>

using namespace weir;
using namespace weir::priority;

namespace {

std::string response(std::size_t id) {
    return R"({"id":)" + std::to_string(id) +
           R"(,"events":[{"timestamp":1,"name":"submit","context":{"userid":1,"urgency":16}}],"jobspec":{}})";
}

/// What came out: ids, and 0 for each error.
struct Seen {
    std::vector<FluxJobId> ids;
    BacklogReader reader{[this](Result<JournalMessage> message) { ids.push_back(message ? message->id : 0); }};
};

}  // namespace

TEST_CASE("backlog reader: every response is given on once, in its order") {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, BacklogReader::portion_size, 5 * BacklogReader::portion_size + 1}) {
        Seen seen;
        for (std::size_t id = 1; id <= size; ++id) {
            seen.reader.add(response(id));
        }
        seen.reader.finish();
        REQUIRE(seen.ids.size() == size);
        for (std::size_t i = 0; i < size; ++i) {
            REQUIRE(seen.ids[i] == i + 1);
        }
        seen.reader.finish();
        CHECK(seen.ids.size() == size);
    }
}

TEST_CASE("backlog reader: a bad response is an error in its place") {
    Seen seen;
    for (std::size_t id = 1; id <= 2 * BacklogReader::portion_size; ++id) {
        seen.reader.add(id % 500 == 0 ? "{not JSON" : response(id));
    }
    seen.reader.finish();
    REQUIRE(seen.ids.size() == 2 * BacklogReader::portion_size);
    for (std::size_t id = 1; id <= seen.ids.size(); ++id) {
        REQUIRE(seen.ids[id - 1] == (id % 500 == 0 ? 0 : id));
    }
}

TEST_CASE("backlog reader: a stream that broke off leaves nothing for the next") {
    Seen seen;
    for (std::size_t id = 1; id <= 2 * BacklogReader::portion_size + 7; ++id) {
        seen.reader.add(response(id));
    }
    seen.reader.clear();
    seen.ids.clear();
    seen.reader.add(response(3));
    seen.reader.finish();
    CHECK(seen.ids == std::vector<FluxJobId>{3});
}
