#include <vector>

#include "model_ports.hpp"
#include "widthwise/hdl/dialects.hpp"

namespace widthwise::hdl {
namespace {

// A call of the library. Its arguments' types have fixed sizes, so that C gets plain pointers.
struct Foreign {
  std::string name, symbol, declaration;
};

std::string function(std::string_view arguments, std::string_view result) {
  return fmt::format("({}) return {}", arguments, result);
}

std::vector<Foreign> common_calls() {
  return {
      {"model_abi", "widthwise_model_abi", function("none : integer", "integer")},
      {"model_open", "widthwise_model_open", function("spec : spec_text", "handle")},
      {"model_hash", "widthwise_model_hash", function("model : handle", "number")},
      {"model_terms", "widthwise_model_terms", function("model : handle", "number")},
      {"model_random", "widthwise_model_random",
       function("seed, index : number; bits, slot : integer; step : number", "number")},
      {"model_close", "widthwise_model_close", "(model : in handle)"},
  };
}

// A call whose vectors have the unit's widths. A function of VHDL has no outputs, and a foreign
// procedure no status of its own: it is told by C as an array's element.
struct SizedCall {
  std::string name, symbol, inputs, given;
  bool has_k;
};

const std::vector<SizedCall>& sized_calls() {
  static const std::vector<SizedCall> all{
      {"model_words", "words",
       "model : in handle; rm : in integer; seed, index : in number; k : in number; "
       "a : in a_words; b : in b_words; c : in c_words; scale_a, scale_b : in scale_words; "
       "y : inout y_words; flags : inout flag_word",
       "model, rm, seed, index, k, a, b, c, scale_a, scale_b, y, flags", true},
      {"accumulator_reset", "reset", "accumulator : in handle; c : in c_words", "accumulator, c",
       false},
      {"accumulator_step", "step",
       "accumulator : in handle; k : in number; a : in a_words; b : in b_words; "
       "scale_a, scale_b : in scale_words",
       "accumulator, k, a, b, scale_a, scale_b", true},
      {"accumulator_read", "read",
       "accumulator : in handle; y : inout y_words; flags : inout flag_word",
       "accumulator, y, flags", false},
  };
  return all;
}

std::vector<Foreign> sized_foreign_calls() {
  std::vector<Foreign> calls{
      {"accumulator_open", "widthwise_accumulator_open",
       function("model : handle; rm : integer; seed, index : number", "handle")},
      {"accumulator_close", "widthwise_accumulator_close", "(accumulator : in handle)"}};
  for (const SizedCall& call : sized_calls())
    calls.push_back({"foreign_" + call.symbol, fmt::format("widthwise_{}_status", call.symbol),
                     fmt::format("({}; status : inout flag_word)", call.inputs)});
  return calls;
}

std::string status_head(const SizedCall& call) {
  return fmt::format("  procedure {}({}; status : out integer)", call.name, call.inputs);
}
std::string plain_head(const SizedCall& call) {
  return fmt::format("  procedure {}({})", call.name, call.inputs);
}

// A k that is more than the vectors have room for does not get to C, which would read past them.
std::string sized_body(const SizedCall& call, std::int64_t terms) {
  const std::string room = call.has_k
                               ? fmt::format(
                                     "    if k < 0 fs or k > {} fs then\n      status := 9;\n"
                                     "      return;\n    end if;\n",
                                     terms)
                               : "";
  return fmt::format(
      "{} is\n    variable told : flag_word;\n  begin\n{}"
      "    foreign_{}({}, told);\n    status := told(0);\n  end;\n"
      "{} is\n    variable status : integer;\n  begin\n    {}({}, status);\n"
      "    assert status = 0 report \"the golden model refuses {}: status \" & "
      "integer'image(status) severity failure;\n  end;\n",
      status_head(call), room, call.symbol, call.given, plain_head(call), call.name, call.given,
      call.name);
}

bool is_function(const Foreign& f) { return f.declaration.find(" return ") != std::string::npos; }

std::string head(const Foreign& f) {
  return fmt::format("{} {}{}", is_function(f) ? "impure function" : "procedure", f.name,
                     f.declaration);
}

std::string declared(const Foreign& f) {
  return fmt::format(
      "  {};\n  attribute foreign of {} : {} is \"VHPIDIRECT libwidthwise_model.so {}\";\n",
      head(f), f.name, is_function(f) ? "function" : "procedure", f.symbol);
}

// Never run, but VHDL wants them.
std::string body(const Foreign& f) {
  return fmt::format("  {} is begin assert false severity failure; end;\n", head(f));
}

std::string words_type(const ConstantTable& table, std::string_view port, std::string_view name) {
  const std::int64_t words = (port_bits(table, port) + 31) / 32;
  return fmt::format("  subtype {} is words(0 to {});\n", name, words ? words - 1 : 0);
}

std::string types(const ConstantTable& table) {
  return words_type(table, "A", "a_words") + words_type(table, "B", "b_words") +
         words_type(table, "C", "c_words") + words_type(table, "SCALE", "scale_words") +
         words_type(table, "Y", "y_words");
}

// VHDL takes no notice of case, so they need other names than the calls and their arguments.
std::string constants(const ConstantTable& table) {
  const std::string& spec = value_of<std::string>(table, "SPEC");
  return fmt::format(
      "  subtype spec_text is string(1 to {});\n"
      "  constant DESIGN : spec_text := {} & nul;\n"
      "  constant DESIGN_HASH : number := {} fs;\n",
      spec.size() + 1, vhdl_text(spec),
      static_cast<std::int64_t>(value_of<Pattern>(table, "MODEL_HASH").limbs[0]));
}

}  // namespace

std::string vhpi_package(const ConstantTable& table) {
  std::vector<Foreign> calls = common_calls();
  std::string declarations, bodies;
  if (fit_vectors(table)) {
    for (Foreign& call : sized_foreign_calls()) calls.push_back(std::move(call));
    for (const SizedCall& call : sized_calls()) {
      declarations += status_head(call) + ";\n" + plain_head(call) + ";\n";
      bodies += sized_body(call, call_terms(table));
    }
  }
  for (const Foreign& call : calls) declarations += declared(call), bodies += body(call);
  return fmt::format(
      "-- Generated. The golden model for VHDL, through GHDL's VHPIDIRECT: widthwise_model.h says "
      "what\n"
      "-- the calls do. Elements of a port follow one another in its words, the lowest first. A "
      "procedure\n"
      "-- without `status` ends the simulation where the model refuses what it is given.\n"
      "package {0}_vhpi_pkg is\n"
      "  type words is array (natural range <>) of integer;\n"
      "  subtype handle is time;  -- no time: the type that has 64 bits\n"
      "  subtype number is time;  -- of femtoseconds, as 32 fs\n"
      "  subtype flag_word is words(0 to 0);\n"
      "{1}{2}{3}end package {0}_vhpi_pkg;\n\npackage body {0}_vhpi_pkg is\n{4}"
      "end package body {0}_vhpi_pkg;\n",
      unit_name(table), types(table), constants(table), declarations, bodies);
}

}  // namespace widthwise::hdl
