#include <doctest/doctest.h>

#include "tables.hpp"
#include "widthwise/hdl/adapters.hpp"

using namespace tests;
using namespace widthwise::hdl;

namespace {

// A well-known format by the names of each library's own documents and sources.
struct Known {
  const char* text;
  int hardfloat_exp, hardfloat_sig, recoded;  // HardFloat-1: f16_to_recF16 gives 17 bits, f32 33
  int fpnew_exp, fpnew_man;                   // fpnew_pkg::FP_ENCODINGS
  int flopoco_exponent, flopoco_fraction, flopoco_word;  // single precision: wE 8, wF 23, 34 bits
};

constexpr Known known[] = {
    {"binary16", 5, 11, 17, 5, 10, 5, 10, 18},
    {"binary32", 8, 24, 33, 8, 23, 8, 23, 34},
    {"binary64", 11, 53, 65, 11, 52, 11, 52, 66},
    {"bfloat16", 8, 8, 17, 8, 7, 8, 7, 18},
    {"e5m2", 5, 3, 9, 5, 2, 5, 2, 10},
};

}  // namespace

// What each library's own documents and sources say, not what the table of constants does.
TEST_CASE("adapters' parameters of well-known formats are those that the libraries name") {
  for (const Known& k : known) {
    CAPTURE(k.text);
    const std::string f = k.text;
    const ConstantTable table = table_of("fma(" + f + ", out=" + f + ":odd)");
    const ConstantTable hardfloat = hardfloat_constants(table), fpnew = fpnew_constants(table),
                        flopoco = flopoco_constants(table);
    for (const std::string x : {"A", "B", "C", "Y"}) {
      CAPTURE(x);
      CHECK(integer(hardfloat, x + "_expWidth") == k.hardfloat_exp);
      CHECK(integer(hardfloat, x + "_sigWidth") == k.hardfloat_sig);
      CHECK(integer(hardfloat, x + "_recWidth") == k.recoded);
      CHECK(flag(hardfloat, x + "_SAME_CODES"));
      CHECK(integer(fpnew, x + "_EXP_BITS") == k.fpnew_exp);
      CHECK(integer(fpnew, x + "_MAN_BITS") == k.fpnew_man);
      CHECK(flag(fpnew, x + "_SAME_CODES"));
      CHECK(integer(flopoco, x + "_wE") == k.flopoco_exponent);
      CHECK(integer(flopoco, x + "_wF") == k.flopoco_fraction);
      CHECK(integer(flopoco, x + "_WORD_WIDTH") == k.flopoco_word);
    }
    CHECK(code(hardfloat, "roundingMode") == Code(6));  // round_odd, HardFloat_consts.vi
    CHECK(code(fpnew, "RND_MODE") == Code(5));          // ROD of fpnew_pkg::roundmode_e
    CHECK(flag(hardfloat, "control"));                  // flControl_tininessAfterRounding
    CHECK(code(flopoco, "EXCEPTION_NORMAL") == Code(1));
    CHECK(code(flopoco, "EXCEPTION_NAN") == Code(3));
  }
}
