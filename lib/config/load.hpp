#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/settings.hpp"

namespace shortcut::config {

struct Loaded {
  Settings settings;
  /// One per thing that was not understood: where it stood, its value and what is allowed.
  std::vector<std::string> warnings;
};

using Environment = std::map<std::string, std::string>;

/// The variables of a process, from `environ` (a null-terminated list of "NAME=value").
Environment environment_from(const char* const* environ_list);

/// Settings from the defaults, then the TOML file that SHORTCUT_CONFIG names, then the variables
/// SHORTCUT_<KNOB>. Never fails: a value that cannot be used leaves the knob as it was and adds
/// one warning. Unknown SHORTCUT_* variables and unknown keys warn with the nearest name, except
/// SHORTCUT_PRELOAD_*, SHORTCUT_TEST_* and other prefixes of our own programs.
Loaded load(const Environment& environment);

/// The same with this process's environment.
Loaded load_from_process();

}  // namespace shortcut::config
