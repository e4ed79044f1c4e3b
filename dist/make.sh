# ./verbena dist: what users install. Sourced by ./verbena, after assemble.sh; decision 47 tells why it is made so.

make_dist() {
  local with_aot=yes at=$home/dist/target epoch os arch name image
  while [ $# -gt 0 ]; do
    case $1 in
      --no-aot) with_aot="" ;;
      *) fail "dist: unknown option $1; see verbena dist --help" ;;
    esac
    shift
  done
  [ -x "$JAVA_HOME/bin/jlink" ] || fail "dist: $JAVA_HOME has no jlink: a whole JDK is needed"
  [ "$(uname -s)" = Linux ] || fail "dist: archives are built on Linux"
  command -v cc > /dev/null || fail "dist: needs a C compiler for the libraries of 'verbena run' (Debian: apt-get install gcc libc6-dev)"
  lock
  if is_stale; then
    compile
  fi

  # The time of everything in the archives is that of the sources.
  epoch=${SOURCE_DATE_EPOCH:-$(git -C "$home" log -1 --format=%ct 2> /dev/null || echo 1767225600)}
  export SOURCE_DATE_EPOCH=$epoch
  os=$(uname -s | tr A-Z a-z)
  arch=$(sed -n 's/^OS_ARCH="\(.*\)"/\1/p' "$JAVA_HOME/release")
  name=verbena-$version-$os-$arch
  image=$at/$name
  rm -rf "$at"
  mkdir -p "$image"
  echo "verbena: putting together $name ..." >&2
  gather_modules "$at/modules" "$JAVA_HOME"
  find "$at/modules" -exec touch -d "@$epoch" {} +
  "$JAVA_HOME/bin/jlink" --module-path "$at/modules" --add-modules verbena.tools,verbena.abi,jdk.jcmd,jdk.management.agent \
    --no-header-files --no-man-pages --compress zip-6 --output "$image/runtime" > "$at/jlink.log" 2>&1 \
    || fail "dist: jlink failed; see dist/target/jlink.log"
  gather_scripts_and_libraries "$image"
  gather_api "$image/java"
  cp "$home/LICENSE" "$home"/*.md "$image/"
  cp -R "$home/docs" "$home/examples" "$image/"
  "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --class-path "$at/modules/*" "$home/dist/Pages.java" \
    "$image/share" "$version" "$epoch"
  if [ -n "$with_aot" ]; then
    echo "verbena: preparing its fast start, some 15 s ..." >&2
    train "$image" > "$at/train.log" 2>&1 || true
    [ -f "$image/lib/verbena.aot" ] || fail "dist: the AOT cache was not made; see dist/target/train.log"
    [ -f "$image/lib/run.aot" ] \
      || echo "verbena: without an AOT cache for 'verbena run': that needs libibverbs-dev and librdmacm-dev" >&2
  fi
  chmod -R u=rwX,go=rX "$image"
  find "$image" -exec touch -h -d "@$epoch" {} +

  make_tar "$at" "$name" "$epoch"
  make_deb "$at" "$name" "$arch"
  (cd "$at" && ls -1s --block-size=M "$name.tar.gz" ./*.deb 2> /dev/null) >&2 || true
}

# The jars that a program needs: all of ours that have no commands, and those for Netty, Micrometer and OpenTelemetry, which want their jars.
gather_api() { # FOLDER
  local room
  maven -B -q -Dmaven.test.skip -pl verbena.netty,verbena.micrometer,verbena.opentelemetry -am package > "$home/dist/target/netty.log" 2>&1 \
    || fail "dist: verbena.netty does not build; see dist/target/netty.log"
  mkdir -p "$1"
  for room in verbs foreign provider wire transport cm nic ibverbs messages stream nio netty micrometer opentelemetry sim; do
    cp "$home/verbena.$room/target/verbena.$room-$version.jar" "$1/verbena.$room.jar"
  done
}

make_tar() { # FOLDER NAME EPOCH
  tar -C "$1" --sort=name --mtime="@$3" --owner=0 --group=0 --numeric-owner --format=gnu -cf - "$2" | gzip -n > "$1/$2.tar.gz"
}

make_deb() { # FOLDER NAME ARCH
  local at=$1 image=$1/$2 root=$1/deb libc arch
  if ! command -v dpkg-deb > /dev/null; then
    echo "verbena: no Debian package: there is no dpkg-deb" >&2
    return
  fi
  case $3 in
    x86_64) arch=amd64 ;;
    aarch64) arch=arm64 ;;
    *) arch=$3 ;;
  esac
  mkdir -p "$root/DEBIAN" "$root/usr/bin" "$root/usr/lib/verbena/share" "$root/usr/lib/systemd/system" "$root/usr/share/doc/verbena" \
    "$root/usr/share/java/verbena" "$root/usr/share/zsh/vendor-completions"
  cp -a "$image/bin" "$image/lib" "$image/runtime" "$root/usr/lib/verbena/"
  cp -a "$image/share/sysctl.d" "$root/usr/lib/verbena/share/"
  cp -a "$image/share/systemd/." "$root/usr/lib/systemd/system/"
  cp -a "$image/share/man" "$image/share/bash-completion" "$root/usr/share/"
  cp -a "$image/java/." "$root/usr/share/java/verbena/"
  cp -a "$image"/*.md "$image/docs" "$image/examples" "$root/usr/share/doc/verbena/"
  cp -a "$image/share/zsh/site-functions/_verbena" "$root/usr/share/zsh/vendor-completions/"
  sed -i 's|^source .*|source /usr/share/bash-completion/completions/verbena|' "$root/usr/share/zsh/vendor-completions/_verbena"
  find "$root/usr/share/man" -name '*.1' -exec gzip -9n {} +
  cp "$home/LICENSE" "$root/usr/share/doc/verbena/copyright"
  cp "$home/LICENSE" "$root/usr/share/doc/verbena/LICENSE" # README's link
  ln -s ../lib/verbena/bin/verbena "$root/usr/bin/verbena"
  # The newest version of the C library that a symbol is asked of.
  libc=$(find "$image/lib" "$image/runtime" -name '*.so*' -exec grep -aohE 'GLIBC_2\.[0-9]+' {} + | sort -uV | tail -n 1)
  cat > "$root/DEBIAN/control" << END
Package: verbena
Version: ${version/-/\~}
Architecture: $arch
Maintainer: The maintainers of Verbena <maintainers@verbena.invalid>
Installed-Size: $(du -sk "$root/usr" | cut -f 1)
Depends: bash, coreutils, libc6 (>= ${libc#GLIBC_})
Suggests: ibverbs-utils, rdmacm-utils, perftest
Section: net
Priority: optional
Description: RDMA for every JVM: devices, tests and tools of the command line
 A network card in software that speaks RoCE v2 and iWARP, without root and
 without hardware, and the tools to use it: ping-pongs, performance tests,
 copying of files by RDMA, a decoder and a doctor. 'verbena run' lets any program
 for libibverbs and librdmacm work over it, unchanged. Brings its own Java.
END
  (cd "$root" && find usr -type f -exec md5sum {} + | LC_ALL=C sort -k 2 > DEBIAN/md5sums)
  find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  dpkg-deb --root-owner-group -Zgzip --build "$root" "$at/verbena_${version/-/\~}_$arch.deb" > /dev/null
  rm -rf "$root"
}
