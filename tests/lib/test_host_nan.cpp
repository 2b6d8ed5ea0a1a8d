#ifdef __x86_64__
#include <xmmintrin.h>

#include <string>

#include "host.hpp"
#include "operands.hpp"
#include "tally.hpp"
#include "widthwise/sim/text.hpp"

namespace test_host_nan {

// The NaN that x86 delivers, its MINSS and MAXSS and their flags, by its instructions.
namespace {

using namespace tests;

// a = a NAME b, by the instruction of that name for floats or doubles.
#define WIDTHWISE_SSE(name)                              \
  do {                                                   \
    if constexpr (sizeof(F) == sizeof(float))            \
      asm volatile(name "ss %1, %0" : "+x"(a) : "x"(b)); \
    else                                                 \
      asm volatile(name "sd %1, %0" : "+x"(a) : "x"(b)); \
    return a;                                            \
  } while (false)

template <class F>
F by_instruction(Operation op, F a, F b) {
  switch (op) {
    case Operation::add: WIDTHWISE_SSE("add");
    case Operation::subtract: WIDTHWISE_SSE("sub");
    case Operation::multiply: WIDTHWISE_SSE("mul");
    case Operation::divide: WIDTHWISE_SSE("div");
    case Operation::min_x86: WIDTHWISE_SSE("min");
    case Operation::max_x86: WIDTHWISE_SSE("max");
    default: b = a; WIDTHWISE_SSE("sqrt");
  }
}

// b = a * b + c
template <class F>
F fused(F a, F b, F c) {
  if constexpr (sizeof(F) == sizeof(float))
    asm volatile("vfmadd213ss %2, %1, %0" : "+x"(b) : "x"(a), "x"(c));
  else
    asm volatile("vfmadd213sd %2, %1, %0" : "+x"(b) : "x"(a), "x"(c));
  return b;
}

template <class F>
class Asked {
 public:
  using Code = typename Host<F>::Code;

  explicit Asked(const char* options, unsigned control)
      : f_(parse_format(to_string(Host<F>::format) + options)), control_(control) {}

  void judge(Operation op, const Code (&codes)[3], Tally& tally) const {
    const Layout<Code> layout(f_);
    const Coded<Code> x[3]{{&layout, codes[0]}, {&layout, codes[1]}, {&layout, codes[2]}};
    const Rounder<Code> to(f_, {.nan = NanResult::x86});
    const Result<Code> got = apply(op, to, x, Code{});
    const auto [want, flags] = on_this_machine(op, codes);
    tally.check(got.code == want && static_cast<Flags>(got.flags) == flags, [&] {
      return Description{
          call_text(op, x), f_, to.env, 0, {got.code}, {want}, static_cast<Flags>(got.flags), flags}
          .text();
    });
  }

  const Format& format() const { return f_; }

 private:
  std::pair<Code, Flags> on_this_machine(Operation op, const Code (&codes)[3]) const {
    F x[3];
    for (int i = 0; i < 3; ++i) x[i] = opaque(std::bit_cast<F>(codes[i]));
    const unsigned before = _mm_getcsr();
    _mm_setcsr((before & ~0x3fu) | control_);
    const F z = op == Operation::fma ? fused(x[0], x[1], x[2]) : by_instruction(op, x[0], x[1]);
    const Flags flags = host_flags();
    _mm_setcsr(before);
    return {std::bit_cast<Code>(z), flags};
  }

  Format f_;
  unsigned control_;
};

// Every two of the named operands, specials and both zeros among them, and as many drawn ones.
template <class F>
void judge_all(const char* options, unsigned control, std::initializer_list<Operation> operations,
               std::uint64_t count) {
  const Asked<F> asked(options, control);
  using Code = typename Host<F>::Code;
  const Operands<Code> f(Host<F>::format);
  std::vector<Code> named = f.named();
  const Code quiet = Code(1) << (Host<F>::format.frac_bits - 1);
  for (const Code nan : {f.layout().nan_code | Code(5), (f.layout().nan_code ^ quiet) | Code(9)})
    for (const Code sign : {Code{}, f.layout().sign}) named.push_back(nan | sign);
  Tally tally;
  Random random(19);
  for (const Operation op : operations) {
    for (const Code a : named)
      for (const Code b : named) {
        const Code c = named[random() % named.size()];
        asked.judge(op, {a, b, c}, tally);
      }
    for (std::uint64_t i = 0; i < count; ++i)
      asked.judge(op, {f.any(random), f.any(random), f.any(random)}, tally);
  }
  tally.expect(operations.size() * (named.size() * named.size() + count));
}

constexpr std::initializer_list<Operation> two_operands{
    Operation::add,  Operation::subtract, Operation::multiply, Operation::divide,
    Operation::sqrt, Operation::min_x86,  Operation::max_x86};
constexpr std::initializer_list<Operation> extremes{Operation::min_x86, Operation::max_x86};

}  // namespace

TEST_CASE("x86's NaN, MINSS and MAXSS by its own instructions, codes and flags") {
  judge_all<float>("", 0, two_operands, samples(50'000));
  judge_all<double>("", 0, two_operands, samples(50'000));
}
TEST_CASE("x86's MINSS and MAXSS where MXCSR has subnormals read as zero, or results flushed") {
  judge_all<float>(";daz", 0x0040, extremes, samples(50'000));
  judge_all<float>(";ftz", 0x8000, extremes, samples(50'000));
  judge_all<double>(";daz;ftz", 0x8040, extremes, samples(50'000));
}
TEST_CASE("x86's fused multiply-add hands a NaN on, and 0 * infinity beside one is silent") {
  if (!has_fma()) {
    std::printf("SKIPPED: this CPU has no fused multiply-add\n");
    return;
  }
  judge_all<float>("", 0, {Operation::fma}, samples(50'000));
  judge_all<double>("", 0, {Operation::fma}, samples(50'000));
}
#endif

}  // namespace test_host_nan
