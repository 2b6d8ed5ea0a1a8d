#pragma once
#include <algorithm>

#include "apply.hpp"
#include "draw_bits.hpp"
#include "kernels.hpp"
#include "quick_chunk.hpp"

namespace widthwise {

// Items of one type: loops of known steps, which load_code and store_code are not.
template <class Item, class U>
void load_items(const void* data, std::size_t first, std::size_t n, U* codes) {
  const auto* at = static_cast<const std::byte*>(data) + first * sizeof(Item);
  for (std::size_t i = 0; i < n; ++i) {
    Item x;
    std::memcpy(&x, at + i * sizeof x, sizeof x);
    codes[i] = static_cast<U>(x);
  }
}
template <class Item, class U>
void store_items(void* data, std::size_t first, std::size_t n, const U* codes) {
  auto* at = static_cast<std::byte*>(data) + first * sizeof(Item);
  for (std::size_t i = 0; i < n; ++i) {
    const auto x = static_cast<Item>(codes[i]);
    std::memcpy(at + i * sizeof x, &x, sizeof x);
  }
}

template <class U>
void load_chunk(const CodeArray& a, std::size_t first, std::size_t n, U* codes) {
  const auto bytes = static_cast<std::size_t>(item_bytes(a.format.width()));
  if (bytes == sizeof(U)) return load_items<U>(a.data, first, n, codes);
  if constexpr (digits<U> <= 64) {
    if (bytes == 1) return load_items<std::uint8_t>(a.data, first, n, codes);
    if (bytes == 2) return load_items<std::uint16_t>(a.data, first, n, codes);
    return load_items<std::uint32_t>(a.data, first, n, codes);
  } else {
    const auto* at = static_cast<const std::byte*>(a.data) + first * bytes;
    for (std::size_t i = 0; i < n; ++i)
      codes[i] = load_code<U>(at + i * bytes, static_cast<int>(bytes));
  }
}

template <class U>
void store_chunk(const Format& f, void* data, std::size_t first, std::size_t n, const U* codes) {
  const auto bytes = static_cast<std::size_t>(item_bytes(f.width()));
  if (bytes == sizeof(U)) return store_items<U>(data, first, n, codes);
  if constexpr (digits<U> <= 64) {
    if (bytes == 1) return store_items<std::uint8_t>(data, first, n, codes);
    if (bytes == 2) return store_items<std::uint16_t>(data, first, n, codes);
    return store_items<std::uint32_t>(data, first, n, codes);
  } else {
    auto* at = static_cast<std::byte*>(data) + first * bytes;
    for (std::size_t i = 0; i < n; ++i)
      store_code(at + i * bytes, static_cast<int>(bytes), codes[i]);
  }
}

// Carriers as they lie in memory, at any address.
template <class U>
struct Items {
  const void* data;
  U operator[](std::size_t i) const {
    U x;
    std::memcpy(&x, static_cast<const std::byte*>(data) + i * sizeof x, sizeof x);
    return x;
  }
};

// A chunk of a job: operands in, codes and flags out.
template <class U>
struct Chunk {
  std::size_t first, n;
  Items<U> operand[3];
  U held[3][chunk<U>];
  U code[chunk<U>];
  std::uint8_t flags[chunk<U>];

  Chunk() : operand{{held[0]}, {held[1]}, {held[2]}}, held{} {}
  void load(int j, const CodeArray& a) {
    if (item_bytes(a.format.width()) == sizeof(U))
      operand[j].data = static_cast<const std::byte*>(a.data) + first * sizeof(U);
    else
      load_chunk(a, first, n, held[j]);
  }
  template <class Outcome>  // Result or Quick
  void put(std::size_t i, const Outcome& z) {
    code[i] = z.code;
    flags[i] = static_cast<std::uint8_t>(z.flags);
  }
};

// Calls work(chunk) for one chunk after the other.
template <class U, class Work>
void for_each_chunk(const ElementwiseJob& job, const Work& work) {
  Chunk<U> c;
  for (c.first = 0; c.first < job.count; c.first += chunk<U>) {
    c.n = std::min(chunk<U>, job.count - c.first);
    for (int j = 0; j < job.operands; ++j) c.load(j, job.operand[j]);
    work(c);
    store_chunk(job.to, job.result, c.first, c.n, c.code);
    if (job.flags) std::copy_n(c.flags, c.n, job.flags + c.first);
  }
}

// result = op(i, a, b, c) for every element.
template <class U, class Op>
void for_each(const ElementwiseJob& job, const Op& op) {
  for_each_chunk<U>(job, [&](Chunk<U>& c) {
    for (std::size_t i = 0; i < c.n; ++i) {
      c.put(i, op(c.first + i, c.operand[0][i], c.operand[1][i], c.operand[2][i]));
    }
  });
}

// The random bits of a chunk.
template <class U>
void draw_chunk(const ElementwiseJob& job, std::size_t first, std::size_t n, U* drawn) {
  const RandomSource from = job.random.from(job.random.first_index + first);
  if (from.given) {
    for (std::size_t i = 0; i < n; ++i) drawn[i] = draw<U>(job.env.rounding, from, i);
    return;
  }
  std::uint64_t bits[chunk<U>];
  elements::draw_bits(job.env.rounding.random_bits, from.seed, from.first_index, n, bits);
  for (std::size_t i = 0; i < n; ++i) drawn[i] = U(bits[i]);
}

// A chunk of elements, by what is sure and what has to be done again.
template <class U, class Quickly, class Op>
void put_chunk(Chunk<U>& c, const Quickly& quickly, const Op& again) {
  std::uint8_t sure[chunk<U>];
  quick_chunk<U>(c.n, quickly, c.code, c.flags, sure);
  for (std::size_t i = 0; (i = next_unsure(sure, i, c.n)) < c.n; ++i) c.put(i, again(i));
}

// The same where the usual case has a quick way, quick(a, b, c, random bits), for carriers that
// vector units hold; what is not sure is done again by op(a, b, c, random bits).
template <class U, class Quickly, class Op>
void for_each(const ElementwiseJob& job, const Quickly& quick, const Op& op) {
  const bool stochastic = job.env.rounding.stochastic();
  for_each_chunk<U>(job, [&](Chunk<U>& c) {
    const Items<U> x = c.operand[0], y = c.operand[1], z = c.operand[2];
    U drawn[chunk<U>];
    if (stochastic) draw_chunk<U>(job, c.first, c.n, drawn);
    if constexpr (64 < digits<U>) {
      const Op own = op;
      for (std::size_t i = 0; i < c.n; ++i)
        c.put(i, own(x[i], y[i], z[i], stochastic ? drawn[i] : U{}));
    } else if (stochastic) {
      const U* const r = drawn;
      put_chunk<U>(
          c, [quick, x, y, z, r](std::size_t i) { return quick(x[i], y[i], z[i], r[i]); },
          [&](std::size_t i) { return op(x[i], y[i], z[i], drawn[i]); });
    } else {
      put_chunk<U>(
          c, [quick, x, y, z](std::size_t i) { return quick(x[i], y[i], z[i], U{}); },
          [&](std::size_t i) { return op(x[i], y[i], z[i], U{}); });
    }
  });
}

template <class U>
void run_elementwise(const ElementwiseJob& job) {
  const Rounder<U> to(job.to, job.env);
  const Layout<U> fa(job.operand[0].format), fb(job.operand[1].format), fc(job.operand[2].format);
  const auto random = [&](std::size_t i) { return draw<U>(job.env.rounding, job.random, i); };
  const auto extremes = [&](bool greater, NanOperand rule) {
    for_each<U>(job, [&](std::size_t i, const U& a, const U& b, const U&) {
      return extremum(to, greater, rule, fa, a, fb, b, random(i));
    });
  };
  const auto x86_extremes = [&](bool greater) {
    for_each<U>(job, [&](std::size_t i, const U& a, const U& b, const U&) {
      return x86_extremum(to, greater, fa, a, fb, b, random(i));
    });
  };
  const auto integral = [&](bool exact) {
    for_each<U>(job, [&](std::size_t i, const U& a, const U&, const U&) {
      return round_to_integral(to, fa, a, exact, random(i));
    });
  };
  switch (job.op) {
    case Operation::add:
      return for_each<U>(
          job,
          [=](const U& a, const U& b, const U&, const U& r) {
            return quick_sum<InLoops<U>>(to, false, fa, a, fb, b, r);
          },
          [=](const U& a, const U& b, const U&, const U& r) { return add(to, fa, a, fb, b, r); });
    case Operation::subtract:
      return for_each<U>(
          job,
          [=](const U& a, const U& b, const U&, const U& r) {
            return quick_sum<InLoops<U>>(to, true, fa, a, fb, b, r);
          },
          [=](const U& a, const U& b, const U&, const U& r) {
            return subtract(to, fa, a, fb, b, r);
          });
    case Operation::multiply:
      return for_each<U>(
          job,
          [=](const U& a, const U& b, const U&, const U& r) {
            return quick_product<InLoops<U>>(to, fa, a, fb, b, r);
          },
          [=](const U& a, const U& b, const U&, const U& r) {
            return multiply(to, fa, a, fb, b, r);
          });
    case Operation::divide:
      return for_each<U>(job, [&](std::size_t i, const U& a, const U& b, const U&) {
        return divide(to, fa, a, fb, b, random(i));
      });
    case Operation::remainder:
      return for_each<U>(job, [&](std::size_t i, const U& a, const U& b, const U&) {
        return remainder(to, fa, a, fb, b, random(i));
      });
    case Operation::sqrt:
      return for_each<U>(job, [&](std::size_t i, const U& a, const U&, const U&) {
        return sqrt(to, fa, a, random(i));
      });
    case Operation::fma:
      return for_each<U>(
          job,
          [=](const U& a, const U& b, const U& c, const U& r) {
            return quick_fma<InLoops<U>>(to, fa, a, fb, b, fc, c, r);
          },
          [=](const U& a, const U& b, const U& c, const U& r) {
            return fma(to, fa, a, fb, b, fc, c, r);
          });
    case Operation::convert:
      return for_each<U>(
          job,
          [=](const U& a, const U&, const U&, const U& r) {
            return quick_conversion<InLoops<U>>(to, fa, a, r);
          },
          [=](const U& a, const U&, const U&, const U& r) { return convert(to, fa, a, r); });
    case Operation::round_to_integral: return integral(false);
    case Operation::round_to_integral_exact: return integral(true);
    case Operation::minimum: return extremes(false, NanOperand::wins);
    case Operation::maximum: return extremes(true, NanOperand::wins);
    case Operation::minimum_number: return extremes(false, NanOperand::loses);
    case Operation::maximum_number: return extremes(true, NanOperand::loses);
    case Operation::min_num: return extremes(false, NanOperand::loses_unless_loud);
    case Operation::max_num: return extremes(true, NanOperand::loses_unless_loud);
    case Operation::min_x86: return x86_extremes(false);
    case Operation::max_x86: return x86_extremes(true);
    case Operation::next_up:
      return for_each<U>(
          job, [&](std::size_t, const U& a, const U&, const U&) { return next_up(fa, a); });
    case Operation::next_down:
      return for_each<U>(
          job, [&](std::size_t, const U& a, const U&, const U&) { return next_down(fa, a); });
    case Operation::logb:
      return for_each<U>(job, [&](std::size_t i, const U& a, const U&, const U&) {
        return logb(to, fa, a, random(i));
      });
    case Operation::copysign:
      return for_each<U>(job, [&](std::size_t, const U& a, const U& b, const U&) {
        return copysign(to, a, fb, b);
      });
    case Operation::negate:
      return for_each<U>(
          job, [&](std::size_t, const U& a, const U&, const U&) { return negate(to, a); });
    case Operation::abs:
      return for_each<U>(job,
                         [&](std::size_t, const U& a, const U&, const U&) { return abs(to, a); });
  }
}

template <class U>
void run_scaleb(const ElementwiseJob& job) {
  const Rounder<U> to(job.to, job.env);
  const Layout<U> fa(job.operand[0].format);
  for_each<U>(job, [&](std::size_t i, const U& a, const U&, const U&) {
    return scaleb(to, fa, a, job.powers[i], draw<U>(job.env.rounding, job.random, i));
  });
}

template <class U>
void run_to_integers(const IntegerJob& job) {
  const Layout<U> f(job.codes.format);
  const RoundingRule rule(job.env.rounding);
  for (std::size_t i = 0; i < job.count; ++i) {
    U code;
    load_chunk(job.codes, i, 1, &code);
    const IntegerResult z = to_integer(job.type.width, job.type.is_signed, rule, f, code,
                                       draw<U>(job.env.rounding, job.random, i), job.type.invalid);
    job.integers_out[i] = z.value;
    if (job.flags) job.flags[i] = static_cast<std::uint8_t>(z.flags);
  }
}

template <class U>
void run_from_integers(const IntegerJob& job) {
  const Rounder<U> to(job.to, job.env);
  const int bytes = item_bytes(job.to.width());
  auto* out = static_cast<std::byte*>(job.codes_out);
  for (std::size_t i = 0; i < job.count; ++i) {
    const std::uint64_t x = job.integers_in[i];
    const bool negative = job.type.is_signed && x >> 63;
    const Result<U> z =
        from_integer(to, negative, negative ? 0 - x : x, draw<U>(job.env.rounding, job.random, i));
    store_code(out + i * static_cast<std::size_t>(bytes), bytes, z.code);
    if (job.flags) job.flags[i] = static_cast<std::uint8_t>(z.flags);
  }
}

template <class U>
void run_compare(const CompareJob& job) {
  const Layout<U> fa(job.a.format), fb(job.b.format);
  for (std::size_t i = 0; i < job.count; ++i) {
    U a, b;
    load_chunk(job.a, i, 1, &a);
    load_chunk(job.b, i, 1, &b);
    const Truth z = apply(job.how, fa, a, fb, b);
    job.result[i] = z.holds;
    if (job.flags) job.flags[i] = static_cast<std::uint8_t>(z.flags);
  }
}

template <class U>
void run_classify(const CodeArray& a, std::size_t count, std::uint8_t* result) {
  const Layout<U> f(a.format);
  for (std::size_t i = 0; i < count; ++i) {
    U code;
    load_chunk(a, i, 1, &code);
    result[i] = static_cast<std::uint8_t>(classify(f, code));
  }
}

// Everything above for one carrier.
#define WIDTHWISE_INSTANTIATE_KERNELS(U)                   \
  template void run_elementwise<U>(const ElementwiseJob&); \
  template void run_scaleb<U>(const ElementwiseJob&);      \
  template void run_to_integers<U>(const IntegerJob&);     \
  template void run_from_integers<U>(const IntegerJob&);   \
  template void run_compare<U>(const CompareJob&);         \
  template void run_classify<U>(const CodeArray&, std::size_t, std::uint8_t*)

}  // namespace widthwise
