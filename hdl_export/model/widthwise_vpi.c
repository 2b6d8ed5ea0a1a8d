/* The golden model as system functions of Verilog, through VPI: for simulators without DPI-C.
 *
 *   reg [63:0] model;                       a handle, no number
 *   status = $widthwise_open(model, "add(e4m3fn)");
 *   status = $widthwise_words(model, rm, k, a, b, c, scale_a, scale_b, y, flags);
 *   $widthwise_hash(model, hash);           of 64 bits, to be compared with MODEL_HASH
 *   $widthwise_close(model);
 *
 * A status is one of widthwise_model.h. Ports are vectors as wide as k elements; what the design
 * has not is given as 0. A bit of x or z in a port is WIDTHWISE_NO_CODE. Random bits are those of
 * output 0 under seed 0.
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

static uint64_t load_number(vpiHandle port) {
  uint32_t *words = load(port);
  uint64_t x = 0;
  if (words) x = words[0] | (words_of(port) > 1 ? (uint64_t)words[1] << 32 : 0);
  free(words);
  return x;
}

static void store_number(vpiHandle port, uint64_t x) {
  const uint32_t words[2] = {(uint32_t)x, (uint32_t)(x >> 32)};
  store(port, words, 2);
}

static widthwise_model *model_of(const struct call *call) {
  return (widthwise_model *)(uintptr_t)load_number(call->arguments[0]);
}

static PLI_INT32 open_call(PLI_BYTE8 *unused) {
  const struct call call = this_call();
  s_vpi_value value = {0};
  widthwise_model *model;
  (void)unused;
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

/* Ports a, b, c, scale_a, scale_b, then the result. */
static int32_t compute(const struct call *call, uint32_t *const ports[5], uint32_t *y,
                       uint32_t *flags) {
  int i;
  for (i = 0; i < 5; ++i)
    if (!ports[i]) return WIDTHWISE_NO_CODE;
  return widthwise_model_words(model_of(call), (uint32_t)load_number(call->arguments[1]), 0, 0,
                               load_number(call->arguments[2]), ports[0], ports[1], ports[2],
                               ports[3], ports[4], y, flags);
}

static PLI_INT32 words_call(PLI_BYTE8 *unused) {
  const struct call call = this_call();
  const int n = (widthwise_model_width(model_of(&call), WIDTHWISE_PORT_Y) + 31) / 32;
  uint32_t *ports[5], *y = calloc((size_t)n + 1, sizeof *y), flags = 0;
  int32_t status = WIDTHWISE_NO_MEMORY;
  int i;
  (void)unused;
  for (i = 0; i < 5; ++i) ports[i] = load(call.arguments[3 + i]);
  if (y) status = compute(&call, ports, y, &flags);
  if (status == WIDTHWISE_OK) {
    store(call.arguments[8], y, n);
    store_number(call.arguments[9], flags);
  }
  store_number(call.function, (uint64_t)status);
  for (i = 0; i < 5; ++i) free(ports[i]);
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
