// SPDX-License-Identifier: LGPL-3.0-only
#include <flux/core.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <clocale>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "t/unit/draws.hpp"

namespace {

std::string encoded(flux_jobid_t id, const char* type) {
    char text[64];
    return flux_job_id_encode(id, type, text, sizeof(text)) == 0 ? text : "error";
}

}  // namespace

// Vectors from RFC 19. The florin sign is shown in a UTF-8 locale only.
TEST_CASE("job id: f58 as in RFC 19") {
    REQUIRE(std::setlocale(LC_ALL, "C.UTF-8") != nullptr);
    CHECK(encoded(0, "f58") == "ƒ1");
    CHECK(encoded(1, "f58") == "ƒ2");
    CHECK(encoded(57, "f58") == "ƒz");
    CHECK(encoded(1234, "f58") == "ƒNH");
    CHECK(encoded(1888, "f58") == "ƒZZ");
    CHECK(encoded(3363, "f58") == "ƒzz");
    CHECK(encoded(3364, "f58") == "ƒ211");
    CHECK(encoded(4369, "f58") == "ƒ2JL");
    CHECK(encoded(65535, "f58") == "ƒLUv");
    CHECK(encoded(4294967295u, "f58") == "ƒ7YXq9G");
    CHECK(encoded(633528662ull, "f58") == "ƒxyzzy");
    CHECK(encoded(6731191091817518ull, "f58") == "ƒuZZybuNNy");
    CHECK(encoded(18446744073709551614ull, "f58") == "ƒjpXCZedGfVP");
    CHECK(encoded(18446744073709551615ull, "f58") == "ƒjpXCZedGfVQ");
}

TEST_CASE("job id: other forms") {
    CHECK(encoded(4369, "dec") == "4369");
    CHECK(encoded(4369, "hex") == "0x1111");
    CHECK(encoded(4369, "dothex") == "0000.0000.0000.1111");
    CHECK(encoded(4369, "kvs") == "job.0000.0000.0000.1111");
    CHECK(encoded(4369, "f58plain") == "f2JL");
    CHECK(encoded(4369, "nosuch") == "error");
    char key[64];
    CHECK(flux_job_kvs_key(key, sizeof(key), 4369, "R") == 25);
    CHECK(std::string(key) == "job.0000.0000.0000.1111.R");
    CHECK(flux_job_kvs_key(key, 5, 4369, "R") == -1);
    CHECK(errno == EOVERFLOW);
}

TEST_CASE("job id: bad text is refused") {
    for (const char* text :
         {"", "f", "ƒ", "ƒ0", "1f", "-1", "0x", "0xg", "1234.1234.1234", "job.", "ƒjpXCZedGfVR", "ƒjpXCZedGfVQ1"}) {
        flux_jobid_t id = 0;
        INFO(text);
        CHECK(flux_job_id_parse(text, &id) == -1);
        CHECK(errno == EINVAL);
    }
    flux_jobid_t id = 0;
    CHECK(flux_job_id_parse("18446744073709551616", &id) == -1);
    CHECK(errno == ERANGE);
}

TEST_CASE("job id: both f58 prefixes are read, and ASCII can be forced") {
    flux_jobid_t id = 0;
    CHECK(flux_job_id_parse("f2JL", &id) == 0);
    CHECK(id == 4369);
    CHECK(flux_job_id_parse("  ƒ2JL", &id) == 0);
    CHECK(id == 4369);
    setenv("FLUX_F58_FORCE_ASCII", "1", 1);
    CHECK(encoded(4369, "f58") == "f2JL");
    unsetenv("FLUX_F58_FORCE_ASCII");
}

// Kills: a digit table with two letters swapped in one direction only; an overflow check off by one.
TEST_CASE("job id: parse undoes encode in every form") {
    draw::property("whatever id", [] {
        const auto id = draw::arbitrary<std::uint64_t>();
        for (const char* type : {"f58", "f58plain", "dec", "hex", "dothex", "kvs"}) {
            flux_jobid_t back = ~id;
            RC_ASSERT(flux_job_id_parse(encoded(id, type).c_str(), &back) == 0);
            RC_ASSERT(back == id);
        }
    });
}
