// PreTokenizer: cuts a text into the pieces within which tokens are merged.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plait/result.h"
#include "text/pre_tables.h"
#include "text/regex.h"

namespace plait {

class PreTokenizer {
 public:
  // Fails on a name it does not know, and names those it does.
  static Result<PreTokenizer> make(std::string_view name);

  // The pieces of `text`, views into it: joined they are the text, and none is empty. The text must be as repair_utf8()
  // leaves it. Time is linear; any thread may call it.
  Result<std::vector<std::string_view>> split(std::string_view text) const;

  const PreName& name() const { return *name_; }
  const PreFamily& family() const { return *family_; }

 private:
  PreTokenizer(const PreName* name, const PreFamily* family) : name_(name), family_(family) {}
  const PreName* name_;
  const PreFamily* family_;
  std::vector<Regex> patterns_;  // One for each step that is a pattern.
};

}  // namespace plait
