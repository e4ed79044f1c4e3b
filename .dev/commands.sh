# The commands for developers, for ./verbena: a function for each, developer_NAME. Its help text is in help/NAME.txt, and its
# line of ./verbena --help in commands.txt.

is_for_developers() { # COMMAND
  declare -F "developer_$1" > /dev/null
}

help_of() { # COMMAND
  case $1 in
    fuzz) developer_fuzz --help ;; # with the targets
    *) cat "$home/.dev/help/$1.txt" ;;
  esac
}

# ---- building

# Builds a room that is for developers only, if it, or a room that it requires, has changed.
build_room() { # ROOM NAME-FOR-PEOPLE [MAVEN-OPTION ...]
  local room=${1##*/} name=$2 log=$state/${1##*/}.log others=() other
  for other in bench fuzz interop jcstress lab verbena.spark; do
    [ "$other" = "$room" ] || others+=("$other")
  done
  [ "$room" != lab ] || others+=('verbena.*') # it requires no other room
  if [ -d "$home/$1/target/lib" ] && ! has_changed_since "$state/built-$room" "${others[@]}"; then
    return
  fi
  need_maven
  echo "verbena: building $name ..." >&2
  mkdir -p "$state"
  touch "$state/started-$room"
  if ! maven -B -Dmaven.test.skip "${@:3}" -pl "$1" -am package > "$log" 2>&1; then
    if grep -qE 'Could not transfer|Unknown host|offline mode|Network is unreachable' "$log"; then
      fail "$room: something is fetched from Maven Central the first time, and that cannot be reached; see .verbena/$room.log"
    fi
    grep -E '^\[ERROR\]' "$log" | head -n 20 >&2 || true
    fail "the build of $name failed; all of it is in .verbena/$room.log"
  fi
  mv "$state/started-$room" "$state/built-$room"
}

class_path() { # ROOM
  echo "$home/$1/target/${1##*/}-$version.jar:$home/$1/target/lib/*"
}

developer_build() {
  build
}

developer_docs() {
  need_maven
  maven -B -q -N -Pdocs exec:exec@docs
  echo "$home/target/site/apidocs/index.html"
}

# All published modules into the local Maven repository, without their tests.
developer_install() {
  local options=() repository="the local Maven repository" here=$SECONDS
  need_maven
  while [ $# -gt 0 ]; do
    case $1 in
      --spark) options+=(-Pspark -Dspark.test.skip=true) ;;
      --repository)
        [ -n "${2:-}" ] || wrong "install: --repository needs a folder"
        repository=$(realpath -m "$2")
        options+=("-Dmaven.repo.local=$repository")
        shift
        ;;
      *) wrong "install: unknown option $1; see verbena install --help" ;;
    esac
    shift
  done
  mkdir -p "$state"
  echo "verbena: installing version $version into $repository: a minute or two; the log is in .verbena/install.log" >&2
  maven_by_room install -Prelease "${options[@]}" -Dmaven.test.skip -Dmaven.javadoc.skip -Dcyclonedx.skip \
    -pl '!:bench,!:fuzz,!:jcstress,!:lab,!:interop' install >&2 \
    || fail "the installation failed; all of it is in .verbena/install.log"
  echo "verbena: installed in $((SECONDS - here)) s; a program's pom.xml says:" >&2
  sed -n '/^<dependencyManagement>$/,/^```$/p' "$home/docs/start.md" | sed '/^```$/,$d'
}

developer_dist() {
  . "$home/dist/make.sh"
  make_dist "$@"
}

# ---- tests

# All findings of Error Prone and NullAway, and the format, and nothing else of what Maven says: under -q it hides warnings,
# which are the findings. Rooms whose libraries are large are read where they were built.
developer_lint() {
  local profiles=lint
  # With the JVM's own thresholds C2 takes a quarter of the processor time, for code that soon has no more to do.
  local rarer="-XX:Tier4InvocationThreshold=25000 -XX:Tier4MinInvocationThreshold=3000"
  rarer+=" -XX:Tier4CompileThreshold=75000 -XX:Tier4BackEdgeThreshold=200000"
  need_maven
  [ ! -d "$home/verbena.spark/target/lib" ] || profiles+=,spark
  [ ! -d "$home/workshop/interop/target/ready" ] || profiles+=,interop
  MAVEN_OPTS="$rarer ${MAVEN_OPTS:-} -Dorg.slf4j.simpleLogger.defaultLogLevel=warn" maven -B -T 1C "-P$profiles" test-compile "$@"
}

developer_test() {
  case ${1:-} in
    --abi) run_pyverbs "${@:2}" ;;
    --programs) run_other_programs "${@:2}" ;;
    --clauses) "$JAVA_HOME/bin/java" "$home/verbena.tools/src/test/java/verbena/tools/house/Clauses.java" "$home" ;;
    *) run_tests "$@" ;;
  esac
}

# The number of the share of what runs in part: a commit has the same everywhere, and the next one another.
find_draw() { # ARGUMENT ...
  local draw argument
  draw=$(git -C "$home" rev-parse HEAD 2> /dev/null || true)
  draw=$((16#0${draw:0:4} % 36))
  for argument in "$@"; do
    case $argument in
      -Dverbena.draw=*) draw=${argument#*=} ;;
    esac
  done
  [[ "$draw" =~ ^[0-9]{1,9}$ ]] || wrong "-Dverbena.draw needs a number, got \"$draw\""
  echo $((10#$draw))
}

# What of a table runs: the share that is drawn, all by --deep, or what is named. Sets words to the arguments that say so.
choose() { # NAME-FOR-PEOPLE SHARES ARGUMENT ...
  local share argument
  words=()
  share=$(find_draw "${@:3}")
  for argument in "${@:3}"; do
    case $argument in
      --deep) share="" ;;
      -Dverbena.draw=*) ;;
      *) share="" words+=("$argument") ;;
    esac
  done
  if [ -n "$share" ]; then
    words=(--share "$((share % $2))/$2")
    echo "verbena: of $1 the share $((share % $2)) of $2 was drawn (-Dverbena.draw=$share); --deep runs all" >&2
  fi
}

# The classes whose turn it is not, as Surefire excludes them: its share is another than that of the cases within a class.
print_others() { # DRAW
  local turns room class
  while read -r turns room class; do
    [ "$turns" != "#" ] || continue
    [ -f "$home/$room/src/test/java/$class.java" ] || fail "test: .dev/in-turn.txt names $room $class, which is not there"
    [[ "$turns" = *$(($1 / 6 % 6))* ]] || echo "$class.java"
  done < "$home/.dev/in-turn.txt"
}

run_tests() {
  local drawn=() status=0 started length="some twenty minutes on two cores" draw others=$state/tests-of-other-turns
  local devices=("" rocev2@127.0.0.1 iwarp@127.0.0.1)
  need_maven
  draw=$(find_draw "$@")
  mkdir -p "$state"
  if [ "${1:-}" = --deep ]; then
    drawn=(-Dverbena.deep=true)
    length="hours"
    shift
  else
    print_others "$draw" > "$others"
    drawn=("-Dverbena.draw=$draw" "-Dcontracts.device=${devices[draw % 3]}" "-Dsurefire.excludesFile=$others")
    echo "verbena: of what runs in full by --deep only, share $draw was drawn (-Dverbena.draw=$draw); the contracts of" \
      "channels run over ${devices[draw % 3]:-the nearest device}; $(wc -l < "$others") classes wait for another turn" >&2
  fi
  started=$state/tests-started
  touch "$started"
  echo "verbena: all tests of all rooms: $length, and a minute more where all has to be compiled; the log is in .verbena/test.log" >&2
  trap 'status=130' INT # Maven ends by it too
  # A room whose tests fail does not keep those above it from running: one run tells all.
  maven_by_room test "${drawn[@]}" --fail-at-end -Dmaven.test.failure.ignore verify "$@" || status=$((status == 130 ? 130 : $?))
  trap - INT
  echo
  [ $status != 130 ] || echo "interrupted: of the tests that had run until then,"
  print_reports "$started" || status=$((status == 0 ? 1 : status))
  return $status
}

# Prints the slowest classes of a run, what failed, and its sums, from the reports that Surefire wrote since STAMP. Fails if a
# test has.
print_reports() { # STAMP
  local reports=$state/test-reports
  find "$home" -path '*/target/surefire-reports/TEST-*.xml' -newer "$1" -exec grep -H -m 1 '<testsuite ' {} + \
    | awk '
        function value(name) { return match($0, " " name "=\"[^\"]*") ? substr($0, RSTART + length(name) + 3, RLENGTH - length(name) - 3) : "" }
        {
          room = $0; sub(/\/target\/.*/, "", room); sub(/.*\//, "", room)
          seconds = value("time"); gsub(",", "", seconds)
          name = value("name"); sub(/.*\./, "", name)
          print seconds, room, name, value("tests") + 0, value("failures") + value("errors"), value("skipped") + 0
        }' > "$reports"
  echo "the slowest classes:"
  sort -rn "$reports" | head -n 20 | awk '{ printf "%8.1f s  %-22s%s\n", $1, $2, $3 }'
  find "$home" -path '*/target/surefire-reports/TEST-*.xml' -newer "$1" -exec awk '
    /<testcase / { test = $0; gsub(/.* name="|" time=.*/, "", test); sub(/" classname="/, " of ", test) }
    /<(failure|error)[ >]/ { message = $0; sub(/.*message="/, "", message); sub(/" type=.*/, "", message); print "failed: " test ": " substr(message, 1, 300) }' {} +
  awk '{ t += $4; f += $5; s += $6 } END { printf "%d passed, %d failed, %d skipped\n", t - f - s, f, s; exit f > 0 }' "$reports"
}

# Maven's log goes into .verbena/NAME.log. What is shown is a line for each room, with its tests and its time, and the errors.
maven_by_room() { # NAME MAVEN-ARGUMENT ...
  local log=$state/$1.log
  mkdir -p "$state"
  maven -B "${@:2}" 2>&1 | (trap '' INT && show_rooms "$log") # which ends with Maven
  return "${PIPESTATUS[0]}"
}

show_rooms() { # LOG
  local line room="" tests="" began=$SECONDS
  while IFS= read -r line; do
    printf '%s\n' "$line" >&3
    case $line in
      "[INFO] Building "*"["*/*"]" | "[INFO] Reactor Summary"*)
        [ -z "$room" ] || printf '%s%5d s\n' "$tests" $((SECONDS - began))
        room="" tests="" began=$SECONDS
        if [[ $line =~ Building\ (.*)\ [0-9][^\ ]*\ +(\[[0-9]+/[0-9]+\])$ ]]; then
          room=${BASH_REMATCH[1]}
          printf '%8s  %-22s' "${BASH_REMATCH[2]}" "$room"
        fi
        ;;
      *"Time elapsed"*) ;; # of a class
      "["*"] Tests run: "*) tests=$(printf '%-56s' "${line#*] }") ;;
      "[ERROR] "*[!\ ]*)
        case $line in
          *"Re-run Maven"* | *"full stack trace"* | *"For more information"* | *"[Help "[0-9]"] "*) ;;
          *) printf '\n%s' "$line" ;;
        esac
        ;;
    esac
  done 3> "$1"
}

run_program() {
  ready
  "$state/app/bin/verbena" run "$@"
}

# The test-suite of pyverbs, as the distribution ships it, over our libraries.
run_pyverbs() {
  local python=/usr/bin/python3
  [ -d /usr/share/doc/rdma-core/tests ] && "$python" -c 'import pyverbs.device' 2> /dev/null \
    || fail "test --abi: needs pyverbs and its tests (Debian: apt-get install python3-pyverbs rdma-core)"
  run_program --device "${1:-rocev2_lo}" -- "$python" "$home/verbena.abi/src/test/python/pyverbs_suite.py" "${1:-rocev2_lo}"
}

run_other_programs() {
  local words
  choose "the programs of others" 3 "$@"
  ready
  if [ ! -f "$state/app/lib/librdmacm.so.1" ]; then
    echo "verbena: programs: skipped: libibverbs.so.1 and librdmacm.so.1 were not built, because there is no C compiler"
    return
  fi
  in_network_of_its_own "$JAVA_HOME/bin/java" "$home/verbena.abi/src/test/programs/OtherPrograms.java" \
    "$state/app/bin/verbena" "$home/verbena.abi/src/test/c" "${words[@]}"
}

# In a network namespace of its own where one can be made, as root or as one of a user namespace, with a cable beside loopback:
# no port is taken there. VERBENA_PROGRAMS_INSIDE says that it was made.
in_network_of_its_own() { # COMMAND ...
  local how setup="ip link set lo up && ip link add west type veth peer name east && ip link set west up && ip link set east up \
    && ip addr add 10.77.0.1/24 dev west"
  for how in "--net" "--map-root-user --net"; do
    # shellcheck disable=SC2086 # several words
    if unshare $how sh -c "$setup" > /dev/null 2>&1; then
      VERBENA_PROGRAMS_INSIDE=yes exec unshare $how sh -c "$setup && exec \"\$@\"" sh "$@"
    fi
  done
  exec "$@"
}

# Unmodified systems of the JVM over RDMA. Their jars are fetched the first time; where that cannot be, they are skipped.
developer_engines() {
  local systems=() system argument room=$home/workshop/interop ready log=$state/interop.log names words=() draw
  ready=$room/target/ready
  names=$(tr -d '\n' < "$room/src/main/java/verbena/interop/Interop.java" | grep -o 'new Row( *"[a-z0-9-]*' | sed 's/.*"//')
  draw=$(find_draw "$@")
  for argument in "$@"; do
    case $argument in
      --list) echo "$names" && return ;;
      --deep) draw="" ;;
      -Dverbena.draw=*) ;;
      *)
        words+=("$argument")
        [ "$argument" != --figures ] && ! grep -qxF -e "$argument" <<< "$names" || draw=""
        ;;
    esac
  done
  refuse_unknown_options "$room/src/main/java" engines "${words[@]}"
  if [ -n "$draw" ]; then
    mapfile -t -O ${#words[@]} words < <(awk -v share=$((draw % 3)) 'NR % 3 == share' <<< "$names")
    echo "verbena: of the systems the share $((draw % 3)) of 3 was drawn (-Dverbena.draw=$draw); --deep runs all" >&2
  fi
  need_maven
  mkdir -p "$state"
  for system in "$room"/systems/*/pom.xml; do
    system=${system%/pom.xml}
    systems+=(",workshop/interop/systems/${system##*/}")
  done
  if [ ! -d "$ready" ] || has_changed_since "$ready" bench fuzz jcstress lab verbena.spark; then
    echo "verbena: building what runs the systems; the first time their jars are fetched ..." >&2
    mkdir -p "$room/target"
    touch "$state/started-interop"
    if maven -B -Pinterop -Dmaven.test.skip -pl "verbena.nio,workshop/interop$(printf %s "${systems[@]}")" -am package > "$log" 2>&1; then
      mkdir -p "$ready"
      touch -r "$state/started-interop" "$ready"
    elif grep -qE 'Could not transfer|Unknown host|offline mode|Network is unreachable' "$log"; then
      echo "verbena: engines: skipped: their jars are fetched from Maven Central the first time, and that cannot be reached"
      return
    else
      grep -E '^\[ERROR\]' "$log" | head -n 20 >&2 || true
      fail "the build of the systems failed; all of it is in .verbena/interop.log"
    fi
  fi
  exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$room/target/interop-$version.jar" verbena.interop.Interop \
    "$home" "$home/verbena.nio/target/verbena-nio.jar" "${words[@]}"
}

# Spark with our shuffle manager, beside its own. Where its jars cannot be fetched the first time, it is skipped.
developer_spark-demo() {
  local target=$home/verbena.spark/target jars=lib arguments=() draw
  draw=$(find_draw "$@")
  while [ $# -gt 0 ]; do
    case $1 in
      --spark)
        [[ "${2:-}" =~ ^[0-9]+(\.[0-9]+)+$ ]] || wrong "spark-demo: --spark needs a version such as 4.1.3, got \"${2:-}\""
        jars=lib-$2
        shift
        ;;
      --small) arguments+=("$1") ;;
      --drawn) arguments+=(--share "$((draw % 3))/3") ;;
      -Dverbena.draw=*) ;;
      --seeds)
        [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || wrong "spark-demo: --seeds needs a number, got \"${2:-}\""
        arguments+=("$1" "$2")
        shift
        ;;
      *) wrong "spark-demo: unknown option $1; see verbena spark-demo --help" ;;
    esac
    shift
  done
  build_room verbena.nio "the agent"
  if ! build_spark; then
    return
  fi
  if [ ! -f "$target/$jars/complete" ] && [ "$jars" != lib ]; then
    echo "verbena: fetching the jars of Spark ${jars#lib-} ..." >&2
    if ! maven -B -f verbena.spark/jars/pom.xml -Dspark.version="${jars#lib-}" -Djars.folder="$target/$jars" package \
      > "$state/spark-jars.log" 2>&1; then
      grep -E '^\[ERROR\]' "$state/spark-jars.log" | head -n 5 >&2 || true
      fail "spark-demo: the jars of Spark ${jars#lib-} cannot be fetched; see .verbena/spark-jars.log"
    fi
    touch "$target/$jars/complete"
  fi
  run_with_spark verbena.spark.demo.SparkDemo "$jars" "$home" "${arguments[@]}"
}

# Status 1, with a word, where Spark's jars cannot be fetched.
build_spark() {
  # The jobs are tests' classes, which count for no other room.
  [ -z "$(find "$home/verbena.spark/src/test" -newer "$state/built-verbena.spark" -print -quit 2> /dev/null)" ] \
    || rm -f "$state/built-verbena.spark"
  if ! (build_room verbena.spark "the shuffle of Spark (the first time its jars are fetched)" -Pspark); then
    if grep -qE 'Could not transfer|Unknown host|offline mode|Network is unreachable' "$state/verbena.spark.log"; then
      echo "verbena: spark: skipped: Spark's jars cannot be fetched"
      return 1
    fi
    exit 1
  fi
}

run_with_spark() { # CLASS FOLDER-OF-JARS ARGUMENT ...
  local target=$home/verbena.spark/target
  exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -cp "$target/test-classes:$target/verbena-spark.jar:$target/$2/*" "$1" \
    "$target" "$target/$2" "$target/test-classes:$target/verbena-spark.jar" "${@:3}"
}

developer_lab() {
  local words
  choose "the lab's checks" 6 "$@"
  build_room workshop/lab "the lab's checks"
  exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC -Dverbena.root="$home" -cp "$(class_path workshop/lab)" verbena.lab.Main "${words[@]}"
}

# Quick: one JVM for each scenario, on whichever processors; otherwise all pairs of compilers, for half an hour.
developer_jcstress() {
  local options=(-jvmArgsPrepend --enable-native-access=ALL-UNNAMED)
  if [ "${1:-}" = --quick ]; then
    options=(-sc false -af NONE -f 1 -iters 1 -time 300 -hs 256
      -jvmArgs "-XX:+UseSerialGC --enable-native-access=ALL-UNNAMED")
    shift
  fi
  if [ $# -gt 0 ]; then
    options+=(-t "$1")
  fi
  build_room workshop/jcstress "the races"
  mkdir -p "$state/jcstress"
  cd "$state/jcstress" # it leaves its results where it runs
  exec "$JAVA_HOME/bin/java" -XX:+UseSerialGC -cp "$(class_path workshop/jcstress)" org.openjdk.jcstress.Main "${options[@]}"
}

developer_fuzz() {
  local seconds=60 targets=() files=() target status found=0
  for argument in "$@"; do # before anything is built
    if [ "$argument" = -h ] || [ "$argument" = --help ]; then
      cat "$home/.dev/help/fuzz.txt"
      sed -n 's/^    \([A-Z_]*\)("\(.*\)", [A-Za-z]*::run)[,;]$/\1 \2/p' "$home/workshop/fuzz/src/main/java/verbena/fuzz/Target.java" \
        | while read -r target purpose; do
          printf '  %-18s  %s\n' "$(echo "$target" | tr A-Z_ a-z-)" "$purpose"
        done
      return
    fi
  done
  while [ $# -gt 0 ]; do
    case $1 in
      --seconds)
        [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || wrong "fuzz: --seconds needs a number, got \"${2:-}\""
        seconds=$2
        shift
        ;;
      -*) wrong "fuzz: unknown option $1; see verbena fuzz --help" ;;
      *)
        if [ -d "$home/workshop/fuzz/corpus/$1" ]; then
          targets+=("$1")
        elif [ ${#targets[@]} = 1 ] && [ -f "$1" ]; then
          files+=("$(realpath "$1")")
        else
          wrong "fuzz: there is no target $1; see verbena fuzz --help"
        fi
        ;;
    esac
    shift
  done
  build_room workshop/fuzz "the fuzz targets" -Pjazzer # which is fetched the first time
  local java=("$JAVA_HOME/bin/java" -XX:+UseSerialGC -Xmx1g -ea --enable-native-access=ALL-UNNAMED
    -cp "$(class_path workshop/fuzz)")
  if [ ${#files[@]} -gt 0 ]; then
    exec "${java[@]}" verbena.fuzz.Fuzz "${targets[0]}" "${files[@]}"
  fi
  if [ ${#targets[@]} = 0 ]; then
    mapfile -t targets < <(ls "$home/workshop/fuzz/corpus")
  fi
  trap 'exit 130' INT
  for target in "${targets[@]}"; do
    local at=$state/fuzz/$target
    mkdir -p "$at/corpus" "$at/findings"
    touch "$at/started"
    echo "verbena: $target for $seconds s ..." >&2
    set +e
    # One hook of Jazzer's takes any text that is given to a Scanner for the name of a file.
    (cd "$at" && "${java[@]}" com.code_intelligence.jazzer.Jazzer \
      --target_class=verbena.fuzz.Fuzz --target_args="$target" \
      --instrumentation_includes='verbena.**' --instrumentation_excludes='verbena.fuzz.**' \
      --disabled_hooks=com.code_intelligence.jazzer.sanitizers.FilePathTraversal \
      --reproducer_path="$at/findings" \
      -artifact_prefix="$at/findings/" -max_len=4096 -timeout=10 -rss_limit_mb=0 -max_total_time="$seconds" \
      "$at/corpus" "$home/workshop/fuzz/corpus/$target") 2>&1 | tee "$at/log" | grep -aE '^== Java Exception|^Caused by|DONE|pulse|^ERROR|SUMMARY'
    status=${PIPESTATUS[0]}
    set -e
    if [ "$status" = 72 ] || [ "$status" -ge 128 ]; then
      exit 130 # Ctrl-C
    elif [ "$status" != 0 ]; then
      found=1
      echo "verbena: $target: a finding (all that was said is in $at/log):" >&2
      find "$at/findings" -type f ! -name '*.java' -newer "$at/started" >&2
      echo "verbena: once more: ./verbena fuzz $target FILE; when it is mended, FILE belongs into workshop/fuzz/corpus/$target" >&2
    fi
  done
  exit $found
}

# ---- speed

developer_bench() {
  local main=verbena.bench.Bench libraries java systems=()
  [ "${1:-}" = spark ] || refuse_unknown_options "$home/workshop/bench/src/main/java" bench "$@"
  if [ "${1:-}" = spark ]; then
    build_room verbena.nio "the agent"
    build_spark || return 0
    run_with_spark verbena.spark.demo.SparkBench lib "$home/verbena.nio/target/verbena-nio.jar" "${@:2}"
  elif [ "${1:-}" = connections ]; then
    main=verbena.bench.Connections
    shift
  elif [ "${1:-}" = shm ]; then
    main=verbena.bench.ShmBench
    shift
  elif [ "${1:-}" = ethernet ]; then
    main=verbena.bench.EthernetBench
    shift
  elif [ "${1:-}" = secure ]; then
    main=verbena.bench.SecureBench
    shift
  elif [ "${1:-}" = nio ]; then
    main=verbena.bench.NioBench
    [[ " $* " =~ \ (--(only|json|html|busy|help)|-h)[\ =] ]] || systems=(--figures)
    [[ " $* " != *" --quick "* ]] || systems+=(--small)
    build_room verbena.nio "the agent"
    set -- "$home/verbena.nio/target/verbena-nio.jar" "${@:2}"
  elif [ "${1:-}" = messages ]; then
    main=verbena.bench.MessagesBench
    shift
  elif [ "${1:-}" = waiting ]; then
    main=verbena.bench.Waiting
    shift
  elif [ "${1:-}" = abi ]; then
    main=verbena.bench.AbiCost
    libraries=$(run_program --device rocev2_lo --libraries)
    eval "$libraries"
    set -- "$home/verbena.abi/src/test/c/cost.c"
  elif [ "${1:-}" = programs ]; then
    main=verbena.bench.BesideTcp
    ready
    [ -f "$state/app/lib/librdmacm.so.1" ] || fail "bench programs: libibverbs.so.1 was not built, because there is no C compiler"
    set -- "$state/app/bin/verbena" "$home/verbena.abi/src/test/c/mpi_speed.c" "${@:2}"
  fi
  build_room workshop/bench "the benchmarks"
  java=("$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -XX:+UseSerialGC -cp "$(class_path workshop/bench)")
  if [ "$main" = verbena.bench.BesideTcp ] || [ "$main" = verbena.bench.EthernetBench ]; then
    in_network_of_its_own "${java[@]}" "$main" "$@"
  fi
  if [ "${systems[0]:-}" = --figures ]; then
    "${java[@]}" "$main" "$@" || return
    developer_engines "${systems[@]}"
  fi
  exec "${java[@]}" "$main" "$@"
}

developer_jmh() {
  build_room workshop/bench "the benchmarks"
  exec "$JAVA_HOME/bin/java" --enable-native-access=ALL-UNNAMED -cp "$(class_path workshop/bench)" org.openjdk.jmh.Main -prof gc "$@"
}
