#include "codes.hpp"

#include <algorithm>

#include "widthwise/datapath/rounding_slot.hpp"
#include "widthwise/sim/carrier.hpp"
#include "widthwise/sim/codes.hpp"

namespace widthwise::wide {
namespace {

// Whatever a format's codes are, by lib's own reading and rounding.
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
    Term<U> x = finite_term<U>({}, {}, {});
    for (int i = 0; i < shape_.limbs; ++i, from += stride) put_limb(x.m, i, *from);
    constexpr int spare = 2;  // above a magnitude, which a cut before the rounding wants
    x.m = shift_right_jam<U>(x.m << down_, spare);
    x.q = static_cast<std::int64_t>(*from) - (digits<U> - 1) + spare;
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

// The codes of normal numbers, by shifts of one of the machine's integers; all else by another
// codec.
template <class U>
class PlainCodec final : public Codec {
 public:
  PlainCodec(const Round& r, const Shape& shape, std::unique_ptr<Codec> others)
      : shape_(shape),
        down_(digits<U> - 1 - shape.leading),
        bytes_(item_bytes(r.fmt.width())),
        layout_(r.fmt),
        not_kept_(ones<U>(digits<U> - 1 - fraction_kept(r))),
        others_(std::move(others)) {}

  bool load(const std::byte* at, Limb* to, std::size_t stride) const override {
    const U code = load_code<U>(at, bytes_);
    if (!plain(layout_, code)) return others_->load(at, to, stride);
    const Number<U> x = plain_operand(layout_, code);
    for (int i = 0; i < shape_.limbs; ++i, to += stride)
      *to = static_cast<Limb>(moved(x.sig, -place(i))) & ones<Limb>(shape_.limb_bits);
    *to = static_cast<Limb>(x.exp + (digits<U> - 1));
    to[stride] = mask_if<Limb>(x.negative);
    return true;
  }

  // A number that the format has needs no rounding and raises no flag. Zero has no normal number's
  // exponent.
  Flags store(const Limb* from, std::size_t stride, const Where& where,
              std::byte* at) const override {
    U sig{}, lost{};
    const Limb* limb = from;
    for (int i = 0; i < shape_.limbs; ++i, limb += stride) {
      const U x = moved(U{*limb}, place(i));
      sig |= x;
      lost |= moved(x, -place(i)) ^ *limb;
    }
    const U field = static_cast<U>(exponent_field(*limb));
    const U magnitude =
        field << layout_.format.frac_bits | (sig >> layout_.up & layout_.fraction_mask);
    const U sign = layout_.sign & mask_if<U>(limb[stride] != 0);
    const bool whole = lost == 0 && (sig & not_kept_) == 0,
               held = field <= layout_.magnitude_mask >> layout_.format.frac_bits &&
                      plain(layout_, magnitude) && (sign != 0 || limb[stride] == 0);
    if (!whole || !held) return others_->store(from, stride, where, at);
    store_code(at, bytes_, U(sign | magnitude));
    return {};
  }

 private:
  static int fraction_kept(const Round& r) {
    const int all = r.fmt.frac_bits;
    return std::min({all, r.keep_frac.value_or(all), r.post_norm_frac.value_or(all)});
  }
  // Where a limb's lowest digit lies in U, below its lowest one if negative.
  int place(int i) const { return i * shape_.limb_bits + down_; }
  static U moved(const U& x, int up) {
    if (up >= digits<U> || -up >= digits<U>) return 0;
    return up >= 0 ? x << up : x >> -up;
  }
  std::int64_t exponent_field(Limb leading) const {
    return static_cast<std::int64_t>(leading) - (digits<U> - 1) + layout_.plain_offset;
  }

  Shape shape_;
  int down_;  // from a U's significand to the shape's
  int bytes_;
  Layout<U> layout_;
  U not_kept_;  // digits that a rounding would look at
  std::unique_ptr<Codec> others_;
};

std::unique_ptr<Codec> codec_of_all(const Round& r, const Shape& shape, Wanted wanted) {
  const int needed = std::max(digits_needed(r.fmt, r.rm), shape.leading + 1);
  if (needed <= 128) return std::make_unique<CodecOver<2>>(r, shape, wanted);
  if (needed <= 192) return std::make_unique<CodecOver<3>>(r, shape, wanted);
  if (needed <= 320) return std::make_unique<CodecOver<5>>(r, shape, wanted);
  if (needed <= 576) return std::make_unique<CodecOver<9>>(r, shape, wanted);
  return std::make_unique<CodecOver<18>>(r, shape, wanted);
}

}  // namespace

std::unique_ptr<Codec> codec(const Round& r, const Shape& shape, Wanted wanted) {
  auto all = codec_of_all(r, shape, wanted);
  if (r.fmt.width() <= 64 && r.fmt.magnitude_bits() < 64)
    return std::make_unique<PlainCodec<std::uint64_t>>(r, shape, std::move(all));
  if (r.fmt.width() <= 128 && r.fmt.magnitude_bits() < 128)
    return std::make_unique<PlainCodec<uint128>>(r, shape, std::move(all));
  return all;
}

}  // namespace widthwise::wide
