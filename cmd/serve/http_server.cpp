// SPDX-License-Identifier: LGPL-3.0-only
// Owns: the callbacks of libwebsockets. One session a connection; a connection has one request at a time.
#include "cmd/serve/http_server.hpp"

#include <libwebsockets.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::cmd {
namespace {

constexpr int log_level = LLL_ERR;

/// Bytes written at a time, so that one large answer does not hold up the others.
constexpr std::size_t piece_bytes = 32768;
/// Seconds that a client has to send a request, and that a connection without one stays open.
constexpr unsigned request_seconds = 10;
constexpr int idle_seconds = 30;

/// On every answer: only content of this server is run, shown or requested, and no other page may frame it.
constexpr std::array<std::pair<const char*, const char*>, 5> safety_headers = {{
    {"content-security-policy:",
     "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
     "form-action 'none'; frame-ancestors 'none'"},
    {"x-content-type-options:", "nosniff"},
    {"referrer-policy:", "no-referrer"},
    {"cross-origin-resource-policy:", "same-origin"},
    {"x-frame-options:", "DENY"},
}};

/// Lives in the memory that libwebsockets keeps for a connection, zeroed at its start.
struct HttpSlot {
    HttpServer::Id id;
};

/// A header's value; empty where it is missing or longer than `longest`.
std::string header(lws* wsi, lws_token_indexes token, int longest = 4096) {
    const int length = lws_hdr_total_length(wsi, token);
    if (length <= 0 || length > longest) {
        return {};
    }
    std::string text(static_cast<std::size_t>(length) + 1, '\0');
    const int copied = lws_hdr_copy(wsi, text.data(), length + 1, token);
    text.resize(copied > 0 ? static_cast<std::size_t>(copied) : 0);
    return text;
}

std::string custom_header(lws* wsi, const char* name) {
    const int name_length = static_cast<int>(std::strlen(name));
    const int length = lws_hdr_custom_length(wsi, name, name_length);
    if (length <= 0) {
        return {};
    }
    std::string text(static_cast<std::size_t>(length) + 1, '\0');
    const int copied = lws_hdr_custom_copy(wsi, text.data(), length + 1, name, name_length);
    text.resize(copied > 0 ? static_cast<std::size_t>(copied) : 0);
    return text;
}

/// Arguments in the order of the URL, joined again: libwebsockets keeps each apart.
std::string query_of(lws* wsi) {
    std::string query;
    std::array<char, 1024> part{};
    for (int i = 0; lws_hdr_copy_fragment(wsi, part.data(), part.size(), WSI_TOKEN_HTTP_URI_ARGS, i) > 0; ++i) {
        query += (query.empty() ? "" : "&") + std::string(part.data());
    }
    return query;
}

/// The user at the other end of a Unix socket.
std::optional<uid_t> peer_of(int fd) {
    int domain = 0;
    socklen_t size = sizeof domain;
    ucred peer{};
    socklen_t peer_size = sizeof peer;
    const bool is_unix = getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_UNIX &&
                         getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_size) == 0;
    return is_unix ? std::optional<uid_t>(peer.uid) : std::nullopt;
}

/// The other end sends nothing any more. A client of a stream of events does that only when it has left.
bool has_hung_up(int fd) {
    pollfd looked{fd, POLLRDHUP, 0};
    return ::poll(&looked, 1, 0) == 1;
}

HttpRequest request_of(lws* wsi) {
    HttpRequest request;
    char* uri = nullptr;
    int length = 0;
    const int method = lws_http_get_uri_and_method(wsi, &uri, &length);
    request.method = method == LWSHUMETH_GET    ? "GET"
                     : method == LWSHUMETH_HEAD ? "HEAD"
                     : method == LWSHUMETH_POST ? "POST"
                                                : "OTHER";
    request.path = uri != nullptr ? std::string(uri, static_cast<std::size_t>(length)) : "";
    request.query = query_of(wsi);
    request.content_type = header(wsi, WSI_TOKEN_HTTP_CONTENT_TYPE);
    request.authorization = header(wsi, WSI_TOKEN_HTTP_AUTHORIZATION);
    request.remote_user = custom_header(wsi, "x-remote-user:");
    request.if_none_match = header(wsi, WSI_TOKEN_HTTP_IF_NONE_MATCH);
    request.takes_gzip = header(wsi, WSI_TOKEN_HTTP_ACCEPT_ENCODING).find("gzip") != std::string::npos;
    request.peer = peer_of(lws_get_socket_fd(wsi));
    return request;
}

/// The head of an answer, and its writing. False: the connection is over.
class HttpHead {
  public:
    HttpHead(lws* wsi, int status) : wsi_(wsi) {
        is_whole_ = lws_add_http_header_status(wsi, static_cast<unsigned>(status), &at_, end()) == 0;
        for (const auto& [name, value] : safety_headers) {
            add(name, value);
        }
    }
    void add(const char* name, const std::string& value) {
        is_whole_ = is_whole_ && lws_add_http_header_by_name(wsi_, reinterpret_cast<const unsigned char*>(name),
                                                             reinterpret_cast<const unsigned char*>(value.data()),
                                                             static_cast<int>(value.size()), &at_, end()) == 0;
    }
    void add_length(std::size_t bytes) {
        is_whole_ = is_whole_ && lws_add_http_header_content_length(wsi_, bytes, &at_, end()) == 0;
    }
    bool write() { return is_whole_ && lws_finalize_write_http_header(wsi_, begin(), &at_, end()) == 0; }

  private:
    unsigned char* begin() { return buffer_.data() + LWS_PRE; }
    unsigned char* end() { return buffer_.data() + buffer_.size() - 1; }
    lws* wsi_;
    std::array<unsigned char, LWS_PRE + 2048> buffer_{};
    unsigned char* at_ = buffer_.data() + LWS_PRE;
    bool is_whole_ = false;
};

}  // namespace

struct HttpServer::State {
    struct Session {
        lws* wsi = nullptr;
        HttpRequest request;
        bool is_asked = false;  ///< the handler has it
        bool is_head = false;   ///< the answer has no body
        bool is_events = false;
        bool takes_gzip = false;
        bool is_final = false;  ///< nothing follows the queued bytes
        std::deque<std::shared_ptr<const std::string>> unsent;
        std::size_t offset = 0;  ///< of the first
        std::size_t unsent_bytes = 0;
    };

    HttpLimits limits;
    std::string certificate, key;
    Calls calls;
    lws_context* context = nullptr;
    lws_vhost* vhost = nullptr;
    std::size_t connections = 0;
    Id last_id = 0;
    std::unordered_map<Id, Session> sessions;

    Session* find(Id id) {
        const auto it = sessions.find(id);
        return it == sessions.end() ? nullptr : &it->second;
    }
    int begin_request(lws* wsi, HttpSlot* slot);
    int take_body(HttpSlot* slot, const char* bytes, std::size_t size);
    int ask(HttpSlot* slot);
    int write_some(HttpSlot* slot);
    void end(HttpSlot* slot);
    int refuse(Id id, int status, const char* sentence);
    void queue(Session& session, std::shared_ptr<const std::string> text);
    static int callback(lws* wsi, lws_callback_reasons reason, void* user, void* in, std::size_t size);
};

int HttpServer::State::refuse(Id id, int status, const char* sentence) {
    Session& session = sessions.at(id);
    session.is_asked = true;
    HttpHead head(session.wsi, status);
    head.add("content-type:", "text/plain; charset=utf-8");
    head.add("connection:", "close");
    const std::string text = std::string(sentence) + "\n";
    head.add_length(text.size());
    if (!head.write()) {
        return -1;
    }
    session.is_final = true;
    queue(session, std::make_shared<const std::string>(text));
    return 0;
}

int HttpServer::State::begin_request(lws* wsi, HttpSlot* slot) {
    slot->id = ++last_id;
    Session& session = sessions[slot->id];
    session.wsi = wsi;
    session.request = request_of(wsi);
    session.takes_gzip = session.request.takes_gzip;
    session.is_head = session.request.method == "HEAD";
    const std::string length = header(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, 20);
    if (session.request.method != "POST") {
        return ask(slot);
    }
    if (length.empty() || length.find_first_not_of("0123456789") != std::string::npos) {
        return refuse(slot->id, 411, "state the length of the body: Content-Length");
    }
    if (length.size() > 9 || std::stoull(length) > limits.body_bytes_max) {
        return refuse(slot->id, 413, "the body is too long");
    }
    return length.find_first_not_of('0') == std::string::npos ? ask(slot) : 0;
}

int HttpServer::State::take_body(HttpSlot* slot, const char* bytes, std::size_t size) {
    Session* session = find(slot->id);
    if (session == nullptr || session->is_asked) {
        return 0;
    }
    if (session->request.body.size() + size > limits.body_bytes_max) {
        return -1;
    }
    session->request.body.append(bytes, size);
    return 0;
}

int HttpServer::State::ask(HttpSlot* slot) {
    Session* session = find(slot->id);
    if (session == nullptr || session->is_asked) {
        return 0;
    }
    session->is_asked = true;
    lws_set_timeout(session->wsi, NO_PENDING_TIMEOUT, 0);
    const HttpRequest request = std::move(session->request);
    calls.handler(slot->id, request);
    return 0;
}

void HttpServer::State::queue(Session& session, std::shared_ptr<const std::string> text) {
    session.unsent_bytes += text->size();
    session.unsent.push_back(std::move(text));
    if (session.unsent_bytes > limits.unsent_bytes_max) {
        lws_set_timeout(session.wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
        return;
    }
    lws_callback_on_writable(session.wsi);
}

int HttpServer::State::write_some(HttpSlot* slot) {
    Session* session = find(slot->id);
    if (session == nullptr) {
        return 0;
    }
    if (session->unsent.empty()) {
        return 0;
    }
    const std::string& text = *session->unsent.front();
    const std::size_t size = std::min(piece_bytes, text.size() - session->offset);
    const bool is_whole = session->offset + size == text.size();
    const bool is_last = session->is_final && is_whole && session->unsent.size() == 1;
    std::vector<unsigned char> piece(LWS_PRE + size);
    std::memcpy(piece.data() + LWS_PRE, text.data() + session->offset, size);
    const int written =
        lws_write(session->wsi, piece.data() + LWS_PRE, size, is_last ? LWS_WRITE_HTTP_FINAL : LWS_WRITE_HTTP);
    if (written < static_cast<int>(size)) {
        return -1;
    }
    session->offset += size;
    session->unsent_bytes -= size;
    if (is_whole) {
        session->unsent.pop_front();
        session->offset = 0;
    }
    if (is_last) {
        lws* wsi = session->wsi;
        sessions.erase(slot->id);
        slot->id = 0;
        return lws_http_transaction_completed(wsi) != 0 ? -1 : 0;
    }
    if (!session->unsent.empty()) {
        lws_callback_on_writable(session->wsi);
    }
    return 0;
}

void HttpServer::State::end(HttpSlot* slot) {
    Session* session = slot != nullptr ? find(slot->id) : nullptr;
    if (session == nullptr) {
        return;
    }
    const Id id = std::exchange(slot->id, 0);
    const bool is_events = session->is_events;
    sessions.erase(id);
    if (is_events) {
        calls.gone(id);
    }
}

int HttpServer::State::callback(lws* wsi, lws_callback_reasons reason, void* user, void* in, std::size_t size) {
    lws_context* context = lws_get_context(wsi);
    auto* state = context != nullptr ? static_cast<State*>(lws_context_user(context)) : nullptr;
    auto* slot = static_cast<HttpSlot*>(user);
    if (state == nullptr) {
        return 0;
    }
    switch (reason) {
        case LWS_CALLBACK_WSI_DESTROY:
            state->connections -= state->connections > 0 ? 1 : 0;
            return 0;
        case LWS_CALLBACK_HTTP:
            return state->begin_request(wsi, slot);
        case LWS_CALLBACK_HTTP_BODY:
            return state->take_body(slot, static_cast<const char*>(in), size);
        case LWS_CALLBACK_HTTP_BODY_COMPLETION:
            return state->ask(slot);
        case LWS_CALLBACK_HTTP_WRITEABLE:
            return state->write_some(slot);
        case LWS_CALLBACK_CLOSED_HTTP:
        case LWS_CALLBACK_HTTP_DROP_PROTOCOL:
            state->end(slot);
            return 0;
        case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION:
        case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
            return 1;  // no WebSocket and no HTTP/2
        default:
            return 0;
    }
}

namespace {

/// Ends the timeouts, and gives the table of headers back, of which there are few. libwebsockets logs as an error that
/// the stream is not one of HTTP/2.
bool mark_as_events(lws* wsi) {
    lws_set_log_level(0, nullptr);
    const bool is_done = lws_http_mark_sse(wsi) == 0;
    lws_set_log_level(log_level, nullptr);
    return is_done;
}

}  // namespace

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

/// The first call of close() ended the loop's handles; the library frees the rest in a second one, when they have
/// closed.
HttpServer::~HttpServer() {
    lws_context_destroy(state_->context);
}

Result<std::unique_ptr<HttpServer>> HttpServer::create(uv_loop_t* loop, const HttpLimits& limits,
                                                       const std::optional<TlsFiles>& tls, Calls calls) {
    static const lws_protocols protocols[] = {{"http", &State::callback, sizeof(HttpSlot), 0, 0, nullptr, 0},
                                              {nullptr, nullptr, 0, 0, 0, nullptr, 0}};
    lws_set_log_level(log_level, nullptr);
    auto state = std::make_unique<State>();
    state->limits = limits;
    state->calls = std::move(calls);
    void* loops[] = {loop};
    lws_context_creation_info info{};
    info.port = CONTEXT_PORT_NO_LISTEN_SERVER;
    info.options = LWS_SERVER_OPTION_LIBUV | LWS_SERVER_OPTION_EXPLICIT_VHOSTS | LWS_SERVER_OPTION_DISABLE_OS_CA_CERTS |
                   LWS_SERVER_OPTION_UV_NO_SIGSEGV_SIGFPE_SPIN;
    info.options |= tls ? LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT : 0;
    info.foreign_loops = loops;
    info.user = state.get();
    info.server_string = "weir";
    info.protocols = protocols;
    info.fd_limit_per_thread = static_cast<unsigned>(limits.connections_max + 16);
    info.max_http_header_data = static_cast<unsigned short>(limits.header_bytes_max);
    info.timeout_secs = request_seconds;
    info.keepalive_timeout = idle_seconds;
    state->context = lws_create_context(&info);
    if (state->context == nullptr) {
        return Error{std::errc::io_error,
                     "libwebsockets cannot run on libuv: is the package libwebsockets-evlib-uv installed?"};
    }
    info.vhost_name = "weir";
    info.alpn = "http/1.1";
    if (tls) {
        state->certificate = tls->certificate;
        state->key = tls->key;
        info.ssl_cert_filepath = state->certificate.c_str();
        info.ssl_private_key_filepath = state->key.c_str();
    }
    state->vhost = lws_create_vhost(state->context, &info);
    if (state->vhost == nullptr) {
        lws_context_destroy(state->context);
        return Error{std::errc::io_error, "cannot use the TLS files " + state->certificate + " and " + state->key};
    }
    return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

void HttpServer::adopt(int fd) {
    if (state_->connections >= state_->limits.connections_max) {
        (void)::close(fd);
        return;
    }
    ++state_->connections;
    if (lws_adopt_socket_vhost(state_->vhost, fd) == nullptr) {
        state_->connections -= state_->connections > 0 ? 1 : 0;
    }
}

void HttpServer::answer(Id id, HttpAnswer answer) {
    State::Session* session = state_->find(id);
    if (session == nullptr) {
        return;
    }
    HttpHead head(session->wsi, answer.status);
    head.add("content-type:", answer.type);
    head.add("cache-control:", answer.etag.empty() ? "no-store" : "no-cache");
    if (!answer.etag.empty()) {
        head.add("etag:", answer.etag);
        head.add("vary:", "accept-encoding");
    }
    if (!answer.allow.empty()) {
        head.add("allow:", answer.allow);
    }
    if (answer.is_gzip) {
        head.add("content-encoding:", "gzip");
    }
    if (answer.body != nullptr) {
        head.add_length(answer.body->size());
    }
    session->is_final = true;
    if (!head.write()) {
        lws_set_timeout(session->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
        return;
    }
    const bool has_body = answer.body != nullptr && !session->is_head;
    state_->queue(*session, has_body ? std::move(answer.body) : std::make_shared<const std::string>());
}

void HttpServer::begin_events(Id id) {
    State::Session* session = state_->find(id);
    if (session == nullptr) {
        return;
    }
    HttpHead head(session->wsi, 200);
    head.add("content-type:", "text/event-stream");
    head.add("cache-control:", "no-store");
    head.add("x-accel-buffering:", "no");  // nginx passes each event on at once
    head.add("vary:", "accept-encoding");
    if (session->takes_gzip) {
        head.add("content-encoding:", "gzip");
    }
    session->is_events = true;
    if (!head.write() || !mark_as_events(session->wsi)) {
        lws_set_timeout(session->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
        return;
    }
    if (session->takes_gzip) {
        state_->queue(*session, std::make_shared<const std::string>(gzip_head()));
    }
}

void HttpServer::send_events(Id id, const EventText& text) {
    State::Session* session = state_->find(id);
    if (session != nullptr && session->is_events) {
        // The pointer to the bytes keeps the text.
        state_->queue(*session, {text, session->takes_gzip ? &text->packed() : &text->plain()});
    }
}

void HttpServer::end_left() {
    std::vector<lws*> left;
    for (const auto& [id, session] : state_->sessions) {
        if (session.is_events && has_hung_up(lws_get_socket_fd(session.wsi))) {
            left.push_back(session.wsi);
        }
    }
    for (lws* wsi : left) {
        state_->end(static_cast<HttpSlot*>(lws_wsi_user(wsi)));
        lws_set_timeout(wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
    }
}

void HttpServer::close() {
    lws_context_destroy(state_->context);
}

}  // namespace weir::cmd
