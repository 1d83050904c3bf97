// The page's files: their headers, their types, and tags that spare sending them again.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "server/page_files.h"
#include "server/served.h"

namespace plait {
namespace {

std::string path_of(const PageFile& file) {
  return file.name == "index.html" ? "/" : "/page/" + std::string(file.name);
}

class PageRoutes {
 public:
  void get(test::FakeReply& reply, const std::string& path, const std::string& if_none_match = {}) const {
    HttpRequest request{.method = "GET", .path = path, .query = {}, .headers = {}, .body = {}};
    if (!if_none_match.empty()) request.headers.emplace_back("if-none-match", if_none_match);
    served_.router.handle(request, reply);
  }

 private:
  test::Served served_{test::Talk{{" yes"}}, add_page_routes};
};

TEST(Page, IsServedAtTheRootAndItsFilesBelowPage) {
  const PageRoutes routes;
  test::FakeReply root, script, style, none;
  routes.get(root, "/");
  routes.get(script, "/page/main.js");
  routes.get(style, "/page/style.css");
  routes.get(none, "/page/none.js");
  EXPECT_EQ(root.status, 200);
  EXPECT_EQ(root.content_type, "text/html; charset=utf-8");
  EXPECT_NE(root.body.find("<title>plait</title>"), std::string::npos);
  EXPECT_EQ(script.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(style.content_type, "text/css; charset=utf-8");
  EXPECT_EQ(none.status, 404);
}

TEST(Page, HoldsEachFileByteForByte) {
  const PageRoutes routes;
  ASSERT_FALSE(page_files().empty());
  for (const PageFile& file : page_files()) {
    test::FakeReply reply;
    routes.get(reply, path_of(file));
    std::ifstream in(std::string(PLAIT_SOURCE_DIR) + "/src/server/page/" + std::string(file.name), std::ios::binary);
    std::stringstream whole;
    whole << in.rdbuf();
    EXPECT_EQ(reply.body, whole.str()) << file.name;
  }
}

TEST(Page, LetsNothingRunButItsOwnScripts) {
  const PageRoutes routes;
  for (const PageFile& file : page_files()) {
    test::FakeReply reply;
    routes.get(reply, path_of(file));
    const std::string policy = reply.headers["Content-Security-Policy"];
    for (const char* rule : {"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
                             "img-src data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"}) {
      EXPECT_NE(policy.find(rule), std::string::npos) << rule;
    }
    EXPECT_EQ(policy.find("unsafe"), std::string::npos);
    EXPECT_EQ(reply.headers["Referrer-Policy"], "no-referrer");
  }
}

TEST(Page, HasNoAddressOutsideItself) {
  for (const PageFile& file : page_files()) {
    const std::string text(file.bytes.begin(), file.bytes.end());
    for (const char* mark : {"src=\"http", "src=\"//", "href=\"http", "href=\"//", "@import", "url(http", "url(//",
                             "innerHTML", "localhost", "127.0.0.1"}) {
      EXPECT_EQ(text.find(mark), std::string::npos) << file.name << " has " << mark;
    }
  }
}

TEST(Page, IsNotSentAgainToWhoHasIt) {
  const PageRoutes routes;
  test::FakeReply first;
  routes.get(first, "/");
  const std::string etag = first.headers["ETag"];
  ASSERT_GT(etag.size(), 2u);
  EXPECT_EQ(etag.front(), '"');
  EXPECT_EQ(etag.back(), '"');
  EXPECT_EQ(first.headers["Cache-Control"], "no-cache");
  for (const std::string& list : {etag, "W/" + etag, "\"other\", " + etag, std::string("*")}) {
    test::FakeReply again;
    routes.get(again, "/", list);
    EXPECT_EQ(again.status, 304) << list;
    EXPECT_TRUE(again.body.empty());
    EXPECT_EQ(again.headers["ETag"], etag);
  }
  for (const std::string& list : {std::string("\"other\""), etag.substr(1), std::string("W/"), std::string(",,")}) {
    test::FakeReply again;
    routes.get(again, "/", list);
    EXPECT_EQ(again.status, 200) << list;
  }
}

TEST(Page, GivesEachFileATagOfItsOwn) {
  std::vector<std::string_view> tags;
  for (const PageFile& file : page_files()) tags.push_back(file.etag);
  std::sort(tags.begin(), tags.end());
  EXPECT_EQ(std::adjacent_find(tags.begin(), tags.end()), tags.end());
}

}  // namespace
}  // namespace plait
