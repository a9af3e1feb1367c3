#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shortcut {

/// The candidate with the smallest edit distance (insert, delete, replace, swap of neighbours) to
/// `name`, the first of several; empty if none is close enough to be a likely misspelling (more
/// than a third of the longer text differs, and more than 2 characters, of short texts 1).
std::string nearest_name(std::string_view name, std::span<const std::string_view> candidates);
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

}  // namespace shortcut
