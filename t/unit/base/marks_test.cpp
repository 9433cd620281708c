// SPDX-License-Identifier: LGPL-3.0-only
// {{NAME}} in texts.
#include <catch2/catch.hpp>

#include "libfairshare/base/marks.hpp"

using namespace weir;

TEST_CASE("marks: each known name is replaced once, the rest of the text stays") {
    const Marks marks{{"id", "f9"}, {"id.dec", "77"}, {"tmpdir", "/t/{{id}}"}};
    CHECK(filled_in("out-{{id}}-{{id.dec}}-{{id}}", marks) == "out-f9-77-f9");
    CHECK(filled_in("{{no}} {{id }} {id} {{", marks) == "{{no}} {{id }} {id} {{");
    CHECK(filled_in("{{{{id}}}} {{{id}}}", marks) == "{{f9}} {f9}");
    CHECK(filled_in("{{tmpdir}}/x", marks) == "/t/{{id}}/x");  // what a name stands for is no pattern
    CHECK(filled_in("", marks).empty());
    CHECK(filled_in("{{id}}", {}) == "{{id}}");
}
