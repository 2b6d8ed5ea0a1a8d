#include "model.hpp"

#include <algorithm>
#include <numeric>

#include "../codes.hpp"
#include "../sum_run.hpp"
#include "bit_vectors.hpp"
#include "widthwise/sim/trace_operation.hpp"

namespace widthwise::model {
namespace {

// Elements that Elementwise may prepare for: tables are worth their making.
constexpr std::size_t many = 1 << 20;

Rounding& result_rounding(Design& design) {
  if (auto* operation = std::get_if<SingleOperation>(&design)) return operation->rounding;
  if (auto* q = std::get_if<BlockQuantisation>(&design)) return q->rounding;
  return const_cast<Round&>(result_round(std::get<Unit>(design))).rm;
}

// Stochastic rounding has a number of random bits, which a code does not tell: only the design's
// own will do.
Design with_rounding(Design design, std::uint32_t code) {
  if (const auto* s = std::get_if<SumRequantisation>(&design)) {
    const int own = hdl::rounding_code(s->last_rounding()).number;
    if (static_cast<int>(code) != own) throw Refused{WIDTHWISE_NO_ROUNDING};
    return design;
  }
  Rounding& rm = result_rounding(design);
  const auto asked =
      std::ranges::find(hdl::rounding_codes, static_cast<int>(code), &hdl::RoundingCode::number);
  if (asked == std::end(hdl::rounding_codes)) throw Refused{WIDTHWISE_NO_ROUNDING};
  if (asked->mode == rm.mode) return design;
  if (asked->mode == RoundingMode::sr) throw Refused{WIDTHWISE_NO_ROUNDING};
  rm = asked->mode;
  return design;
}

// Whether a unit's blocks may follow one another without an end. Its groups and its scales' blocks
// meet in all their ways before both begin together again.
bool runs_on(const Unit& u) {
  if (!runs_in_one_pass(u)) return false;
  if (!u.scale) return true;
  try {
    make_reference(u, static_cast<std::size_t>(std::lcm(u.lanes, u.scale->block)));
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

Prepared prepare(Design design) {
  Prepared p{.design = std::move(design), .step = {}, .elementwise = {}};
  if (const auto* unit = std::get_if<Unit>(&p.design)) {
    p.runs = runs_on(*unit);
    if (unit->lanes) p.step = make_reference(*unit, static_cast<std::size_t>(unit->lanes));
  } else if (const auto* q = std::get_if<BlockQuantisation>(&p.design)) {
    p.blocks.emplace(*q);
  } else if (!std::holds_alternative<SumRequantisation>(p.design)) {
    const auto& s = std::get<SingleOperation>(p.design);
    p.elementwise.emplace(s.op, s.to, s.env(), s.read(), true, many);
  }
  return p;
}

std::vector<CodeArray> arrays(const SingleOperation& s, const Call& call) {
  const void* data[] = {call.a, call.b, call.c};
  std::vector<CodeArray> all;
  for (std::size_t i = 0; i < s.arity(); ++i) all.push_back({s.operands[i], data[i]});
  return all;
}

void compute_operation(const Prepared& p, const Call& call, void* y, std::uint8_t* flags) {
  const void* operands[] = {call.a, call.b, call.c};
  p.elementwise->run({operands, std::get<SingleOperation>(p.design).arity()}, call.n, y, flags,
                     call.random);
}

void compute_sums(const SumRequantisation& s, const Call& call, void* y, std::uint8_t* flags) {
  const int bytes = item_bytes(s.code().width());
  const auto code = [](const void* port, std::size_t i, int width) {
    return load_code<std::uint64_t>(
        static_cast<const std::byte*>(port) + i * static_cast<std::size_t>(width), width);
  };
  for (std::size_t i = 0; i < call.n; ++i) {
    hdl::SumOperands x{static_cast<std::int32_t>(code(call.a, i, 4))};
    if (s.multiplier_port)
      x.multiplier = code(call.b, i, item_bytes(s.multiplier_format().width()));
    if (s.zero_point_port) x.zero_point = code(call.c, i, bytes);
    const hdl::Requantised z = hdl::requantised(s, x);
    store_code(static_cast<std::byte*>(y) + i * static_cast<std::size_t>(bytes), bytes,
               static_cast<std::uint64_t>(std::int64_t{z.code}));
    flags[i] = z.flags();
  }
}

// Call i of a batch by itself.
Call at(const Model& model, const Call& call, std::size_t i) {
  const auto moved = [&](const void* x, std::int32_t port, std::size_t elements) -> const void* {
    const auto bytes = static_cast<std::size_t>(item_bytes(model.width(port)));
    return x ? static_cast<const std::byte*>(x) + i * elements * bytes : nullptr;
  };
  const std::size_t blocks = model.scale_blocks(call.k);
  Call one = call;
  one.n = 1;
  one.random.first_index += i;
  one.a = moved(call.a, WIDTHWISE_PORT_A, call.k);
  one.b = moved(call.b, WIDTHWISE_PORT_B, call.k);
  one.c = moved(call.c, WIDTHWISE_PORT_C, 1);
  one.scale_a = moved(call.scale_a, WIDTHWISE_PORT_SCALE, blocks);
  one.scale_b = moved(call.scale_b, WIDTHWISE_PORT_SCALE, blocks);
  return one;
}

// The unit made ready for products of length k: at hand for a step, else made for this call.
class Reference {
 public:
  Reference(const Prepared& p, std::size_t k) : unit_(std::get<Unit>(p.design)) {
    if (p.step && k == static_cast<std::size_t>(unit_.lanes)) {
      reference_ = p.step.get();
      return;
    }
    made_ = make_reference(unit_, k);
    reference_ = made_.get();
  }
  const Unit& unit() const { return unit_; }
  const ReferenceUnit* operator->() const { return reference_; }

 private:
  const Unit& unit_;
  std::unique_ptr<ReferenceUnit> made_;
  const ReferenceUnit* reference_;
};

void compute_unit(const Model& model, const Prepared& p, const Call& call, void* y,
                  std::uint8_t* flags) {
  const Reference reference(p, call.k);
  const auto bytes = static_cast<std::size_t>(item_bytes(model.width(WIDTHWISE_PORT_Y)));
  for (std::size_t i = 0; i < call.n; ++i) {
    MatrixProduct product = product_of(reference.unit(), at(model, call, i));
    product.result = static_cast<std::byte*>(y) + i * bytes;
    product.flags = flags ? flags + i : nullptr;
    reference->run(product, 0, 1);
  }
}

int width_of(const SumRequantisation& s, std::int32_t port) {
  switch (port) {
    case WIDTHWISE_PORT_A: return 32;
    case WIDTHWISE_PORT_B: return s.multiplier_port ? s.multiplier_format().width() : 0;
    case WIDTHWISE_PORT_C: return s.zero_point_port ? s.code().width() : 0;
    case WIDTHWISE_PORT_Y: return s.code().width();
    default: return 0;
  }
}

}  // namespace

Model::Model(Design design) : design_(std::move(design)) {
  prepared(static_cast<std::uint32_t>(hdl::rounding_code(rounding()).number));
}

int Model::width(std::int32_t port) const {
  if (const SumRequantisation* s = requantisation()) return width_of(*s, port);
  if (const BlockQuantisation* q = quantiser())
    return port == WIDTHWISE_PORT_A       ? q->from.width()
           : port == WIDTHWISE_PORT_B     ? (q->tensor_scale_port ? binary32.width() : 0)
           : port == WIDTHWISE_PORT_Y     ? q->to.element.width()
           : port == WIDTHWISE_PORT_SCALE ? q->to.scale.width()
                                          : 0;
  if (port == WIDTHWISE_PORT_Y)
    return unit() ? result_round(*unit()).fmt.width() : operation()->to.width();
  if (const Unit* u = unit()) {
    if (port == WIDTHWISE_PORT_SCALE) return u->scale ? u->scale->fmt.width() : 0;
    const Operand* operands[] = {&u->a, &u->b, &u->c};
    return 0 <= port && port < 3 ? operands[port]->fmt.width() : 0;
  }
  const auto formats = operation()->read();
  const auto i = static_cast<std::size_t>(port);
  return 0 <= port && i < formats.size() ? formats[i].width() : 0;
}

Rounding Model::rounding() const {
  if (quantiser()) return quantiser()->rounding;
  if (requantisation()) return requantisation()->last_rounding();
  return unit() ? result_round(*unit()).rm : operation()->rounding;
}

std::size_t Model::scale_blocks(std::size_t k) const {
  if (!unit() || !unit()->scale) return 0;
  const auto block = static_cast<std::size_t>(unit()->scale->block);
  return k / block + (k % block != 0);
}

const Prepared& Model::prepared(std::uint32_t rm) const {
  if (rm >= codes) throw Refused{WIDTHWISE_NO_ROUNDING};
  Slot& slot = slots_[rm];
  std::call_once(slot.once, [&] { slot.prepared = prepare(with_rounding(design_, rm)); });
  return slot.prepared;
}

void Model::check_length(std::uint64_t k, std::uint64_t n) const {
  if (quantiser()) throw Refused{WIDTHWISE_NO_SUCH_CALL};
  if (k > most_elements || (k && n > most_elements / k)) throw Refused{WIDTHWISE_NO_LENGTH};
  if (operation() || requantisation()) {
    if (k != 1) throw Refused{WIDTHWISE_NO_LENGTH};
  } else if (unit()->scale && k != static_cast<std::uint64_t>(unit()->lanes)) {
    make_reference(*unit(), k);  // says whether groups and scales fit together
  }
}

void Model::check(const Call& call) const {
  if (quantiser()) throw Refused{WIDTHWISE_NO_SUCH_CALL};
  const auto check_port = [&](const void* x, std::int32_t port, std::size_t count, bool needed) {
    if (!x && needed && count && width(port)) throw Refused{WIDTHWISE_NO_OPERAND};
    if (x && width(port) && !fit(x, count, width(port))) throw Refused{WIDTHWISE_NO_CODE};
  };
  check_port(call.a, WIDTHWISE_PORT_A, call.n * call.k, true);
  check_port(call.b, WIDTHWISE_PORT_B, call.n * call.k, true);
  check_port(call.c, WIDTHWISE_PORT_C, call.n, operation() || requantisation());
  check_port(call.scale_a, WIDTHWISE_PORT_SCALE, call.n * scale_blocks(call.k), true);
  check_port(call.scale_b, WIDTHWISE_PORT_SCALE, call.n * scale_blocks(call.k), true);
}

void Model::compute(const Call& call, void* y, std::uint8_t* flags) const {
  const Prepared& p = prepared(call.rm);
  check(call);
  if (const SumRequantisation* s = requantisation())
    compute_sums(*s, call, y, flags);
  else if (operation())
    compute_operation(p, call, y, flags);
  else
    compute_unit(*this, p, call, y, flags);
}

std::vector<TraceRow> Model::trace(const Call& call) const {
  const Prepared& p = prepared(call.rm);
  check(call);
  if (requantisation()) throw Refused{WIDTHWISE_NO_SUCH_CALL};
  if (operation()) {
    const auto& s = std::get<SingleOperation>(p.design);
    return trace_operation(s.op, s.to, s.env(), arrays(s, call), call.random);
  }
  const Reference reference(p, call.k);
  return reference->trace(product_of(reference.unit(), call), 0, 0);
}

MatrixProduct product_of(const Unit& u, const Call& call) {
  const auto along = [](const void* data) { return CodeMatrix{data, 1, 1}; };
  MatrixProduct p;
  p.m = p.n = 1;
  p.k = call.k;
  p.a = along(call.a);
  p.b = along(call.b);
  p.c = along(call.c);
  if (u.scale) p.scale_a = along(call.scale_a), p.scale_b = along(call.scale_b);
  p.seed = call.random.seed;
  p.first_index = call.random.first_index;
  return p;
}

Call Operands::call(std::uint32_t rm, RandomSource random, std::size_t k) const {
  const auto data = [](const std::vector<std::byte>& x) { return x.empty() ? nullptr : x.data(); };
  return {rm, random, 1, k, data(a), data(b), data(c), data(scale_a), data(scale_b)};
}

Operands operands_of(const Model& model, const Ports& ports, std::size_t k) {
  const auto codes = [&](const std::uint32_t* words, std::int32_t port, std::size_t count) {
    std::vector<std::byte> all;
    if (words && model.width(port)) append_codes(all, words, count, model.width(port));
    return all;
  };
  const std::size_t blocks = model.scale_blocks(k);
  return {codes(ports.a, WIDTHWISE_PORT_A, k), codes(ports.b, WIDTHWISE_PORT_B, k),
          codes(ports.c, WIDTHWISE_PORT_C, 1), codes(ports.scale_a, WIDTHWISE_PORT_SCALE, blocks),
          codes(ports.scale_b, WIDTHWISE_PORT_SCALE, blocks)};
}

Answer no_answer(const Model& model) {
  return {
      std::vector<std::byte>(static_cast<std::size_t>(item_bytes(model.width(WIDTHWISE_PORT_Y))))};
}

Answer answer(const Model& model, const Call& call) {
  Answer z = no_answer(model);
  model.compute(call, z.code.data(), &z.flags);
  return z;
}

}  // namespace widthwise::model
