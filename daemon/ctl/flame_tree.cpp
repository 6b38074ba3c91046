// SPDX-License-Identifier: Apache-2.0
#include "ctl/flame_tree.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <unordered_map>

#include "base/printable.h"
#include "ctl/answer_columns.h"

namespace offcpud {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<std::uint32_t>;

// Adds up the rows of one answer. Throws where it is not what docs/http.md says.
class TreeBuilder {
 public:
  TreeBuilder(const Json& answer, bool wakers)
      : wakers_(wakers),
        strings_(answer.at("strings")),
        stacks_(answer.at("stacks")),
        columns_(answer) {
    tree_.is_difference = columns_.has("before_ns");
    tree_.nodes.push_back({.frame = frame_id({.name = "all"})});
    separator_ = frame_id({.name = "--", .kind = FlameKind::Separator});
    in_progress_ = frame_id({.name = "[in progress]", .kind = FlameKind::InProgress});
    for (const Json& frame : answer.at("frames")) {
      FlameFrame described{.name = text(frame.at(0)), .object = text(frame.at(1))};
      if (described.name.empty()) described.name = "[unknown]";
      described.kind = FlameKind::Waker;
      waker_frames_.push_back(frame_id(described));
      described.kind = frame.at(2).get<int>() != 0 ? FlameKind::Kernel : FlameKind::User;
      frames_.push_back(frame_id(described));
    }
  }

  FlameTree build(const Json& rows) {
    for (const Json& row : rows) add(row);
    const auto by_name = [this](std::uint32_t a, std::uint32_t b) {
      const FlameFrame& first = tree_.frames[tree_.nodes[a].frame];
      const FlameFrame& second = tree_.frames[tree_.nodes[b].frame];
      return std::tie(first.name, first.kind, first.object) <
             std::tie(second.name, second.kind, second.object);
    };
    for (auto& node : tree_.nodes) std::ranges::sort(node.children, by_name);
    return std::move(tree_);
  }

 private:
  [[nodiscard]] const Json& cell(const Json& row, const char* column) const {
    return columns_.cell(row, column);
  }

  [[nodiscard]] std::string text(const Json& index) const {
    return strings_.at(index.get<std::size_t>()).get<std::string>();
  }

  std::uint32_t frame_id(const FlameFrame& frame) {
    const auto next = static_cast<std::uint32_t>(tree_.frames.size());
    const auto [place, is_new] =
        frame_ids_.try_emplace({frame.name, frame.object, frame.kind}, next);
    if (is_new) tree_.frames.push_back(frame);
    return place->second;
  }

  std::uint32_t name_id(std::string name, const char* nameless, FlameKind kind) {
    return frame_id({.name = name.empty() ? nameless : std::move(name), .kind = kind});
  }

  Ids stack(const Json& row, const char* column, const Ids& frames) const {
    Ids ids;
    for (const Json& frame : stacks_.at(cell(row, column).get<std::size_t>())) {
      ids.push_back(frames.at(frame.get<std::size_t>()));
    }
    return ids;
  }

  Ids path(const Json& row, bool in_progress) {
    Ids ids = stack(row, "stack", frames_);
    ids.insert(ids.begin(), name_id(text(cell(row, "comm")), "[no name]", FlameKind::Process));
    if (wakers_) ids.push_back(separator_);
    if (in_progress) {
      ids.push_back(in_progress_);
    } else if (wakers_) {
      const Ids waker = stack(row, "waker_stack", waker_frames_);
      ids.insert(ids.end(), waker.rbegin(), waker.rend());
      ids.push_back(name_id(text(cell(row, "waker")), "[no waker]", FlameKind::Waker));
    }
    return ids;
  }

  std::uint32_t child(std::uint32_t parent, std::uint32_t frame) {
    const auto next = static_cast<std::uint32_t>(tree_.nodes.size());
    const std::uint64_t key = std::uint64_t{parent} << 32U | frame;
    const auto [place, is_new] = children_.try_emplace(key, next);
    if (is_new) {
      tree_.nodes.push_back({.frame = frame});
      tree_.nodes[parent].children.push_back(next);
    }
    return place->second;
  }

  void add(const Json& row) {
    const auto ns = cell(row, "ns").get<std::uint64_t>();
    const auto episodes = cell(row, "episodes").get<double>();
    const bool in_progress = cell(row, "in_progress").get<int>() != 0;
    std::uint64_t before = 0;
    if (tree_.is_difference) before = cell(row, "before_ns").get<std::uint64_t>();
    const auto credit = [&](std::uint32_t id) {
      FlameTree::Node& node = tree_.nodes[id];
      node.ns += ns;
      node.before_ns += before;
      node.episodes += episodes;
      if (in_progress) node.progress_ns += ns;
    };
    std::uint32_t node = 0;
    credit(node);
    for (const std::uint32_t frame : path(row, in_progress)) {
      node = child(node, frame);
      credit(node);
    }
  }

  bool wakers_;
  const Json& strings_;
  const Json& stacks_;
  AnswerColumns columns_;
  std::map<std::tuple<std::string, std::string, FlameKind>, std::uint32_t> frame_ids_;
  Ids frames_, waker_frames_;  // by frame of the answer
  std::uint32_t separator_ = 0, in_progress_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> children_;
  FlameTree tree_;
};

std::string origin_of(const Json& answer) {
  return answer.at("begin").get<std::string>() + " to " + answer.at("end").get<std::string>() +
         ", " + answer.at("snapshots").dump() + " snapshots";
}

}  // namespace

Result<FlameTree> flame_tree(const std::string& json, bool wakers) {
  try {
    const Json answer = Json::parse(json);
    FlameTree tree = TreeBuilder(answer, wakers).build(answer.at("rows"));
    tree.origin = origin_of(answer);
    if (tree.is_difference) tree.origin += "; compared with " + origin_of(answer.at("base"));
    return tree;
  } catch (const std::exception& error) {
    return Error("the answer is not one of offcpud about stacks: " + printable(error.what()));
  }
}

}  // namespace offcpud
