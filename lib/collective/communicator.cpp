#include "collective/communicator.hpp"

#include <fmt/format.h>

#include <mutex>

#include "collective/options.hpp"
#include "support/units.hpp"

namespace shortcut::collective {
namespace {

constexpr int kControlTag = 1;

/// Marks a communicator whose calls belong to PMPI.
char not_ours = 0;

int state_keyval(MPI_Comm_delete_attr_function* on_delete) {
  static int keyval = [on_delete] {
    int made = MPI_KEYVAL_INVALID;
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &made, nullptr);
    return made;
  }();
  return keyval;
}

}  // namespace

double MpiChannel::synchronise(double value) {
  double largest = value;
  MPI_Request request = MPI_REQUEST_NULL;
  PMPI_Iallreduce(&value, &largest, 1, MPI_DOUBLE, MPI_MAX, comm_, &request);
  PMPI_Wait(&request, MPI_STATUS_IGNORE);
  return largest;
}

void MpiChannel::progress() {
  int found = 0;
  PMPI_Iprobe(MPI_ANY_SOURCE, kControlTag, comm_, &found, MPI_STATUS_IGNORE);
}

int MpiChannel::participants() const {
  int ranks = 0;
  PMPI_Comm_size(comm_, &ranks);
  return ranks;
}

Communicator* Communicator::of(MPI_Comm comm, Runtime& runtime) {
  const int keyval = state_keyval(on_delete);
  void* state = nullptr;
  int found = 0;
  if (PMPI_Comm_get_attr(comm, keyval, &state, &found) != MPI_SUCCESS) return nullptr;
  if (found) return state == &not_ours ? nullptr : static_cast<Communicator*>(state);

  int inter = 0;
  int ranks = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &ranks);
  if (inter || ranks < 2) {
    PMPI_Comm_set_attr(comm, keyval, &not_ours);
    return nullptr;
  }
  // Not MPI_Comm_dup: that would call the user's attribute copy functions.
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm traffic = MPI_COMM_NULL;
  PMPI_Comm_group(comm, &group);
  const int code = PMPI_Comm_create(comm, group, &traffic);
  PMPI_Group_free(&group);
  if (code != MPI_SUCCESS || traffic == MPI_COMM_NULL) return nullptr;
  PMPI_Comm_set_errhandler(traffic, MPI_ERRORS_RETURN);
  auto* made = new Communicator(comm, traffic, runtime);
  PMPI_Comm_set_attr(comm, keyval, made);
  return made;
}

int Communicator::on_delete(MPI_Comm, int, void* state, void*) {
  if (state == &not_ours) return MPI_SUCCESS;
  auto* own = static_cast<Communicator*>(state);
  int finalized = 0;
  PMPI_Finalized(&finalized);
  // Past our own end (Runtime::get is null) MPI takes its communicators down itself.
  if (!finalized && Runtime::get() != nullptr) PMPI_Comm_free(&own->traffic_);
  delete own;
  return MPI_SUCCESS;
}

Communicator::Communicator(MPI_Comm, MPI_Comm traffic, Runtime& runtime)
    : traffic_(traffic), channel_(traffic) {
  PMPI_Comm_rank(traffic, &rank_);
  PMPI_Comm_size(traffic, &ranks_);
  publish_settings(runtime);
  std::string warning;
  const planner::Options options = planner_options(settings_, ranks_, warning);
  static std::once_flag warned;
  if (!warning.empty()) std::call_once(warned, [&] { runtime.log(config::Log::warn, warning); });
  selector_ = std::make_unique<planner::Selector>(options, ranks_);
  backend_ = fabric::make_backend(settings_, runtime.may_spin());
  log_tables(runtime);
}

void Communicator::publish_settings(Runtime& runtime) {
  // All ranks must choose alike: rank 0's settings are everyone's.
  std::string text = config::serialise(runtime.settings());
  int length = static_cast<int>(text.size());
  PMPI_Bcast(&length, 1, MPI_INT, 0, traffic_);
  text.resize(static_cast<std::size_t>(length));
  PMPI_Bcast(text.data(), length, MPI_CHAR, 0, traffic_);
  settings_ = config::deserialise(text);
  const int different = settings_ == runtime.settings() ? ranks_ : rank_;
  int first = ranks_;
  PMPI_Allreduce(&different, &first, 1, MPI_INT, MPI_MIN, traffic_);
  static std::once_flag warned;
  if (first < ranks_ && rank_ == 0) {
    std::call_once(warned, [&] {
      runtime.log(
          config::Log::warn,
          fmt::format("rank {} has other SHORTCUT_* settings than rank 0; rank 0's hold", first));
    });
  }
}

void Communicator::log_tables(Runtime& runtime) const {
  if (rank_ != 0 || settings_.log < config::Log::info) return;
  for (const auto collective :
       {schedule::Collective::allreduce, schedule::Collective::reduce_scatter,
        schedule::Collective::allgather}) {
    const auto& table = selector_->table(collective, schedule::Operands::commutative,
                                         topology::CircuitState::ring());
    for (const planner::TableRow& row : table.rows()) {
      runtime.log(config::Log::info,
                  fmt::format("{} ranks, {}, from {:.0f} B: {} ({} reconfigurations)", ranks_,
                              schedule::to_string(collective), row.from_bytes,
                              planner::describe(row.plan), row.plan.reconfigurations));
    }
  }
}

const Program& Communicator::program(const planner::Plan& plan) {
  const auto found = programs_.find(&plan);
  if (found != programs_.end()) return found->second;
  Program program;
  const schedule::RankSchedule mine = plan.schedule().for_rank(rank_);
  program.reserve(mine.size());
  schedule::in_order(plan.steps, [&](std::size_t index, int repetition) {
    const planner::PlannedStep& step = plan.steps[index];
    program.push_back({mine[program.size()], step.state, step.route,
                       step.reconfigured && repetition == 0, step.at_once});
  });
  return programs_.emplace(&plan, std::move(program)).first->second;
}

}  // namespace shortcut::collective
