#include "running.hpp"

#include <cstring>
#include <utility>

#include "panels.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise::exact {
namespace {

// Where results of one output go, one after the other.
struct Results {
  std::byte* code;
  std::size_t bytes;
  std::uint8_t* flags;  // or null

  void put(std::size_t t, std::uint64_t z, Flags raised) const {
    store_code(code + t * bytes, static_cast<int>(bytes), z);
    if (flags) flags[t] = static_cast<std::uint8_t>(raised);
  }
  // What stands before.
  void repeat(std::size_t t) const {
    std::memcpy(code + t * bytes, code + (t - 1) * bytes, bytes);
    if (flags) flags[t] = flags[t - 1];
  }
};
Results results(const MatrixProduct& p, std::size_t at, std::size_t bytes) {
  return {static_cast<std::byte*>(p.result) + at * bytes, bytes, p.flags ? p.flags + at : nullptr};
}

// The infinities and NaN among a sum's terms, which alone decide it then (special_sum).
struct Specials {
  bool plus = false, minus = false, nan = false;

  bool any() const { return plus || minus || nan; }
  // Whether that is the first of its sort. NaN leaves nothing to decide.
  bool see(Kind kind, bool negative) {
    if (nan || kind == Kind::zero || kind == Kind::finite) return false;
    bool& seen = kind == Kind::nan ? nan : negative ? minus : plus;
    return !std::exchange(seen, true);
  }
};

}  // namespace

std::unique_ptr<const RunningSums> RunningSums::of(const Unit& unit, std::size_t k, bool flags) {
  const Answer answer = plan(unit, k, flags);
  return answer.plan ? std::make_unique<const RunningSums>(unit, *answer.plan, k) : nullptr;
}

RunningSums::RunningSums(const Unit& unit, const Plan& plan, std::size_t k)
    : unit_(unit),
      k_(k),
      scaled_(unit.scale ? static_cast<std::size_t>(unit.scale->block) : 1),
      bytes_(static_cast<std::size_t>(item_bytes(result_round(unit).fmt.width()))),
      a_(unit.a, unit.scale, false),
      b_(unit.b, unit.scale, false),
      ending_(unit, plan) {}

RunningSums::Elements::Elements(const Reader& of, const Line& from, const Scales& scaled,
                                std::size_t k)
    : reader(of), codes(from), scales(scaled), items(k) {
  for (std::size_t t = 0; t < k; ++t) items[t] = reader.item(codes, scales, t);
}
RunningSums::Elements RunningSums::row(const MatrixProduct& p, std::size_t i) const {
  const Line scales = line(p.scale_a, a_.scale_bytes(), i, 0);
  return {a_, line(p.a, a_.bytes(), i, 0), {scales, 0, scaled_}, k_};
}
RunningSums::Elements RunningSums::column(const MatrixProduct& p, std::size_t j) const {
  const Line scales = line(p.scale_b, b_.scale_bytes(), 0, j, true);
  return {b_, line(p.b, b_.bytes(), 0, j, true), {scales, 0, scaled_}, k_};
}

void RunningSums::run(const MatrixProduct& p, std::size_t first, std::size_t last) const {
  for (std::size_t i = first; i < last; ++i) {
    const Elements a = row(p, i);
    for (std::size_t j = 0; j < p.n; ++j) output(p, i, j, a, column(p, j));
  }
}

void RunningSums::output(const MatrixProduct& p, std::size_t i, std::size_t j, const Elements& a,
                         const Elements& b) const {
  const Results to = results(p, p.output(i, j) * k_, bytes_);
  const auto c = ending_.addend(p.c.data ? line(p.c, ending_.c().bytes(), i, j).at : nullptr);
  std::vector<uint128> words(ending_.sums().size()), total;
  Flags raised = 0;
  Signs signs;
  Specials specials;
  bool news = specials.see(c.kind(), c.negative);
  for (std::size_t t = 0; t < k_; ++t) {
    const Item &x = a.items[t], &y = b.items[t];
    const bool negative = x.negative != y.negative;
    if (x.special || y.special) news |= specials.see(product_kind(a.kind(t), b.kind(t)), negative);
    if (news) {
      by_reference(p, i, j, t + 1);
    } else if (specials.any()) {
      to.repeat(t);
    } else {
      signs.see(negative);
      ending_.sums().add_products(words.data(), &x, &y, 1, raised);
      total = words;
      Progress progress{p.where(i, j), raised};
      const auto see = [&](Signs& all) { all.meet(signs); };
      const std::uint64_t code = ending_.code(total.data(), c, see, progress);
      to.put(t, code, progress.flags);
    }
    news = false;
  }
}

void RunningSums::by_reference(const MatrixProduct& p, std::size_t i, std::size_t j,
                               std::size_t length) const {
  const Results to = results(p, p.output(i, j) * k_ + length - 1, bytes_);
  MatrixProduct one = tile(unit_, p, i, j, 1, 1);
  one.k = length;
  one.result = to.code;
  one.flags = to.flags;
  make_reference(unit_, length)->run(one, 0, 1);
}

}  // namespace widthwise::exact
