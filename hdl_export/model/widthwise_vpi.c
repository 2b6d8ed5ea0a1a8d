/* The golden model as system functions of Verilog, through VPI: for simulators without DPI-C.
 *
 *   reg [63:0] model;                       a handle, no number
 *   status = $widthwise_open(model, "add(e4m3fn)");
 *   status = $widthwise_words(model, rm, k, a, b, c, scale_a, scale_b, y, flags);
 *   $widthwise_hash(model, hash);           of 64 bits, to be compared with MODEL_HASH
 *   $widthwise_close(model);
 *
 * A status is one of widthwise_model.h. Ports are vectors as wide as k elements, or wider; one that
 * is narrower is WIDTHWISE_NO_ROOM, and so are y and flags where the result does not go into them.
 * What the design has not is given as 0; so may be flags, where they are not wanted. A bit of x or z
 * in what is read is WIDTHWISE_NO_CODE. Random bits are those of output 0 under seed 0. Where the
 * status is not WIDTHWISE_OK nothing is written.
 */
#include <stdlib.h>
#include <string.h>
#include <vpi_user.h>

#include "widthwise_model.h"

enum { most_arguments = 10 };

/* The arguments of the call that is being made. */
struct call {
  vpiHandle function;
  vpiHandle arguments[most_arguments];
  int count;
};

static struct call this_call(void) {
  struct call call = {vpi_handle(vpiSysTfCall, NULL), {NULL}, 0};
  vpiHandle all = vpi_iterate(vpiArgument, call.function), one;
  while (all && (one = vpi_scan(all)) != NULL)
    if (call.count < most_arguments) call.arguments[call.count++] = one;
  return call;
}

static int words_of(vpiHandle port) { return (vpi_get(vpiSize, port) + 31) / 32; }

/* A port's bits; null, to be freed, where memory ran out or one of them is x or z. */
static uint32_t *load(vpiHandle port) {
  const int n = words_of(port);
  uint32_t *words = malloc((size_t)n * sizeof *words);
  s_vpi_value value = {0};
  int i, unknown = 0;
  value.format = vpiVectorVal;
  vpi_get_value(port, &value);
  for (i = 0; words && i < n; ++i) {
    words[i] = (uint32_t)value.value.vector[i].aval;
    unknown |= value.value.vector[i].bval != 0;
  }
  if (!unknown) return words;
  free(words);
  return NULL;
}

static void store(vpiHandle port, const uint32_t *words, int given) {
  const int n = words_of(port);
  s_vpi_vecval *vector = calloc((size_t)n, sizeof *vector);
  s_vpi_value value = {0};
  int i;
  if (!vector) return;
  for (i = 0; i < n && i < given; ++i) vector[i].aval = (PLI_INT32)words[i];
  value.format = vpiVectorVal;
  value.value.vector = vector;
  vpi_put_value(port, &value, NULL, vpiNoDelay);
  free(vector);
}

/* Whether there is one: no bit of it is x or z. */
static int load_number(vpiHandle port, uint64_t *x) {
  uint32_t *words = load(port);
  if (!words) return 0;
  *x = words[0] | (words_of(port) > 1 ? (uint64_t)words[1] << 32 : 0);
  free(words);
  return 1;
}

static void store_number(vpiHandle port, uint64_t x) {
  const uint32_t words[2] = {(uint32_t)x, (uint32_t)(x >> 32)};
  store(port, words, 2);
}

/* Null, which every call refuses, where the handle has lost bits. */
static widthwise_model *model_of(const struct call *call) {
  uint64_t handle = 0;
  load_number(call->arguments[0], &handle);
  return (widthwise_model *)(uintptr_t)handle;
}

static PLI_INT32 open_call(PLI_BYTE8 *unused) {
  const struct call call = this_call();
  s_vpi_value value = {0};
  widthwise_model *model;
  (void)unused;
  if (vpi_get(vpiSize, call.arguments[0]) < 64) {
    store_number(call.function, WIDTHWISE_NO_ROOM);
    return 0;
  }
  value.format = vpiStringVal;
  vpi_get_value(call.arguments[1], &value);
  model = widthwise_model_open(value.value.str);
  if (*widthwise_model_error(model)) {
    vpi_printf("%s\n", (PLI_BYTE8 *)widthwise_model_error(model));
    widthwise_model_close(model);
    model = NULL;
  }
  store_number(call.arguments[0], (uint64_t)(uintptr_t)model);
  store_number(call.function, model ? WIDTHWISE_OK : WIDTHWISE_NOT_OPEN);
  return 0;
}

static PLI_INT32 close_call(PLI_BYTE8 *unused) {
  const struct call call = this_call();
  (void)unused;
  widthwise_model_close(model_of(&call));
  store_number(call.arguments[0], 0);
  return 0;
}

static PLI_INT32 hash_call(PLI_BYTE8 *unused) {
  const struct call call = this_call();
  (void)unused;
  store_number(call.arguments[1], widthwise_model_hash(model_of(&call)));
  return 0;
}

/* The arguments of $widthwise_words: ports from PORTS on, in the order of the model's. */
enum { RM = 1, K = 2, PORTS = 3, RESULT = 8, FLAGS = 9 };

static int is_wanted(vpiHandle flags) {
  const PLI_INT32 type = vpi_get(vpiType, flags);
  return type != vpiConstant && type != vpiParameter;
}

/* Elements of port i in a call of k products. */
static uint64_t elements(const widthwise_model *model, int i, uint64_t k) {
  const uint64_t block = (uint64_t)widthwise_model_scale_block(model);
  if (i < 2) return k;
  if (i == 2) return 1;
  return block ? k / block + (k % block != 0) : 0;
}

static int32_t check_rooms(const struct call *call, const widthwise_model *model, uint64_t k) {
  static const int32_t names[] = {WIDTHWISE_PORT_A, WIDTHWISE_PORT_B, WIDTHWISE_PORT_C,
                                  WIDTHWISE_PORT_SCALE, WIDTHWISE_PORT_SCALE};
  int i;
  for (i = 0; i < 5; ++i) {
    const uint64_t width = (uint64_t)widthwise_model_width(model, names[i]);
    const uint64_t size = (uint64_t)vpi_get(vpiSize, call->arguments[PORTS + i]);
    if (width && elements(model, i, k) > size / width) return WIDTHWISE_NO_ROOM;
  }
  if (vpi_get(vpiSize, call->arguments[RESULT]) < widthwise_model_width(model, WIDTHWISE_PORT_Y))
    return WIDTHWISE_NO_ROOM;
  if (is_wanted(call->arguments[FLAGS]) && vpi_get(vpiSize, call->arguments[FLAGS]) < 5)
    return WIDTHWISE_NO_ROOM;
  return WIDTHWISE_OK;
}

/* The result in y, of n words, and flags. */
static int32_t compute(const struct call *call, const widthwise_model *model, uint32_t *y,
                       uint32_t *flags) {
  uint32_t *ports[5];
  uint64_t rm, k;
  int32_t status;
  int i, known = 1;
  if (!load_number(call->arguments[RM], &rm) || !load_number(call->arguments[K], &k))
    return WIDTHWISE_NO_CODE;
  status = rm >> 32 ? WIDTHWISE_NO_ROUNDING : check_rooms(call, model, k);
  if (status != WIDTHWISE_OK) return status;
  for (i = 0; i < 5; ++i) {
    ports[i] = load(call->arguments[PORTS + i]);
    known &= ports[i] != NULL;
  }
  status = WIDTHWISE_NO_CODE;
  if (known)
    status = widthwise_model_words(model, (uint32_t)rm, 0, 0, k, ports[0], ports[1], ports[2],
                                   ports[3], ports[4], y, flags);
  for (i = 0; i < 5; ++i) free(ports[i]);
  return status;
}

static PLI_INT32 words_call(PLI_BYTE8 *unused) {
  const struct call call = this_call();
  const widthwise_model *model = model_of(&call);
  const int n = (widthwise_model_width(model, WIDTHWISE_PORT_Y) + 31) / 32;
  uint32_t *y = calloc((size_t)n + 1, sizeof *y), flags = 0;
  int32_t status = WIDTHWISE_NO_MEMORY;
  (void)unused;
  if (n == 0)
    status = WIDTHWISE_NOT_OPEN;
  else if (y)
    status = compute(&call, model, y, &flags);
  if (status == WIDTHWISE_OK) {
    store(call.arguments[RESULT], y, n);
    if (is_wanted(call.arguments[FLAGS])) store_number(call.arguments[FLAGS], flags);
  }
  store_number(call.function, (uint64_t)status);
  free(y);
  return 0;
}

/* The number of arguments of each function is looked at before the simulation starts. */
static PLI_INT32 check_count(PLI_BYTE8 *wanted) {
  if (this_call().count == (int)strlen((char *)wanted)) return 0;
  vpi_printf("a call of the golden model has %d arguments, it takes %d: see widthwise_vpi.c\n",
             this_call().count, (int)strlen((char *)wanted));
  vpi_control(vpiFinish, 1);
  return 0;
}

static void enter(const char *name, PLI_INT32 type, PLI_INT32 (*call)(PLI_BYTE8 *),
                  const char *arguments) {
  s_vpi_systf_data data = {0};
  data.type = type;
  data.sysfunctype = type == vpiSysFunc ? vpiIntFunc : 0; /* Icarus assumes no other width */
  data.tfname = name;
  data.calltf = call;
  data.compiletf = check_count;
  data.user_data = (PLI_BYTE8 *)arguments;
  vpi_register_systf(&data);
}

static void enter_all(void) {
  enter("$widthwise_open", vpiSysFunc, open_call, "ms");
  enter("$widthwise_close", vpiSysTask, close_call, "m");
  enter("$widthwise_hash", vpiSysTask, hash_call, "mh");
  enter("$widthwise_words", vpiSysFunc, words_call, "mrkabcssyf");
}

void (*vlog_startup_routines[])(void) = {enter_all, NULL};
