// Numbers under a block's scale, as numbers that round to elements as the exact ones do. Included
// wherever there are lanes, vectors of a CPU or threads of a GPU: within a namespace whose `hn` has
// the operations of a lane and which has `to_odd`, after the macro that says how its functions are
// declared.

// A product with a power of two; what is no normal number any more becomes the least one of its
// sign.
template <class D, class V>
WIDTHWISE_SEQUENCE V normal_product(D d, V a, V power) {
  const V p = hn::Mul(a, power), least = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::min());
  const auto lost = hn::And(hn::Lt(hn::Abs(p), least), hn::Ne(a, hn::Zero(d)));
  return hn::IfThenElse(lost, hn::CopySign(least, a), p);
}

// The same; by = 0 makes zeros of what is finite, and infinity and NaN stay.
template <class D, class V>
WIDTHWISE_SEQUENCE V multiplied(D d, V a, V by) {
  const V p = hn::Mul(a, by), flushed = hn::IfThenElse(hn::IsNaN(p), a, p);
  return hn::IfThenElse(hn::Eq(by, hn::Zero(d)), flushed, normal_product(d, a, by));
}

// a / by, rounded to odd.
template <class D, class V>
WIDTHWISE_SEQUENCE V divided_to_odd(D d, V a, V by) {
  const V q = hn::Div(a, by), least = hn::Set(d, std::numeric_limits<hn::TFromD<D>>::min());
  // The remainder of a quotient that is no normal number is none either; all such round alike.
  const auto lost = hn::And(hn::Lt(hn::Abs(q), least), hn::Ne(a, hn::Zero(d)));
  const V left = hn::NegMulAdd(q, by, a);  // infinite where q is: then q becomes the largest
  const V odd = to_odd(q, left, hn::Ne(left, hn::Zero(d)));
  return hn::IfThenElse(lost, hn::CopySign(least, a), odd);
}
