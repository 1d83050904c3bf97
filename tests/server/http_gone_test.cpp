// The server over real sockets: clients that leave or do not read, and a server that ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "server/raw_client.h"

namespace plait::test {
namespace {

using std::chrono::milliseconds;

// Handlers that note when their client leaves, and end once they have been woken.
struct Notes {
  std::atomic<int> started{0}, ended{0}, woken{0};
  std::atomic<std::size_t> written{0};

  Handler handler() {
    return [this](const HttpRequest& request, Reply& reply) {
      ++started;
      std::atomic<bool> awake{false};
      reply.on_gone([&] {
        ++woken;
        awake = true;
      });
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
      if (reply.gone()) comes_true([&] { return awake.load(); });
      reply.on_gone({});
      ++ended;
    };
  }
  bool all_end() const {
    return comes_true([&] { return started > 0 && ended == started; });
  }
  bool have_started(int count) const {
    return comes_true([&] { return started >= count; });
  }
};

enum class Leave { kClose, kReset, kHalf };

TEST(HttpGone, IsSeenHoweverTheClientLeaves) {
  for (const char* path : {"/plain", "/stream", "/quiet-stream"}) {
    for (const Leave leave : {Leave::kClose, Leave::kReset, Leave::kHalf}) {
      Notes notes;
      TestServer server(ServerOptions(), notes.handler());
      RawClient client(server.port());
      client.send(get(path));
      ASSERT_TRUE(notes.have_started(1));
      std::this_thread::sleep_for(milliseconds(30));
      EXPECT_EQ(notes.ended, 0);
      if (leave == Leave::kClose) client.close();
      if (leave == Leave::kReset) client.reset();
      if (leave == Leave::kHalf) client.close_sending();
      EXPECT_TRUE(notes.all_end()) << path << " " << static_cast<int>(leave);
      EXPECT_EQ(notes.woken, 1);
    }
  }
}

TEST(HttpGone, IsSeenBehindRequestsThatWereSentAhead) {
  Notes notes;
  TestServer server(ServerOptions(), notes.handler());
  RawClient client(server.port());
  client.send(get("/plain"));
  ASSERT_TRUE(notes.have_started(1));
  std::string ahead;
  while (ahead.size() < 100'000) ahead += get("/hello");  // The server leaves most of it unread.
  client.send(ahead);
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(notes.ended, 0);
  client.close();
  EXPECT_TRUE(notes.all_end());
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
  EXPECT_TRUE(client.closed_within());
}

TEST(HttpGone, AWriterWaitsForAClientThatDoesNotRead) {
  Notes notes;
  TestServer server(ServerOptions(), notes.handler());
  RawClient client(server.port(), 4096);
  client.send(get("/flood"));
  const auto stands_still = [&] {
    const std::size_t before = notes.written;
    std::this_thread::sleep_for(milliseconds(200));
    return before > 256u << 10 && notes.written == before;
  };
  EXPECT_TRUE(comes_true(stands_still));
  EXPECT_EQ(notes.ended, 0);
  client.close();
  EXPECT_TRUE(notes.all_end());
}

TEST(HttpGone, IsAClientThatReadsNothingForTooLong) {
  Notes notes;
  ServerOptions options;
  options.write_timeout_ms = 300;
  TestServer server(options, notes.handler());
  RawClient client(server.port(), 4096);
  client.send(get("/flood"));
  EXPECT_TRUE(notes.all_end());
  EXPECT_TRUE(client.closed_within());
}

TEST(HttpGone, AClientThatReadsSlowlyIsKept) {
  Notes notes;
  ServerOptions options;
  options.write_timeout_ms = 700;
  TestServer server(options, notes.handler());
  RawClient client(server.port(), 4096);
  client.send(get("/flood"));
  std::size_t read = 0;
  int longest_pause = 0;
  auto last = Clock::now();
  for (const auto start = last; milliseconds_since(start) < 2500;) {
    read += client.receive_some(100).size();
    std::this_thread::sleep_for(milliseconds(20));
    longest_pause = std::max(longest_pause, milliseconds_since(last));
    last = Clock::now();
  }
  if (longest_pause > options.write_timeout_ms / 2) GTEST_SKIP() << "the machine is too slow for a client to be quick";
  EXPECT_GT(read, 0u);
  EXPECT_LT(read, 1u << 20);  // Less than the system holds for it: the server itself has sent nothing for long.
  EXPECT_EQ(notes.ended, 0);
}

TEST(HttpStop, LetsRequestsFinishWithinTheGraceAndTakesNoMore) {
  Notes notes;
  ServerOptions options;
  options.grace_ms = 60'000;
  TestServer server(options, notes.handler());
  RawClient running(server.port()), idle(server.port());
  EXPECT_EQ(idle.ask(get("/hello")).status, 200);
  running.send(get("/soon"));
  ASSERT_TRUE(notes.have_started(2));
  const auto start = Clock::now();
  server.server().stop();
  EXPECT_TRUE(idle.closed_within());
  const RawResponse response = running.receive();
  EXPECT_EQ(response.body, "done");
  EXPECT_TRUE(response.has("Connection: close"));
  running.close();
  server.join();
  EXPECT_LE(milliseconds_since(start), options.grace_ms / 2);
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
  ASSERT_TRUE(notes.have_started(2));
  const auto start = Clock::now();
  server.server().stop();
  server.join();
  EXPECT_GE(milliseconds_since(start), 290);
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
  ASSERT_TRUE(notes.have_started(1));
  const auto start = Clock::now();
  server.server().stop();
  server.server().stop();
  server.join();
  EXPECT_LE(milliseconds_since(start), options.grace_ms / 2);
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
  EXPECT_TRUE(notes.all_end());
}

}  // namespace
}  // namespace plait::test
