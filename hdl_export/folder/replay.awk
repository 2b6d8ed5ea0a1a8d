# Of a file of vectors the comments and one vector, whose number is `wanted`, or a line for it; of a
# running sum all of its blocks. Lines that are given may be several, with commas between.
/^\/\/ FIELDS/ {
  for (i = 3; i <= NF; ++i) {
    if ($i ~ /^in_first\[/) first = i - 2
    if ($i ~ /^in_last\[/) last = i - 2
  }
}
/^\/\// { print; next }
{
  line[++count] = $0
  begins[count] = !first || $first + 0
  ends[count] = !last || $last + 0
}
END {
  if (wanted !~ /^[0-9]+$/) {
    gsub(/ *, */, "\n", wanted)
    print wanted
    exit
  }
  at = wanted + 1
  if (at > count) {
    print "replay: there are " count " vectors, 0 to " count - 1 > "/dev/stderr"
    exit 1
  }
  for (from = at; !begins[from]; --from) {}
  for (to = at; !ends[to]; ++to) {}
  while (from <= to) print line[from++]
}
