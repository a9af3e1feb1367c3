#include "collective/census.hpp"

#ifdef SHORTCUT_PMIX

#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>
#include <pmix.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "collective/identity.hpp"
#include "config/load.hpp"

namespace shortcut::collective::census {
namespace {

constexpr char kKey[] = "shortcut.census";
constexpr std::uint32_t kAbsent = 0;
constexpr std::uint32_t kOn = 1;
constexpr std::uint32_t kOff = 2;

/// The functions of PMIx, from the library that MPI itself will use; not linked, since only a rank
/// that a launcher started needs it.
struct Pmix {
  decltype(&PMIx_Init) init = nullptr;
  decltype(&PMIx_Put) put = nullptr;
  decltype(&PMIx_Commit) commit = nullptr;
  decltype(&PMIx_Get) get = nullptr;
  decltype(&PMIx_Finalize) finalize = nullptr;

  bool load() {
    void* library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    const auto find = [library](auto& function, const char* name) {
      function =
          reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    return find(init, "PMIx_Init") && find(put, "PMIx_Put") && find(commit, "PMIx_Commit") &&
           find(get, "PMIx_Get") && find(finalize, "PMIx_Finalize");
  }
};

struct State {
  Pmix pmix;
  pmix_proc_t self{};
  bool announced = false;
  bool speaks = true;
  Result result = Result::unknown;
};

State& state() {
  static State instance;
  return instance;
}

/// Was this process started by a launcher with the PMIx that we know the data structures of? An
/// Open MPI with a PMIx of its own inside has another version there, and a second client library
/// beside it would disturb it.
bool launcher_has_our_pmix() {
  const char* version = std::getenv("PMIX_VERSION");
  if (std::getenv("PMIX_NAMESPACE") == nullptr || version == nullptr) return false;
  return std::string_view(version).starts_with(
      fmt::format("{}.{}.", PMIX_VERSION_MAJOR, PMIX_VERSION_MINOR));
}

std::uint32_t mark_of(const State& own, int rank) {
  pmix_proc_t proc = own.self;
  proc.rank = static_cast<pmix_rank_t>(rank);
  // By hand: the macros for it call functions of the library.
  pmix_info_t only_what_is_there{};
  std::strncpy(only_what_is_there.key, PMIX_IMMEDIATE, PMIX_MAX_KEYLEN);
  only_what_is_there.value.type = PMIX_BOOL;
  only_what_is_there.value.data.flag = true;
  pmix_value_t* value = nullptr;
  if (own.pmix.get(&proc, kKey, &only_what_is_there, 1, &value) != PMIX_SUCCESS ||
      value == nullptr) {
    return kAbsent;
  }
  const std::uint32_t mark = value->type == PMIX_UINT32 ? value->data.uint32 : kAbsent;
  std::free(value);  // an integer: nothing hangs on it
  return mark;
}

}  // namespace

void announce() {
  State& own = state();
  if (own.announced || !launcher_has_our_pmix() || !running_mpi_is_ours() || !own.pmix.load()) {
    return;
  }
  const config::Settings settings = config::load_from_process().settings;
  own.speaks = settings.log >= config::Log::warn;
  if (own.pmix.init(&own.self, nullptr, 0) != PMIX_SUCCESS) return;
  pmix_value_t mark{};
  mark.type = PMIX_UINT32;
  mark.data.uint32 = settings.disable ? kOff : kOn;
  own.announced =
      own.pmix.put(PMIX_GLOBAL, kKey, &mark) == PMIX_SUCCESS && own.pmix.commit() == PMIX_SUCCESS;
}

void take() {
  State& own = state();
  if (!own.announced || own.result != Result::unknown) return;
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<std::uint32_t> marks;
  for (int r = 0; r < ranks; ++r) marks.push_back(mark_of(own, r));
  own.pmix.finalize(nullptr, 0);  // ours only: PMIx counts
  const auto first = [&](auto condition) {
    return std::find_if(marks.begin(), marks.end(), condition) - marks.begin();
  };
  const auto absent = first([](std::uint32_t mark) { return mark == kAbsent; });
  const auto off = first([](std::uint32_t mark) { return mark == kOff; });
  const auto on = first([](std::uint32_t mark) { return mark == kOn; });
  own.result = absent < ranks ? Result::mixed : off < ranks ? Result::disabled : Result::all;
  // Who has it on speaks; where nobody has, all is as was asked for.
  if (!own.speaks || own.result == Result::all || rank != on) return;
  std::fputs(absent < ranks
                 ? fmt::format("shortcut: rank {} runs without Shortcut, so every call of every "
                               "rank goes to the MPI library\n",
                               absent)
                       .c_str()
                 : fmt::format("shortcut: SHORTCUT_DISABLE is set on rank {}, so every call of "
                               "every rank goes to the MPI library\n",
                               off)
                       .c_str(),
             stderr);
}

Result result() { return state().result; }

}  // namespace shortcut::collective::census

#else

namespace shortcut::collective::census {

void announce() {}
void take() {}
Result result() { return Result::unknown; }

}  // namespace shortcut::collective::census

#endif
