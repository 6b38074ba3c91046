// SPDX-License-Identifier: Apache-2.0
#include "http/http_server.h"

#include <fcntl.h>
#include <gnutls/abstract.h>
#include <microhttpd.h>
#include <strings.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "http/peer_credentials.h"
#include "http/request_framing.h"

namespace offcpud {
namespace {

constexpr const char* kTooMany =
    "{\"error\": \"too many requests wait for an answer already; try again shortly\"}\n";
constexpr const char* kTooManyParameters =
    "{\"error\": \"a query may have 256 parameters at most\"}\n";
// More than any path accepts; the library needs 64 bytes for each.
constexpr std::size_t kMostParameters = 256;
// Marks a request whose query was cut off; only the address is used.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
char cut_query;
// How long the destructor waits for answers in progress.
constexpr std::chrono::milliseconds kFinishing{100};
// Of each answer, for clients that take no chunks (HTTP/1.0); to others the library writes into the
// connection's own memory.
constexpr std::size_t kStreamBlock = std::size_t{8} * 1024;

struct DestroyResponse {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using UniqueResponse = std::unique_ptr<MHD_Response, DestroyResponse>;

ssize_t read_stream(void* stream, std::uint64_t, char* buffer, std::size_t size) {
  try {
    const std::size_t written = (*static_cast<BodyStream*>(stream))({buffer, size});
    return written == 0 ? MHD_CONTENT_READER_END_OF_STREAM : static_cast<ssize_t>(written);
  } catch (...) {
    // Ends the connection without the last chunk, so that the client sees an incomplete body.
    return MHD_CONTENT_READER_END_WITH_ERROR;
  }
}

void free_stream(void* stream) {
  delete static_cast<BodyStream*>(stream);
}

UniqueResponse make_response(const std::string& text) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the library copies and does not write
  auto* bytes = const_cast<char*>(text.data());
  return UniqueResponse(MHD_create_response_from_buffer(text.size(), bytes, MHD_RESPMEM_MUST_COPY));
}

// Never called: a Later is suspended instead.
UniqueResponse make_response(const Later& /*later*/) {
  return nullptr;
}

UniqueResponse make_response(const BodyStream& stream) {
  auto owned = std::make_unique<BodyStream>(stream);
  UniqueResponse response(MHD_create_response_from_callback(
      MHD_SIZE_UNKNOWN, kStreamBlock, &read_stream, owned.get(), &free_stream));
  if (response) (void)owned.release();
  return response;
}

MHD_Result queue(MHD_Connection* connection, const Response& response,
                 const HeaderList& configured) {
  const UniqueResponse raw =
      std::visit([](const auto& body) { return make_response(body); }, response.body);
  if (!raw) return MHD_NO;
  for (const auto& [name, value] : headers_of(response, configured)) {
    if (MHD_add_response_header(raw.get(), name.c_str(), value.c_str()) != MHD_YES) return MHD_NO;
  }
  return MHD_queue_response(connection, response.status, raw.get());
}

Response error_response(unsigned status, std::string_view json) {
  return {.status = status, .content_type = "application/json", .body = std::string(json)};
}

std::string header(MHD_Connection* connection, const char* name) {
  const char* value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
  return value != nullptr ? value : "";
}

MHD_Result add_parameter(void* query, MHD_ValueKind, const char* name, std::size_t name_size,
                         const char* value, std::size_t value_size) {
  try {
    static_cast<std::multimap<std::string, std::string>*>(query)->emplace(
        std::string(name, name_size), value ? std::string(value, value_size) : std::string());
    return MHD_YES;
  } catch (const std::bad_alloc&) {
    return MHD_NO;
  }
}

struct Field {
  const char* name;
  std::optional<std::string> values;
};

MHD_Result add_field(void* self, MHD_ValueKind, const char* name, const char* value) {
  auto& field = *static_cast<Field*>(self);
  if (value == nullptr || ::strcasecmp(name, field.name) != 0) return MHD_YES;
  try {
    field.values = field.values ? *field.values + "," + value : value;
    return MHD_YES;
  } catch (const std::bad_alloc&) {
    return MHD_NO;
  }
}

// All fields with this name as one list; nullopt: there is none.
std::optional<std::string> list_header(MHD_Connection* connection, const char* name) {
  Field field{.name = name, .values = {}};
  MHD_get_connection_values(connection, MHD_HEADER_KIND, &add_field, &field);
  return field.values;
}

Request request_of(MHD_Connection* connection, const char* method, const char* path) {
  Request request{.method = method, .path = path};
  request.host = header(connection, "Host");
  request.authorization = header(connection, "Authorization");
  request.fetch_site = header(connection, "Sec-Fetch-Site");
  request.fetch_mode = header(connection, "Sec-Fetch-Mode");
  MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, &add_parameter, &request.query);
  request.accept = list_header(connection, "Accept").value_or("");
  request.accept_encoding = list_header(connection, "Accept-Encoding");
  return request;
}

MHD_Result add_framing(void* framing, MHD_ValueKind, const char* name, const char* value) {
  static_cast<RequestFraming*>(framing)->add(name, value != nullptr ? value : "");
  return MHD_YES;
}

// Also closes the connection: the bytes that follow cannot be trusted.
Response closing(unsigned status, std::string_view json) {
  Response response = error_response(status, json);
  response.headers.emplace_back("Connection", "close");
  return response;
}

// The refusal of a request that is not valid for any path; nullopt: it is valid.
std::optional<Response> unfit(MHD_Connection* connection) {
  RequestFraming framing;
  MHD_get_connection_values(connection, MHD_HEADER_KIND, &add_framing, &framing);
  if (framing.verdict() == RequestFraming::Verdict::NoBody) return std::nullopt;
  if (framing.verdict() == RequestFraming::Verdict::Body) {
    return closing(413, "{\"error\": \"send no body\"}\n");
  }
  return closing(400,
                 "{\"error\": \"send Host once, Content-Length or Transfer-Encoding once at most, "
                 "and a length without leading zeros\"}\n");
}

Response respond_or_500(const Respond& respond, const Request& request) {
  try {
    return respond(request);
  } catch (const std::exception&) {
    return error_response(500, "{\"error\": \"the request failed inside the daemon\"}\n");
  }
}

}  // namespace

// Catch all exceptions: the library is C.
struct HttpServer::Callbacks {
  using Tls = std::shared_ptr<const TlsContext>;

  static MonotonicTime after(std::chrono::milliseconds allowed) {
    return std::chrono::steady_clock::now() + allowed;
  }

  static gnutls_session_t session_of(MHD_Connection* connection) {
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
    return info != nullptr ? static_cast<gnutls_session_t>(info->tls_session) : nullptr;
  }

  static std::optional<PeerCredentials> credentials_of(MHD_Connection* connection) {
    const auto* fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return fd != nullptr ? peer_credentials(fd->connect_fd) : std::nullopt;
  }

  static std::string peer_of(MHD_Connection* connection,
                             const std::optional<PeerCredentials>& credentials) {
    if (credentials) return peer_name(*credentials);
    const auto* peer = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return peer_name(peer != nullptr ? peer->client_addr : nullptr);
  }

  static void open(HttpServer& server, MHD_Connection* connection, void** tls) {
    const auto* fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (fd == nullptr) return;
    server.deadlines_.open(connection, fd->connect_fd,
                           peer_of(connection, credentials_of(connection)),
                           after(server.limits_.request));
    if (!server.settings_.tls) return;
    // If this fails there is no context, and the handshake fails: see refuse_handshake.
    auto owned = std::make_unique<Tls>(server.settings_.tls());
    if ((*owned)->apply(session_of(connection))) *tls = owned.release();
  }

  // `tls` keeps the connection's context alive until the connection ends, even if a newer one
  // exists.
  static void on_connection(void* self, MHD_Connection* connection, void** tls,
                            MHD_ConnectionNotificationCode code) noexcept {
    auto& server = *static_cast<HttpServer*>(self);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      try {
        open(server, connection, tls);
      } catch (...) {
        // Out of memory: the connection has no deadline of ours, and no TLS.
      }
    } else {
      server.deadlines_.close(connection);
      delete static_cast<Tls*>(std::exchange(*tls, nullptr));
    }
  }

  static void on_completed(void* self, MHD_Connection* connection, void**,
                           MHD_RequestTerminationCode) noexcept {
    auto& server = *static_cast<HttpServer*>(self);
    server.waiting_.forget(connection);
    server.deadlines_.await_request(connection, after(server.limits_.request));
  }

  static bool has_verified_client(MHD_Connection* connection) {
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    const auto* tls = info != nullptr ? static_cast<const Tls*>(info->socket_context) : nullptr;
    return tls != nullptr && (*tls)->has_verified_client(session_of(connection));
  }

  // A Later may itself answer with a Later: the password first, then the stacks.
  static MHD_Result answer(HttpServer& server, MHD_Connection* connection,
                           const Response& response) {
    const auto* const later = std::get_if<Later>(&response.body);
    if (later == nullptr) return queue(connection, response, server.configured_headers());
    server.deadlines_.suspend(connection);
    if (server.waiting_.suspend(connection, *later)) return MHD_YES;
    server.deadlines_.respond(connection, after(server.limits_.response));
    return queue(connection, error_response(503, kTooMany), server.configured_headers());
  }

  // Called when the first line is complete, before the library parses parameters. Too many of them
  // would use up its memory for an answer, and it would close the connection without one. So this
  // cuts the query off. `target` is a buffer of the library, which parses it in place right after.
  static void* on_target(void*, const char* target, MHD_Connection*) noexcept {
    const char* const query = std::strchr(target, '?');
    if (query == nullptr) return nullptr;
    const std::string_view text(query);
    if (std::ranges::count(text, '&') < std::ptrdiff_t{kMostParameters}) return nullptr;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): see above
    const_cast<char*>(query)[1] = '\0';
    return &cut_query;
  }

  // Called when the head is complete, again after the (empty) body, and again when a Later has
  // its answer. A response in the first call closes the connection, as it should for a request
  // with a body.
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* path,
                               const char* method, const char*, const char*, std::size_t*,
                               void** head_seen) noexcept {
    try {
      auto& server = *static_cast<HttpServer*>(self);
      if (*head_seen != self) {
        const bool was_cut = std::exchange(*head_seen, self) == &cut_query;
        const std::optional<Response> refusal =
            was_cut ? closing(414, kTooManyParameters) : unfit(connection);
        return refusal ? answer(server, connection, *refusal) : MHD_YES;
      }
      server.deadlines_.respond(connection, after(server.limits_.response));
      if (const Later::Make make = server.waiting_.take(connection)) {
        return answer(server, connection,
                      respond_or_500([&](const Request&) { return make(); }, {}));
      }
      Request request = request_of(connection, method, path);
      request.verified_client = has_verified_client(connection);
      request.credentials = credentials_of(connection);
      request.peer = peer_of(connection, request.credentials);
      return answer(server, connection, respond_or_500(server.respond_, request));
    } catch (...) {
      return MHD_NO;  // closes the connection: no memory even for an error
    }
  }

  // The library requires certificates of its own. Connections got theirs at the start; one without
  // must not continue.
  static int refuse_handshake(gnutls_session_t, const gnutls_datum_t*, int,
                              const gnutls_pk_algorithm_t*, int, gnutls_pcert_st**, unsigned*,
                              gnutls_privkey_t*) noexcept {
    return -1;
  }
};

HttpServer::HttpServer(Listener listener, Respond respond, HttpLimits limits, HttpSettings settings,
                       std::shared_ptr<Heartbeat> deadlines)
    : listener_(std::move(listener)),
      respond_(std::move(respond)),
      limits_(limits),
      settings_(std::move(settings)),
      deadlines_(limits.connections, std::move(deadlines)),
      waiting_(limits.waiting) {}

HttpServer::~HttpServer() {
  waiting_.close();  // the library cannot stop while a connection is suspended
  if (daemon_ == nullptr) return;
  // Otherwise the library would shut down the socket for everybody. A socket of the service manager
  // must continue to listen for the next daemon.
  const UniqueFd listening(MHD_quiesce_daemon(daemon_));
  (void)deadlines_.wait_for_answers(kFinishing);  // answers that are not done then are cut off
  MHD_stop_daemon(daemon_);
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(Listener listener, Respond respond,
                                                      HttpLimits limits, HttpSettings settings,
                                                      std::shared_ptr<Heartbeat> deadlines) {
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(listener), std::move(respond), limits,
                                                    std::move(settings), std::move(deadlines)));
  TRY_VOID(server->start_daemon());
  return server;
}

HeaderList HttpServer::configured_headers() const {
  return settings_.headers ? settings_.headers() : HeaderList();
}

Status HttpServer::start_daemon() {
  TRY_VOID(listener_.listen());
  // The library closes the descriptor that it is given, so it gets a copy.
  UniqueFd fd(::fcntl(listener_.fd(), F_DUPFD_CLOEXEC, 0));
  if (!fd) return Error::from_errno(errno, "duplicate the listener of", listener_.address().text());
  const auto inactivity = std::chrono::ceil<std::chrono::seconds>(limits_.request).count();
  // Extra room for connections that were shut down but not closed yet, and because each thread has
  // a fixed share of the limit but threads accept unevenly.
  const auto connections = static_cast<unsigned>(limits_.connections.total * 3 / 2);
  unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME;
  std::vector<MHD_OptionItem> tls;
  if (settings_.tls) {
    flags |= MHD_USE_TLS;
    tls.push_back({MHD_OPTION_HTTPS_CERT_CALLBACK2, 0,
                   reinterpret_cast<void*>(&Callbacks::refuse_handshake)});
  }
  tls.push_back({MHD_OPTION_END, 0, nullptr});
  errno = 0;
  daemon_ = MHD_start_daemon(flags, 0, nullptr, nullptr, &Callbacks::on_request, this,
                             MHD_OPTION_LISTEN_SOCKET, fd.get(),                             //
                             MHD_OPTION_STRICT_FOR_CLIENT, 1,                                //
                             MHD_OPTION_THREAD_POOL_SIZE, limits_.threads,                   //
                             MHD_OPTION_CONNECTION_LIMIT, connections,                       //
                             MHD_OPTION_CONNECTION_TIMEOUT,                                  //
                             static_cast<unsigned>(inactivity),                              //
                             MHD_OPTION_CONNECTION_MEMORY_LIMIT,                             //
                             std::size_t{limits_.connection_memory},                         //
                             MHD_OPTION_URI_LOG_CALLBACK, &Callbacks::on_target, this,       //
                             MHD_OPTION_NOTIFY_CONNECTION, &Callbacks::on_connection, this,  //
                             MHD_OPTION_NOTIFY_COMPLETED, &Callbacks::on_completed, this,    //
                             MHD_OPTION_ARRAY, tls.data(),                                   //
                             MHD_OPTION_END);
  if (daemon_ == nullptr)
    return Error::from_errno(errno, "start HTTP on", listener_.address().text());
  (void)fd.release();
  return {};
}

}  // namespace offcpud
