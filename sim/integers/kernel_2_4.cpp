#define WIDTHWISE_ROWS_KERNEL kernel_2_4
#define WIDTHWISE_ROWS_CODE Word2
#define WIDTHWISE_ROWS_MAGNITUDE Word4
#include "kernel.inl"
