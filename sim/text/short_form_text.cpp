#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "short_form.hpp"
#include "widthwise/sim/text.hpp"
#include "words.hpp"

namespace widthwise {
namespace {

// A short form as text in pieces: kind(first, argument, ...).
struct Pieces {
  std::string kind, first;
  std::vector<std::string> arguments;

  std::string text() const {
    const std::string_view comma = arguments.empty() ? "" : ", ";
    return fmt::format("{}({}{}{})", kind, first, comma, fmt::join(arguments, ", "));
  }
  bool is(const Unit& u) const {
    try {
      Scanner in("unit", text());
      return read_short_form(in) == u;
    } catch (const ParseError&) {
      return false;
    }
  }
};

std::string text_of(const Round& r) {
  return to_string(r.fmt) + (r.rm == Rounding{} ? "" : ":" + to_string(r.rm));
}
std::string text_of(const Align& a) {
  return fmt::format("{}{}", a.frac_bits, a.rm == Rounding{} ? "" : ":" + to_string(a.rm));
}

// Every kind with everything it can say about the unit; no text where it cannot be the unit.
Pieces mac(const Unit& u) {
  if (!u.product.round) return {};
  return {"mac", "", {"product=" + text_of(*u.product.round), "sum=" + text_of(u.out)}};
}

Pieces compensated(const Unit& u) {
  if (u.chain.compensation == Compensation::none) return {};
  Pieces p = mac(u);
  if (!p.kind.empty()) p.kind = word(u.chain.compensation);
  return p;
}

Pieces fma(const Unit& u) { return {"fma", "", {"sum=" + text_of(u.out)}}; }

Pieces tree(const Unit& u) {
  if (!u.product.round || !u.group_sum.node_round) return {};
  Pieces p{"pairwise",
           "",
           {"product=" + text_of(*u.product.round), "node=" + text_of(*u.group_sum.node_round),
            "sum=" + text_of(u.out)}};
  if (u.lanes == 0) return p;
  p.kind = "tree";
  p.arguments.push_back(fmt::format("fan={}", u.lanes));
  return p;
}

Pieces dot(const Unit& u) {
  const Align& align = u.group_sum.align;
  Pieces p{"dot", "", {fmt::format("lanes={}", u.lanes)}};
  if (align.reference == Reference::max_exponent) p.arguments.push_back("align=" + text_of(align));
  if (align.e_floor) p.arguments.push_back(fmt::format("floor={}", *align.e_floor));
  p.arguments.push_back("out=" + text_of(u.out));
  return p;
}

Pieces kulisch(const Unit& u) {
  Pieces p{"kulisch", "", {"out=" + text_of(u.out)}};
  if (!u.group_sum.width) return p;
  const RegisterOverflow how = u.group_sum.overflow;
  p.arguments.push_back(fmt::format("width={}", *u.group_sum.width));
  p.arguments.push_back(fmt::format(
      "overflow={}", word(how == RegisterOverflow::wrap_nar ? RegisterOverflow::wrap : how)));
  return p;
}

Pieces fixedacc(const Unit& u) {
  const Sum& sum = u.group_sum;
  Pieces p{"fixedacc", "", {}};
  if (sum.width) p.arguments.push_back(fmt::format("width={}", *sum.width));
  p.arguments.push_back(fmt::format("frac={}", sum.align.frac_bits));
  p.arguments.push_back("align=" + to_string(sum.align.rm));
  p.arguments.push_back(fmt::format("overflow={}", word(sum.overflow)));
  p.arguments.push_back("out=" + text_of(u.out));
  return p;
}

void add_common(Pieces& p, const Unit& u) {
  const std::string operands[] = {"a=" + to_string(u.a.fmt), "b=" + to_string(u.b.fmt),
                                  "c=" + to_string(u.c.fmt)};
  p.arguments.insert(p.arguments.begin(), std::begin(operands), std::end(operands));
  if (const auto& f = u.chain.final) p.arguments.push_back("final=" + text_of(*f));
  if (const auto& x = u.chain.promote)
    p.arguments.push_back(fmt::format("promote={}:{}", x->interval, text_of(x->round)));
  p.arguments.push_back(fmt::format("tininess={}", word(u.out.tininess)));
  if (const auto& s = u.scale)
    p.arguments.push_back(
        fmt::format("scale={}:{}:{}", to_string(s->fmt), s->block, word(s->apply)));
}

// The formats that may stand in front, for all that are the same; a's if nothing is shorter.
std::vector<Format> candidates(const Unit& u) {
  std::vector<Format> found;
  const auto add = [&](const Format& f) {
    if (std::ranges::find(found, f) == found.end()) found.push_back(f);
  };
  for (const Format& f : {u.a.fmt, u.b.fmt, u.c.fmt, u.out.fmt}) add(f);
  if (u.product.round) add(u.product.round->fmt);
  if (u.group_sum.node_round) add(u.group_sum.node_round->fmt);
  return found;
}

// Leaves out every argument that the rest implies. Whether it does depends on the format in front
// alone, so the order does not matter.
void shorten(Pieces& p, const Unit& u) {
  for (std::size_t i = 0; i < p.arguments.size();) {
    Pieces without = p;
    without.arguments.erase(without.arguments.begin() + static_cast<std::ptrdiff_t>(i));
    if (without.is(u))
      p = std::move(without);
    else
      ++i;
  }
}

}  // namespace

std::optional<std::string> short_form(const Unit& u) {
  std::optional<Pieces> shortest;
  using Describe = Pieces (*)(const Unit&);
  constexpr Describe kinds[] = {mac, compensated, fma, tree, dot, kulisch, fixedacc};
  for (const Describe describe : kinds) {
    Pieces all = describe(u);
    if (all.kind.empty()) continue;
    add_common(all, u);
    for (const Format& first : candidates(u)) {
      all.first = to_string(first);
      if (!all.is(u)) break;  // everything is said: another format in front changes nothing
      Pieces p = all;
      shorten(p, u);
      if (!shortest || p.arguments.size() < shortest->arguments.size()) shortest = std::move(p);
    }
  }
  if (!shortest) return {};
  return shortest->text();
}

}  // namespace widthwise
