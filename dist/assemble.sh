# Functions for ./verbena and dist/make.sh: put together what bin/verbena runs from, and train its AOT caches.

# The modules of the build, with picocli's classes in a format that the cache takes.
gather_modules() { # FOLDER JAVA_HOME
  local jar
  mkdir -p "$1"
  for jar in "$home"/verbena.tools/target/modules/*.jar "$home/verbena.tools/target/verbena.tools-$version.jar" \
    "$home/verbena.abi/target/verbena.abi-$version.jar"; do
    case $jar in
      */picocli-*) "$2/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "$home/dist/RenewClasses.java" "$jar" "$1/${jar##*/}" ;;
      *) cp "$jar" "$1/" ;;
    esac
  done
}

# bin, lib and share; runtime and modules are the caller's.
gather_scripts_and_libraries() { # FOLDER
  mkdir -p "$1/bin" "$1/lib"
  cp "$home/dist/bin/verbena" "$1/bin/"
  cp -R "$home/dist/share" "$1/"
  if [ -f "$home/verbena.abi/target/native/librdmacm.so.1" ]; then
    cp "$home"/verbena.abi/target/native/lib*.so* "$1/lib/"
  fi
  cp "$home/verbena.nio/target/verbena-nio.jar" "$1/lib/"
}

# A failure here leaves a cache away: all works without, more slowly.
train() { # FOLDER
  local at=$1 options=(-XX:+UseSerialGC -XX:+DisplayVMOutputToStderr --enable-native-access=verbena.foreign)
  if [ -d "$at/modules" ]; then
    options+=("--module-path=$at/modules")
  fi
  "$at/runtime/bin/java" "${options[@]}" -XX:AOTCacheOutput="$at/lib/verbena.aot" \
    --module verbena.tools/verbena.tools.Verbena train || rm -f "$at/lib/verbena.aot"
  if [ -f "$at/lib/librdmacm.so.1" ] && [ -f /usr/include/rdma/rdma_verbs.h ]; then
    cc -O1 -o "$at/train" "$home/dist/train.c" -L"$at/lib" -l:librdmacm.so.1 -l:libibverbs.so.1 -lpthread \
      && LD_LIBRARY_PATH="$at/lib" VERBENA_AOT_CACHE="" \
        VERBENA_JVM_OPTIONS="-XX:AOTCacheOutput=$at/lib/run.aot" "$at/train" || rm -f "$at/lib/run.aot"
    rm -f "$at/train"
  fi
  rm -f "$at"/lib/*.aot.config
}
