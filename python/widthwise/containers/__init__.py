"""Numbers with a scale: blocks, affine integers, scaled tensors."""
