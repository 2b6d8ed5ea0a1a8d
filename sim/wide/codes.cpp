#include "codes.hpp"

#include "widthwise/datapath/rounding_slot.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise::wide {
namespace {

template <int M>
class CodecOver final : public Codec {
  using U = Wide<M>;

 public:
  CodecOver(const Round& r, const Shape& shape, Wanted wanted)
      : shape_(shape),
        least_(wanted == Wanted::normal_ones ? r.fmt.emin() : INT64_MIN),
        bytes_(item_bytes(r.fmt.width())),
        down_(digits<U> - 1 - shape.leading),
        last_(Slot::final, r) {}

  bool load(const std::byte* at, Limb* to, std::size_t stride) const override {
    const Layout<U>& f = last_.rounder.layout;
    const U code = load_code<U>(at, bytes_);
    const Number<U> x = plain(f, code) ? plain_operand(f, code) : operand(f, code);
    const std::int64_t leading = x.exp + (digits<U> - 1);
    const bool number = !x.infinite && !x.nan && (x.zero || leading >= least_),
               zero = x.zero || !number;
    const U sig = zero ? U{} : x.sig >> down_;
    for (int i = 0; i < shape_.limbs; ++i, to += stride) *to = limb(sig, i);
    *to = static_cast<Limb>(zero ? zero_exponent : leading);
    to[stride] = mask_if<Limb>(x.negative);
    return number;
  }

  Flags store(const Limb* from, std::size_t stride, const Where& where,
              std::byte* at) const override {
    Term<U> x{.kind = Kind::finite};
    for (int i = 0; i < shape_.limbs; ++i, from += stride) put_limb(x.m, i, *from);
    x.m = x.m << down_;
    x.q = static_cast<std::int64_t>(*from) - (digits<U> - 1);
    x.negative = from[stride] != 0;
    Progress progress{where};
    NoTrace trace;
    store_code(at, bytes_, rounded(last_, x, 0, progress, trace));
    return progress.flags;
  }

 private:
  Limb limb(const U& sig, int i) const {
    const int at = i * shape_.limb_bits, word = at / 64, bit = at % 64;
    const Limb next = word + 1 < M ? sig.limb[word + 1] : 0;
    return (sig.limb[word] >> bit | (next << 1) << (63 - bit)) & ones<Limb>(shape_.limb_bits);
  }
  void put_limb(U& sig, int i, Limb x) const {
    const int at = i * shape_.limb_bits, word = at / 64, bit = at % 64;
    sig.limb[word] |= x << bit;
    if (word + 1 < M) sig.limb[word + 1] |= (x >> 1) >> (63 - bit);
  }

  Shape shape_;
  std::int64_t least_;  // exponent
  int bytes_;
  std::int64_t down_;  // from a carrier's significand to the shape's
  RoundingSlot<U> last_;
};

}  // namespace

std::unique_ptr<Codec> codec(const Round& r, const Shape& shape, Wanted wanted) {
  const int needed = std::max(digits_needed(r.fmt, r.rm), shape.leading + 1);
  if (needed <= 128) return std::make_unique<CodecOver<2>>(r, shape, wanted);
  if (needed <= 192) return std::make_unique<CodecOver<3>>(r, shape, wanted);
  if (needed <= 320) return std::make_unique<CodecOver<5>>(r, shape, wanted);
  if (needed <= 576) return std::make_unique<CodecOver<9>>(r, shape, wanted);
  return std::make_unique<CodecOver<18>>(r, shape, wanted);
}

}  // namespace widthwise::wide
