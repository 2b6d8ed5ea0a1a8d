#include "simulator.hpp"

#include "block_run.hpp"
#include "stored_codes.hpp"
#include "sum_run.hpp"
#include "widthwise/sim/dot.hpp"

namespace widthwise::hdl {
namespace {

class OperationSimulator : public Simulator {
 public:
  explicit OperationSimulator(const SingleOperation& s)
      : s_(s), run_(s.op, s.to, s.env(), s.read(), true, 1) {}

  Answer answer(const Stimulus& s, RandomSource random) const override {
    const std::vector<Code>* codes[] = {&s.a, &s.b, &s.c};
    std::vector<Bytes> bytes;
    for (std::size_t i = 0; i < s_.arity(); ++i) bytes.push_back(stored(*codes[i], s_.operands[i]));
    std::vector<const void*> at;
    for (const Bytes& operand : bytes) at.push_back(operand.data());
    Bytes y = stored({Code()}, s_.to);
    Answer z;
    run_.run(at, 1, y.data(), &z.flags, random);
    z.y = loaded(y, s_.to);
    return z;
  }

 private:
  SingleOperation s_;
  Elementwise run_;
};

class UnitSimulator : public Simulator {
 public:
  UnitSimulator(const Unit& unit, int lanes, const Multiplier& multiply)
      : first_(unit), later_(unit), lanes_(static_cast<std::size_t>(lanes)) {
    later_.c = Operand{.fmt = unit.out.fmt};
    first_run_ = make_reference(first_, lanes_, multiply);
    later_run_ = make_reference(later_, lanes_, multiply);
  }

  Answer answer(const Stimulus& s, RandomSource random) const override {
    const Unit& u = s.running ? later_ : first_;
    const Format& scale = u.scale ? u.scale->fmt : u.a.fmt;
    const Bytes a = stored(s.a, u.a.fmt), b = stored(s.b, u.b.fmt), c = stored(s.c, u.c.fmt);
    const Bytes scale_a = stored(s.scale_a, scale), scale_b = stored(s.scale_b, scale);
    const Format result = result_round(u).fmt;
    Bytes y = stored({Code()}, result);
    Answer z;
    MatrixProduct p;
    p.m = p.n = 1;
    p.k = lanes_;
    p.a = {a.data(), 1, 1};
    p.b = {b.data(), 1, 1};
    p.c = {c.data(), 1, 1};
    if (u.scale) p.scale_a = {scale_a.data(), 1, 1}, p.scale_b = {scale_b.data(), 1, 1};
    p.result = y.data();
    p.flags = &z.flags;
    p.seed = random.seed;
    p.first_index = random.first_index;
    (s.running ? later_run_ : first_run_)->run(p, 0, 1);
    z.y = loaded(y, result);
    return z;
  }

 private:
  Unit first_, later_;  // a chain's first block and those after it
  std::size_t lanes_;
  std::unique_ptr<ReferenceUnit> first_run_, later_run_;
};

class BlockSimulator : public Simulator {
 public:
  explicit BlockSimulator(const BlockQuantisation& q) : run_(q) {}

  Answer answer(const Stimulus& s, RandomSource) const override {
    const BlockRun::Block block = run_.quantised(s.a, s.b.empty() ? Code() : s.b[0]);
    return {block.elements, block.scale, block.flags};
  }

 private:
  BlockRun run_;
};

class SumSimulator : public Simulator {
 public:
  explicit SumSimulator(const SumRequantisation& s) : s_(s) {}

  Answer answer(const Stimulus& x, RandomSource) const override {
    const auto code = [](const std::vector<Code>& port) {
      return port.empty() ? 0 : port[0].limb[0];
    };
    const Requantised z =
        requantised(s_, {static_cast<std::int32_t>(code(x.a)), code(x.b), code(x.c)});
    const auto integer = static_cast<std::uint64_t>(std::int64_t{z.code});
    return {{Code(integer) & ones<Code>(s_.code().width())}, Code(), z.flags()};
  }

 private:
  SumRequantisation s_;
};

}  // namespace

std::unique_ptr<Simulator> make_simulator(const Design& design, int lanes,
                                          const Multiplier& multiply) {
  if (const Unit* unit = std::get_if<Unit>(&design))
    return std::make_unique<UnitSimulator>(*unit, lanes, multiply);
  if (const auto* q = std::get_if<BlockQuantisation>(&design))
    return std::make_unique<BlockSimulator>(*q);
  if (const auto* s = std::get_if<SumRequantisation>(&design))
    return std::make_unique<SumSimulator>(*s);
  return std::make_unique<OperationSimulator>(std::get<SingleOperation>(design));
}

}  // namespace widthwise::hdl
