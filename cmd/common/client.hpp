// SPDX-License-Identifier: LGPL-3.0-only
// Owns: a connection to one instance, as Results: requests, streams, requests in another user's name. One thread.
// Must not know any service's payload. RFC 3, 6; FLUX local connector. Works against ours and a stock flux-broker.
#pragma once
#include <flux/core.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libfairshare/base/json/json.hpp"
#include "libfairshare/base/result.hpp"

namespace weir::cmd {

/// The instance when none is named: $FLUX_URI, else the one in `weir start`'s default directory.
std::string default_uri();
/// $WEIR_RUNDIR, else $XDG_RUNTIME_DIR/weir, else /tmp/weir-UID.
std::string default_rundir();

/// Real seconds that a child instance has to answer a first request, since it may be stopped.
constexpr double child_answer_s = 5;
/// The same of an instance in whose folder another one is to start. One that is silent has the folder nevertheless.
constexpr double holder_answer_s = 5;

class Client {
  public:
    /// `uri`: "local://PATH", "ssh://HOST/PATH" of this host, or the rundir of an instance, or empty for default_uri().
    /// Errors: ECONNREFUSED with the line that starts an instance, or where it is on another host; EPERM where the
    /// instance refuses this user; ETIMEDOUT when its broker does not answer within `answer_s` real seconds: it hangs,
    /// is stopped, or is still starting.
    static Result<Client> open(const std::string& uri, double answer_s = 60);

    /// A request and its answer (an empty Json for an answer without payload). Errors carry the peer's errno and text;
    /// a service that nobody registered is ENOSYS with the module to load. `timeout_s` counts real seconds.
    Result<Json> call(const std::string& topic, const Json& payload = {}, double timeout_s = 60);
    /// One request for each user and payload, in that user's name (RFC 12: the instance owner's pass-through; EPERM for
    /// everybody else; FLUX_USERID_UNKNOWN: this process's). All are sent before the first answer is awaited. Answers
    /// in that order.
    std::vector<Result<Json>> call_each_as(const std::string& topic,
                                           const std::vector<std::pair<std::uint32_t, Json>>& requests);
    /// The same as if this guest asked: he is told what the instance lets him see. Nobody: as call().
    Result<Json> call_for(std::optional<std::uint32_t> guest, const std::string& topic, const Json& payload);
    /// A streaming request: `take` sees each answer until the stream ends (ENODATA) or it returns false.
    Status stream(const std::string& topic, const Json& payload, const std::function<bool(json_t*)>& take,
                  double timeout_s = 60);
    /// The same where the answers are text and not JSON.
    Status stream_text(const std::string& topic, const Json& payload, const std::function<bool(const char*)>& take,
                       double timeout_s = 60);
    /// Writes a line into the instance's log, unanswered; severity as in syslog(3).
    void log(int severity, const std::string& text);
    /// A broker attribute; nullopt when it is not set.
    std::optional<std::string> attribute(const std::string& name);

    const std::string& uri() const { return uri_; }

  private:
    friend class TextStream;
    struct Close {
        void operator()(flux_t* h) const { flux_close(h); }
    };
    struct Destroy {
        void operator()(flux_future_t* f) const { flux_future_destroy(f); }
    };
    using Future = std::unique_ptr<flux_future_t, Destroy>;
    Error failure(const std::string& topic, int errnum, const std::string& text) const;
    Future request(const std::string& topic, const Json& payload);
    Result<Json> answer_of(const Future& future, const std::string& topic, double timeout_s);
    Client() = default;

    std::string uri_;
    std::shared_ptr<flux_msg_cred> sender_;  // FLUX_USERID_UNKNOWN: this process's user; read by the connector
    std::unique_ptr<flux_t, Close> handle_;
};

/// A streaming request whose answers are taken as they come. The client must outlive it.
class TextStream {
  public:
    TextStream(Client& client, const std::string& topic, const Json& payload);
    /// The next answer; nullopt where none has come. Errors: the stream has ended, or what ended it.
    Result<std::optional<std::string>> next();
    /// Readable when something may have come.
    int fd() const;

  private:
    struct Destroy {
        void operator()(flux_future_t* f) const { flux_future_destroy(f); }
    };
    Client* client_;
    std::unique_ptr<flux_future_t, Destroy> future_;
};

}  // namespace weir::cmd
