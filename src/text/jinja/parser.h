// The parser: tokens to a syntax tree, by recursive descent with a limit on depth.
#pragma once

#include "text/jinja/ast.h"
#include "text/jinja/lexer.h"

namespace plait::jinja {

struct ParseContext {
  Heap& heap;  // Owns the constants of the tree.
  Names& names;
  int depth;  // Nesting of expressions, and of blocks.
};

// False after an error. The tree must go before the heap.
bool parse(const std::vector<Token>& tokens, const ParseContext& context, Body& body, Failure& failure);

}  // namespace plait::jinja
