"""Look-alikes of other packages, each imported on its own.

`widthwise.compat.qtorch` is QPyTorch's and its posit fork's.
"""
