// SPDX-License-Identifier: Apache-2.0
#include "export/http_server.h"

#include <fcntl.h>
#include <microhttpd.h>

#include <cerrno>
#include <cstdint>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

namespace offcpud {
namespace {

constexpr const char* kTooMany =
    "{\"error\": \"too many requests wait for an answer already; try again shortly\"}\n";
constexpr std::size_t kStreamBlock = std::size_t{64} * 1024;

struct DestroyResponse {
  void operator()(MHD_Response* response) const { MHD_destroy_response(response); }
};
using UniqueResponse = std::unique_ptr<MHD_Response, DestroyResponse>;

ssize_t read_stream(void* stream, std::uint64_t, char* buffer, std::size_t size) {
  try {
    const std::size_t written = (*static_cast<BodyStream*>(stream))({buffer, size});
    return written == 0 ? MHD_CONTENT_READER_END_OF_STREAM : static_cast<ssize_t>(written);
  } catch (...) {
    // Ends the connection without the last chunk, so the client sees that the body is incomplete.
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

// Answers that come later do not come here.
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

MHD_Result queue(MHD_Connection* connection, const Response& response) {
  const UniqueResponse raw =
      std::visit([](const auto& body) { return make_response(body); }, response.body);
  if (!raw) return MHD_NO;
  const auto add = [&raw](const char* name, const std::string& value) {
    return MHD_add_response_header(raw.get(), name, value.c_str()) == MHD_YES;
  };
  bool complete = add("X-Content-Type-Options", "nosniff") && add("Cache-Control", "no-store");
  if (!response.content_type.empty()) {
    complete = complete && add("Content-Type", response.content_type);
  }
  for (const auto& [name, value] : response.headers)
    complete = complete && add(name.c_str(), value);
  return complete ? MHD_queue_response(connection, response.status, raw.get()) : MHD_NO;
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

Request request_of(MHD_Connection* connection, const char* method, const char* path) {
  Request request{.method = method, .path = path};
  MHD_get_connection_values_n(connection, MHD_GET_ARGUMENT_KIND, &add_parameter, &request.query);
  return request;
}

bool has_body(MHD_Connection* connection) {
  const std::string length = header(connection, "Content-Length");
  return (!length.empty() && length != "0") || !header(connection, "Transfer-Encoding").empty();
}

Response respond_or_500(const Respond& respond, const Request& request) {
  try {
    return respond(request);
  } catch (const std::exception&) {
    return error_response(500, "{\"error\": \"the request failed inside the daemon\"}\n");
  }
}

}  // namespace

// No exception may cross the library, which is C.
struct HttpServer::Callbacks {
  static void renew(HttpServer& server, MHD_Connection* connection,
                    std::chrono::milliseconds allowed) {
    const auto* info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (info == nullptr) return;
    const auto deadline = std::chrono::steady_clock::now() + allowed;
    server.deadlines_.set(connection, info->connect_fd, deadline);
  }

  static void on_connection(void* self, MHD_Connection* connection, void**,
                            MHD_ConnectionNotificationCode code) noexcept {
    auto& server = *static_cast<HttpServer*>(self);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
      renew(server, connection, server.limits_.request);
    } else {
      server.deadlines_.forget(connection);
    }
  }

  static void on_completed(void* self, MHD_Connection* connection, void**,
                           MHD_RequestTerminationCode) noexcept {
    auto& server = *static_cast<HttpServer*>(self);
    server.waiting_.forget(connection);
    renew(server, connection, server.limits_.request);
  }

  // Called once when the head is complete and once more when the (empty) body is; a response to the
  // first call closes the connection, which is what a request with a body deserves. Called again
  // when an answer that came later is there.
  static MHD_Result on_request(void* self, MHD_Connection* connection, const char* path,
                               const char* method, const char*, const char*, std::size_t*,
                               void** head_seen) noexcept {
    try {
      auto& server = *static_cast<HttpServer*>(self);
      if (*head_seen == nullptr) {
        *head_seen = self;
        if (!has_body(connection)) return MHD_YES;
        return queue(connection, error_response(413, "{\"error\": \"send no body\"}\n"));
      }
      renew(server, connection, server.limits_.response);
      if (const Later::Make make = server.waiting_.take(connection)) {
        return queue(connection, respond_or_500([&](const Request&) { return make(); }, {}));
      }
      Response response = respond_or_500(server.respond_, request_of(connection, method, path));
      const auto* const later = std::get_if<Later>(&response.body);
      if (later == nullptr) return queue(connection, response);
      server.deadlines_.forget(connection);
      if (server.waiting_.suspend(connection, *later)) return MHD_YES;
      renew(server, connection, server.limits_.response);
      return queue(connection, error_response(503, kTooMany));
    } catch (...) {
      return MHD_NO;  // closes the connection: there was no memory even for an error
    }
  }
};

HttpServer::HttpServer(Listener listener, Respond respond, HttpLimits limits)
    : listener_(std::move(listener)),
      respond_(std::move(respond)),
      limits_(limits),
      waiting_(limits.waiting) {}

HttpServer::~HttpServer() {
  waiting_.close();  // the library cannot stop while one is suspended
  if (daemon_ != nullptr) MHD_stop_daemon(daemon_);
}

Result<std::unique_ptr<HttpServer>> HttpServer::start(Listener listener, Respond respond,
                                                      HttpLimits limits) {
  std::unique_ptr<HttpServer> server(
      new HttpServer(std::move(listener), std::move(respond), limits));
  TRY_VOID(server->start_daemon());
  return server;
}

Status HttpServer::start_daemon() {
  // The library closes the descriptor that it is given.
  UniqueFd fd(::fcntl(listener_.fd(), F_DUPFD_CLOEXEC, 0));
  if (!fd) return Error::from_errno(errno, "duplicate the listener of", listener_.address().text());
  const auto inactivity = std::chrono::ceil<std::chrono::seconds>(limits_.request).count();
  errno = 0;
  daemon_ = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, nullptr, nullptr,
      &Callbacks::on_request, this, MHD_OPTION_LISTEN_SOCKET, fd.get(),            //
      MHD_OPTION_STRICT_FOR_CLIENT, 1,                                             //
      MHD_OPTION_THREAD_POOL_SIZE, limits_.threads,                                //
      MHD_OPTION_CONNECTION_LIMIT, limits_.connections,                            //
      MHD_OPTION_CONNECTION_TIMEOUT, static_cast<unsigned>(inactivity),            //
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, std::size_t{limits_.connection_memory},  //
      MHD_OPTION_NOTIFY_CONNECTION, &Callbacks::on_connection, this,               //
      MHD_OPTION_NOTIFY_COMPLETED, &Callbacks::on_completed, this,                 //
      MHD_OPTION_END);
  if (daemon_ == nullptr)
    return Error::from_errno(errno, "start HTTP on", listener_.address().text());
  (void)fd.release();
  return {};
}

}  // namespace offcpud
