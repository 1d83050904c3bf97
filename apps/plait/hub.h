// The Hugging Face hub: where a file is asked for, and with which token.
#pragma once

#include <string>

#include "model_list.h"
#include "plait/result.h"

namespace plait {

struct HubAccess {
  std::string endpoint;  // "https://huggingface.co", without a slash at the end.
  std::string token;     // Empty: none.
};

// As the environment says: HF_ENDPOINT; HF_TOKEN, or the file that the hub's own tools keep a token in.
Result<HubAccess> hub_access();

std::string hub_url(const HubAccess& access, const HubFile& file);

}  // namespace plait
