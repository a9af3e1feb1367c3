// Where ranks sit on a torus: the map from ranks to endpoints, and which groups of ranks are a
// line, a plane or a smaller torus of their own.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/result.hpp"
#include "topology/torus.hpp"

namespace shortcut::topology {

/// How ranks are put on endpoints, as users write it.
struct MapExpression {
  enum class Kind {
    rank,   ///< rank r on endpoint r
    nodes,  ///< "auto": ranks of one node next to each other, nodes by their lowest rank
    axes,   ///< "axes:1,0": ranks count up along the first dimension named, then along the next
    file,   ///< "file:PATH": one endpoint per rank, a line each, as a number or as coordinates
  };
  Kind kind = Kind::rank;
  std::vector<int> axes;
  std::string path;
};

/// "rank", "auto", "axes:1,0", "file:PATH". The error names the text and the forms allowed.
Result<MapExpression> parse_map(std::string_view text);

/// endpoint[rank] for "axes". The error says when the axes are not the torus's dimensions.
Result<std::vector<int>> map_by_axes(const Torus& torus, const std::vector<int>& axes);

/// endpoint[rank] for "auto": node_of[rank] is any number that ranks of one node share, order_of
/// [rank] (may be empty) where in its node a rank should come, ranks deciding ties.
std::vector<int> map_by_nodes(const std::vector<int>& node_of, const std::vector<int>& order_of);

/// endpoint[rank] from the text of a file: a line per rank, "5" or "1,1,0" (coordinate 0 first);
/// empty lines and what follows # do not count. The error names the line, and an endpoint that has
/// two ranks or none.
Result<std::vector<int>> map_from_text(const Torus& torus, std::string_view text);

/// What some endpoints of a torus form: all of some dimensions, one coordinate in the others.
struct SubTorus {
  std::vector<int> dims;      ///< sizes >= 2 only, in the order of the dimensions; may be empty
  std::vector<int> endpoint;  ///< of each member: its identifier on the torus of `dims`
};

/// nullopt: the members are no such part.
std::optional<SubTorus> recognise(const Torus& torus, const std::vector<int>& members);

}  // namespace shortcut::topology
