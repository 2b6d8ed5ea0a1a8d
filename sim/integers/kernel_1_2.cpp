#define WIDTHWISE_ROWS_KERNEL kernel_1_2
#define WIDTHWISE_ROWS_CODE Word
#define WIDTHWISE_ROWS_MAGNITUDE Word2
#include "kernel.inl"
