// The date and time that strftime_now() shows.
#pragma once

#include <string>
#include <string_view>

namespace plait::jinja {

// `now` is "YYYY-MM-DDTHH:MM:SS", or empty for the local clock.
std::string format_time(std::string_view format, std::string_view now);
bool is_valid_time(std::string_view now);

}  // namespace plait::jinja
