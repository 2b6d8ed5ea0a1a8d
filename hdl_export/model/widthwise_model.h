/* The golden model: a unit, an operation, a block's quantiser or a requantisation, bit for bit as the
 * simulator computes it.
 *
 * Plain C99, for DPI-C, VPI, VHPIDIRECT, ctypes and programs. There are no globals: whatever a call
 * depends on it is given. A model does not change once it is open, so any number of threads may
 * call it; a trace or an accumulator belongs to one thread at a time. Nothing throws; calls return
 * a status, and where it is not WIDTHWISE_OK nothing is written, except that a batch may have
 * written a part when memory ran out.
 *
 * rm is a code of the header's RM_...; it rounds the result called Y in there. The random bits of
 * stochastic rounding are those of output `index` under `seed`; other roundings look at neither.
 */
#ifndef WIDTHWISE_MODEL_H
#define WIDTHWISE_MODEL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the header calls MODEL_ABI: 1 for all that is below. */
#define WIDTHWISE_MODEL_ABI 1

typedef struct widthwise_model widthwise_model;
typedef struct widthwise_trace widthwise_trace;
typedef struct widthwise_accumulator widthwise_accumulator;

enum {
  WIDTHWISE_OK = 0,
  WIDTHWISE_NOT_OPEN = 1,      /* the spec was no good: widthwise_model_error tells why */
  WIDTHWISE_NO_ROUNDING = 2,   /* rm is no code, or stochastic where the spec's rounding is not */
  WIDTHWISE_TOO_WIDE = 3,      /* a port has more than 64 bits: call widthwise_model_words */
  WIDTHWISE_NO_LENGTH = 4,     /* an operation has k = 1; a unit may refuse a k */
  WIDTHWISE_NO_OPERAND = 5,    /* a port that is there was given as null, or y or flags were */
  WIDTHWISE_NO_CODE = 6,       /* an element has more bits than its port */
  WIDTHWISE_NO_MEMORY = 7,
  WIDTHWISE_FAILED = 8,        /* a fault of ours */
  WIDTHWISE_NO_ROOM = 9,       /* where vectors have lengths (DPI-C, VPI, VHDL): k elements or the
                                  result do not go into one */
  WIDTHWISE_NO_SUCH_CALL = 10  /* the design has other calls: a block's quantiser
                                  widthwise_model_block */
};

enum {
  WIDTHWISE_PORT_A = 0,
  WIDTHWISE_PORT_B = 1,
  WIDTHWISE_PORT_C = 2,
  WIDTHWISE_PORT_Y = 3,
  WIDTHWISE_PORT_SCALE = 4
};

/* A unit's roundings, as the generator of random bits counts them. An operation has OUT alone. */
enum {
  WIDTHWISE_SLOT_PRODUCT = 0,
  WIDTHWISE_SLOT_GROUP_SUM = 1,
  WIDTHWISE_SLOT_OUT = 2,
  WIDTHWISE_SLOT_JOIN = 3,
  WIDTHWISE_SLOT_C_ROUND = 4,
  WIDTHWISE_SLOT_PROMOTE = 5,
  WIDTHWISE_SLOT_FINAL = 6,
  WIDTHWISE_SLOT_BLOCK_SUM = 7,
  WIDTHWISE_SLOT_ADDEND = 8, /* these five in compensated sums */
  WIDTHWISE_SLOT_DIFFERENCE = 9,
  WIDTHWISE_SLOT_ERROR = 10,
  WIDTHWISE_SLOT_COMPENSATION = 11,
  WIDTHWISE_SLOT_COMPENSATED = 12
};

/* Flags: invalid 16, division by zero 8, overflow 4, underflow 2, inexact 1. */

int32_t widthwise_model_abi(void);
const char *widthwise_model_status(int32_t status); /* the comments above, as text */

/* "hopper.e4m3.f32", "add(e4m3fn)": the header's SPEC. Null only where memory ran out; see
 * widthwise_model_error, which is "" for a model that is good. */
widthwise_model *widthwise_model_open(const char *spec);
const char *widthwise_model_error(const widthwise_model *model);
void widthwise_model_close(widthwise_model *model);

uint64_t widthwise_model_hash(const widthwise_model *model); /* MODEL_HASH */
int32_t widthwise_model_rounding(const widthwise_model *model); /* RM_DEFAULT */
/* Bits of one element of a port; 0 where there is no such port. */
int32_t widthwise_model_width(const widthwise_model *model, int32_t port);
/* Products of a step, NUM_TERMS: 1 for an operation, 0 where a unit takes all of K at once. */
int64_t widthwise_model_terms(const widthwise_model *model);
/* Elements that share a scale; 0 where there are none. */
int64_t widthwise_model_scale_block(const widthwise_model *model);

/* One product, or one operation, of ports to 64 bits. Bits past a port's width do not count. */
int32_t widthwise_model_op64(const widthwise_model *model, uint32_t rm, uint64_t seed,
                             uint64_t index, uint64_t a, uint64_t b, uint64_t c, uint64_t *y,
                             uint32_t *flags);

/* k products. Ports are vectors of bits in 32-bit words, the lowest first (svBitVecVal, VlWide, the
 * aval of vpiVectorVal): element i of a port has the bits from i * width on. Null is a port that is
 * not there; a unit's c may be null, which is +0. scale_a and scale_b have an element for each
 * scale block that k begins. A requantisation's multiplier and zero point, where they are ports, are
 * b and c, in every call. */
int32_t widthwise_model_words(const widthwise_model *model, uint32_t rm, uint64_t seed,
                              uint64_t index, uint64_t k, const uint32_t *a, const uint32_t *b,
                              const uint32_t *c, const uint32_t *scale_a, const uint32_t *scale_b,
                              uint32_t *y, uint32_t *flags);

/* n results of k products each, in arrays of codes: uint8, 16, 32 or 64 by the port's width, past
 * 64 bits rows of uint64, the lowest first. a and b are (n, k), c is (n), flags takes n bytes or is
 * null. Result i has the random bits of output first_index + i. */
int32_t widthwise_model_batch(const widthwise_model *model, uint32_t rm, uint64_t seed,
                              uint64_t first_index, uint64_t n, uint64_t k, const void *a,
                              const void *b, const void *c, const void *scale_a,
                              const void *scale_b, void *y, uint8_t *flags);

/* Numbers of a block, BLOCK_NUMBERS; 0 where the design is no quantiser. */
int64_t widthwise_model_block_numbers(const widthwise_model *model);

/* One block quantised: a has its numbers and y their elements as vectors of bits, as above, scale
 * the code of their scale. flags are those of all elements together. A block that holds NaN or
 * infinity has a scale of all ones, elements that are 0, and the flag invalid. b is the tensor's
 * scale where that is a port, a code of binary32, else null; one that is no finite number above zero
 * makes such a block. */
int32_t widthwise_model_block(const widthwise_model *model, uint32_t rm, const uint32_t *a,
                              const uint32_t *b, uint32_t *y, uint32_t *scale, uint32_t *flags);

/* n blocks, in arrays of codes as above: a and y are (n, BLOCK_NUMBERS), b and scale are (n), flags
 * takes n bytes or is null. */
int32_t widthwise_model_blocks(const widthwise_model *model, uint32_t rm, uint64_t n,
                               const void *a, const uint32_t *b, void *y, void *scale,
                               uint8_t *flags);

/* The random word, of 1 to 64 bits, that the rounding `slot` of output `index` takes at `step`, a
 * position along k: what RTL with ports for such words is to be given. 0 where there is no such
 * word. */
uint64_t widthwise_model_random(uint64_t seed, uint64_t index, uint32_t bits, uint32_t slot,
                                uint64_t step);

/* What stood on every wire while widthwise_model_words computed this. Null where that would not
 * have returned WIDTHWISE_OK. */
widthwise_trace *widthwise_model_trace(const widthwise_model *model, uint32_t rm, uint64_t seed,
                                       uint64_t index, uint64_t k, const uint32_t *a,
                                       const uint32_t *b, const uint32_t *c,
                                       const uint32_t *scale_a, const uint32_t *scale_b);
void widthwise_trace_close(widthwise_trace *trace);
int64_t widthwise_trace_rows(const widthwise_trace *trace);
/* The first row of a stage from row `from` on, -1 if there is none. Stages are unpack, product,
 * scale, align, group_sum, block_sum, join, exact, normalise, denormalise, round and pack. */
int64_t widthwise_trace_find(const widthwise_trace *trace, const char *stage, int64_t from);
/* Of one row; the texts live as long as the trace. No such row: "" and 0. */
const char *widthwise_trace_stage(const widthwise_trace *trace, int64_t row);
const char *widthwise_trace_slot(const widthwise_trace *trace, int64_t row); /* "out", "product" */
int64_t widthwise_trace_lane(const widthwise_trace *trace, int64_t row); /* along k; -1 is C */
/* 0 zero, 1 finite, 2 infinite, 3 NaN */
int32_t widthwise_trace_kind(const widthwise_trace *trace, int64_t row);
int32_t widthwise_trace_negative(const widthwise_trace *trace, int64_t row);
/* Hexadecimal; at pack the code. */
const char *widthwise_trace_significand(const widthwise_trace *trace, int64_t row);
int64_t widthwise_trace_exponent(const widthwise_trace *trace, int64_t row); /* of its bit 0 */

/* A unit's running result. It stands at c = +0 with no products; reset puts it back there, with c
 * if c is not null. A step adds k products, in the layout of widthwise_model_words; read delivers
 * what the unit delivers of all products so far. What a step adds is kept as the state of the
 * unit's registers, so that no step or read costs more for what came before; but a unit that takes
 * all of K at once, or deals its lanes out anew for each length, computes it all at a read. The
 * model has to stay open. Null where the model is no unit or has no such rounding. */
widthwise_accumulator *widthwise_accumulator_open(const widthwise_model *model, uint32_t rm,
                                                  uint64_t seed, uint64_t index);
void widthwise_accumulator_close(widthwise_accumulator *accumulator);
int32_t widthwise_accumulator_reset(widthwise_accumulator *accumulator, const uint32_t *c);
int32_t widthwise_accumulator_step(widthwise_accumulator *accumulator, uint64_t k,
                                   const uint32_t *a, const uint32_t *b, const uint32_t *scale_a,
                                   const uint32_t *scale_b);
int32_t widthwise_accumulator_read(const widthwise_accumulator *accumulator, uint32_t *y,
                                   uint32_t *flags);

/* For DPI-C, whose vectors have a length: the same calls, where they have room for so many products;
 * more are WIDTHWISE_NO_ROOM, or no trace. */
int32_t widthwise_model_words_within(const widthwise_model *model, uint32_t rm, uint64_t seed,
                                     uint64_t index, uint64_t k, const uint32_t *a,
                                     const uint32_t *b, const uint32_t *c,
                                     const uint32_t *scale_a, const uint32_t *scale_b,
                                     uint32_t *y, uint32_t *flags, uint64_t room);
widthwise_trace *widthwise_model_trace_within(const widthwise_model *model, uint32_t rm,
                                              uint64_t seed, uint64_t index, uint64_t k,
                                              const uint32_t *a, const uint32_t *b,
                                              const uint32_t *c, const uint32_t *scale_a,
                                              const uint32_t *scale_b, uint64_t room);
int32_t widthwise_accumulator_step_within(widthwise_accumulator *accumulator, uint64_t k,
                                          const uint32_t *a, const uint32_t *b,
                                          const uint32_t *scale_a, const uint32_t *scale_b,
                                          uint64_t room);

/* For VHDL, whose procedures return nothing: the same calls, with their status in *status. */
void widthwise_words_status(const widthwise_model *model, uint32_t rm, uint64_t seed,
                            uint64_t index, uint64_t k, const uint32_t *a, const uint32_t *b,
                            const uint32_t *c, const uint32_t *scale_a, const uint32_t *scale_b,
                            uint32_t *y, uint32_t *flags, int32_t *status);
void widthwise_reset_status(widthwise_accumulator *accumulator, const uint32_t *c,
                            int32_t *status);
void widthwise_step_status(widthwise_accumulator *accumulator, uint64_t k, const uint32_t *a,
                           const uint32_t *b, const uint32_t *scale_a, const uint32_t *scale_b,
                           int32_t *status);
void widthwise_read_status(const widthwise_accumulator *accumulator, uint32_t *y, uint32_t *flags,
                           int32_t *status);

#ifdef __cplusplus
}
#endif
#endif
