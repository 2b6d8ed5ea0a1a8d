#!/usr/bin/env bash
# tests/aarch64.sh FOLDER: makes FOLDER/root, Debian's libraries for 64-bit Arm, and FOLDER/cross.ini,
# with which Meson builds for it and runs what it built under qemu. Nothing is installed.
set -euo pipefail
mkdir -p "$1/lists/partial" "$1/packages"
folder=$(cd "$1" && pwd)
[ ! -e "$folder/cross.ini" ] || exit 0

apt="-qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::Lists=$folder/lists"
apt-get $apt update
(cd "$folder/packages" && apt-get $apt -o APT::Sandbox::User=root download libfmt-dev libfmt9 \
  libgmp-dev libgmp10 libhwy-dev libhwy1 libmpfr-dev libmpfr6 libtomlplusplus-dev libtomlplusplus3)
for package in "$folder"/packages/*.deb; do dpkg -x "$package" "$folder/root"; done

cat >"$folder/cross.ini" <<INI
[binaries]
cpp = 'aarch64-linux-gnu-g++'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkg-config = 'pkg-config'
exe_wrapper = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu',
  '-E', 'LD_LIBRARY_PATH=$folder/root/usr/lib/aarch64-linux-gnu']

[built-in options]
cpp_args = ['-isystem', '$folder/root/usr/include/aarch64-linux-gnu']  # gmp.h lies there

[properties]
sys_root = '$folder/root'
pkg_config_libdir = ['$folder/root/usr/lib/aarch64-linux-gnu/pkgconfig', '$folder/root/usr/share/pkgconfig']

[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
INI
