// Who may ask: keys, Host, Origin and CORS.
#include "server/guard.h"

#include <gtest/gtest.h>

#include "server/raw_client.h"

namespace plait::test {
namespace {

using Headers = std::vector<std::pair<std::string, std::string>>;

int status(const Guard& guard, Headers headers, std::string path = "/v1/models", std::string method = "GET") {
  HttpRequest request;
  request.method = std::move(method);
  request.path = std::move(path);
  request.headers = std::move(headers);
  const Guard::Verdict verdict = guard.check(request);
  return verdict.error ? verdict.error->status : verdict.preflight ? 204 : 200;
}

TEST(Guard, ComparesKeysWhole) {
  EXPECT_TRUE(equal_in_constant_time("secret", "secret"));
  for (const char* other : {"", "secre", "secrets", "Secret", "secresecret"})
    EXPECT_FALSE(equal_in_constant_time(other, "secret")) << other;
  EXPECT_FALSE(equal_in_constant_time("secretsecret", "secret"));
  EXPECT_FALSE(equal_in_constant_time("", ""));
}

TEST(Guard, AsksForAKeyWhereThereIsOne) {
  ServerOptions options;
  options.api_keys = {"one", "two"};
  const Guard guard(options, true);
  const auto with = [&](std::string name, std::string value) {
    return status(guard, {{"Host", "localhost"}, {std::move(name), std::move(value)}});
  };
  EXPECT_EQ(with("Authorization", "Bearer one"), 200);
  EXPECT_EQ(with("authorization", "bearer two"), 200);
  EXPECT_EQ(with("X-Api-Key", "two"), 200);
  EXPECT_EQ(with("Authorization", "Bearer three"), 401);
  EXPECT_EQ(with("Authorization", "Basic one"), 401);
  EXPECT_EQ(with("Authorization", "one"), 401);
  EXPECT_EQ(with("Authorization", "Bearer "), 401);
  EXPECT_EQ(with("X-Api-Key", "onetwo"), 401);
  EXPECT_EQ(status(guard, {}), 401);
  for (const char* path : {"/", "/health", "/page/main.js"}) EXPECT_EQ(status(guard, {}, path), 200) << path;
  EXPECT_EQ(status(guard, {}, "/metrics"), 401);
  EXPECT_EQ(status(Guard(ServerOptions(), true), {}), 200);
}

TEST(Guard, TakesOnlyNamesOfThisMachineOnItsOwnAddress) {
  ServerOptions options;
  options.allowed_hosts = {"my.box"};
  const Guard guard(options, true);
  for (const char* host :
       {"localhost", "LOCALHOST:8080", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:80", "my.box", "my.box:443"})
    EXPECT_EQ(status(guard, {{"Host", host}}), 200) << host;
  for (const char* host : {"evil.example", "evil.example:8080", "localhost.evil.example", "127.0.0.1.nip.io", "[::2]",
                           "localhost:80@evil", "::1", "x[::1]"})
    EXPECT_EQ(status(guard, {{"Host", host}}), 403) << host;
  EXPECT_EQ(status(Guard(options, false), {{"Host", "any.example"}}), 200);  // Reached from elsewhere by any name.
}

TEST(Guard, RefusesPagesOfOtherSites) {
  const Guard guard(ServerOptions(), true);
  const auto with = [&](std::string origin) {
    return status(guard, {{"Host", "localhost:8080"}, {"Origin", std::move(origin)}});
  };
  EXPECT_EQ(with("http://localhost:8080"), 200);
  EXPECT_EQ(with("http://localhost:3000"), 403);
  EXPECT_EQ(with("http://evil.example"), 403);
  EXPECT_EQ(with("null"), 403);
  EXPECT_EQ(with("file://"), 403);
  EXPECT_EQ(status(Guard(ServerOptions(), false), {{"Host", "box:80"}, {"Origin", "http://evil.example"}}), 403);
}

TEST(Guard, LetsThePagesInThatCorsNames) {
  ServerOptions options;
  options.cors_origins = {"http://app.example"};
  const Guard guard(options, true);
  HttpRequest request;
  request.method = "OPTIONS";
  request.path = "/v1/models";
  request.headers = {{"Host", "localhost"},
                     {"Origin", "http://app.example"},
                     {"Access-Control-Request-Method", "POST"},
                     {"Access-Control-Request-Headers", "authorization, content-type"}};
  const Guard::Verdict verdict = guard.check(request);
  EXPECT_TRUE(verdict.preflight && !verdict.error);
  const auto value = [&](std::string_view name) {
    for (const auto& [key, text] : verdict.headers) {
      if (key == name) return text;
    }
    return std::string();
  };
  EXPECT_EQ(value("Access-Control-Allow-Origin"), "http://app.example");
  EXPECT_EQ(value("Access-Control-Allow-Headers"), "authorization, content-type");
  EXPECT_EQ(value("Vary"), "Origin");
  EXPECT_EQ(status(guard, {{"Host", "localhost"}, {"Origin", "http://other.example"}}), 403);
  EXPECT_EQ(status(guard, {{"Host", "evil"}, {"Origin", "http://app.example"}}), 403);
  options.cors_origins = {"*"};
  EXPECT_EQ(status(Guard(options, true), {{"Host", "localhost"}, {"Origin", "null"}}), 200);
}

TEST(Guard, SpeaksThroughTheServer) {
  ServerOptions options;
  options.api_keys = {"key"};
  options.cors_origins = {"*"};
  TestServer server(options, [](const HttpRequest&, Reply& reply) { reply.send(200, "text/plain", "in"); });
  RawClient client(server.port());
  const RawResponse preflight = client.ask(
      "OPTIONS /v1/models HTTP/1.1\r\nHost: localhost\r\nOrigin: http://a.example\r\n"
      "Access-Control-Request-Method: POST\r\n\r\n");
  EXPECT_EQ(preflight.status, 204);  // A preflight has no key to send.
  EXPECT_TRUE(preflight.has("Access-Control-Allow-Origin: http://a.example"));
  const RawResponse refused = client.ask(get("/v1/models", "Origin: http://a.example\r\n"));
  EXPECT_EQ(refused.status, 401);  // The same connection goes on: nothing is unread.
  EXPECT_TRUE(refused.has("WWW-Authenticate: Bearer"));
  EXPECT_TRUE(refused.has("Access-Control-Allow-Origin: http://a.example"));  // Or the page could not read why.
  EXPECT_EQ(client.ask(get("/v1/models", "X-Api-Key: key\r\n")).body, "in");
  EXPECT_EQ(client.ask(get("/v1/models", "Authorization: Bearer wrong\r\n")).status, 401);
  RawClient unread(server.port());
  EXPECT_EQ(unread.ask("POST /v1/models HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n").status, 401);
  EXPECT_TRUE(unread.closed_within());
}

}  // namespace
}  // namespace plait::test
