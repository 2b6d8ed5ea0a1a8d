#include "small.hpp"

// Fused multiply-add in small formats: all triples of the smallest, samples of the others.
namespace {

using namespace tests;

void all_triples(Judge& judge, const Target& to, const Codes& f) {
  for (std::uint64_t a = 0; a < f.size(); ++a)
    for (std::uint64_t b = 0; b < f.size(); ++b)
      for (std::uint64_t c = 0; c < f.size(); ++c)
        judge(Operation::fma, to, {{&f, a}, {&f, b}, {&f, c}});
}

void some_triples(Judge& judge, const Target& to, const Codes& f, const Codes& g, const Codes& h,
                  std::uint64_t count) {
  Random& random = judge.random();
  for (std::uint64_t i = 0; i < count; ++i)
    judge(Operation::fma, to,
          {{&f, random() % f.size()}, {&g, random() % g.size()}, {&h, random() % h.size()}});
}

void every_triple(const std::vector<Format>& formats) {
  Judge judge;
  std::uint64_t expected = 0;
  for (const Format& f : formats) {
    const Codes codes(f);
    const Target target(f, all_environments());
    all_triples(judge, target, codes);
    expected += codes.size() * codes.size() * codes.size() * target.size();
  }
  judge.expect(expected);
}

}  // namespace

TEST_SUITE("exhaustive") {
  TEST_CASE("fma: every three codes of formats of up to five bits, every mode, flags") {
    every_triple(tiny_formats());
  }
  TEST_CASE("fma: every three codes of the OCP formats of six bits, every mode, flags") {
    every_triple({e2m3fn, e3m2fn});
  }
}

TEST_CASE("fma: codes of every small format, every mode, flags") {
  const std::uint64_t count = samples(5'000);
  Judge judge;
  std::uint64_t expected = 0;
  for (const Format& f : small_formats()) {
    const Codes codes(f);
    const Target target(f, all_environments());
    some_triples(judge, target, codes, codes, codes, count);
    expected += count * target.size();
  }
  judge.expect(expected);
}

TEST_CASE("fma: factors of two formats, addend of a third, result of a fourth") {
  const std::uint64_t count = samples(100);
  Judge judge;
  std::uint64_t expected = 0;
  std::size_t turn = 0;
  const std::vector<Format>& all = small_formats();
  const auto next = [&] { return Codes(all[(turn += 17) % all.size()]); };
  for (const Format& f : small_formats())
    for (const Format& g : main_formats()) {
      const Codes a(f), b(g), c = next();
      const Target target(next().format(), all_environments());
      some_triples(judge, target, a, b, c, count);
      expected += count * target.size();
    }
  judge.expect(expected);
}
