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

// Procedures, for a function of VHDL has no outputs: what C returns of them is lost, and flags stay
// as they were where it would not have been WIDTHWISE_OK.
std::vector<Foreign> sized_calls() {
  const std::string at = "rm : in integer; seed, index";
  return {
      {"model_words", "widthwise_model_words",
       "(model : in handle; " + at +
           ", k : in number; a : in a_words; b : in b_words; c : in c_words; "
           "scale_a, scale_b : in scale_words; y : inout y_words; flags : inout flag_word)"},
      {"accumulator_open", "widthwise_accumulator_open",
       function("model : handle; rm : integer; seed, index : number", "handle")},
      {"accumulator_reset", "widthwise_accumulator_reset",
       "(accumulator : in handle; c : in c_words)"},
      {"accumulator_step", "widthwise_accumulator_step",
       "(accumulator : in handle; k : in number; a : in a_words; b : in b_words; "
       "scale_a, scale_b : in scale_words)"},
      {"accumulator_read", "widthwise_accumulator_read",
       "(accumulator : in handle; y : inout y_words; flags : inout flag_word)"},
      {"accumulator_close", "widthwise_accumulator_close", "(accumulator : in handle)"},
  };
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
  if (fit_vectors(table))
    for (Foreign& call : sized_calls()) calls.push_back(std::move(call));
  std::string declarations, bodies;
  for (const Foreign& call : calls) declarations += declared(call), bodies += body(call);
  return fmt::format(
      "-- Generated. The golden model for VHDL, through GHDL's VHPIDIRECT: widthwise_model.h says "
      "what\n"
      "-- the calls do. Elements of a port follow one another in its words, the lowest first.\n"
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
