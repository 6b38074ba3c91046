// SPDX-License-Identifier: Apache-2.0
#include "ctl/flame_svg.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/printable.h"
#include "ctl/flame_colors.h"
#include "ctl/terminal_text.h"

namespace offcpud {
namespace {

constexpr double kWidth = 1'200;
constexpr double kMargin = 10;
constexpr double kHead = 50;  // room for title and origin
constexpr double kRow = 18;
constexpr double kLeastWidth = 0.1;
constexpr double kCharacter = 7.3;  // of the font, at most
constexpr std::size_t kLeastLabel = 3;

constexpr std::string_view kStyle =
    "<style>text{font:12px monospace;fill:#111;pointer-events:none}.h{font:16px sans-serif}"
    ".o{font:12px sans-serif}rect.f{stroke:#fff;stroke-width:.5}g:hover>rect.f{stroke:#000}"
    "</style>\n"
    "<defs><pattern id=\"in-progress\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\""
    " patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#f3d9ff\"/>"
    "<rect width=\"2\" height=\"6\" fill=\"#d2a5e6\"/></pattern></defs>\n";

// As text of XML 1.0, which has no place for control characters, U+FFFE and U+FFFF.
std::string xml_text(std::string_view text) {
  std::string out;
  const std::string clean = printable(text);
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const std::string_view rest = std::string_view(clean).substr(i);
    if (rest.starts_with("\xef\xbf\xbe") || rest.starts_with("\xef\xbf\xbf")) {
      out += "\xef\xbf\xbd";
      i += 2;
    } else if (clean[i] == '&') {
      out += "&amp;";
    } else if (clean[i] == '<') {
      out += "&lt;";
    } else if (clean[i] == '>') {
      out += "&gt;";
    } else if (clean[i] == '"') {
      out += "&quot;";
    } else {
      out += clean[i];
    }
  }
  return out;
}

// What of the name fits into so many pixels; "": too little to be of use.
std::string label(const std::string& name, double width) {
  const auto room = static_cast<std::size_t>(std::max(0.0, (width - 6) / kCharacter));
  const std::string text = printable(name);
  std::size_t characters = 0, cut = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U) continue;
    if (characters + 2 == room) cut = i;  // where ".." would stand
    ++characters;
  }
  if (characters <= room) return xml_text(text);
  return room < kLeastLabel ? std::string() : xml_text(text.substr(0, cut)) + "..";
}

std::string fixed(double value, int decimals) {
  std::array<char, 64> text{};
  (void)std::snprintf(text.data(), text.size(), "%.*f", decimals, value);
  return text.data();
}

double seconds(std::uint64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

class SvgWriter {
 public:
  SvgWriter(const FlameTree& tree, bool icicle) : tree_(tree), icicle_(icicle) {}

  std::string write() {
    const std::size_t rows = depth(0);
    height_ = kHead + static_cast<double>(rows) * kRow + kMargin;
    out_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"";
    const std::string width = fixed(kWidth, 0), height = fixed(height_, 0);
    out_ += " width=\"" + width + "\" height=\"" + height + "\" viewBox=\"0 0 " + width + " " +
            height + "\">\n";
    out_ += kStyle;
    out_ += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
    write_line("h", 22, "Off-CPU time: " + totals());
    write_line("o", 40, tree_.origin);
    write_node(0, 0, 0);
    return std::move(out_) + "</svg>\n";
  }

 private:
  [[nodiscard]] double x_of(std::uint64_t ns) const {
    return kMargin + (kWidth - 2 * kMargin) * static_cast<double>(ns) /
                         static_cast<double>(tree_.nodes[0].ns);
  }

  [[nodiscard]] bool is_drawn(const FlameTree::Node& node) const {
    return node.ns > 0 && x_of(node.ns) - x_of(0) >= kLeastWidth;
  }

  // In rows, of what is drawn. Stacks are at most a few hundred frames deep.
  [[nodiscard]] std::size_t depth(std::uint32_t id) const {
    const FlameTree::Node& node = tree_.nodes[id];
    if (!is_drawn(node)) return 0;
    std::size_t above = 0;
    for (const std::uint32_t child : node.children) above = std::max(above, depth(child));
    return above + 1;
  }

  void write_line(const char* style, double y, const std::string& text) {
    out_ += "<text class=\"" + std::string(style) + "\" x=\"" + fixed(kMargin, 0) + "\" y=\"" +
            fixed(y, 0) + "\">" + xml_text(text) + "</text>\n";
  }

  [[nodiscard]] std::string totals() const {
    const FlameTree::Node& root = tree_.nodes[0];
    std::string text = fixed(seconds(root.ns), 3) + " s in " + fixed(root.episodes, 0) + " waits";
    if (tree_.is_difference) text += ", earlier " + fixed(seconds(root.before_ns), 3) + " s";
    if (root.progress_ns > 0) text += ", " + fixed(seconds(root.progress_ns), 3) + " s in progress";
    return text;
  }

  [[nodiscard]] std::string title(const FlameTree::Node& node) const {
    const FlameFrame& frame = tree_.frames[node.frame];
    const double share =
        100 * static_cast<double>(node.ns) / static_cast<double>(tree_.nodes[0].ns);
    std::string text = frame.name;
    if (!frame.object.empty()) text += " (" + frame.object + ")";
    text += ": " + duration_text(seconds(node.ns)) + ", " + fixed(share, 2) + " %, " +
            fixed(node.episodes, node.episodes < 10 ? 1 : 0) + " waits";
    if (tree_.is_difference) text += "; earlier " + duration_text(seconds(node.before_ns));
    if (node.progress_ns > 0) {
      text += "; in progress " + duration_text(seconds(node.progress_ns));
    }
    return text;
  }

  // Edges are rounded, not widths, so that neighbours meet.
  void write_node(std::uint32_t id, std::uint64_t begin_ns, std::size_t row) {
    const FlameTree::Node& node = tree_.nodes[id];
    if (!is_drawn(node)) return;
    const double left = x_of(begin_ns), width = x_of(begin_ns + node.ns) - left;
    const double offset = static_cast<double>(row) * kRow;
    const double y = icicle_ ? kHead + offset : height_ - kMargin - kRow - offset;
    out_ += "<g><title>" + xml_text(title(node)) + "</title><rect class=\"f\" x=\"" +
            fixed(left, 2) + "\" y=\"" + fixed(y, 0) + "\" width=\"" + fixed(width, 2) +
            "\" height=\"" + fixed(kRow, 0) + "\" fill=\"" + flame_fill(tree_, node) + "\"/>";
    const std::string text = label(tree_.frames[node.frame].name, width);
    if (!text.empty()) {
      out_ += "<text x=\"" + fixed(left + 3, 2) + "\" y=\"" + fixed(y + 13, 0) + "\">" + text +
              "</text>";
    }
    out_ += "</g>\n";
    for (const std::uint32_t child : node.children) {
      write_node(child, begin_ns, row + 1);
      begin_ns += tree_.nodes[child].ns;
    }
  }

  const FlameTree& tree_;
  bool icicle_;
  double height_ = 0;
  std::string out_;
};

}  // namespace

std::string flame_svg(const FlameTree& tree, bool icicle) {
  return SvgWriter(tree, icicle).write();
}

}  // namespace offcpud
