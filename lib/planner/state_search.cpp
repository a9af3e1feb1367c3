#include "planner/state_search.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

namespace shortcut::planner {
namespace {

using topology::CircuitState;
using topology::Pattern;

/// Is it plain without asking for a route that the state cannot carry a step of this level? Most
/// pairs of a sub-ring and a step are like that.
bool out_of_reach(CircuitState state, int level) {
  return state.kind == CircuitState::Kind::subring && (level < state.index || level > state.last);
}

}  // namespace

bool searches_states(const Options& options) {
  return options.planner == Planner::optimal && options.threshold < 0 &&
         options.rule == Rule::best && options.accounting == model::Accounting::exact &&
         options.reconfigurable;
}

StateSearch::StateSearch(const Options& options, const RoutedSchedule& routed)
    : routed_(&routed),
      fabric_(options.fabric),
      restore_(options.restore),
      reconfigurable_(options.reconfigurable && routed.algorithm().reconfigures),
      subrings_(options.subrings) {
  list_states();
  list_choices();
}

void StateSearch::list_states() {
  const int ranks = routed_->ranks();
  const int levels = topology::floor_log2(ranks);
  const bool twisted = topology::is_twisted(ranks, fabric_.base_ring);
  states_.reserve(1 + static_cast<std::size_t>(levels * (levels + 1) / 2));
  states_.push_back(CircuitState::ring());
  if (!reconfigurable_) return;
  const auto add = [&](CircuitState state) {
    if (topology::can_hold(ranks, state)) states_.push_back(state);
  };
  if (routed_->algorithm().pattern == Pattern::swing) {
    for (int i = twisted ? 1 : 2; i < levels; ++i) add(CircuitState::swing(i));
    return;
  }
  for (int a = 1; a < levels && subrings_; ++a) {
    for (int b = a + 1; b < levels; ++b) {
      // The longest of them is the twisted ring itself.
      if (!(twisted && a == 1 && b == levels - 1)) add(CircuitState::subring(a, b));
    }
  }
  for (int i = 0; i < levels; ++i) add(CircuitState::peer(i));
}

void StateSearch::list_choices() {
  const std::vector<RoutedStep>& steps = routed_->steps();
  stages_.reserve(steps.size());
  choices_.reserve(steps.size() * (states_.size() + 1) / 2);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const RoutedStep& step = steps[i];
    Stage& stage = stages_.emplace_back();
    const auto line = [&](topology::Route route) {
      return model::step_line(fabric_, route, step.share, false).scaled(step.repeat);
    };
    stage.fixed = step.on_fixed || step.at_once;
    if (stage.fixed) {
      if (!step.at_once) stage.fixed_line = line({1, 1});
      continue;
    }
    bool shared = false;
    for (std::size_t j = 0; j < i && !shared; ++j) {
      // Steps of one level have one pattern; a gathering half mirrors the reducing one.
      shared = step.level >= 0 && !stages_[j].fixed && steps[j].level == step.level &&
               steps[j].share == step.share && steps[j].repeat == step.repeat;
      if (shared) stage.first = stages_[j].first, stage.end = stages_[j].end;
    }
    if (shared) continue;
    stage.first = choices_.size();
    for (std::size_t k = 0; k < states_.size(); ++k) {
      if (out_of_reach(states_[k], step.level)) continue;
      const auto route = routed_->route(i, states_[k]);
      if (route) choices_.push_back({static_cast<int>(k), line(*route)});
    }
    stage.end = choices_.size();
    assert(stage.end > stage.first && "the ring carries everything");
  }
}

StateSearch::Path StateSearch::solve(double bytes) const {
  const std::size_t held = states_.size() + 1;  // the last: any other state, reaching nothing
  Path path{std::vector<int>(stages_.size()), std::vector<std::uint8_t>(stages_.size() * held)};
  // rest[k]: what is still to pay, less the steps on fixed links, with state k held.
  std::vector<double> rest(held, restore_ == Restore::eager ? fabric_.delta_ns : 0.0);
  rest[0] = 0;
  std::vector<double> through(choices_.size());
  for (std::size_t i = stages_.size(); i-- > 0;) {
    const Stage& stage = stages_[i];
    if (stage.fixed) continue;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = stage.first; c < stage.end; ++c) {
      through[c] = choices_[c].line.at(bytes) + rest[static_cast<std::size_t>(choices_[c].state)];
      if (through[c] < least) {
        least = through[c];
        path.best[i] = static_cast<int>(c);
      }
    }
    const double change = least + fabric_.delta_ns;
    std::fill(rest.begin(), rest.end(), change);
    for (std::size_t c = stage.first; c < stage.end; ++c) {
      if (through[c] > change) continue;
      const auto state = static_cast<std::size_t>(choices_[c].state);
      rest[state] = through[c];
      path.stay[i * held + state] = static_cast<std::uint8_t>(1 + c - stage.first);
    }
  }
  return path;
}

Candidate StateSearch::at(double bytes, CircuitState start) const {
  const Path path = solve(bytes);
  Candidate candidate;
  candidate.routed = routed_;
  candidate.states.reserve(stages_.size());
  CircuitState state = start;
  auto index =
      static_cast<std::size_t>(std::find(states_.begin(), states_.end(), start) - states_.begin());
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const Stage& stage = stages_[i];
    if (stage.fixed) {
      candidate.line += stage.fixed_line;
      candidate.states.push_back(state);
      continue;
    }
    const int stay = path.stay[i * (states_.size() + 1) + index];
    const Choice& choice = choices_[stay > 0 ? stage.first + static_cast<std::size_t>(stay) - 1
                                             : static_cast<std::size_t>(path.best[i])];
    index = static_cast<std::size_t>(choice.state);
    if (states_[index] != state) {
      candidate.line.fixed_ns += fabric_.delta_ns;
      ++candidate.reconfigurations;
      state = states_[index];
    }
    candidate.line += choice.line;
    candidate.states.push_back(state);
  }
  candidate.end = state;
  if (restore_ == Restore::eager && state != CircuitState::ring()) {
    candidate.line.fixed_ns += fabric_.delta_ns;
    ++candidate.reconfigurations;
    candidate.end = CircuitState::ring();
  }
  set_threshold(candidate, start);
  return candidate;
}

}  // namespace shortcut::planner
