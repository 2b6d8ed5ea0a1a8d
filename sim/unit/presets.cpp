#include "widthwise/sim/presets.hpp"

#include <algorithm>

// Values and sources: the datapath page, 1.1 to 1.4 and 2.3.
namespace widthwise {
namespace {

using enum Evidence;

// --- NVIDIA: one fused sum with C in it, truncated as sign and magnitude ------------------------

constexpr Operand plain(const Format& f) { return {.fmt = f}; }
// TF32 and XF32 are read from binary32 registers, whose low bits are not looked at.
constexpr Operand ten_bits{.fmt = binary32, .keep_frac = 10, .keep_rm = RoundingMode::rtz};

constexpr Round to_f32{
    .fmt = binary32, .rm = RoundingMode::rtz, .overflow = Overflow::inf, .nan_bits = 0x7fffffff};
constexpr Round to_f16{.fmt = binary16, .overflow = Overflow::inf, .nan_bits = 0x7fff};
constexpr Round with_kept(Round r, int frac_bits) {
  r.keep_frac = frac_bits;
  return r;
}
constexpr Round to_e8m13 = with_kept(to_f32, 13);

constexpr Sum truncated(std::int64_t frac_bits, std::optional<std::int64_t> e_floor,
                        Rounding rm = RoundingMode::rtz) {
  return {.align = {.reference = Reference::max_exponent,
                    .frac_bits = frac_bits,
                    .rm = rm,
                    .e_floor = e_floor}};
}

constexpr Unit nvidia(const Operand& ab, int lanes, int frac_bits, const Round& out, int e_floor) {
  return {.a = ab,
          .b = ab,
          .c = plain(out.fmt),
          .lanes = lanes,
          .group_sum = truncated(frac_bits, e_floor),
          .c_level = CLevel::group,
          .out = out};
}
constexpr Unit nvidia(const Format& ab, int lanes, int frac_bits, const Round& out, int e_floor) {
  return nvidia(plain(ab), lanes, frac_bits, out, e_floor);
}

// An H200 gives +0 where all addends are -0 and where a sum below zero rounds to it, by mma and by
// wgmma (docs/evidence.md).
constexpr Unit hopper(const Operand& ab, int lanes, int frac_bits, const Round& out, int e_floor) {
  Unit u = nvidia(ab, lanes, frac_bits, out, e_floor);
  u.out.zero_sign = ZeroSign::always_plus;
  return u;
}
constexpr Unit hopper(const Format& ab, int lanes, int frac_bits, const Round& out, int e_floor) {
  return hopper(plain(ab), lanes, frac_bits, out, e_floor);
}

constexpr Unit scaled(Unit u, const Scale& scale) {
  u.scale = scale;
  return u;
}

// Exact sums of 16, times their scales, then aligned by the scales' exponents.
constexpr Unit fp4(const Format& scale, std::int64_t block) {
  return {.a = plain(e2m1fn),
          .b = plain(e2m1fn),
          .c = plain(binary32),
          .lanes = 64,
          .groups = Groups{.consecutive = 16},
          .block_sum = truncated(35, -139),
          .c_level = CLevel::block,
          .out = to_f32,
          .scale = Scale{scale, block, ScaleApply::group}};
}

// FP8 mma.sync without an FP8 unit: two F16 steps from C = 0 over de-interleaved k, then C.
constexpr Unit lowered(const Format& ab, Round out, int e_floor) {
  Unit u = hopper(ab, 16, 25, out, e_floor);
  out.rm = RoundingMode::rne;
  u.chain = {.lane_permutation = LanePermutation{2, 2}, .c_at = CAt::last, .c_round = out};
  return u;
}

constexpr Unit promoted(Unit u, std::int64_t interval, const Format& outer) {
  u.chain.promote = Promote{interval, {.fmt = outer}};
  return u;
}

// --- AMD ---------------------------------------------------------------------------------------

constexpr Unit cdna1(const Format& ab, int lanes) {
  return {.a = plain(ab),
          .b = plain(ab),
          .c = plain(binary32),
          .lanes = lanes,
          .c_level = CLevel::group,
          .out = {.fmt = binary32, .zero_sign = ZeroSign::plus}};
}

constexpr Unit cdna2(const Format& ab, int lanes) {
  // Both models flush what they have rounded.
  constexpr Round flushed{
      .fmt = binary32, .subnormals = Flush::flush_signed_zero, .tininess = Tininess::as_delivered};
  const auto operand = [](const Format& f) { return Operand{f, Flush::flush_pos_zero}; };
  return {.a = operand(ab),
          .b = operand(ab),
          .c = operand(binary32),
          .lanes = lanes,
          .product = {.round = flushed},
          .group_sum = {.order = Order::pairwise_tree, .node_round = flushed},
          .c_level = CLevel::late,
          .out = flushed};
}

constexpr Unit cdna3(const Operand& ab, int lanes) {
  return {.a = ab,
          .b = ab,
          .c = plain(binary32),
          .lanes = lanes,
          .product = {.overflow_to_inf_at = 128},
          .group_sum = truncated(24, {}),
          .c_sum = truncated(32, -126, RoundingMode::rdn),
          .c_level = CLevel::late,
          .late_frac = LateFrac{.F_sum = 32, .F_C = 24},
          .out = {.fmt = binary32, .post_norm_frac = 31, .post_norm_rm = RoundingMode::rdn}};
}

constexpr Unit cdna3_fp8(const Format& ab) {
  Unit u = cdna3(plain(ab), 16);
  u.product = {};
  u.groups = Groups{.strided = 2};
  u.block_sum = truncated(24, {}, RoundingMode::rdn);
  u.c_sum.align.drop_c_below = 25;
  return u;
}

// --- Textbook ----------------------------------------------------------------------------------

// Multiply, round, add, round.
constexpr Unit mac(const Operand& ab, const Format& f) {
  return {.a = ab,
          .b = ab,
          .c = plain(f),
          .lanes = 1,
          .product = {.round = Round{.fmt = f}},
          .c_level = CLevel::late,
          .out = {.fmt = f}};
}

constexpr Unit fused(const Format& ab, std::int64_t lanes, const Sum& sum) {
  return {.a = plain(ab),
          .b = plain(ab),
          .c = plain(binary32),
          .lanes = lanes,
          .group_sum = sum,
          .c_level = CLevel::group,
          .out = {.fmt = binary32}};
}

constexpr Sum fixed_register(std::int64_t frac_bits, Rounding rm, std::int64_t width,
                             RegisterOverflow overflow = RegisterOverflow::wrap) {
  return {.align = {.reference = Reference::fixed_lsb, .frac_bits = frac_bits, .rm = rm},
          .width = width,
          .overflow = overflow};
}

constexpr Unit tree8() {
  Unit u = mac(plain(binary32), binary32);
  u.lanes = 8;
  u.group_sum = {.order = Order::pairwise_tree, .node_round = Round{.fmt = binary32}};
  return u;
}

constexpr Unit mac_bf16() {
  Unit u = mac(plain(bfloat16), binary32);
  u.chain.final = Round{.fmt = bfloat16};
  return u;
}

// Multiplies without the four low bits of each operand.
constexpr Operand six_bits{.fmt = binary16, .keep_frac = 6, .keep_rm = RoundingMode::rtz};

}  // namespace

std::span<const Preset> presets() {
  constexpr std::string_view deepseek =
      "DeepSeek-V3's report: Hopper FP8, promoted every 128 terms";
  constexpr std::string_view mmaemu = "mmaemu: cuBLAS's FP8 without fast accumulation";
  static const Preset all[] = {
      {"volta.f16.f32", nvidia(binary16, 4, 23, to_f32, -131), silicon, "V100, mma m8n8k4"},
      {"volta.f16.f16", nvidia(binary16, 4, 23, to_f16, -20), but_floor,
       "V100, mma m8n8k4; a model of 2026 has the floor at -19"},
      {"turing.f16.f32", nvidia(binary16, 8, 24, to_f32, -132), two_models, "MMA-Sim, FPy: T4"},
      {"turing.f16.f16", nvidia(binary16, 8, 24, to_f16, -21), two_models,
       "MMA-Sim, FPy: T4; a model of 2026 has the floor at -20"},
      {"ampere.f16.f32", nvidia(binary16, 8, 24, to_f32, -132), silicon, "A100, A2: mma k16"},
      {"ampere.f16.f16", nvidia(binary16, 8, 24, to_f16, -21), but_floor,
       "A100, A2: mma k16; a model of 2026 has the floor at -20"},
      {"ampere.bf16.f32", nvidia(bfloat16, 8, 24, to_f32, -132), but_floor, "A100, A2: mma k16"},
      {"ampere.tf32.f32", nvidia(ten_bits, 4, 24, to_f32, -132), but_floor, "A100, A2: mma k8"},
      {"ada.f16.f32", nvidia(binary16, 8, 24, to_f32, -132), silicon, "Ada, L40S: mma k16"},
      {"ada.f16.f16", nvidia(binary16, 8, 24, to_f16, -21), but_floor,
       "Ada, L40S: mma k16; a model of 2026 has the floor at -20"},
      {"ada.bf16.f32", nvidia(bfloat16, 8, 24, to_f32, -132), but_floor, "Ada, L40S: mma k16"},
      {"ada.tf32.f32", nvidia(ten_bits, 4, 24, to_f32, -132), but_floor, "Ada, L40S: mma k8"},
      {"ada.e4m3.f32", nvidia(e4m3fn, 16, 13, to_e8m13, -132), silicon, "Ada, L40S: m16n8k32"},
      {"ada.e4m3.f16", nvidia(e4m3fn, 16, 13, to_f16, -21), silicon, "Ada: m16n8k32"},
      {"hopper.e4m3.f32", hopper(e4m3fn, 32, 13, to_e8m13, -133), silicon, "H100, H200: wgmma"},
      {"hopper.e4m3.f16", hopper(e4m3fn, 32, 13, to_f16, -133), silicon, "H200: wgmma"},
      {"blackwell.e4m3.f32", nvidia(e4m3fn, 32, 25, to_f32, -133), two_models,
       "MMA-Sim, FPy: tcgen05"},
      {"ada.e5m2.f32", nvidia(e5m2, 16, 13, to_e8m13, -132), silicon, "Ada, L40S: m16n8k32"},
      {"ada.e5m2.f16", nvidia(e5m2, 16, 13, to_f16, -21), silicon, "Ada: m16n8k32"},
      {"hopper.e5m2.f32", hopper(e5m2, 32, 13, to_e8m13, -133), silicon, "H100, H200: wgmma"},
      {"hopper.e5m2.f16", hopper(e5m2, 32, 13, to_f16, -133), silicon, "H200: wgmma"},
      {"blackwell.e5m2.f32", nvidia(e5m2, 32, 25, to_f32, -133), two_models,
       "MMA-Sim, FPy: tcgen05"},
      {"hopper.f16.f32", hopper(binary16, 16, 25, to_f32, -133), silicon, "H100, H200: k16"},
      {"hopper.f16.f16", hopper(binary16, 16, 25, to_f16, -22), but_floor,
       "H100, H200: mma k16; a model of 2026 has the floor at -21"},
      {"hopper.bf16.f32", hopper(bfloat16, 16, 25, to_f32, -133), but_floor, "H100, H200: k16"},
      {"hopper.tf32.f32", hopper(ten_bits, 8, 25, to_f32, -133), but_floor, "H100, H200: k8"},
      {"blackwell.f16.f32", nvidia(binary16, 16, 25, to_f32, -133), silicon, "B200, mma k16"},
      {"blackwell.f16.f16", nvidia(binary16, 16, 25, to_f16, -22), but_floor,
       "B200, mma k16; a model of 2026 has the floor at -21"},
      {"blackwell.bf16.f32", nvidia(bfloat16, 16, 25, to_f32, -133), but_floor, "B200, mma k16"},
      {"blackwell.tf32.f32", nvidia(ten_bits, 8, 25, to_f32, -133), but_floor, "B200, mma k8"},
      {"hopper.wgmma.f16.f16", hopper(binary16, 16, 25, to_f16, -133), but_floor,
       "H200: wgmma; one model has the floor, lower than mma's"},
      {"blackwell.mxfp8",
       scaled(nvidia(e4m3fn, 32, 25, to_f32, -133), {e8m0fnu, 32, ScaleApply::term}), two_models,
       "MMA-Sim, FPy: tcgen05, UE8M0 for 32"},
      {"blackwell.nvfp4", fp4(ue4m3fn, 16), two_models, "MMA-Sim, FPy: k64, UE4M3 for 16"},
      {"blackwell.mxfp4", fp4(e8m0fnu, 32), two_models, "MMA-Sim, FPy: k64, UE8M0 for 32"},
      {"lowered.e4m3.f32", lowered(e4m3fn, to_f32, -133), silicon, "H200, B200: FP8 mma.sync"},
      {"lowered.e4m3.f16", lowered(e4m3fn, to_f16, -22), silicon, "H100, H200, B200: FP8 mma.sync"},
      {"lowered.e5m2.f32", lowered(e5m2, to_f32, -133), silicon, "H200, B200: FP8 mma.sync"},
      {"lowered.e5m2.f16", lowered(e5m2, to_f16, -22), silicon, "H100, H200, B200: FP8 mma.sync"},
      {"cdna1.f16", cdna1(binary16, 4), two_models, "MMA-Sim 2, Khattak and Mikaitis: MI100"},
      {"cdna1.bf16", cdna1(bfloat16, 2), two_models, "MMA-Sim 2, Khattak and Mikaitis: MI100"},
      {"cdna2.f16", cdna2(binary16, 4), two_models, "MMA-Sim, FPy, AMD's note on flushing: MI200"},
      {"cdna2.bf16", cdna2(bfloat16, 2), two_models, "MMA-Sim, FPy, AMD's note on flushing: MI200"},
      {"cdna2.bf16_1k", cdna2(bfloat16, 4), two_models,
       "MMA-Sim, FPy, AMD's note on flushing: MI200"},
      {"cdna3.f16", cdna3(plain(binary16), 8), one_model, "MMA-Sim 2; others floor at 31 bits"},
      {"cdna3.bf16", cdna3(plain(bfloat16), 8), one_model, "MMA-Sim 2; others floor at 31 bits"},
      {"cdna3.xf32", cdna3(ten_bits, 4), one_model, "MMA-Sim 2; others floor at 31 bits"},
      {"cdna3.fp8", cdna3_fp8(e4m3fnuz), one_model, "MMA-Sim 2; others floor at 31 bits"},
      {"cdna3.bf8", cdna3_fp8(e5m2fnuz), one_model, "MMA-Sim 2; others floor at 31 bits"},
      {"fma.f32", fused(binary32, 1, {}), textbook, "a chain of fused multiply-adds"},
      {"mac.f32", mac(plain(binary32), binary32), textbook, "multiply, round, add, round"},
      {"mac.bf16.f32.bf16", mac_bf16(), textbook, "bfloat16 in and out of a binary32 register"},
      {"tree8.f32", tree8(), textbook, "eight rounded products, a tree of rounded adders"},
      {"kulisch.f32", fused(binary32, 0, fixed_register(298, {}, 640)), textbook,
       "Koenig, Bigou, Bachrach: a register of 640 bits"},
      {"fix24.wrap", fused(binary16, 0, fixed_register(12, RoundingMode::rdn, 24)), textbook,
       "24 bits, 12 of them fraction; terms truncated; wraps"},
      {"fix24.sat",
       fused(binary16, 0, fixed_register(12, RoundingMode::rdn, 24, RegisterOverflow::saturate)),
       textbook, "24 bits, 12 of them fraction; terms truncated; saturates"},
      {"approx.f16", mac(six_bits, binary16), textbook, "operands cut to 6 fraction bits"},
      {"hopper.e4m3.promote128", promoted(hopper(e4m3fn, 32, 13, to_e8m13, -133), 128, binary32),
       textbook, deepseek},
      {"hopper.e5m2.promote128", promoted(hopper(e5m2, 32, 13, to_e8m13, -133), 128, binary32),
       one_model, mmaemu},
      {"ada.e4m3.promote128", promoted(nvidia(e4m3fn, 16, 13, to_e8m13, -132), 128, binary32),
       one_model, mmaemu},
      {"ada.e5m2.promote128", promoted(nvidia(e5m2, 16, 13, to_e8m13, -132), 128, binary32),
       one_model, mmaemu},
  };
  return all;
}

std::span<const RenamedPreset> renamed_presets() {
  static constexpr RenamedPreset all[] = {{"muladd.f32", "mac.f32"}};
  return all;
}

const Preset* find_preset(std::string_view name) {
  for (const RenamedPreset& r : renamed_presets())
    if (r.old_name == name) name = r.name;
  const auto found = std::ranges::find(presets(), name, &Preset::name);
  return found == presets().end() ? nullptr : &*found;
}

std::string_view to_string(Evidence e) {
  switch (e) {
    case silicon: return "checked on silicon";
    case but_floor: return "checked on silicon, but for its floor";
    case two_models: return "agrees with two models";
    case one_model: return "one model only";
    case textbook: return "textbook";
  }
  return "";
}

}  // namespace widthwise
