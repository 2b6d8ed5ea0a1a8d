#pragma once
// Steps of the path that many places take. Some compilers copy whatever they can into its callers;
// who uses one for a machine with little room for code defines this as its word against that: a
// unit's chain is then a twelfth of the size.
#ifndef WIDTHWISE_APART
#define WIDTHWISE_APART
#endif
// And steps that are taken so often that a call is felt, for whoever finds that a compiler calls.
#ifndef WIDTHWISE_WITHIN
#define WIDTHWISE_WITHIN
#endif
