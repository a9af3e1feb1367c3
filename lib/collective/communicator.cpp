#include "collective/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <numeric>

#include "collective/census.hpp"
#include "collective/options.hpp"
#include "collective/placement.hpp"
#include "support/units.hpp"

namespace shortcut::collective {
namespace {

constexpr int kControlTag = 1;

/// What the attribute of a communicator points to whose calls belong to PMPI.
struct NotOurs {
  const char* why;
};
NotOurs not_ours[] = {
    {"one rank, or an intercommunicator"},
    {"it has processes of another job (spawned or connected)"},
    {"SHORTCUT_DISABLE is set"},
    {"a rank of this job runs without Shortcut"},
    {"it is made from a session"},
    {"MPI has few communicators, and Shortcut holds its share of them"},
};
NotOurs& kAlone = not_ours[0];
NotOurs& kOtherJobs = not_ours[1];
NotOurs& kDisabled = not_ours[2];
NotOurs& kMixed = not_ours[3];
NotOurs& kSession = not_ours[4];
NotOurs& kTooMany = not_ours[5];

/// Communicators that Shortcut holds in this process.
std::atomic<int> held_communicators{0};

/// MPICH has 2,048 communicators in all, of which most are left to the program. Alike on all ranks
/// of the communicator, which may hold different numbers of others.
bool may_make_another([[maybe_unused]] MPI_Comm comm) {
#ifdef MPICH_VERSION
  constexpr int kMost = 512;
  int full = held_communicators.load() >= kMost ? 1 : 0;
  return PMPI_Allreduce(MPI_IN_PLACE, &full, 1, MPI_INT, MPI_MAX, comm) == MPI_SUCCESS && full == 0;
#else
  return true;
#endif
}

/// MPI_COMM_NULL if MPI has no more, which is no error of the program's for its handler to see.
MPI_Comm make_private(MPI_Comm comm, MPI_Group group) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Comm_get_errhandler(comm, &handler);
  PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm made = MPI_COMM_NULL;
  const int code = PMPI_Comm_create(comm, group, &made);
  PMPI_Comm_set_errhandler(comm, handler);
  PMPI_Errhandler_free(&handler);
  return code == MPI_SUCCESS ? made : MPI_COMM_NULL;
}

bool is_not_ours(const void* state) {
  return std::any_of(std::begin(not_ours), std::end(not_ours),
                     [state](const NotOurs& mark) { return state == &mark; });
}

/// Are all processes of `group` in this job's MPI_COMM_WORLD? Those of another job may be without
/// Shortcut, even if we were preloaded into all of this one. Both jobs answer alike.
bool within_this_job(const std::vector<int>& world_ranks) {
  return std::find(world_ranks.begin(), world_ranks.end(), MPI_UNDEFINED) == world_ranks.end();
}

/// The ranks of `group` in MPI_COMM_WORLD; MPI_UNDEFINED: in another job's.
std::vector<int> ranks_in_world(MPI_Group group, int ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> from(static_cast<std::size_t>(ranks));
  std::vector<int> to(from.size(), MPI_UNDEFINED);
  std::iota(from.begin(), from.end(), 0);
  PMPI_Group_translate_ranks(group, ranks, from.data(), world, to.data());
  PMPI_Group_free(&world);
  return to;
}

int world_size() {
  int ranks = 0;
  PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

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

Communicator* Communicator::of(MPI_Comm comm, Runtime& runtime, const char** why) {
  const auto leave = [why](const NotOurs& mark) -> Communicator* {
    if (why != nullptr) *why = mark.why;
    return nullptr;
  };
  const census::Result everyone = census::result();
  if (everyone == census::Result::disabled) return leave(kDisabled);
  if (everyone == census::Result::mixed) return leave(kMixed);
  const int keyval = state_keyval(on_delete);
  void* state = nullptr;
  int found = 0;
  if (why != nullptr) *why = "invalid communicator";
  if (PMPI_Comm_get_attr(comm, keyval, &state, &found) != MPI_SUCCESS) return nullptr;
  if (found && is_not_ours(state)) return leave(*static_cast<NotOurs*>(state));
  if (found) return static_cast<Communicator*>(state);
  const auto mark_and_leave = [&](NotOurs& mark) {
    PMPI_Comm_set_attr(comm, keyval, &mark);
    return leave(mark);
  };

  int inter = 0;
  int ranks = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_size(comm, &ranks);
  if (inter || ranks < 2) return mark_and_leave(kAlone);
  // Not MPI_Comm_dup: that would call the user's attribute copy functions.
  MPI_Group group = MPI_GROUP_NULL;
  PMPI_Comm_group(comm, &group);
  const std::vector<int> world_ranks = ranks_in_world(group, ranks);
  if (!within_this_job(world_ranks)) {
    PMPI_Group_free(&group);
    return mark_and_leave(kOtherJobs);
  }
  const MPI_Comm traffic = may_make_another(comm) ? make_private(comm, group) : MPI_COMM_NULL;
  PMPI_Group_free(&group);
  if (traffic == MPI_COMM_NULL) return mark_and_leave(kTooMany);
  PMPI_Comm_set_errhandler(traffic, MPI_ERRORS_RETURN);
  std::unique_ptr<Communicator> made(new Communicator(traffic));
  if (!made->agree_on_settings(runtime)) {
    made->free();
    return mark_and_leave(kDisabled);
  }
  const config::Settings& settings = made->settings_;
  std::vector<int> node_of;
  if (settings.ranks_per_node != 1 && settings.hierarchy != config::Hierarchy::flat &&
      !settings.deterministic) {
    node_of = find_nodes(traffic, world_ranks, settings);
  }
  made->settle(runtime, comm, world_ranks, world_size());
  made->plan(runtime);
  if (!node_of.empty()) made->make_nodes(runtime, world_ranks, node_of, world_size());
  PMPI_Comm_set_attr(comm, keyval, made.get());
  held_communicators += made->communicators();
  return made.release();
}

void Communicator::leave_session(MPI_Comm comm) {
  PMPI_Comm_set_attr(comm, state_keyval(on_delete), &kSession);
}

int Communicator::communicators() const {
  const int lines = channels_.size() > 1 ? static_cast<int>(channels_.size()) : 0;
  return (traffic_ == MPI_COMM_NULL ? 0 : 1) + lines +
         (nodes_ ? 1 + nodes_->fabric->communicators() : 0);
}

int Communicator::on_delete(MPI_Comm, int, void* state, void*) {
  if (is_not_ours(state)) return MPI_SUCCESS;
  auto* own = static_cast<Communicator*>(state);
  held_communicators -= own->communicators();
  int finalized = 0;
  PMPI_Finalized(&finalized);
  // In MPI_Finalize MPI takes its communicators down itself.
  if (!finalized && !Runtime::finalizing()) own->free();
  delete own;
  return MPI_SUCCESS;
}

void Communicator::free() {
  if (ordered_) ordered_->free();
  if (nodes_) {
    MPI_Comm node = nodes_->channel.comm();
    PMPI_Comm_free(&node);
    nodes_->fabric->free();
  }
  if (traffic_ == MPI_COMM_NULL) return;
  for (MpiChannel& channel : channels_) {
    MPI_Comm comm = channel.comm();
    if (comm != traffic_) PMPI_Comm_free(&comm);
  }
  channels_.clear();
  PMPI_Comm_free(&traffic_);
}

Communicator::Communicator(MPI_Comm traffic) : traffic_(traffic), everyone_(traffic) {
  PMPI_Comm_rank(traffic, &rank_);
  PMPI_Comm_size(traffic, &ranks_);
}

Communicator::Communicator(Onlooker onlooker)
    : traffic_(MPI_COMM_NULL), everyone_(MPI_COMM_NULL), rank_(-1), ranks_(onlooker.ranks) {}

void Communicator::settle(Runtime& runtime, MPI_Comm user, const std::vector<int>& world_ranks,
                          int world_size) {
  const Placement place = find_placement(user, traffic_, world_ranks, world_size, settings_);
  dims_ = place.dims;
  held_.assign(dims_.size(), topology::CircuitState::ring());
  user_rank_.resize(static_cast<std::size_t>(ranks_));
  for (int r = 0; r < ranks_; ++r) {
    user_rank_[static_cast<std::size_t>(place.endpoint[static_cast<std::size_t>(r)])] = r;
  }
  in_rank_order_ = std::is_sorted(user_rank_.begin(), user_rank_.end());
  const auto level = place.asked_in_vain ? config::Log::warn : config::Log::info;
  if (rank_ == 0 && !place.note.empty()) {
    const std::string shape =
        dims_.size() == 1 ? "one ring" : "torus " + topology::format_dims(dims_);
    std::string endpoints;
    if (!in_rank_order_)
      endpoints = fmt::format("; ranks by endpoint {}", fmt::join(user_rank_, " "));
    static std::once_flag warned;
    const auto say = [&] {
      runtime.log(level, fmt::format("{} ranks: {} ({}){}", ranks_, shape, place.note, endpoints));
    };
    if (place.asked_in_vain) {
      std::call_once(warned, say);
    } else {
      say();
    }
  }
  if (!in_rank_order_) {  // from here on a rank of traffic_ is an endpoint
    MPI_Comm ordered = MPI_COMM_NULL;
    PMPI_Comm_split(traffic_, 0, place.endpoint[static_cast<std::size_t>(rank_)], &ordered);
    PMPI_Comm_set_errhandler(ordered, MPI_ERRORS_RETURN);
    PMPI_Comm_free(&traffic_);
    traffic_ = ordered;
    everyone_ = MpiChannel(traffic_);
    PMPI_Comm_rank(traffic_, &rank_);
  }
  if (traffic_ != MPI_COMM_NULL) make_channels();
}

void Communicator::make_channels() {
  if (dims_.size() == 1) {
    channels_.emplace_back(traffic_);
    return;
  }
  const topology::Torus torus(dims_);
  for (int k = 0; k < torus.dimensions(); ++k) {
    // Rings parallel to the dimension, counted; neighbouring ones share a switch.
    const int below = torus.multiplier(k);
    const int ring = rank_ % below + rank_ / (below * torus.size(k)) * below;
    MPI_Comm line = MPI_COMM_NULL;
    PMPI_Comm_split(traffic_, ring / settings_.rings_per_switch, rank_, &line);
    PMPI_Comm_set_errhandler(line, MPI_ERRORS_RETURN);
    channels_.emplace_back(line);
  }
}

Communicator& Communicator::ordered(Runtime& runtime) {
  if (ordered_) return *ordered_;
  MPI_Comm traffic = MPI_COMM_NULL;
  PMPI_Comm_split(traffic_, 0, own_user_rank(), &traffic);
  PMPI_Comm_set_errhandler(traffic, MPI_ERRORS_RETURN);
  ordered_.reset(new Communicator(traffic));
  ordered_->settings_ = settings_;
  ordered_->settings_.dims = "ring";
  ordered_->settings_.map = "rank";
  ordered_->backend_ = backend_;
  ordered_->settle(runtime, traffic, std::vector<int>(static_cast<std::size_t>(ranks_)), ranks_);
  ordered_->plan(runtime);
  return *ordered_;
}

void Communicator::plan(Runtime& runtime) {
  options_ = planner_options(settings_, ranks_);
  if (dims_.size() == 1) {
    selector_ = std::make_unique<planner::Selector>(options_, ranks_);
  } else {
    const topology::Torus torus(dims_);
    for (int k = 0; rank_ == 0 && k < torus.dimensions(); ++k) {
      if (torus.rings(k) % settings_.rings_per_switch == 0) continue;
      runtime.log(
          config::Log::info,
          fmt::format("SHORTCUT_RINGS_PER_SWITCH: {} does not divide the {} rings of "
                      "dimension {} of {}: the last switch has fewer",
                      settings_.rings_per_switch, torus.rings(k), k, topology::format_dims(dims_)));
    }
    static std::once_flag warned;
    if (rank_ == 0 && options_.accounting == model::Accounting::paper) {
      std::call_once(warned, [&] {
        runtime.log(config::Log::warn,
                    "SHORTCUT_ACCOUNTING: 'paper' does not apply to tori; they take 'exact'");
      });
    }
    torus_ = std::make_unique<planner::TorusSelector>(options_, dims_);
    options_ = torus_->options();
  }
  if (!backend_) backend_ = fabric::make_backend(settings_, runtime.may_spin());
  log_tables(runtime);
}

const planner::SelectionTable& Communicator::table(schedule::Collective collective,
                                                   schedule::Operands operands) {
  return torus_ ? torus_->table(collective, operands, held_)
                : selector_->table(collective, operands, held_.front());
}

bool Communicator::agree_on_settings(Runtime& runtime) {
  // All ranks must choose alike: rank 0's settings are everyone's.
  std::string text = config::serialise(runtime.settings());
  int length = static_cast<int>(text.size());
  PMPI_Bcast(&length, 1, MPI_INT, 0, traffic_);
  text.resize(static_cast<std::size_t>(length));
  PMPI_Bcast(text.data(), length, MPI_CHAR, 0, traffic_);
  settings_ = config::deserialise(text);
  // The first rank with other settings than rank 0's, with SHORTCUT_DISABLE, and without.
  const bool disable = runtime.settings().disable;
  const int mine[3] = {settings_ == runtime.settings() ? ranks_ : rank_, disable ? rank_ : ranks_,
                       disable ? ranks_ : rank_};
  int first[3] = {ranks_, ranks_, ranks_};
  PMPI_Allreduce(mine, first, 3, MPI_INT, MPI_MIN, traffic_);
  const auto [different, disabled, enabled] = first;
  static std::once_flag warned;
  if (disabled < ranks_) {
    // Those that have it switched on wonder why it does nothing: their first rank says it.
    if (enabled == rank_ && runtime.settings().log >= config::Log::warn) {
      std::call_once(warned, [&] {
        std::fprintf(stderr,
                     "shortcut: SHORTCUT_DISABLE is set on rank %d of a communicator, so all its "
                     "calls go to the MPI library\n",
                     disabled);
      });
    }
    return false;
  }
  if (different < ranks_ && rank_ == 0) {
    std::call_once(warned, [&] {
      runtime.log(config::Log::warn,
                  fmt::format("rank {} has other SHORTCUT_* settings than rank 0; rank 0's hold",
                              different));
    });
  }
  return true;
}

void Communicator::log_tables(Runtime& runtime) {
  if (rank_ < 0 || user_rank(rank_) != 0 || settings_.log < config::Log::info) return;
  for (const auto collective :
       {schedule::Collective::allreduce, schedule::Collective::reduce_scatter,
        schedule::Collective::allgather}) {
    const auto& rows = table(collective, schedule::Operands::commutative).rows();
    for (const planner::TableRow& row : rows) {
      runtime.log(config::Log::info,
                  fmt::format("{} ranks, {}, from {:.0f} B: {} ({} reconfigurations)", ranks_,
                              schedule::to_string(collective), row.from_bytes,
                              planner::describe(row.plan), row.plan.reconfigurations));
    }
  }
}

void Communicator::warn_if_replaced(const planner::Plan& plan) {
  const std::string& asked = settings_.algorithm;
  if (asked == "auto" || plan.algorithm_name() == asked) return;
  if (plan.torus && std::any_of(plan.torus->parts.begin(), plan.torus->parts.end(),
                                [&](const planner::PlannedPart& part) {
                                  return part.ring.algorithm_name() == asked;
                                })) {
    return;
  }
  static std::array<std::once_flag, 3> warned;  // one line per collective: programs repeat calls
  const schedule::Collective collective = plan.schedule().collective;
  std::call_once(warned[static_cast<std::size_t>(collective)], [&] {
    std::string_view why;
    using schedule::Operands;
    for (const Operands operands : {Operands::exact, Operands::commutative, Operands::in_order}) {
      if (why.empty()) why = table(collective, operands).asked().cannot;
    }
    Runtime::get()->log(
        config::Log::warn,
        fmt::format("SHORTCUT_ALGORITHM: '{}' {}; {} on {} ranks is run by {}", asked,
                    why.empty() ? "cannot serve it" : why, schedule::to_string(collective), ranks_,
                    planner::describe(plan)));
  });
}

const Program& Communicator::program(const planner::Plan& plan) {
  const auto found = programs_.find(&plan);
  if (found != programs_.end()) return found->second;
  warn_if_replaced(plan);
  Program program;
  const schedule::RankSchedule mine = plan.schedule().for_rank(rank_);
  program.reserve(mine.size());
  schedule::in_order(plan.steps, [&](std::size_t index, int repetition) {
    const planner::PlannedStep& step = plan.steps[index];
    program.push_back({mine[program.size()], step.state, step.route,
                       step.reconfigured && repetition == 0, step.at_once, step.dimension,
                       step.lane, step.phase});
  });
  return programs_.emplace(&plan, std::move(program)).first->second;
}

}  // namespace shortcut::collective
