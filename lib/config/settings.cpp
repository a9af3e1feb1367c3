#include "config/settings.hpp"

#include <cassert>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "support/nearest.hpp"

namespace shortcut::config {
namespace {

/// A row of knobs.def with its type erased.
struct Row {
  std::string_view name;
  std::string_view type;
  std::string_view default_text;
  std::string_view help;
  std::string (*allowed)();
  Status (*parse)(Settings&, std::string_view);
  std::string (*encode)(const Settings&);
  Status (*decode)(Settings&, std::string_view);
  bool (*equal)(const Settings&, const Settings&);
};

template <class T>
Status store(T& member, Result<T> value) {
  if (!value) return value.error();
  member = std::move(value).value();
  return {};
}

template <class Kind, auto Member>
constexpr Row make_row(std::string_view name, std::string_view default_text,
                       std::string_view help) {
  return Row{
      name,
      Kind::kType,
      default_text,
      help,
      &Kind::allowed,
      [](Settings& to, std::string_view text) { return store(to.*Member, Kind::parse(text)); },
      [](const Settings& from) { return Kind::encode(from.*Member); },
      [](Settings& to, std::string_view text) { return store(to.*Member, Kind::decode(text)); },
      [](const Settings& a, const Settings& b) { return a.*Member == b.*Member; },
  };
}

constexpr std::array<Row, kKnobCount> kRows{
#define SHORTCUT_KNOB(name, member, Kind, default_text, help) \
  make_row<Kind, &Settings::member>(#name, default_text, help),
#include "config/knobs.def"
#undef SHORTCUT_KNOB
};

constexpr auto kNames = [] {
  std::array<std::string_view, kKnobCount> names;
  for (std::size_t i = 0; i < kKnobCount; ++i) names[i] = kRows[i].name;
  return names;
}();

std::size_t find_row(std::string_view name) {
  std::size_t row = 0;
  while (row < kKnobCount && kRows[row].name != name) ++row;
  return row;
}

// serialise() writes one line per knob: name, source, value, text, separated by tabs.
std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\\\";
        break;
      case '\n':
        escaped += "\\n";
        break;
      case '\t':
        escaped += "\\t";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    ++i;
    plain += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
  }
  return plain;
}

/// Cuts the text up to `separator` off its front.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return head;
}

}  // namespace

Settings::Settings() {
  for (std::size_t i = 0; i < kKnobCount; ++i) {
    [[maybe_unused]] const Status status = kRows[i].parse(*this, kRows[i].default_text);
    assert(status.ok());
    origin[i] = Origin{Source::default_text, std::string(kRows[i].default_text)};
  }
}

bool operator==(const Settings& left, const Settings& right) {
  for (const Row& row : kRows) {
    if (!row.equal(left, right)) return false;
  }
  return true;
}

Status set(Settings& settings, std::string_view name, std::string_view text, Source source) {
  const std::size_t row = find_row(name);
  if (row == kKnobCount) {
    const std::string nearest = nearest_name(name, kNames);
    const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
    return Error{fmt::format("there is no setting '{}'{}", name, hint)};
  }
  if (Status status = kRows[row].parse(settings, text); !status) return status;
  settings.origin[row] = Origin{source, std::string(text)};
  return {};
}

std::string serialise(const Settings& settings) {
  std::string text;
  for (std::size_t i = 0; i < kKnobCount; ++i) {
    const Origin& origin = settings.origin[i];
    text += fmt::format("{}\t{}\t{}\t{}\n", kRows[i].name, name_of(origin.source),
                        escape(kRows[i].encode(settings)), escape(origin.text));
  }
  return text;
}

Settings deserialise(std::string_view text) {
  Settings settings;
  while (!text.empty()) {
    std::string_view line = take(text, '\n');
    const std::size_t row = find_row(take(line, '\t'));
    const auto source = EnumKind<Source>::parse(take(line, '\t'));
    const std::string value = unescape(take(line, '\t'));
    if (row == kKnobCount || !source || !kRows[row].decode(settings, value)) continue;
    settings.origin[row] = Origin{source.value(), unescape(line)};
  }
  return settings;
}

std::vector<KnobInfo> list_knobs(const Settings& settings) {
  std::vector<KnobInfo> knobs;
  for (std::size_t i = 0; i < kKnobCount; ++i) {
    const Row& row = kRows[i];
    KnobInfo info;
    info.name = row.name;
    info.environment = environment_name(row.name);
    info.type = row.type;
    info.default_text = row.default_text;
    info.allowed = row.allowed();
    info.help = row.help;
    info.value = settings.origin[i].text;
    info.source = settings.origin[i].source;
    knobs.push_back(std::move(info));
  }
  return knobs;
}

std::string environment_name(std::string_view knob_name) {
  std::string name(kEnvironmentPrefix);
  for (const char c : knob_name)
    name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::span<const std::string_view> knob_names() { return kNames; }

}  // namespace shortcut::config
