// The server over real sockets: what is too much, and what is too slow.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "server/http_answers.h"

namespace plait::test {
namespace {

TEST(HttpLimits, LimitsHeadersAndTakesOnesJustBelow) {
  ServerOptions options;
  options.max_header_bytes = 4096;
  TestServer server(options, answer);
  RawClient below(server.port());
  EXPECT_EQ(below.ask(get("/hello", "X: " + std::string(4000, 'x') + "\r\n")).status, 200);
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "a:\r\n";
  for (const std::string& bytes : {get("/hello", "X: " + std::string(5000, 'x') + "\r\n"), get("/hello", many),
                                   get("/" + std::string(5000, 'x')), "GET /" + std::string(100'000, 'x')}) {
    RawClient client(server.port());
    const RawResponse response = client.ask(bytes);
    EXPECT_EQ(response.status, 431);
    EXPECT_EQ(message_of(response), "the header has more than 4096 bytes");
    EXPECT_TRUE(client.closed_within());
  }
}

TEST(HttpLimits, LimitsBodiesBeforeTheyAreRead) {
  ServerOptions options;
  options.max_body_bytes = 10'000;
  TestServer server(options, answer);
  RawClient fitting(server.port());
  EXPECT_EQ(fitting.ask(post("/length", std::string(10'000, 'x'))).body, "10000");
  const std::string head = "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n";
  for (const std::string& start :
       {head + "Content-Length: 10001\r\n\r\n", head + "Transfer-Encoding: chunked\r\n\r\n2711\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"}) {
    RawClient client(server.port());
    const RawResponse response = client.ask(start);  // Not a byte of the body.
    EXPECT_EQ(response.status, 413);
    EXPECT_EQ(message_of(response), "the body has more than 10000 bytes");
  }
  RawClient pushing(server.port());  // Sends on and on, and still gets to read why.
  std::thread sender([&] { pushing.send(head + "Content-Length: 3000000\r\n\r\n" + std::string(3'000'000, 'x')); });
  EXPECT_EQ(pushing.receive().status, 413);
  sender.join();
  std::string chunks = head + "Transfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 11; ++i) chunks += "3e8\r\n" + std::string(1000, 'x') + "\r\n";
  RawClient slow(server.port());
  EXPECT_EQ(slow.ask(chunks).status, 413);
}

TEST(HttpLimits, LimitsTheBodiesOfAllRequestsTogether) {
  ServerOptions options;
  options.max_body_bytes = 1 << 20;
  options.max_bodies_bytes = 4 << 20;  // As JSON a body takes three times its size.
  TestServer server(options, answer);
  std::vector<std::unique_ptr<RawClient>> holding;
  const std::string part(600'000, 'x');
  for (int i = 0; i < 2; ++i) {
    holding.push_back(std::make_unique<RawClient>(server.port()));
    holding.back()->send("POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n" + part);
  }
  RawResponse refused;
  EXPECT_TRUE(comes_true([&] {  // As soon as both parts have come.
    RawClient late(server.port());
    refused = late.ask(post("/length", std::string(1'000'000, 'x')));
    return refused.status == 429;
  }));
  EXPECT_TRUE(refused.has("Retry-After: 1"));
  RawClient small(server.port());
  EXPECT_EQ(small.ask(post("/length", "little")).body, "6");
  for (auto& client : holding) {
    client->send(std::string(400'000, 'x'));
    EXPECT_EQ(client->receive().body, "1000000");
  }
  RawClient again(server.port());
  EXPECT_EQ(again.ask(post("/length", std::string(1'000'000, 'x'))).body, "1000000");
}

TEST(HttpLimits, CountsWhatABodyBecomesAsJson) {
  TestServer server(ServerOptions(), answer);
  std::string zeros = "[0", text = "[\"";
  for (int i = 0; i < 800'000; ++i) zeros += ",0", text += ",[";
  RawClient data(server.port()), quoted(server.port());
  const RawResponse refused = data.ask(post("/length", zeros + "]"));
  EXPECT_EQ(refused.status, 413);
  EXPECT_NE(message_of(refused).find("too many values"), std::string::npos);
  EXPECT_EQ(quoted.ask(post("/length", text + "\"]")).status, 200);
}

TEST(HttpLimits, GivesUpOnSlowHeadersAndBodies) {
  ServerOptions options = quick();
  options.body_timeout_ms = 60'000;  // Not what ends them.
  TestServer server(options, answer);
  const std::string half_header = "GET /hello HTTP/1.1\r\nHost: loc";
  const std::string half_body = "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nhalf";
  const std::string half_chunk =
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\nab";
  for (const std::string& start : {half_header, half_body, half_chunk}) {
    RawClient client(server.port());
    const auto began = Clock::now();
    client.send(start);
    std::atomic<bool> answered{false};
    std::thread dripping([&] {
      while (!answered && client.send("x")) std::this_thread::sleep_for(milliseconds(50));
    });
    EXPECT_EQ(client.receive().status, 408);
    EXPECT_GE(milliseconds_since(began), 390);
    answered = true;
    dripping.join();
  }
}

TEST(HttpLimits, LetsABodyThatFlowsTakeItsTime) {
  ServerOptions options = quick();
  options.body_timeout_ms = 60'000;
  TestServer server(options, answer);
  RawClient client(server.port());
  client.send("POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 640000\r\n\r\n");
  client.send(std::string(600'000, 'x'));  // Which buy nine seconds.
  std::this_thread::sleep_for(milliseconds(2 * options.read_timeout_ms));
  client.send(std::string(40'000, 'x'));
  EXPECT_EQ(client.receive().body, "640000");
}

TEST(HttpLimits, ClosesConnectionsThatSayNothing) {
  TestServer server(quick(), answer);
  const auto start = Clock::now();
  RawClient silent(server.port()), idle(server.port());
  EXPECT_EQ(idle.ask(get("/hello")).status, 200);
  EXPECT_TRUE(silent.closed_within());
  EXPECT_GE(milliseconds_since(start), 390);
  EXPECT_TRUE(idle.closed_within());
}

TEST(HttpLimits, RefusesMoreRequestsThanMayRunAndSaysWhenToComeAgain) {
  ServerOptions options;
  options.max_requests = 2;
  TestServer server(options, answer);
  RawClient a(server.port()), b(server.port()), c(server.port());
  a.send(get("/wait"));
  b.send(get("/wait"));
  RawResponse refused;
  EXPECT_TRUE(comes_true([&] {
    refused = c.ask(get("/hello"));
    return refused.status == 429;
  }));
  EXPECT_TRUE(refused.has("Retry-After: 1"));
  EXPECT_FALSE(message_of(refused).empty());
  a.close();
  EXPECT_TRUE(comes_true([&] { return c.ask(get("/hello")).status == 200; }));
  for (int i = 0; i < 50; ++i)
    EXPECT_EQ(c.ask(get("/hello")).status, 200);  // The place is free as soon as it is seen to be.
}

TEST(HttpLimits, TurnsAwayConnectionsBeyondTheMost) {
  ServerOptions options;
  options.idle_timeout_ms = options.read_timeout_ms = 60'000;
  options.max_connections = 3;
  TestServer server(options, answer);
  RawClient a(server.port()), b(server.port()), c(server.port());
  EXPECT_EQ(a.ask(get("/hello")).status, 200);
  EXPECT_EQ(c.ask(get("/hello")).status, 200);
  RawClient d(server.port());
  const RawResponse refused = d.receive();
  EXPECT_EQ(refused.status, 503);
  EXPECT_TRUE(d.closed_within());
  b.close();
  EXPECT_TRUE(comes_true([&] {
    RawClient e(server.port());
    return e.ask(get("/hello")).status == 200;
  }));
}

TEST(HttpLimits, IsNotHeldUpByManyHalfSentRequests) {
  ServerOptions options;
  options.max_requests = 4;
  options.read_timeout_ms = 60'000;  // Longer than a client here waits.
  TestServer server(options, answer);
  std::vector<std::unique_ptr<RawClient>> halves;
  for (int i = 0; i < 64; ++i) {
    halves.push_back(std::make_unique<RawClient>(server.port()));
    halves.back()->send(i % 2 == 0 ? "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n{"
                                   : "GET /hello HTTP/1.1\r\nHost: lo");
  }
  RawClient good(server.port());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(good.ask(post("/echo", "fine")).body, "fine");
}

}  // namespace
}  // namespace plait::test
