#include "support/files.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace shortcut {

Result<std::string> read_text_file(const std::string& path) {
  const auto cannot = [&](int code) {
    return Error{fmt::format("cannot read '{}': {}", path, std::strerror(code))};
  };
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return cannot(errno);
  std::string text;
  std::array<char, 4096> piece;
  std::size_t count = 0;
  while ((count = std::fread(piece.data(), 1, piece.size(), file)) > 0) {
    text.append(piece.data(), count);
  }
  const int code = std::ferror(file) != 0 ? errno : 0;  // of a directory
  std::fclose(file);
  if (code != 0) return cannot(code);
  return text;
}

}  // namespace shortcut
