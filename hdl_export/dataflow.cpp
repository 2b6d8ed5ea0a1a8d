#include "dataflow.hpp"

#include <algorithm>

namespace widthwise::hdl {
namespace {

Dataflow flow_of(const SingleOperation& s) {
  using Kind = Dataflow::Kind;
  const Kind kind = s.arity() == 1                ? Kind::conversion
                    : s.op == Operation::add      ? Kind::sum
                    : s.op == Operation::subtract ? Kind::difference
                                                  : Kind::product;
  Dataflow flow{.kind = kind, .a = s.operands[0], .b = s.operands[1], .y = s.to};
  if (s.arity() == 3) flow.c = s.operands[2];
  return flow;
}

Dataflow flow_of(const Unit& u) {
  Dataflow flow{.kind = Dataflow::Kind::product,
                .a = u.a.fmt,
                .b = u.b.fmt,
                .y = result_round(u).fmt,
                .c = u.c.fmt};
  if (u.scale) {
    flow.scale = u.scale->fmt;
    flow.scale_block = static_cast<int>(u.scale->block);
  }
  return flow;
}

Dataflow flow_of(const BlockQuantisation& q) {
  return {.kind = Dataflow::Kind::conversion,
          .a = q.from,
          .b = q.tensor_scale_port ? binary32 : q.from,
          .y = q.to.element};
}

Dataflow flow_of(const SumRequantisation& s) {
  return {.kind = Dataflow::Kind::conversion,
          .a = sum_format,
          .b = s.multiplier_format(),
          .y = s.code(),
          .c = s.code()};
}

}  // namespace

const Port* find_port(std::span<const Port> ports, std::string_view name) {
  const auto found =
      std::ranges::find_if(ports, [&](const Port& port) { return port.bus.name == name; });
  return found == ports.end() ? nullptr : &*found;
}

Dataflow dataflow(const Design& design, std::span<const Port> ports) {
  Dataflow flow = std::visit([](const auto& d) { return flow_of(d); }, design);
  flow.lanes = find_port(ports, "a")->bus.lanes;
  flow.running = find_port(ports, "running") != nullptr;
  return flow;
}

}  // namespace widthwise::hdl
