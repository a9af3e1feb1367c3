// PMI-1, the protocol between MPICH's launcher (Hydra) and the processes that it starts: lines of
// text on a socket, "cmd=... key=value ...", each answered by one line. The socket's number is in
// PMI_FD. MPICH speaks it inside MPI_Init, so before and after that the line is free.
#include <fmt/format.h>
#include <mpi.h>

#ifdef MPICH_VERSION

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "collective/launcher_store.hpp"

namespace shortcut::collective {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kPatience{10};
constexpr std::size_t kLongestLine = 4096;

/// The value of " key=value" in a line of the protocol.
std::optional<std::string> field(std::string_view line, std::string_view key) {
  const std::string start = fmt::format(" {}=", key);
  const std::size_t at = line.find(start);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + start.size());
  return std::string(rest.substr(0, rest.find(' ')));
}

class PmiStore final : public LauncherStore {
 public:
  explicit PmiStore(int socket) : socket_(socket) {}

  bool put(std::uint32_t mark) override {
    // MPICH says the same again in MPI_Init; Hydra answers it as often as it is asked.
    const auto hello = ask("cmd=init pmi_version=1 pmi_subversion=1\n");
    if (!hello || field(*hello, "rc") != "0" || !know_space()) return false;
    const auto answer =
        ask(fmt::format("cmd=put kvsname={} key={} value={}\n", space_, key_of(own_rank()), mark));
    return answer && field(*answer, "rc") == "0";
  }

  std::optional<std::uint32_t> get(int rank) override {
    if (!know_space()) return std::nullopt;
    const auto answer = ask(fmt::format("cmd=get kvsname={} key={}\n", space_, key_of(rank)));
    if (!answer) return std::nullopt;
    if (field(*answer, "rc") != "0") return 0;
    return static_cast<std::uint32_t>(std::atoi(field(*answer, "value").value_or("0").c_str()));
  }

 private:
  static std::string key_of(int rank) { return fmt::format("shortcut-census-{}", rank); }
  static int own_rank() { return std::atoi(std::getenv("PMI_RANK")); }

  bool know_space() {
    if (!space_.empty()) return true;
    const auto answer = ask("cmd=get_my_kvsname\n");
    if (answer) space_ = field(*answer, "kvsname").value_or("");
    return !space_.empty();
  }

  /// One line there, one line back. After a failure nothing is said any more.
  std::optional<std::string> ask(const std::string& line) {
    if (broken_) return std::nullopt;
    const Clock::time_point end = Clock::now() + kPatience;
    for (std::size_t sent = 0; sent < line.size();) {
      if (!ready(POLLOUT, end)) return fail();
      const ssize_t now = write(socket_, line.data() + sent, line.size() - sent);
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) return fail();
      sent += static_cast<std::size_t>(now);
    }
    std::string answer;
    while (answer.size() < kLongestLine) {
      char next = 0;
      if (!ready(POLLIN, end)) return fail();
      const ssize_t now = read(socket_, &next, 1);
      if (now < 0 && errno == EINTR) continue;
      if (now <= 0) return fail();
      if (next == '\n') return answer;
      answer += next;
    }
    return fail();
  }

  bool ready(short events, Clock::time_point end) const {
    pollfd one{.fd = socket_, .events = events, .revents = 0};
    for (;;) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
      if (left.count() <= 0) return false;
      const int found = poll(&one, 1, static_cast<int>(left.count()));
      if (found >= 0 || errno != EINTR) return found == 1;  // a signal of the program's: go on
    }
  }

  std::nullopt_t fail() {
    broken_ = true;
    return std::nullopt;
  }

  int socket_;
  std::string space_;
  bool broken_ = false;
};

}  // namespace

std::unique_ptr<LauncherStore> open_launcher_store() {
  // MPI_LOCALNRANKS is Hydra's. Slurm sets PMI_FD for PMI-2, which is another protocol.
  const char* socket = std::getenv("PMI_FD");
  if (socket == nullptr || std::getenv("PMI_RANK") == nullptr ||
      std::getenv("MPI_LOCALNRANKS") == nullptr) {
    return nullptr;
  }
  return std::make_unique<PmiStore>(std::atoi(socket));
}

}  // namespace shortcut::collective

#elif !defined(SHORTCUT_PMIX)

#include "collective/launcher_store.hpp"

namespace shortcut::collective {

std::unique_ptr<LauncherStore> open_launcher_store() { return nullptr; }

}  // namespace shortcut::collective

#endif
