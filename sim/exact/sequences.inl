// How products enter sums of doubles (docs/exactness.md, 17 and 18). Included wherever there are
// lanes, vectors of a CPU or threads of a GPU: within a namespace whose `hn` has the operations of a
// lane, after the macro that says how its functions are declared. Products are exact, so it is all
// one whether a multiply-add rounds once.

// Rounded to even by itself.
template <class V>
WIDTHWISE_SEQUENCE V with_nearest(V a, V b, V sum, V rounder) {
  return hn::Add(sum, hn::Sub(hn::MulAdd(a, b, rounder), rounder));
}

// Each sum but the last stays in the binade it starts in and so takes the multiple of its last
// digit that is nearest to what comes; the rest goes on, exactly.
template <int levels, class V>
WIDTHWISE_SEQUENCE void split(V a, V b, V* sum) {
  V before = sum[0];
  sum[0] = hn::MulAdd(a, b, before);
  V rest = hn::MulAdd(a, b, hn::Sub(before, sum[0]));
  for (int l = 1; l < levels - 1; ++l) {
    before = sum[l];
    sum[l] = hn::Add(before, rest);
    rest = hn::Sub(rest, hn::Sub(sum[l], before));
  }
  sum[levels - 1] = hn::Add(sum[levels - 1], rest);
}
