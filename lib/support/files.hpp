// Whole files, small ones.
#pragma once

#include <string>

#include "support/result.hpp"

namespace shortcut {

/// The text of a regular file. The error names it and says why.
Result<std::string> read_text_file(const std::string& path);

}  // namespace shortcut
