"""What a notebook shows of formats, arrays, units and traces; each part prints as text too."""
