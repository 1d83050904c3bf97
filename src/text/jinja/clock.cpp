// strftime over a fixed or the local time, in English whatever the locale.
#include "text/jinja/clock.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <ctime>
#include <utility>

namespace plait::jinja {
namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {"January",   "February", "March",    "April",
                                                      "May",       "June",     "July",     "August",
                                                      "September", "October",  "November", "December"};

int digits(std::string_view text, std::size_t at, std::size_t count) {
  int value = 0;
  for (const char c : text.substr(at, count)) value = c >= '0' && c <= '9' ? value * 10 + (c - '0') : -100'000;
  return value;
}

bool parse_time(std::string_view now, std::tm& time) {
  if (now.size() < 19 || now[4] != '-' || now[7] != '-' || (now[10] != 'T' && now[10] != ' ') || now[13] != ':' ||
      now[16] != ':')
    return false;
  time = {};
  time.tm_year = digits(now, 0, 4) - 1900;
  time.tm_mon = digits(now, 5, 2) - 1;
  time.tm_mday = digits(now, 8, 2);
  time.tm_hour = digits(now, 11, 2);
  time.tm_min = digits(now, 14, 2);
  time.tm_sec = digits(now, 17, 2);
  const bool in_range = time.tm_year >= -1899 && time.tm_mon >= 0 && time.tm_mon < 12 && time.tm_mday >= 1 &&
                        time.tm_mday <= 31 && time.tm_hour >= 0 && time.tm_hour < 24 && time.tm_min >= 0 &&
                        time.tm_min < 60 && time.tm_sec >= 0 && time.tm_sec < 62;
  if (!in_range) return false;
  std::tm copy = time;  // timegm computes the day of the week and of the year.
  timegm(&copy);
  time.tm_wday = copy.tm_wday;
  time.tm_yday = copy.tm_yday;
  return true;
}

std::tm time_of(std::string_view now) {
  std::tm time{};
  if (!now.empty() && parse_time(now, time)) return time;
  const std::time_t seconds = std::time(nullptr);
  localtime_r(&seconds, &time);
  return time;
}

// Weeks by ISO 8601: week 1 holds the year's first Thursday.
std::pair<int, int> iso_week(const std::tm& time) {
  const int weekday = (time.tm_wday + 6) % 7;
  int year = time.tm_year + 1900;
  int week = (time.tm_yday - weekday + 10) / 7;
  const auto weeks_in = [](int y) {
    const auto day = [](int of) { return (of + of / 4 - of / 100 + of / 400) % 7; };
    return day(y) == 4 || day(y - 1) == 3 ? 53 : 52;
  };
  if (week < 1) return {year - 1, weeks_in(year - 1)};
  if (week > weeks_in(year)) return {year + 1, 1};
  return {year, week};
}

// A number padded to `width` with zeros (flag '-' none, '_' spaces, '0' zeros instead of spaces).
std::string number(int value, int width, char flag, char pad = '0') {
  if (flag == '-') return std::to_string(value);
  if (flag == '_') pad = ' ';
  if (flag == '0') pad = '0';
  return pad == ' ' ? fmt::format("{:{}}", value, width) : fmt::format("{:0{}}", value, width);
}

// Directives that stand for several fields, and those of weeks. Empty: none of them.
std::string composed(char c, char flag, const std::tm& time);

std::string directive(char c, char flag, const std::tm& time) {
  const int year = time.tm_year + 1900, hour12 = time.tm_hour % 12 == 0 ? 12 : time.tm_hour % 12;
  switch (c) {
    case 'a':
      return std::string(kDays[static_cast<std::size_t>(time.tm_wday)].substr(0, 3));
    case 'A':
      return std::string(kDays[static_cast<std::size_t>(time.tm_wday)]);
    case 'b':
    case 'h':
      return std::string(kMonths[static_cast<std::size_t>(time.tm_mon)].substr(0, 3));
    case 'B':
      return std::string(kMonths[static_cast<std::size_t>(time.tm_mon)]);
    case 'C':
      return number(year / 100, 2, flag);
    case 'd':
      return number(time.tm_mday, 2, flag);
    case 'e':
      return number(time.tm_mday, 2, flag, ' ');
    case 'f':
      return "000000";
    case 'H':
      return number(time.tm_hour, 2, flag);
    case 'I':
      return number(hour12, 2, flag);
    case 'j':
      return number(time.tm_yday + 1, 3, flag);
    case 'k':
      return number(time.tm_hour, 2, flag, ' ');
    case 'l':
      return number(hour12, 2, flag, ' ');
    case 'm':
      return number(time.tm_mon + 1, 2, flag);
    case 'M':
      return number(time.tm_min, 2, flag);
    case 'n':
      return "\n";
    case 'p':
      return time.tm_hour < 12 ? "AM" : "PM";
    case 'P':
      return time.tm_hour < 12 ? "am" : "pm";
    case 'S':
      return number(time.tm_sec, 2, flag);
    case 't':
      return "\t";
    case 'u':
      return std::to_string(time.tm_wday == 0 ? 7 : time.tm_wday);
    case 'w':
      return std::to_string(time.tm_wday);
    case 'y':
      return number(year % 100, 2, flag);
    case 'Y':
      return std::to_string(year);
    case 'z':
    case 'Z':
      return "";  // The time has no zone.
    case '%':
      return "%";
    default: {
      const std::string text = composed(c, flag, time);
      return text.empty() ? fmt::format("%{}", c) : text;
    }
  }
}

std::string composed(char c, char flag, const std::tm& time) {
  const int year = time.tm_year + 1900, hour12 = time.tm_hour % 12 == 0 ? 12 : time.tm_hour % 12;
  switch (c) {
    case 'c':
      return fmt::format("{} {} {:2} {:02}:{:02}:{:02} {}", directive('a', 0, time), directive('b', 0, time),
                         time.tm_mday, time.tm_hour, time.tm_min, time.tm_sec, year);
    case 'D':
    case 'x':
      return fmt::format("{:02}/{:02}/{:02}", time.tm_mon + 1, time.tm_mday, year % 100);
    case 'F':
      return fmt::format("{}-{:02}-{:02}", year, time.tm_mon + 1, time.tm_mday);
    case 'g':
      return number(iso_week(time).first % 100, 2, flag);
    case 'G':
      return std::to_string(iso_week(time).first);
    case 'r':
      return fmt::format("{:02}:{:02}:{:02} {}", hour12, time.tm_min, time.tm_sec, time.tm_hour < 12 ? "AM" : "PM");
    case 'R':
      return fmt::format("{:02}:{:02}", time.tm_hour, time.tm_min);
    case 'T':
    case 'X':
      return fmt::format("{:02}:{:02}:{:02}", time.tm_hour, time.tm_min, time.tm_sec);
    case 'U':
      return number((time.tm_yday + 7 - time.tm_wday) / 7, 2, flag);
    case 'V':
      return number(iso_week(time).second, 2, flag);
    case 'W':
      return number((time.tm_yday + 7 - (time.tm_wday + 6) % 7) / 7, 2, flag);
    default:
      return {};
  }
}

}  // namespace

bool is_valid_time(std::string_view now) {
  std::tm time{};
  return parse_time(now, time);
}

std::string format_time(std::string_view format, std::string_view now) {
  const std::tm time = time_of(now);
  std::string out;
  for (std::size_t i = 0; i < format.size(); ++i) {
    if (format[i] != '%' || i + 1 == format.size()) {
      out += format[i];
      continue;
    }
    char flag = 0;
    if (i + 2 < format.size() && std::string_view("-_0^#").find(format[i + 1]) != std::string_view::npos)
      flag = format[++i];
    std::string text = directive(format[++i], flag, time);
    if (flag == '^') {
      for (char& c : text) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    }
    out += text;
  }
  return out;
}

}  // namespace plait::jinja
