// Byte letters: byte-level BPE writes each byte as one printable character; here is the map and its inverse.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/utf8.h"

namespace plait {

// Printable Latin-1 stands for itself; the other 68 bytes take the code points from 256 on, in order.
inline constexpr std::array<char16_t, 256> kByteLetters = [] {
  std::array<char16_t, 256> letters{};
  char16_t next = 256;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
    letters[static_cast<std::size_t>(byte)] = printable ? static_cast<char16_t>(byte) : next++;
  }
  return letters;
}();

// The byte a code point stands for, or -1. All letters lie below 324.
inline constexpr std::array<std::int16_t, 324> kLetterBytes = [] {
  std::array<std::int16_t, 324> bytes{};
  for (auto& byte : bytes) byte = -1;
  for (int byte = 0; byte < 256; ++byte) bytes[kByteLetters[static_cast<std::size_t>(byte)]] = static_cast<short>(byte);
  return bytes;
}();

inline std::string bytes_to_letters(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() + bytes.size() / 2);
  for (const char byte : bytes) append_utf8(out, kByteLetters[static_cast<unsigned char>(byte)]);
  return out;
}

// Characters that stand for no byte are taken as they are.
inline std::string letters_to_bytes(std::string_view letters) {
  std::string out;
  out.reserve(letters.size());
  for (std::size_t at = 0; at < letters.size();) {
    const DecodedCharacter next = decode_utf8(letters, at);
    const bool known = next.valid && next.value < kLetterBytes.size() && kLetterBytes[next.value] >= 0;
    if (known) {
      out.push_back(static_cast<char>(kLetterBytes[next.value]));
    } else {
      out.append(letters.substr(at, static_cast<std::size_t>(next.length)));
    }
    at += static_cast<std::size_t>(next.length);
  }
  return out;
}

}  // namespace plait
