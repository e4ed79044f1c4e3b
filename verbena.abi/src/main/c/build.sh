#!/bin/sh
# Builds libibverbs.so.1, librdmacm.so.1, libibumad.so.3 and libverbena-files.so into a folder. Usage: build.sh JAVA_HOME FOLDER
# Without a C compiler it says so in one line, and nothing has failed: all else works without these libraries.
set -eu
java_home=$1
into=$2
cd "$(dirname "$0")"

if [ "$(uname -s)" != Linux ]; then
  echo "verbena.abi: skipped: libibverbs.so.1 and librdmacm.so.1 are for Linux"
  exit 0
fi
if ! command -v cc > /dev/null; then
  echo "verbena.abi: skipped: there is no C compiler (cc), so no libibverbs.so.1 and librdmacm.so.1; Debian: apt-get install gcc libc6-dev"
  exit 0
fi
mkdir -p "$into"

library() { # NAME, VERSION SCRIPT, SOURCES...
  name=$1 map=$2
  shift 2
  # The same bytes wherever it is built: no path of this folder, and an identity that is a hash of the contents.
  # It stays when a program closes it (dlclose): the JVM stays, and calls it.
  cc -O2 -U_FORTIFY_SOURCE -Wall -Wextra -Werror -fPIC -shared -static-libgcc -fvisibility=hidden \
    -I"$java_home/include" -I"$java_home/include/linux" \
    -ffile-prefix-map="$PWD=." -Wl,--build-id=sha1 \
    -Wl,-soname,"$name" -Wl,--version-script="$map" -Wl,-z,defs -Wl,-z,nodelete -o "$into/$name.new" "$@" -ldl -lpthread
  mv "$into/$name.new" "$into/$name" # in one step: a program may have the old one open
}

library libibverbs.so.1 ibverbs.map start.c runtime.c signals.c memory.c call.c operations.c ibverbs.c drivers.c
library libverbena-files.so files.map files.c
library libibumad.so.3 ibumad.map ibumad.c
library librdmacm.so.1 rdmacm.map rdmacm.c rsocket.c "$into/libibverbs.so.1"
