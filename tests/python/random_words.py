"""The random words that units draw, made once more, and units that draw in every slot."""

import numpy as np

UNITS = [
    "mac(e5m10, sum=e5m10:sr8)",
    "mac(e4m3fn, product=e4m3fn:sr5, sum=e5m10:sr13)",
    "fma(bfloat16, sum=bfloat16:sr16)",
    "kahan(e5m10, sum=e5m10:sr8)",
    "neumaier(e5m10, sum=e5m10:sr8)",
    "tree(e5m10, fan=4, node=e5m10:sr4, sum=e5m10:sr7)",
    "pairwise(e5m10, node=e5m10:sr4)",
    "dot(e4m3fn, lanes=4, align=13:rtz, out=e5m10:sr9)",
    "kulisch(e5m10, out=e4m3fn:sr6)",
    "mac(e4m3fn, sum=e5m10:sr20, promote=4:binary32:sr3, final=e4m3fn:sr40)",
    "mac(e15m112, sum=e15m112:sr33)",
]
SLOTS = {
    "random_product": 0,
    "random_group_sum": 1,
    "random": 2,
    "random_join": 3,
    "random_c_round": 4,
    "random_promote": 5,
    "random_final": 6,
    "random_block_sum": 7,
    "random_addend": 8,
    "random_difference": 9,
    "random_error": 10,
    "random_compensation": 11,
    "random_compensated": 12,
}


def generated(seed, bits, count, slot=2, step=0):
    """Philox-4x32-10, written from its paper, as docs/semantics.md R6 uses it."""
    width = 16 if bits <= 16 else 32 if bits <= 32 else 64
    at = step % (128 // width) * width
    found = []
    for index in range(count):
        counter = [index & 0xFFFFFFFF, index >> 32, step // (128 // width), slot]
        key = [seed & 0xFFFFFFFF, seed >> 32]
        for _ in range(10):
            a, b = counter[0] * 0xD2511F53, counter[2] * 0xCD9E8D57
            counter = [
                b >> 32 ^ counter[1] ^ key[0],
                b & 0xFFFFFFFF,
                a >> 32 ^ counter[3] ^ key[1],
                a & 0xFFFFFFFF,
            ]
            key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
        if width == 64:
            low, high = counter[at // 32 : at // 32 + 2]
            found.append((high << 32 | low) >> 64 - bits)
        else:
            found.append((counter[at // 32] >> at % 32 & (1 << width) - 1) >> width - bits)
    return np.array(found, np.uint64)
