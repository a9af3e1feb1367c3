#include "collective/census.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <vector>

#include "collective/identity.hpp"
#include "collective/launcher_store.hpp"
#include "config/load.hpp"

namespace shortcut::collective::census {
namespace {

constexpr std::uint32_t kAbsent = 0;
constexpr std::uint32_t kOn = 1;
constexpr std::uint32_t kOff = 2;

struct State {
  std::unique_ptr<LauncherStore> store;
  std::once_flag announced;
  std::once_flag taken;
  Result result = Result::unknown;
};

State& state() {
  static State instance;
  return instance;
}

/// Who has it on speaks; where nobody has, all is as was asked for.
void warn(std::ptrdiff_t absent, std::ptrdiff_t off, std::ptrdiff_t ranks) {
  if (config::load_from_process().settings.log < config::Log::warn) return;
  const std::string text = absent < ranks
                               ? fmt::format("shortcut: rank {} runs without Shortcut", absent)
                               : fmt::format("shortcut: SHORTCUT_DISABLE is set on rank {}", off);
  std::fputs((text + ", so every call of every rank goes to the MPI library\n").c_str(), stderr);
}

Result look(LauncherStore& store) {
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<std::uint32_t> marks;
  for (int r = 0; r < ranks; ++r) {
    const auto mark = store.get(r);
    if (!mark) return Result::unknown;  // silence says nothing of the others
    marks.push_back(*mark);
  }
  const auto first = [&](auto condition) {
    return std::find_if(marks.begin(), marks.end(), condition) - marks.begin();
  };
  const auto absent = first([](std::uint32_t mark) { return mark == kAbsent; });
  const auto off = first([](std::uint32_t mark) { return mark == kOff; });
  const auto on = first([](std::uint32_t mark) { return mark == kOn; });
  if (absent == ranks && off == ranks) return Result::all;
  if (on == ranks && off == ranks) return Result::unknown;
  if (rank == on) warn(absent, off, ranks);
  return absent < ranks ? Result::mixed : Result::disabled;
}

}  // namespace

void announce() {
  State& own = state();
  std::call_once(own.announced, [&own] {
    if (!running_mpi_is_ours()) return;
    own.store = open_launcher_store();
    if (own.store == nullptr) return;
    own.store->put(config::load_from_process().settings.disable ? kOff : kOn);
  });
}

void take() {
  State& own = state();
  std::call_once(own.taken, [&own] {
    std::call_once(own.announced, [&own] { own.store = open_launcher_store(); });
    if (own.store == nullptr) return;
    own.result = look(*own.store);
    own.store.reset();
  });
}

Result result() {
  take();
  return state().result;
}

}  // namespace shortcut::collective::census
