// Holds each constant of the C headers to its value, and says nothing if all are right. C99 or C++.
#include "@NAME@.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
@ADAPTER@
static int errors = 0;

static void hold_text(const char *header, const char *name, const char *value, const char *due) {
  if (strcmp(value, due) == 0) return;
  ++errors;
  printf("%s: %s is %s instead of %s\n", header, name, value, due);
}

static void hold(const char *header, const char *name, uint64_t value, uint64_t due) {
  if (value == due) return;
  ++errors;
  printf("%s: %s is %" PRIx64 " instead of %" PRIx64 "\n", header, name, value, due);
}

int main(void) {
@HELD@  return errors != 0;
}
