// SPDX-License-Identifier: LGPL-3.0-only
// Owns: opening and asking; the connector that puts another user's name on requests.
#include "cmd/common/client.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>

#include "broker/api/connector.hpp"
#include "broker/api/handle.hpp"
#include "broker/api/private_dir.hpp"
#include "cmd/common/environment.hpp"
#include "cmd/common/ssh_uri.hpp"

namespace weir::cmd {
namespace {

/// This process's user.
constexpr flux_msg_cred nobody{FLUX_USERID_UNKNOWN, FLUX_ROLE_NONE};
/// The rank that is asked. A broker on another node, such as a login node, has a log and modules of its own, and only
/// this one knows the instance.
constexpr std::uint32_t leader = 0;

/// Passes everything on; requests leave under the credentials that `sender` holds at that moment.
class SenderConnector : public broker::Connector {
  public:
    SenderConnector(std::unique_ptr<broker::Connector> inner, std::shared_ptr<flux_msg_cred> sender)
        : inner_(std::move(inner)), sender_(std::move(sender)) {}
    int pollfd() override { return inner_->pollfd(); }
    int pollevents() override { return inner_->pollevents(); }
    broker::MessagePtr recv(bool nonblock) override { return inner_->recv(nonblock); }
    int wait(int timeout_ms) override { return inner_->wait(timeout_ms); }
    bool buffered() override { return inner_->buffered(); }
    int send(const broker::Message& msg, bool nonblock) override {
        if (sender_->userid == FLUX_USERID_UNKNOWN || msg.type != FLUX_MSGTYPE_REQUEST) {
            return inner_->send(msg, nonblock);
        }
        const broker::MessagePtr named = broker::copy(msg);
        named->userid = sender_->userid;
        named->rolemask = sender_->rolemask;
        return inner_->send(*named, nonblock);
    }

  private:
    std::unique_ptr<broker::Connector> inner_;
    std::shared_ptr<flux_msg_cred> sender_;
};

std::string this_host() {
    std::array<char, HOST_NAME_MAX + 1> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Error no_instance(const std::string& path, const std::string& why) {
    return Error{std::errc::connection_refused,
                 "no instance listens at " + path + " (" + why +
                     ").\nStart one:        weir start\nOr point to one:  export FLUX_URI=local://DIR/local-0"};
}

/// A socket in another user's directory is not used. A missing directory is no error.
Status check_default_place() {
    const auto is_own = broker::check_private_dir(default_rundir());
    if (is_own || is_own.error().code == std::errc::no_such_file_or_directory) {
        return Done{};
    }
    return Error{is_own.error().code, "the default run directory is not yours alone: " + is_own.error().message +
                                          ".\nPoint to an instance:  export FLUX_URI=local://DIR/local-0"};
}

/// True if the user did not name the instance: the default directory has a name that another user could have guessed
/// and created.
bool is_default_place() {
    return env("FLUX_URI").empty() && env("WEIR_RUNDIR").empty();
}

}  // namespace

std::string default_rundir() {
    if (const std::string own = env("WEIR_RUNDIR"); !own.empty()) {
        return own;
    }
    if (const std::string run = env("XDG_RUNTIME_DIR"); !run.empty()) {
        return run + "/weir";
    }
    return "/tmp/weir-" + std::to_string(getuid());
}

std::string default_uri() {
    const std::string uri = env("FLUX_URI");
    return uri.empty() ? "local://" + default_rundir() + "/local-0" : uri;
}

Result<Client> Client::open(const std::string& given, double answer_s) {
    std::string uri = given.empty() ? default_uri() : given;
    if (uri.find("://") == std::string::npos) {
        const std::string socket = access((uri + "/local-0").c_str(), F_OK) == 0 ? "/local-0" : "";
        uri = "local://" + uri + socket;
    }
    if (const auto ssh = parse_ssh_uri(uri)) {  // a stock Flux publishes nothing else
        if (!is_same_host(ssh->host, this_host())) {
            return Error{
                std::errc::connection_refused,
                "it is on the host " + ssh->host + "; look from there, or with: flux proxy " + uri + " weir tree"};
        }
        uri = "local://" + ssh->path;
    }
    if (uri.compare(0, 8, "local://") != 0) {
        return Error{std::errc::connection_refused,
                     uri + ": only local:// and ssh:// URIs can be opened; log in where the instance runs."};
    }
    const std::string path = uri.substr(8);
    if (given.empty() && is_default_place()) {
        if (auto is_own = check_default_place(); !is_own) {
            return is_own.error();
        }
    }
    // A missing socket is final: waiting for it is for programs that have just started a broker.
    if (access(path.c_str(), F_OK) != 0 && errno != EACCES) {  // in another user's directory it cannot be seen
        return no_instance(path, "no such socket");
    }
    auto connector = broker::connect_local(path, std::nullopt, answer_s);
    if (!connector) {
        const int errnum = static_cast<int>(connector.error().code);
        if (errnum == EPERM || errnum == EACCES) {
            return Error{std::errc::operation_not_permitted,
                         "the instance at " + path + " refuses you: it belongs to another user."};
        }
        if (errnum == ETIMEDOUT) {
            return Error{std::errc::timed_out,
                         "the instance at " + path + " does not answer: its broker hangs or is stopped."};
        }
        return no_instance(path, connector.error().message);
    }
    Client client;
    client.uri_ = uri;
    client.sender_ = std::make_shared<flux_msg_cred>(nobody);
    client.handle_.reset(
        broker::handle_create(std::make_unique<SenderConnector>(std::move(*connector), client.sender_), 0));
    if (!client.handle_) {
        return Error{static_cast<std::errc>(errno), "cannot make a handle: " + std::string(flux_strerror(errno))};
    }
    return client;
}

Error Client::failure(const std::string& topic, int errnum, const std::string& text) const {
    const std::string service = topic.substr(0, topic.find('.'));
    if (errnum == ENOSYS) {
        return Error{std::errc::function_not_supported, "the instance at " + uri_ + " does not answer " + topic + " (" +
                                                            text + ").\nLoad it:  flux module load " + service +
                                                            "\nOr start an instance that has it:  weir start"};
    }
    if (errnum == ETIMEDOUT) {
        return Error{std::errc::timed_out, "the instance at " + uri_ + " did not answer " + topic + " in time."};
    }
    if (errnum == ECONNRESET || errnum == EPIPE) {
        return Error{std::errc::connection_reset,
                     "the instance at " + uri_ + " went away while answering " + topic + "."};
    }
    if (errnum == EPERM && text.find("requires owner credentials") != std::string::npos) {
        return Error{std::errc::operation_not_permitted, "only the owner of the instance at " + uri_ + " may do this."};
    }
    if (errnum == EPERM && text.find("sign-type=none") != std::string::npos) {
        return Error{std::errc::operation_not_permitted,
                     "the instance at " + uri_ + " takes unsigned jobs, as weir sends them, from its owner alone.\n" +
                         "Where Flux signs jobs:  flux submit\n" +
                         "Or ask the owner, who may charge you for a program that runs as him:  "
                         "weir submit --user NAME COMMAND"};
    }
    return Error{static_cast<std::errc>(errnum), text};
}

Client::Future Client::request(const std::string& topic, const Json& payload) {
    const std::string text = payload ? payload.dump() : std::string();
    return Future(flux_rpc(handle_.get(), topic.c_str(), payload ? text.c_str() : nullptr, leader, 0));
}

Result<Json> Client::answer_of(const Future& future, const std::string& topic, double timeout_s) {
    if (!future) {
        return failure(topic, errno, flux_strerror(errno));
    }
    const char* answer = nullptr;
    if (flux_future_wait_for(future.get(), timeout_s) < 0 || flux_rpc_get(future.get(), &answer) < 0) {
        const int errnum = errno;
        const char* why = flux_future_has_error(future.get()) ? flux_future_error_string(future.get()) : nullptr;
        return failure(topic, errnum, why != nullptr ? why : flux_strerror(errnum));
    }
    return answer == nullptr ? Result<Json>(Json()) : Json::parse_with_nuls(answer);
}

Result<Json> Client::call(const std::string& topic, const Json& payload, double timeout_s) {
    return answer_of(request(topic, payload), topic, timeout_s);
}

std::vector<Result<Json>> Client::call_each_as(const std::string& topic,
                                               const std::vector<std::pair<std::uint32_t, Json>>& requests) {
    std::vector<Future> futures;
    for (const auto& [userid, payload] : requests) {
        *sender_ = {userid, FLUX_ROLE_OWNER};
        futures.push_back(request(topic, payload));
    }
    *sender_ = nobody;
    std::vector<Result<Json>> answers;
    for (const Future& future : futures) {
        answers.push_back(answer_of(future, topic, 60));
    }
    return answers;
}

Result<Json> Client::call_for(std::optional<std::uint32_t> guest, const std::string& topic, const Json& payload) {
    *sender_ = guest ? flux_msg_cred{*guest, FLUX_ROLE_USER} : nobody;
    auto answer = call(topic, payload);
    *sender_ = nobody;
    return answer;
}

Status Client::stream(const std::string& topic, const Json& payload, const std::function<bool(json_t*)>& take,
                      double timeout_s) {
    Status read = Done{};
    const Status done = stream_text(
        topic, payload,
        [&](const char* answer) {
            auto json = Json::parse(answer == nullptr ? "{}" : answer);
            if (!json) {
                read = json.error();
            }
            return json && take(json->get());
        },
        timeout_s);
    return read ? done : read;
}

Status Client::stream_text(const std::string& topic, const Json& payload, const std::function<bool(const char*)>& take,
                           double timeout_s) {
    const std::string text = payload ? payload.dump() : std::string();
    const Future future(
        flux_rpc(handle_.get(), topic.c_str(), payload ? text.c_str() : nullptr, leader, FLUX_RPC_STREAMING));
    if (!future) {
        return failure(topic, errno, flux_strerror(errno));
    }
    while (true) {
        const char* answer = nullptr;
        if (flux_future_wait_for(future.get(), timeout_s) < 0 || flux_rpc_get(future.get(), &answer) < 0) {
            if (errno == ENODATA) {
                return Done{};
            }
            const int errnum = errno;
            const char* why = flux_future_has_error(future.get()) ? flux_future_error_string(future.get()) : nullptr;
            return failure(topic, errnum, why != nullptr ? why : flux_strerror(errnum));
        }
        if (!take(answer)) {
            return Done{};
        }
        flux_future_reset(future.get());
    }
}

TextStream::TextStream(Client& client, const std::string& topic, const Json& payload)
    : client_(&client),
      future_(flux_rpc(client.handle_.get(), topic.c_str(), payload.dump().c_str(), leader, FLUX_RPC_STREAMING)) {}

Result<std::optional<std::string>> TextStream::next() {
    constexpr double moment_s = 1e-3;  // without a timeout only messages that were received before are seen
    const char* answer = nullptr;
    if (!future_ || flux_future_wait_for(future_.get(), moment_s) < 0 || flux_rpc_get(future_.get(), &answer) < 0) {
        return errno == ETIMEDOUT ? Result<std::optional<std::string>>(std::nullopt)
                                  : Error{static_cast<std::errc>(errno), flux_strerror(errno)};
    }
    std::string text = answer == nullptr ? "" : answer;
    flux_future_reset(future_.get());
    return std::optional<std::string>(std::move(text));
}

int TextStream::fd() const {
    return flux_pollfd(client_->handle_.get());
}

void Client::log(int severity, const std::string& text) {
    (void)flux_log(handle_.get(), severity, "%s", text.c_str());
}

std::optional<std::string> Client::attribute(const std::string& name) {
    auto answer = call("attr.get", Json::object().set("name", name).share());
    if (!answer) {
        return std::nullopt;
    }
    const char* value = json_string_value(json_object_get(answer->get(), "value"));
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

}  // namespace weir::cmd
