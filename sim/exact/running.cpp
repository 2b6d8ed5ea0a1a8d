#include "running.hpp"

#include <cstring>

#include "panels.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise::exact {
namespace {

// Where the result of the first `length` elements goes.
struct Place {
  std::byte* code;
  std::size_t bytes;
  std::uint8_t* flags;  // or null

  Place(const Unit& u, const MatrixProduct& p, std::size_t at)
      : bytes(static_cast<std::size_t>(item_bytes(result_round(u).fmt.width()))) {
    code = static_cast<std::byte*>(p.result) + at * bytes;
    flags = p.flags ? p.flags + at : nullptr;
  }
  void put(std::uint64_t z, Flags raised) const {
    store_code(code, static_cast<int>(bytes), z);
    if (flags) *flags = static_cast<std::uint8_t>(raised);
  }
  // The result before that.
  void repeat() const {
    std::memcpy(code, code - bytes, bytes);
    if (flags) *flags = flags[-1];
  }
};

bool is_number(const Factor<std::uint64_t>& x) {
  return x.kind != Kind::infinite && x.kind != Kind::nan;
}

}  // namespace

std::unique_ptr<const RunningSums> RunningSums::of(const Unit& unit, std::size_t k, bool flags) {
  const Answer answer = plan(unit, k, flags);
  return answer.plan ? std::make_unique<const RunningSums>(unit, *answer.plan, k) : nullptr;
}

RunningSums::Items RunningSums::row(const MatrixProduct& p, std::size_t i) const {
  const std::size_t block = unit_.scale ? static_cast<std::size_t>(unit_.scale->block) : 1;
  const Scales scales{line(p.scale_a, a_.scale_bytes(), i, 0), 0, block};
  Items items(k_);
  for (std::size_t t = 0; t < k_; ++t) items[t] = a_.item(line(p.a, a_.bytes(), i, 0), scales, t);
  return items;
}

RunningSums::Items RunningSums::column(const MatrixProduct& p, std::size_t j) const {
  const std::size_t block = unit_.scale ? static_cast<std::size_t>(unit_.scale->block) : 1;
  const Scales scales{line(p.scale_b, b_.scale_bytes(), 0, j, true), 0, block};
  Items items(k_);
  for (std::size_t t = 0; t < k_; ++t)
    items[t] = b_.item(line(p.b, b_.bytes(), 0, j, true), scales, t);
  return items;
}

void RunningSums::run(const MatrixProduct& p, std::size_t first, std::size_t last) const {
  for (std::size_t i = first; i < last; ++i) {
    const Items a = row(p, i);
    for (std::size_t j = 0; j < p.n; ++j) output(p, i, j, a, column(p, j));
  }
}

// Where there are infinities and NaN they alone decide: a result stays until the next one.
void RunningSums::output(const MatrixProduct& p, std::size_t i, std::size_t j, const Items& a,
                         const Items& b) const {
  const WordSums& sums = ending_.sums();
  const auto c = ending_.addend(p.c.data ? line(p.c, ending_.c().bytes(), i, j).at : nullptr);
  std::vector<uint128> words(sums.size()), total;
  Signs signs;
  Flags raised = 0;
  bool special = !is_number(c), again = special;
  for (std::size_t t = 0; t < k_; ++t) {
    const Place place(unit_, p, p.output(i, j) * k_ + t);
    again |= a[t].special || b[t].special;
    special |= again;
    if (special) {
      again ? by_reference(p, i, j, t + 1) : place.repeat();
      again = false;
      continue;
    }
    signs.see(a[t].negative != b[t].negative);
    sums.add_products(words.data(), &a[t], &b[t], 1, raised);
    total = words;
    Progress progress{p.where(i, j), raised};
    const std::uint64_t code = ending_.code(
        total.data(), c, [&] { return signs; }, progress);
    place.put(code, progress.flags);
  }
}

void RunningSums::by_reference(const MatrixProduct& p, std::size_t i, std::size_t j,
                               std::size_t length) const {
  const Place place(unit_, p, p.output(i, j) * k_ + length - 1);
  MatrixProduct one = tile(unit_, p, i, j, 1, 1);
  one.k = length;
  one.result = place.code;
  one.flags = place.flags;
  make_reference(unit_, length)->run(one, 0, 1);
}

}  // namespace widthwise::exact
