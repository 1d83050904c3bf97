// What the files of Ollama's dialect share.
#pragma once

#include <chrono>
#include <string>

#include "server/fields.h"
#include "server/service.h"

namespace plait {

// "2026-01-02T03:04:05.678901Z"
std::string ollama_time(std::chrono::system_clock::time_point time);

void add_ollama_model_routes(Router& router, Service& service);      // /api/tags, /api/show, /api/ps, /api/version
void add_ollama_answer_routes(Router& router, Service& service);     // /api/chat, /api/generate
void add_ollama_embedding_routes(Router& router, Service& service);  // /api/embed, /api/embeddings

}  // namespace plait
