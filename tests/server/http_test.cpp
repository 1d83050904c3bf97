// The server over real sockets: what it reads, what it refuses and how it says so.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "server/http_answers.h"

namespace plait::test {
namespace {

TEST(Http, AnswersOneRequestAfterTheOtherOnOneConnection) {
  TestServer server(ServerOptions(), answer);
  RawClient client(server.port());
  for (int i = 0; i < 3; ++i) {
    const RawResponse response = client.ask(post("/echo", "round " + std::to_string(i)));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "round " + std::to_string(i));
    EXPECT_TRUE(response.has("X-Content-Type-Options: nosniff"));
  }
}

TEST(Http, AnswersRequestsSentAheadInTheirOrder) {
  TestServer server(ServerOptions(), answer);
  RawClient client(server.port());
  std::string all;
  for (int i = 0; i < 200; ++i)
    all += post("/echo", std::string(static_cast<std::size_t>(i) * 7, 'x') + std::to_string(i));
  std::thread sender([&] { client.send(all); });  // More than the server reads ahead.
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(client.receive().body, std::string(static_cast<std::size_t>(i) * 7, 'x') + std::to_string(i));
  sender.join();
}

TEST(Http, ReadsARequestHoweverItIsCutIntoPieces) {
  TestServer server(ServerOptions(), answer);
  const std::string whole = post("/echo", "some text") +
                            "POST /echo HTTP/1.1\r\nHost: localhost\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n4;x=y\r\nsome\r\n5\r\n more\r\n0\r\nTrailer: 1\r\n\r\n";
  for (const std::size_t size : {1u, 2u, 3u, 7u, 50u, 1000u}) {
    RawClient client(server.port());
    for (std::size_t at = 0; at < whole.size(); at += size) {
      client.send(std::string_view(whole).substr(at, size));
      if (size < 50 && at % 16 == 0) std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_EQ(client.receive().body, "some text") << size;
    EXPECT_EQ(client.receive().body, "some more") << size;
  }
}

TEST(Http, EndsTheConnectionAsTheVersionAndTheClientWantIt) {
  TestServer server(ServerOptions(), answer);  // Which would keep an idle connection for longer than a test waits.
  RawClient old(server.port());
  EXPECT_EQ(old.ask("GET /hello HTTP/1.0\r\n\r\n").body, "hello");
  EXPECT_TRUE(old.closed_within());

  RawClient kept(server.port());
  const RawResponse first = kept.ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_TRUE(first.has("Connection: keep-alive"));
  EXPECT_EQ(kept.ask(get("/hello", "Connection: close\r\n")).body, "hello");
  EXPECT_TRUE(kept.closed_within());
}

TEST(Http, StreamsInChunksOrToTheEndOfTheConnection) {
  TestServer server(ServerOptions(), answer);
  RawClient client(server.port());
  const RawResponse chunked = client.ask(get("/stream"));
  EXPECT_EQ(chunked.body, "data: one\n\ndata: two\n\n");
  EXPECT_TRUE(chunked.whole && chunked.has("Transfer-Encoding: chunked") && chunked.has("Cache-Control: no-store") &&
              chunked.has("X-Accel-Buffering: no"));
  EXPECT_EQ(client.ask(get("/hello")).status, 200);  // The connection goes on.

  RawClient old(server.port());
  const RawResponse plain = old.ask("GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(plain.body, "data: one\n\ndata: two\n\n");
  EXPECT_TRUE(plain.whole && plain.has("Connection: close"));
}

TEST(Http, AnswersHeadLikeGetWithoutTheBody) {
  TestServer server(ServerOptions(), answer);
  RawClient client(server.port());
  client.send("HEAD /method?a=b HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const RawResponse plain = client.receive(kPatienceMs, true);
  EXPECT_EQ(plain.status, 200);
  EXPECT_TRUE(plain.has("Content-Length: 7"));  // "GET a=b"
  client.send("HEAD /stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive(kPatienceMs, true).status, 200);
  EXPECT_EQ(client.ask(get("/hello")).body, "hello");  // Nothing of a body lies between.
}

TEST(Http, TellsTheClientToSendItsBodyWhenItWaitsForThat) {
  TestServer server(ServerOptions(), answer);
  RawClient client(server.port());
  const std::string head =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
  EXPECT_EQ(client.ask(head).status, 100);
  EXPECT_EQ(client.ask("text").body, "text");
  RawClient large(server.port());  // This one is refused without having sent its body.
  EXPECT_EQ(large
                .ask("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999\r\n"
                     "Expect: 100-continue\r\n\r\n")
                .status,
            413);
  RawClient other(server.port());
  EXPECT_EQ(other.ask(get("/hello", "Expect: cake\r\n")).status, 417);
}

TEST(Http, TakesAbsoluteTargetsAndEmptyLinesBetweenRequests) {
  TestServer server(ServerOptions(), answer);
  RawClient client(server.port());
  EXPECT_EQ(client.ask("\r\n\r\nGET http://localhost:1/method?x=1 HTTP/1.1\r\nHost: other\r\n\r\n").body, "GET x=1");
  EXPECT_EQ(client.ask("GET http://evil/method HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 403);
}

TEST(Http, KeepsAHeaderOnItsLine) {
  TestServer server(ServerOptions(), answer);
  RawClient client(server.port());
  const RawResponse response = client.ask(get("/header?a"));
  EXPECT_EQ(response.status, 200);
  EXPECT_FALSE(response.has("X-Bad: 1"));
}

TEST(Http, RefusesWhatIsNotHttp) {
  TestServer server(ServerOptions(), answer);
  const std::string host = "Host: localhost\r\n";
  const std::string bad[] = {
      "nonsense\r\n\r\n",
      std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 15),  // TLS
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
      "GET /hello HTTP/1.2\r\n" + host + "\r\n",
      "GET /hello\r\n" + host + "\r\n",
      "GET hello HTTP/1.1\r\n" + host + "\r\n",
      "GET /hel lo HTTP/1.1\r\n" + host + "\r\n",
      "GET /hello HTTP/1.1\r\n\r\n",                     // No Host.
      "GET /hello HTTP/1.1\r\n" + host + host + "\r\n",  // Two.
      "GET /hello HTTP/1.1\r\n" + host + "Bad Name: 1\r\n\r\n",
      "GET /hello HTTP/1.1\r\n" + host + "X: \x01\r\n\r\n",
      "GET /hello HTTP/1.1\n" + host + "\n",
      "POST /echo HTTP/1.1\r\n" + host + "Content-Length: -1\r\n\r\n",
      "POST /echo HTTP/1.1\r\n" + host + "Content-Length: 1e3\r\n\r\n",
      "POST /echo HTTP/1.1\r\n" + host + "Content-Length: 99999999999999999999999\r\n\r\n",
      "POST /echo HTTP/1.1\r\n" + host + "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
      "POST /echo HTTP/1.1\r\n" + host + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\n" + host + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.0\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "POST /echo HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
      "POST /echo HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcdef\r\n",
      "POST /echo HTTP/1.1\r\n" + host + "Transfer-Encoding: chunked\r\n\r\n3;" + std::string(5000, 'x'),
  };
  for (const std::string& bytes : bad) {
    RawClient client(server.port());
    const RawResponse response = client.ask(bytes);
    EXPECT_EQ(response.status, 400) << bytes.substr(0, 200);
    EXPECT_FALSE(message_of(response).empty()) << bytes.substr(0, 200);
    EXPECT_TRUE(client.closed_within()) << bytes.substr(0, 200);
  }
  RawClient coded(server.port());
  EXPECT_EQ(coded.ask(post("/echo", "x", "Content-Encoding: gzip\r\n")).status, 415);
}

TEST(Http, AnswersForAHandlerThatFails) {
  TestServer server(ServerOptions(), answer);
  for (const char* path : {"/throw", "/silent"}) {
    RawClient client(server.port());
    const RawResponse response = client.ask(get(path));
    EXPECT_EQ(response.status, 500);
    EXPECT_FALSE(message_of(response).empty());
  }
  RawClient late(server.port());
  const RawResponse cut = late.ask(get("/throw-late"));
  EXPECT_EQ(cut.body, "half");
  EXPECT_FALSE(cut.whole);
  EXPECT_TRUE(late.closed_within());
}

TEST(Http, SpeaksOfErrorsInTheShapeOfThePath) {
  ServerOptions options;
  options.max_body_bytes = 10;
  TestServer server(options, answer);
  const std::string long_body(100, 'x');
  const auto body = [&](std::string_view path) {
    RawClient client(server.port());
    return nlohmann::json::parse(client.ask(post(path, long_body)).body);
  };
  EXPECT_EQ(body("/v1/messages")["error"]["type"], "request_too_large");
  EXPECT_TRUE(body("/api/chat")["error"].is_string());
  EXPECT_TRUE(body("/v1/completions")["error"].contains("param"));
  EXPECT_EQ(body("/completion")["error"]["code"], 413);
  RawClient client(server.port());  // Also where the header never ended.
  const auto flood = nlohmann::json::parse(client.ask("GET /api/tags HTTP/1.1\r\nX: " + std::string(40'000, 'x')).body);
  EXPECT_TRUE(flood["error"].is_string());
}

TEST(Http, SaysWhyItCannotListen) {
  TestServer server(ServerOptions(), answer);
  ServerOptions taken;
  taken.port = server.port();
  const Result<Server> second = Server::open(taken, answer);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, ErrorCode::kIo);
  EXPECT_NE(second.error().message.find("is in use"), std::string::npos);
  ServerOptions elsewhere;
  elsewhere.host = "203.0.113.7";  // For documents; no machine has it.
  elsewhere.port = 0;
  EXPECT_FALSE(Server::open(elsewhere, answer).has_value());
  ServerOptions wrong;
  wrong.port = 70'000;
  EXPECT_EQ(Server::open(wrong, answer).error().message, "port is 70000, wanted 0 to 65535");
  ServerOptions anywhere;
  anywhere.host = "";
  EXPECT_EQ(Server::open(anywhere, answer).error().message, "host is empty, wanted an address such as 127.0.0.1");
}

}  // namespace
}  // namespace plait::test
