// To nearest even within a carrier of D digits, by its own operations (docs/exactness.md, 2).
// Included wherever there are lanes, vectors of a CPU or threads of a GPU: within a namespace whose
// `hn` has the operations of a lane, after the macro that says how its functions are declared.

// A product rounded by way of c = max(|a S| |b|, 3/2 2^(emin + D - p)), S = 2^(D - p); of c = a S b
// where no product but zero is so small.
template <bool may_be_small = true, class V>
WIDTHWISE_SEQUENCE V rounded_product(V a, V a_up, V b, V least) {
  V c;
  if constexpr (may_be_small)
    c = hn::Max(hn::Mul(hn::Abs(a_up), hn::Abs(b)), least);
  else
    c = hn::Mul(a_up, b);
  return hn::Sub(hn::MulAdd(a, b, c), c);
}

// A sum rounded to p of the carrier's digits: x (1 - S) + x S, the first product rounded where x's
// digits past the p-th end.
//
// Where subnormals count, by way of c = 3/2 S max(2^e, 2^emin) with 2^e the power of two in x: x +
// c stays in c's binade, whose last digit is where x is to end. `exponent` is infinity, whose bits
// are those of all exponents; `up` has 3/2 in it then.
template <Add add, class V>
WIDTHWISE_SEQUENCE V rounded_sum(V x, V up, V one_less, V exponent, V least) {
  if constexpr (add == Add::normal) return hn::MulAdd(x, up, hn::Mul(x, one_less));
  if constexpr (add == Add::rounded) {
    const V c = hn::Max(hn::Mul(hn::And(x, exponent), up), least);
    return hn::Sub(hn::Add(x, c), c);
  }
  return x;
}
