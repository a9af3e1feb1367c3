#include "collective/two_level.hpp"

#include <algorithm>

#include "collective/blocks.hpp"

namespace shortcut::collective {
namespace {

using schedule::Collective;

/// Of `offset`, the entries of the nodes: per_node ranks each.
std::vector<std::size_t> node_offsets(const std::vector<std::size_t>& offset, int per_node) {
  std::vector<std::size_t> nodes;
  for (std::size_t r = 0; r < offset.size(); r += static_cast<std::size_t>(per_node)) {
    nodes.push_back(offset[r]);
  }
  return nodes;
}

/// Counts and displacements of the ranks of one node within its part.
struct NodeParts {
  std::vector<int> counts;
  std::vector<int> displs;
};

NodeParts parts_of(const std::vector<std::size_t>& offset, const NodeLevel& nodes) {
  NodeParts parts;
  const std::size_t first = static_cast<std::size_t>(nodes.index * nodes.per_node);
  for (std::size_t r = first; r < first + static_cast<std::size_t>(nodes.per_node); ++r) {
    parts.counts.push_back(static_cast<int>(offset[r + 1] - offset[r]));
    parts.displs.push_back(static_cast<int>(offset[r] - offset[first]));
  }
  return parts;
}

constexpr int kTreeTag = 4;

/// work(first, count) for pieces that an int can count.
template <class Work>
int in_pieces(const TypeInfo& type, std::size_t elements, const Work& work) {
  if (type.size == 0) return MPI_SUCCESS;
  for (std::size_t done = 0; done < elements; done += kMostElements) {
    const int code = work(done, static_cast<int>(std::min(kMostElements, elements - done)));
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

}  // namespace

TwoLevel::TwoLevel(Communicator& comm, const planner::Plan& plan, const Reduction& reduction,
                   double bytes)
    : comm_(comm),
      nodes_(*comm.nodes()),
      fabric_(*comm.nodes()->fabric),
      plan_(plan),
      reduction_(reduction),
      bytes_(bytes) {}

void TwoLevel::begin(const model::Line& price) {
  // The leader has all data when the last rank of its node has come.
  fabric::Backend& backend = comm_.backend();
  const double price_ns = price.at(bytes_);
  const double start_ns = backend.capabilities().virtual_time
                              ? nodes_.channel.synchronise(backend.now_ns())
                              : backend.now_ns();
  backend.finish_step(nodes_.channel, start_ns + price_ns, price_ns);
}

void TwoLevel::end(const model::Line& price) {
  begin(price);  // the same: all wait for the leader
  if (!leads()) fabric_.assume(plan_);
}

int TwoLevel::reduce_to_leader(const TypeInfo& type, const void* input, void* output,
                               std::size_t elements) {
  // A binomial tree, in which a rank's operands come from the ranks behind it. Not MPI_Reduce,
  // which gives users' functions less memory than the extent of their type (Open MPI 4.1.4,
  // MPICH 4.0.2).
  const MPI_Comm node = nodes_.channel.comm();
  const void* sum = input;
  for (int distance = 1; distance < nodes_.per_node; distance *= 2) {
    if ((nodes_.place & distance) != 0) {
      return in_pieces(type, elements, [&](std::size_t first, int count) {
        return PMPI_Send(type.at(sum, first), count, type.type, nodes_.place - distance, kTreeTag,
                         node);
      });
    }
    if (nodes_.place + distance >= nodes_.per_node) continue;
    void* own = leads() ? output : comm_.blocks.reserve(type, elements);
    if (sum == input) {
      const int code = copy_elements(type, input, own, elements, node);
      if (code != MPI_SUCCESS) return code;
    }
    sum = own;
    void* theirs = comm_.staging.reserve(type, elements);
    const int code = in_pieces(type, elements, [&](std::size_t first, int count) {
      const int got = PMPI_Recv(type.at(theirs, first), count, type.type, nodes_.place + distance,
                                kTreeTag, node, MPI_STATUS_IGNORE);
      if (got != MPI_SUCCESS) return got;
      void* mine = type.at(own, first);
      if (!reduction_.ordered) {
        return PMPI_Reduce_local(type.at(theirs, first), mine, count, type.type, reduction_.op);
      }
      const int done =
          PMPI_Reduce_local(mine, type.at(theirs, first), count, type.type, reduction_.op);
      if (done != MPI_SUCCESS) return done;
      return copy_elements(type, type.at(theirs, first), mine, static_cast<std::size_t>(count),
                           node);
    });
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}

int TwoLevel::broadcast(const TypeInfo& type, void* buffer, std::size_t elements) {
  return in_pieces(type, elements, [&](std::size_t first, int count) {
    return PMPI_Bcast(type.at(buffer, first), count, type.type, 0, nodes_.channel.comm());
  });
}

int TwoLevel::allreduce(const TypeInfo& type, const void* input, void* output,
                        std::size_t elements) {
  int code = reduce_to_leader(type, input, output, elements);
  begin(on_node_before(nodes_.price, Collective::allreduce));
  if (leads() && code == MPI_SUCCESS) {
    BlockedVector vector;
    vector.type = type;
    vector.base = output;
    cut_evenly(elements, plan_.schedule().blocks, vector);
    code = execute(fabric_, plan_, vector, reduction_);
  }
  end(on_node_after(nodes_.price, Collective::allreduce));
  const int sent = broadcast(type, output, elements);
  return code == MPI_SUCCESS ? sent : code;
}

int TwoLevel::reduce_scatter(const TypeInfo& type, const void* input, void* output,
                             const std::vector<std::size_t>& offset) {
  void* sum = leads() ? comm_.work.reserve(type, offset.back()) : nullptr;
  int code = reduce_to_leader(type, input, sum, offset.back());
  begin(on_node_before(nodes_.price, Collective::reduce_scatter));
  const std::vector<std::size_t> node_offset = node_offsets(offset, nodes_.per_node);
  const std::size_t index = static_cast<std::size_t>(nodes_.index);
  void* part = nullptr;
  if (leads()) {
    part = comm_.staging.reserve(type, node_offset[index + 1] - node_offset[index]);
    if (code == MPI_SUCCESS) {
      code = reduce_scatter_blocks(
          fabric_, plan_, type, sum, part, node_offset,
          [&](BlockedVector& vector) { return execute(fabric_, plan_, vector, reduction_); });
    }
  }
  end(on_node_after(nodes_.price, Collective::reduce_scatter));
  const NodeParts parts = parts_of(offset, nodes_);
  const int own = parts.counts[static_cast<std::size_t>(nodes_.place)];
  const int sent = PMPI_Scatterv(part, parts.counts.data(), parts.displs.data(), type.type, output,
                                 own, type.type, 0, nodes_.channel.comm());
  return code == MPI_SUCCESS ? sent : code;
}

int TwoLevel::allgather(char* blocks, const std::vector<std::size_t>& offset) {
  const NodeParts parts = parts_of(offset, nodes_);
  const std::vector<std::size_t> node_offset = node_offsets(offset, nodes_.per_node);
  const std::size_t index = static_cast<std::size_t>(nodes_.index);
  const std::size_t place = static_cast<std::size_t>(nodes_.place);
  char* part = blocks + node_offset[index];
  const void* own = leads() ? MPI_IN_PLACE : part + parts.displs[place];
  int code = PMPI_Gatherv(own, parts.counts[place], MPI_BYTE, part, parts.counts.data(),
                          parts.displs.data(), MPI_BYTE, 0, nodes_.channel.comm());
  begin(on_node_before(nodes_.price, Collective::allgather));
  TypeInfo bytes;
  TypeInfo::query(MPI_BYTE, bytes);
  if (leads() && code == MPI_SUCCESS) {
    code = allgather_blocks(fabric_, plan_, blocks, node_offset, [&](BlockedVector& vector) {
      return execute(fabric_, plan_, vector, reduction_);
    });
  }
  end(on_node_after(nodes_.price, Collective::allgather));
  const int sent = broadcast(bytes, blocks, offset.back());
  return code == MPI_SUCCESS ? sent : code;
}

}  // namespace shortcut::collective
