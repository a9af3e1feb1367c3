// Proves a schedule by running it on symbols: a block's value is the set of ranks whose
// contributions it holds. Up to 64 ranks the set is exact; above, it is the sum of random tags with
// the count, the lowest and the highest rank, and a sample of the blocks is followed (blocks never
// meet each other).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "schedule/registry.hpp"
#include "topology/router.hpp"

namespace shortcut::schedule {

class Verifier {
 public:
  explicit Verifier(const Schedule& schedule) : schedule_(schedule), n_(schedule.ranks) {}

  /// The first thing that is wrong; empty when the schedule does what its collective promises.
  std::string run() {
    if (!check_blocks()) return problem_;
    start();
    for (int r = 0; r < n_; ++r) {
      programs_.push_back(schedule_.for_rank(r));
      if (static_cast<int>(programs_.back().size()) != schedule_.step_count()) {
        return rank_problem(r, "a program of the wrong length");
      }
    }
    if (!check_cycles()) return problem_;
    for (const Step& step : schedule_.steps) {
      if (step.has_direct && !schedule_.torus && !check_direct(step)) return problem_;
      if (!check_period(step)) return problem_;
    }
    int index = 0;
    in_order(schedule_.steps, [&](std::size_t i, int) {
      if (!problem_.empty()) return;
      const Step& step = schedule_.steps[i];
      // Joined steps send what was held before the first of them: arrivals wait for the last.
      if ((step.joined || end_group()) && check_step(step, index)) collect(index);
      if (!problem_.empty()) problem_ = "step " + std::to_string(index) + ": " + problem_;
      ++index;
    });
    if (problem_.empty() && end_group()) check_end();
    return problem_;
  }

 private:
  struct Value {
    std::uint64_t tags = 0;
    int count = 0;  // 0: nothing here
    int low = 0;
    int high = 0;
    bool operator==(const Value&) const = default;
  };

  struct Arrival {
    int index;
    int rank;
    int slot;
    Value value;
  };

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  std::string fail(std::string what) { return problem_ = std::move(what); }
  std::string rank_problem(int rank, const std::string& what) {
    return fail("rank " + std::to_string(rank) + ": " + what);
  }
  bool reduces() const { return schedule_.collective != Collective::allgather; }
  bool ordered() const { return !schedule_.algorithm->commutative_only; }
  Value& value(int rank, int slot) { return values_[at(rank) * blocks_.size() + at(slot)]; }
  int owner(int block) const { return schedule_.block_owner[at(block)]; }
  Value own(int rank) const { return {tags_[at(rank)], 1, rank, rank}; }
  /// What block `block` is in the end.
  Value complete(int block) const {
    return reduces() ? Value{all_tags_, n_, 0, n_ - 1} : own(owner(block));
  }

  bool check_cycles() {
    const std::vector<Step>& steps = schedule_.steps;
    if (!steps.empty() && steps.front().joined) return fail("joined to nothing").empty();
    for (std::size_t i = 0; i < steps.size();) {
      const Step& first = steps[i];
      if (first.repeat < 1) return fail("repeat below 1").empty();
      if (first.cycle < 1) return fail("cycle below 1").empty();
      if (first.joined && first.repeat * first.cycle > first.cycle) {
        return fail("a cycle that begins joined").empty();
      }
      for (int k = 0; k < first.cycle; ++k, ++i) {
        if (i == steps.size()) return fail("a cycle beyond the end").empty();
        if (steps[i].cycle != first.cycle || steps[i].repeat != first.repeat) {
          return fail("a cycle of unlike steps").empty();
        }
        if (steps[i].joined && steps[i].lane == steps[i - 1].lane &&
            steps[i].action != steps[i - 1].action) {
          return fail("joined to another action").empty();
        }
      }
    }
    return true;
  }

  bool check_period(const Step& step) {
    if (step.period < 1 || n_ % step.period != 0) return fail("period does not divide n").empty();
    for (int u = 0; u < n_; ++u) {
      const int here = step.send_to[at(u)];
      const int there = step.send_to[at((u + step.period) % n_)];
      const int want = here < 0 ? here : (here + step.period) % n_;
      if (there != want) return fail("the pattern does not repeat with its period").empty();
    }
    return true;
  }

  bool check_blocks() {
    if (schedule_.blocks < 1) return fail("no blocks").empty();
    if (n_ == 1 && schedule_.step_count() != 0) return fail("steps for a single rank").empty();
    if (schedule_.collective == Collective::allreduce) {
      return schedule_.block_owner.empty() || fail("owners in an AllReduce").empty();
    }
    std::vector<int> owners = schedule_.block_owner;
    if (schedule_.in_rank_order() && !std::is_sorted(owners.begin(), owners.end())) {
      return fail("blocks are not in rank order").empty();
    }
    std::sort(owners.begin(), owners.end());
    const int each = schedule_.blocks / n_;
    bool alike =
        static_cast<int>(owners.size()) == schedule_.blocks && each * n_ == schedule_.blocks;
    for (int b = 0; alike && b < schedule_.blocks; ++b) alike = owners[at(b)] == b / each;
    return alike || fail("not equally many blocks per rank").empty();
  }

  void start() {
    std::mt19937_64 random(static_cast<std::uint64_t>(n_));
    for (int r = 0; r < n_; ++r) {
      tags_.push_back(exact() ? std::uint64_t{1} << r : random());
      all_tags_ += tags_.back();
    }
    for (int b = 0; b < schedule_.blocks; ++b) blocks_.push_back(b);
    if (!exact() && schedule_.blocks > kSample) {
      std::shuffle(blocks_.begin(), blocks_.end(), random);
      blocks_.resize(at(kSample));
    }
    values_.resize(at(n_) * blocks_.size());
    for (int r = 0; r < n_; ++r) {
      for (int s = 0; s < slots(); ++s) {
        if (reduces() || owner(blocks_[at(s)]) == r) value(r, s) = own(r);
      }
    }
  }

  bool exact() const { return n_ <= 64; }
  int slots() const { return static_cast<int>(blocks_.size()); }
  bool holds(const BlockRange& range, int block) const {
    const int length = range.window_count > 0 ? range.window_count : schedule_.blocks;
    if (block < range.window_first || block >= range.window_first + length) return false;
    return (block - range.first + length) % length < range.count;
  }
  bool of_one_rank(const BlockRange& range) const {
    const int each = std::max(1, schedule_.blocks / n_);
    return range.count == 0 || range.first / each == (range.first + range.count - 1) / each;
  }
  bool sound(const BlockRange& range) const {
    const int length = range.window_count > 0 ? range.window_count : schedule_.blocks;
    return range.window_first >= 0 && range.window_first + length <= schedule_.blocks &&
           range.first >= range.window_first && range.first < range.window_first + length &&
           range.count >= 0 && range.count <= length;
  }

  bool check_step(const Step& step, int index) {
    int most = 0;
    for (int r = 0; r < n_; ++r) {
      const RankStep& mine = programs_[at(r)][at(index)];
      if (mine.action != step.action) return rank_problem(r, "another action").empty();
      if (mine.joined != step.joined) return rank_problem(r, "joined otherwise").empty();
      if (mine.send_to != step.send_to[at(r)]) return rank_problem(r, "another peer").empty();
      if (mine.send_to >= n_ || mine.recv_from >= n_ || mine.send_to == r || mine.recv_from == r) {
        return rank_problem(r, "a peer that is none").empty();
      }
      if (schedule_.algorithm->single_blocks && !of_one_rank(mine.send)) {
        return rank_problem(r, "sends blocks of several ranks").empty();
      }
      if (!sound(mine.send) || !sound(mine.recv)) return rank_problem(r, "a bad range").empty();
      if ((mine.send_to < 0 && mine.send.count != 0) ||
          (mine.recv_from < 0 && mine.recv.count != 0)) {
        return rank_problem(r, "blocks for nobody").empty();
      }
      if (mine.send_to >= 0) {
        const RankStep& theirs = programs_[at(mine.send_to)][at(index)];
        if (theirs.recv_from != r) return rank_problem(r, "its receiver expects another").empty();
        if (!(theirs.recv == mine.send)) return rank_problem(r, "ranges differ").empty();
      }
      if (mine.recv_from >= 0 && programs_[at(mine.recv_from)][at(index)].send_to != r) {
        return rank_problem(r, "its sender sends elsewhere").empty();
      }
      most = std::max(most, mine.send.count);
    }
    const double share = static_cast<double>(most) / schedule_.blocks;
    if (std::abs(share - step.share) > 1e-12) {
      return fail("share " + std::to_string(step.share) + ", sent " + std::to_string(share))
          .empty();
    }
    return true;
  }

  void collect(int index) {
    for (int r = 0; r < n_; ++r) {
      const RankStep& mine = programs_[at(r)][at(index)];
      if (mine.recv_from < 0) continue;
      for (int s = 0; s < slots(); ++s) {
        if (holds(mine.recv, blocks_[at(s)])) {
          arrivals_.push_back({index, r, s, value(mine.recv_from, s)});
        }
      }
    }
  }

  /// Combines what came since the last call; false: something was wrong.
  bool end_group() {
    for (const Arrival& arrival : arrivals_) {
      const RankStep& mine = programs_[at(arrival.rank)][at(arrival.index)];
      Value& here = value(arrival.rank, arrival.slot);
      const Value& there = arrival.value;
      if (there.count == 0) return rank_problem(arrival.rank, "is sent a missing block").empty();
      if (mine.action == Action::gather) {
        // Between dimensions of a torus a sum may be complete for the ring alone: then what comes
        // must have all that is there.
        const bool more = schedule_.torus && exact() && (here.tags & ~there.tags) == 0;
        if (!more && !(there == complete(blocks_[at(arrival.slot)]))) {
          return rank_problem(arrival.rank, "gathers an incomplete block").empty();
        }
        here = there;
        continue;
      }
      if (here.count == 0) return rank_problem(arrival.rank, "reduces into nothing").empty();
      if (exact() && (here.tags & there.tags) != 0) {
        return rank_problem(arrival.rank, "counts a contribution twice").empty();
      }
      if (ordered()) {
        const Value& left = mine.received_is_left ? there : here;
        const Value& right = mine.received_is_left ? here : there;
        if (left.high + 1 != right.low) {
          return rank_problem(arrival.rank, "combines out of rank order").empty();
        }
      }
      here = {here.tags + there.tags, here.count + there.count, std::min(here.low, there.low),
              std::max(here.high, there.high)};
      if (ordered() && here.high - here.low + 1 != here.count) {
        return rank_problem(arrival.rank, "holds no run of ranks").empty();
      }
    }
    arrivals_.clear();
    return true;
  }

  bool check_direct(const Step& step) {
    for (int r = 0; r < n_; ++r) {
      const int peer = step.send_to[at(r)];
      if (peer >= 0 && step.send_to[at(peer)] != r) return fail("direct but no matching").empty();
    }
    if (!topology::can_hold(n_, step.direct)) return fail("a state that cannot be").empty();
    const topology::Router router(n_, step.direct, topology::Antipodal::same_path);
    return router.route(step.send_to) == topology::Route{1, 1} || fail("is not direct").empty();
  }

  void check_end() {
    for (int r = 0; r < n_; ++r) {
      for (int s = 0; s < slots(); ++s) {
        const int block = blocks_[at(s)];
        if (schedule_.collective == Collective::reduce_scatter && owner(block) != r) continue;
        if (!(value(r, s) == complete(block))) {
          rank_problem(r, "block " + std::to_string(block) + " is not complete at the end");
          return;
        }
      }
    }
  }

  static constexpr int kSample = 24;
  const Schedule& schedule_;
  int n_;
  std::string problem_;
  std::vector<RankSchedule> programs_;
  std::vector<std::uint64_t> tags_;
  std::uint64_t all_tags_ = 0;
  std::vector<int> blocks_;  // the blocks that are followed
  std::vector<Value> values_;
  std::vector<Arrival> arrivals_;
};

inline std::string verify(const Schedule& schedule) { return Verifier(schedule).run(); }

}  // namespace shortcut::schedule
