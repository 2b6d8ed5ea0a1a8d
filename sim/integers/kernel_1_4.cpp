#define WIDTHWISE_ROWS_KERNEL kernel_1_4
#define WIDTHWISE_ROWS_CODE Word
#define WIDTHWISE_ROWS_MAGNITUDE Word4
#include "kernel.inl"
