// PMIx: Open MPI's mpirun.
#ifdef SHORTCUT_PMIX

#include <dlfcn.h>
#include <fmt/format.h>
#include <pmix.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

#include "collective/launcher_store.hpp"

namespace shortcut::collective {
namespace {

constexpr char kKey[] = "shortcut.census";

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

class PmixStore final : public LauncherStore {
 public:
  /// Of a loaded and initialised PMIx.
  PmixStore(const Pmix& pmix, const pmix_proc_t& self) : pmix_(pmix), self_(self) {}
  ~PmixStore() override { pmix_.finalize(nullptr, 0); }  // ours only: PMIx counts

  bool put(std::uint32_t mark) override {
    pmix_value_t value{};
    value.type = PMIX_UINT32;
    value.data.uint32 = mark;
    return pmix_.put(PMIX_GLOBAL, kKey, &value) == PMIX_SUCCESS && pmix_.commit() == PMIX_SUCCESS;
  }

  std::optional<std::uint32_t> get(int rank) override {
    pmix_proc_t proc = self_;
    proc.rank = static_cast<pmix_rank_t>(rank);
    // By hand: the macros for it call functions of the library.
    pmix_info_t only_what_is_there{};
    std::strncpy(only_what_is_there.key, PMIX_IMMEDIATE, PMIX_MAX_KEYLEN);
    only_what_is_there.value.type = PMIX_BOOL;
    only_what_is_there.value.data.flag = true;
    pmix_value_t* value = nullptr;
    if (pmix_.get(&proc, kKey, &only_what_is_there, 1, &value) != PMIX_SUCCESS ||
        value == nullptr) {
      return 0;
    }
    const std::uint32_t mark = value->type == PMIX_UINT32 ? value->data.uint32 : 0;
    std::free(value);  // an integer: nothing hangs on it
    return mark;
  }

 private:
  Pmix pmix_;
  pmix_proc_t self_;
};

/// Was this process started by a launcher with the PMIx that we know the data structures of? An
/// Open MPI with a PMIx of its own inside has another version there, and a second client library
/// beside it would disturb it.
bool launcher_has_our_pmix() {
  const char* version = std::getenv("PMIX_VERSION");
  if (std::getenv("PMIX_NAMESPACE") == nullptr || version == nullptr) return false;
  return std::string_view(version).starts_with(
      fmt::format("{}.{}.", PMIX_VERSION_MAJOR, PMIX_VERSION_MINOR));
}

}  // namespace

std::unique_ptr<LauncherStore> open_launcher_store() {
  Pmix pmix;
  pmix_proc_t self{};
  if (!launcher_has_our_pmix() || !pmix.load()) return nullptr;
  if (pmix.init(&self, nullptr, 0) != PMIX_SUCCESS) return nullptr;
  return std::make_unique<PmixStore>(pmix, self);
}

}  // namespace shortcut::collective

#endif
