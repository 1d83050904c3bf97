// What a POST /v1/messages asks for, read and checked.
#pragma once

#include "plait/engine.h"
#include "server/fields.h"

namespace plait {

struct MessagesAsk {
  Request request;  // With messages and sampling.
  bool stream = false;
};

// `counting`: nothing is to be generated, so that max_tokens may be missing.
MessagesAsk read_messages(Fields& fields, const ModelInfo& model, bool counting);

}  // namespace plait
