// The server over real sockets: clients that leave or do not read, and a server that ends.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "server/raw_client.h"

namespace plait::test {
namespace {

using std::chrono::milliseconds;

// Handlers that note when their client leaves.
struct Notes {
  std::atomic<int> started{0}, ended{0}, woken{0};
  std::atomic<std::size_t> written{0};

  Handler handler() {
    return [this](const HttpRequest& request, Reply& reply) {
      ++started;
      reply.on_gone([this] { ++woken; });
      if (request.path == "/plain") {
        while (!reply.gone()) std::this_thread::sleep_for(milliseconds(1));
      } else if (request.path == "/stream") {
        reply.begin(200, kEventStreamType);
        while (reply.write("data: x\n\n")) std::this_thread::sleep_for(milliseconds(5));
      } else if (request.path == "/quiet-stream") {
        reply.begin(200, kEventStreamType);
        reply.write("data: x\n\n");
        while (!reply.gone()) std::this_thread::sleep_for(milliseconds(1));
      } else if (request.path == "/flood") {
        reply.begin(200, "text/plain");
        const std::string block(10'000, 'x');
        while (reply.write(block)) written += block.size();
      } else if (request.path == "/soon") {
        for (int i = 0; i < 300 && !reply.gone(); ++i) std::this_thread::sleep_for(milliseconds(1));
        if (!reply.gone()) reply.send(200, "text/plain", "done");
      } else {
        reply.send(200, "text/plain", "hello");
      }
      ++ended;
    };
  }
  bool all_ended_within(int ms) const {
    const auto start = Clock::now();
    while (ended < started || started == 0) {
      if (milliseconds_since(start) > ms) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }
  bool one_started() const {
    for (int i = 0; i < 2000 && started == 0; ++i) std::this_thread::sleep_for(milliseconds(1));
    return started > 0;
  }
};

enum class Leave { kClose, kReset, kHalf };

TEST(HttpGone, IsSeenWithinATenthOfASecondHoweverTheClientLeaves) {
  for (const char* path : {"/plain", "/stream", "/quiet-stream"}) {
    for (const Leave leave : {Leave::kClose, Leave::kReset, Leave::kHalf}) {
      Notes notes;
      TestServer server(ServerOptions(), notes.handler());
      RawClient client(server.port());
      client.send(get(path));
      ASSERT_TRUE(notes.one_started());
      std::this_thread::sleep_for(milliseconds(30));
      EXPECT_EQ(notes.ended, 0);
      if (leave == Leave::kClose) client.close();
      if (leave == Leave::kReset) client.reset();
      if (leave == Leave::kHalf) client.close_sending();
      EXPECT_TRUE(notes.all_ended_within(100)) << path << " " << static_cast<int>(leave);
      EXPECT_EQ(notes.woken, 1);
    }
  }
}

TEST(HttpGone, IsSeenBehindRequestsThatWereSentAhead) {
  Notes notes;
  TestServer server(ServerOptions(), notes.handler());
  RawClient client(server.port());
  client.send(get("/plain"));
  ASSERT_TRUE(notes.one_started());
  std::string ahead;
  while (ahead.size() < 100'000) ahead += get("/hello");  // The server leaves most of it unread.
  client.send(ahead);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(notes.ended, 0);
  client.close();
  EXPECT_TRUE(notes.all_ended_within(150));
}

TEST(HttpGone, TellsAHandlerThatAsksLater) {
  std::atomic<bool> called{false};
  std::promise<void> asked;
  TestServer server(ServerOptions(), [&](const HttpRequest&, Reply& reply) {
    while (!reply.gone()) std::this_thread::sleep_for(milliseconds(1));
    reply.on_gone([&] { called = true; });
    reply.on_gone({});
    EXPECT_FALSE(reply.write("x"));
    asked.set_value();
  });
  RawClient client(server.port());
  client.send(get("/"));
  std::this_thread::sleep_for(milliseconds(50));
  client.reset();
  asked.get_future().wait();
  EXPECT_TRUE(called);
}

TEST(HttpGone, AReplyToAHalfClosedClientIsStillSentIfItIsThere) {
  Notes notes;
  TestServer server(ServerOptions(), notes.handler());
  RawClient client(server.port());
  client.send(get("/hello"));
  client.close_sending();
  EXPECT_EQ(client.receive().body, "hello");
  EXPECT_TRUE(client.closed_within(500));
}

TEST(HttpGone, AWriterWaitsForAClientThatDoesNotRead) {
  Notes notes;
  ServerOptions options;
  options.write_timeout_ms = 500;
  TestServer server(options, notes.handler());
  RawClient client(server.port(), 4096);
  client.send(get("/flood"));
  ASSERT_TRUE(notes.one_started());
  std::this_thread::sleep_for(milliseconds(200));
  const std::size_t stuck_at = notes.written;
  EXPECT_GT(stuck_at, 256u << 10);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(notes.written, stuck_at);
  EXPECT_EQ(notes.ended, 0);
  EXPECT_TRUE(notes.all_ended_within(1000));  // write_timeout_ms is over: the connection is closed.
  EXPECT_TRUE(client.closed_within(1000));
}

TEST(HttpGone, AClientThatReadsSlowlyIsKept) {
  Notes notes;
  ServerOptions options;
  options.write_timeout_ms = 700;
  TestServer server(options, notes.handler());
  RawClient client(server.port(), 4096);
  client.send(get("/flood"));
  const auto start = Clock::now();
  std::size_t read = 0;
  while (milliseconds_since(start) < 2500) {
    read += client.receive_some(100).size();
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_GT(read, 0u);
  EXPECT_LT(read, 1u << 20);  // Less than the system holds for it: the server itself has sent nothing for long.
  EXPECT_EQ(notes.ended, 0);
}

TEST(HttpStop, LetsRequestsFinishWithinTheGraceAndTakesNoMore) {
  Notes notes;
  ServerOptions options;
  options.grace_ms = 3000;
  TestServer server(options, notes.handler());
  RawClient running(server.port()), idle(server.port());
  EXPECT_EQ(idle.ask(get("/hello")).status, 200);
  running.send(get("/soon"));
  std::this_thread::sleep_for(milliseconds(50));
  const auto start = Clock::now();
  server.server().stop();
  EXPECT_TRUE(idle.closed_within(200));
  const RawResponse response = running.receive();
  EXPECT_EQ(response.body, "done");
  EXPECT_TRUE(response.has("Connection: close"));
  running.close();
  server.join();
  EXPECT_LE(milliseconds_since(start), 1000);
}

TEST(HttpStop, CancelsWhatRunsAfterTheGrace) {
  Notes notes;
  ServerOptions options;
  options.grace_ms = 300;
  TestServer server(options, notes.handler());
  RawClient stream(server.port()), plain(server.port()), half(server.port());
  stream.send(get("/stream"));
  plain.send(get("/plain"));
  half.send("POST /hello HTTP/1.1\r\nHost: lo");
  std::this_thread::sleep_for(milliseconds(100));
  const auto start = Clock::now();
  server.server().stop();
  server.join();
  EXPECT_GE(milliseconds_since(start), 290);
  EXPECT_LE(milliseconds_since(start), 800);
  EXPECT_EQ(notes.ended, 2);
  EXPECT_EQ(notes.woken, 2);
  EXPECT_FALSE(stream.receive().whole);  // Cut off, and the client can tell.
}

TEST(HttpStop, CancelsAtOnceWhenAskedTwice) {
  Notes notes;
  ServerOptions options;
  options.grace_ms = 60'000;
  TestServer server(options, notes.handler());
  RawClient client(server.port());
  client.send(get("/stream"));
  ASSERT_TRUE(notes.one_started());
  const auto start = Clock::now();
  server.server().stop();
  server.server().stop();
  server.join();
  EXPECT_LE(milliseconds_since(start), 500);
}

TEST(HttpStop, EndsAServerThatNobodyAsked) {
  ServerOptions options;
  options.port = 0;
  Result<Server> server = Server::open(options, [](const HttpRequest&, Reply&) {});
  ASSERT_TRUE(server.has_value());
  server->stop();
  server->run();
}

TEST(HttpThreads, ServesManyClientsAtOnce) {
  Notes notes;
  TestServer server(ServerOptions(), notes.handler());
  std::atomic<int> good{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 32; ++i) {
    clients.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j) {
        RawClient client(server.port());
        if (i % 4 == 0) {  // Leaves in the middle.
          client.send(get("/stream"));
          client.receive_some();
          if (j % 2 == 0) client.reset();
          ++good;
          continue;
        }
        if (client.ask(get("/hello")).body == "hello" && client.ask(get("/hello")).body == "hello") ++good;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(good, 32 * 20);
  EXPECT_TRUE(notes.all_ended_within(500));
}

}  // namespace
}  // namespace plait::test
