#include "codes.hpp"
#include "slices.hpp"
#include "widthwise/sim/elementwise_chain.hpp"
#include "widthwise/sim/operation_text.hpp"

using namespace widthwise;

namespace {

constexpr std::size_t chain_slice = 2048;  // elements

// Operation, format, environment, which values it takes, seed.
using Step = std::tuple<std::string, Format, Env, std::vector<std::size_t>, std::uint64_t>;

std::vector<ChainStep> chain_steps(const std::vector<Step>& steps) {
  std::vector<ChainStep> list;
  for (const auto& [op, to, env, from, seed] : steps)
    list.push_back({parse_operation(op), to, env, from, seed});
  return list;
}

void evaluate(const CodedOperands& operands, const std::vector<Step>& steps, py::array result,
              py::object flags) {
  std::vector<Format> formats;
  std::vector<CodeArray> arrays;
  for (const auto& [f, codes] : operands)
    formats.push_back(f), arrays.push_back(code_array(f, codes));
  const std::size_t count =
      static_cast<std::size_t>(result.size() / limbs(std::get<1>(steps.back())));
  const ElementwiseChain chain(formats, chain_steps(steps), !flags.is_none(), count);
  const auto bytes = [](const Format& f) {
    return static_cast<std::size_t>(item_bytes(f.width()));
  };
  std::byte* at = place(chain.result_format(), result, count);
  std::uint8_t* raised = flags_place(flags, count);
  in_slices(count, chain.quick() ? quick_slice : chain_slice,
            [&](std::size_t first, std::size_t n) {
              std::vector<const void*> part;
              for (const CodeArray& a : arrays)
                part.push_back(static_cast<const std::byte*>(a.data) + first * bytes(a.format));
              chain.run(part, n, at + first * bytes(chain.result_format()),
                        raised ? raised + first : nullptr, first);
            });
}

}  // namespace

void bind_chain(py::module_& m) { m.def("evaluate", &evaluate); }
