// POST /v1/responses: what a request asks for, and the object that answers it.
#pragma once

#include <optional>
#include <string>

#include "server/fields.h"
#include "server/generate.h"
#include "server/openai.h"
#include "server/response_store.h"

namespace plait {

struct ResponseAsk {
  Request request;
  bool stream = false;
  bool store = true;
  bool logprobs = false;
  Json messages = Json::array();  // The conversation without instructions; the answer is to be added.
  Json settings;                  // Members of the response object that repeat the request.
};

// Reads the fields; `store` has what previous_response_id may name.
ResponseAsk read_response(Fields& fields, const ModelInfo& model, ResponseStore& store);

// A list of items, or a text, as messages for a template, added to `messages`.
void add_input(Fields& fields, Json& messages);

}  // namespace plait
