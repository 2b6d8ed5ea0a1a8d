#define WIDTHWISE_ROWS_KERNEL kernel_1_1
#define WIDTHWISE_ROWS_CODE Word
#define WIDTHWISE_ROWS_MAGNITUDE Word
#include "kernel.inl"
