// SPDX-License-Identifier: Apache-2.0
#include "why/wait_graph.h"

#include <algorithm>
#include <functional>

namespace offcpud {
namespace {

using Kind = Cause::Kind;

bool is_node(Kind kind) {
  return kind == Kind::Unit || kind == Kind::Remote || kind == Kind::Device || kind == Kind::Kernel;
}

void add_edges(WaitGraph& graph, const std::string& unit, const Cause& cause) {
  for (const Cause& part : cause.parts) {
    if (part.kind == Kind::Unknown || part.kind == Kind::Others) {
      graph.unknown += part.threads;
    } else if (is_node(part.kind) && part.threads > 0 && part.name != unit) {
      graph.edges.push_back({.from = unit,
                             .to = part.kind == Kind::Kernel ? "kernel" : part.name,
                             .kind = part.kind,
                             .for_kind = cause.for_kind,
                             .threads = part.threads,
                             .error = part.error});
    }
  }
}

}  // namespace

WaitGraph wait_graph(WhyUnits& units) {
  WaitGraph graph;
  for (const std::string& unit : units_in(units.inputs())) {
    for (const Cause& cause : units.of(unit).causes) {
      if (is_actionable_for(cause.for_kind)) add_edges(graph, unit, cause);
    }
  }
  std::ranges::stable_sort(graph.edges, std::ranges::greater(), &WaitEdge::threads);
  while (graph.edges.size() > WaitGraph::kMost) {
    graph.left_out += graph.edges.back().threads;
    graph.edges.pop_back();
  }
  return graph;
}

}  // namespace offcpud
