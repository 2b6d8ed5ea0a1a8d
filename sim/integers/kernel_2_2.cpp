#define WIDTHWISE_ROWS_KERNEL kernel_2_2
#define WIDTHWISE_ROWS_CODE Word2
#define WIDTHWISE_ROWS_MAGNITUDE Word2
#include "kernel.inl"
