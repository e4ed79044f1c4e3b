package verbena.spark.demo;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import java.util.zip.CRC32C;
import org.apache.spark.ExecutorAllocationClient;
import org.apache.spark.HashPartitioner;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.scheduler.ExecutorDecommissionInfo;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.util.LongAccumulator;
import scala.Option;
import scala.Tuple2;

/// Jobs that shuffle, each with a result that is one line of text and depends on every record.
///
/// @param records of the larger jobs
/// @param partitions on both sides of a shuffle
/// @param sides partitions on both sides of the shuffle that has many small blocks
/// @param text files with words
record Jobs(SparkSession session, int records, int partitions, int sides, String text) {
    private static final int KEY_CHARACTERS = 10;
    private static final int VALUE_CHARACTERS = 90;
    private static final int KILOBYTE = 1_024;
    private static final int LEAVING_SECONDS = 60;
    /// An odd number, so that products with different numbers differ.
    private static final int SPREAD = 0x9E37_79B1;
    private static final Pattern NO_WORD = Pattern.compile("[^\\p{L}]+");

    /// A job by its name.
    interface Job {
        String run();
    }

    Map<String, Job> all() {
        var jobs = new LinkedHashMap<String, Job>();
        jobs.put("sort", this::sort);
        jobs.put("group", this::group);
        jobs.put("join", this::join);
        jobs.put("words", this::words);
        jobs.put("blocks", this::smallBlocks);
        jobs.put("move", this::move);
        jobs.put("revenue", this::revenue);
        jobs.put("skew", this::skew);
        jobs.put("leave", this::leave);
        return jobs;
    }

    private JavaSparkContext spark() {
        return JavaSparkContext.fromSparkContext(session.sparkContext());
    }

    /// Numbers of all partitions, so that a task makes its own records.
    private JavaRDD<Integer> seeds(int count) {
        return spark().parallelize(IntStream.range(0, count).boxed().toList(), count);
    }

    private static String text(SplittableRandom random, int characters) {
        var text = new StringBuilder(characters);
        for (int i = 0; i < characters; i++) {
            text.append((char) (' ' + random.nextInt(95)));
        }
        return text.toString();
    }

    /// As TeraSort: keys of 10 and values of 90 characters, ordered over all partitions.
    String sort() {
        int each = records / partitions;
        JavaPairRDD<String, String> made = seeds(partitions).flatMapToPair(seed -> {
            var random = new SplittableRandom(seed);
            return IntStream.range(0, each)
                    .mapToObj(i -> new Tuple2<>(text(random, KEY_CHARACTERS), text(random, VALUE_CHARACTERS)))
                    .iterator();
        });
        List<String> ends = made.sortByKey(true, partitions)
                .mapPartitions(sorted -> {
                    long count = 0;
                    long hash = 1;
                    String before = "";
                    String first = "";
                    while (sorted.hasNext()) {
                        Tuple2<String, String> record = sorted.next();
                        if (record._1().compareTo(before) < 0) {
                            throw new IllegalStateException("not in order: " + before + ", " + record._1());
                        }
                        first = count == 0 ? record._1() : first;
                        before = record._1();
                        hash = 31 * hash + record.hashCode();
                        count++;
                    }
                    return List.of(first + " " + before + " " + count + " " + hash)
                            .iterator();
                })
                .collect();
        return ends.size() + " partitions, " + Integer.toHexString(ends.hashCode());
    }

    /// All values of each key together.
    String group() {
        int each = records / partitions;
        List<Tuple2<Integer, Long>> sums = seeds(partitions)
                .flatMapToPair(seed -> {
                    var random = new SplittableRandom(seed);
                    return IntStream.range(0, each)
                            .mapToObj(i -> new Tuple2<>(random.nextInt(997), random.nextLong()))
                            .iterator();
                })
                .groupByKey(partitions)
                .mapValues(values -> StreamSupport.stream(values.spliterator(), false)
                        .mapToLong(Long::longValue)
                        .sum())
                .sortByKey()
                .collect();
        return sums.size() + " keys, " + Integer.toHexString(sums.hashCode());
    }

    /// Two sets of records with keys in common.
    String join() {
        int each = records / partitions / 2;
        JavaPairRDD<Long, String> left = keyed(each, 3, 0);
        JavaPairRDD<Long, String> right = keyed(each, 5, 1 << 20);
        Tuple2<Long, Long> result = left.join(right, partitions)
                .map(pair -> new Tuple2<>(1L, pair._1() * 31 + pair._2().hashCode()))
                .fold(new Tuple2<>(0L, 0L), (a, b) -> new Tuple2<>(a._1() + b._1(), a._2() + b._2()));
        return result._1() + " pairs, " + Long.toHexString(result._2());
    }

    private JavaPairRDD<Long, String> keyed(int each, int step, int salt) {
        return seeds(partitions).flatMapToPair(seed -> {
            var random = new SplittableRandom(seed + salt);
            long begin = (long) seed * each;
            return IntStream.range(0, each)
                    .mapToObj(i -> new Tuple2<>((begin + i) * step, text(random, 40)))
                    .iterator();
        });
    }

    /// How often each word is in the documents of this project.
    String words() {
        List<Tuple2<String, Integer>> counts = spark().textFile(text, partitions)
                .flatMap(line -> Arrays.asList(NO_WORD.split(line.toLowerCase(java.util.Locale.ROOT)))
                        .iterator())
                .mapToPair(word -> new Tuple2<>(word, 1))
                .reduceByKey(Integer::sum, partitions)
                .sortByKey()
                .collect();
        return counts.size() + " words, " + Integer.toHexString(counts.hashCode());
    }

    /// Many blocks of some hundred bytes. No two records have the same key: their order would be that of arrival.
    String smallBlocks() {
        int sides = this.sides; // a task takes no session along
        int each = Math.max(sides, records / 10 / sides);
        List<Long> sums = seeds(sides)
                .flatMapToPair(seed -> {
                    var random = new SplittableRandom(seed);
                    return IntStream.range(0, each)
                            .mapToObj(i -> new Tuple2<>(SPREAD * (i * sides + seed), random.nextLong()))
                            .iterator();
                })
                .repartitionAndSortWithinPartitions(new HashPartitioner(sides))
                .mapPartitions(sorted -> {
                    long hash = 1;
                    while (sorted.hasNext()) {
                        hash = 31 * hash + sorted.next().hashCode();
                    }
                    return List.of(hash).iterator();
                })
                .collect();
        return sides + " x " + sides + " blocks, " + Integer.toHexString(sums.hashCode());
    }

    /// Records of a kilobyte that nothing compresses: most of the time is the shuffle's.
    String move() {
        int each = records / 4 / partitions;
        List<Long> sums = seeds(partitions)
                .flatMapToPair(seed -> {
                    var random = new SplittableRandom(seed);
                    return IntStream.range(0, each)
                            .mapToObj(i -> {
                                var value = new byte[KILOBYTE];
                                random.nextBytes(value);
                                return new Tuple2<>(random.nextInt(), value);
                            })
                            .iterator();
                })
                .partitionBy(new HashPartitioner(partitions))
                .mapPartitions(moved -> {
                    var crc = new CRC32C();
                    long sum = 0;
                    while (moved.hasNext()) {
                        Tuple2<Integer, byte[]> record = moved.next();
                        crc.reset();
                        crc.update(record._2());
                        sum += record._1() * crc.getValue(); // in any order
                    }
                    return List.of(sum).iterator();
                })
                .collect();
        return each * partitions + " records, " + Integer.toHexString(sums.hashCode());
    }

    /// An executor leaves between the two stages, and its map outputs move to another one. No record is made twice.
    String leave() {
        LongAccumulator made = session.sparkContext().longAccumulator();
        int each = records / partitions;
        JavaPairRDD<Integer, Integer> shuffled = seeds(partitions)
                .flatMapToPair(seed -> IntStream.range(0, each)
                        .mapToObj(i -> {
                            made.add(1);
                            return new Tuple2<>(i, seed);
                        })
                        .iterator())
                .partitionBy(new HashPartitioner(partitions));
        long count = shuffled.count();
        decommissionOne();
        long sum = shuffled.map(record -> (long) record._1() + record._2()).reduce(Long::sum);
        return count + " records, sum " + sum + ", " + made.value() + " were made";
    }

    private void decommissionOne() {
        var executors = (ExecutorAllocationClient) session.sparkContext().schedulerBackend();
        String leaving = executors.getExecutorIds().head();
        boolean _ = executors.decommissionExecutor(
                leaving, new ExecutorDecommissionInfo("a part of the demonstration", Option.empty()), false, false);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(LEAVING_SECONDS);
        while (executors.getExecutorIds().contains(leaving)) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException(
                        "executor " + leaving + " is still there after " + LEAVING_SECONDS + " s");
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }

    // ---- queries, by adaptive execution

    /// As TPC-H's queries: customers, orders and lines, made here; joined, grouped and ordered.
    String revenue() {
        tables();
        List<Row> rows = session.sql("""
                        SELECT c.nation, o.year, sum(l.price * (100 - l.discount)) AS revenue, count(*) AS lines
                        FROM lines l JOIN orders o ON l.order = o.id JOIN customers c ON o.customer = c.id
                        WHERE l.shipped > 100 AND o.year BETWEEN 1993 AND 1997
                        GROUP BY c.nation, o.year HAVING count(*) > 1 ORDER BY revenue DESC, c.nation, o.year""").collectAsList();
        return rows.size() + " rows, " + Integer.toHexString(text(rows).hashCode());
    }

    /// A join in which half of all rows have one key, which adaptive execution splits.
    String skew() {
        tables();
        List<Row> rows = session.sql("""
                        SELECT o.year, count(*) AS lines, sum(l.price) AS price
                        FROM (SELECT IF(id % 2 = 0, 7, order) AS order, price FROM lines) l JOIN orders o ON l.order = o.id
                        GROUP BY o.year ORDER BY o.year""").collectAsList();
        return rows.size() + " rows, " + Integer.toHexString(text(rows).hashCode());
    }

    private static List<String> text(List<Row> rows) {
        var text = new ArrayList<String>();
        rows.forEach(row -> text.add(row.mkString(",")));
        return text;
    }

    private void tables() {
        session.range(0, records / 40, 1, partitions)
                .selectExpr("id", "hash(id) % 25 AS nation")
                .createOrReplaceTempView("customers");
        session.range(0, records / 4, 1, partitions)
                .selectExpr(
                        "id",
                        "pmod(hash(id, 1), " + records / 40 + ") AS customer",
                        "1992 + pmod(hash(id, 2), 7) AS year")
                .createOrReplaceTempView("orders");
        session.range(0, records, 1, partitions)
                .selectExpr(
                        "id",
                        "pmod(hash(id, 3), " + records / 4 + ") AS order",
                        "pmod(hash(id, 4), 100000) AS price",
                        "pmod(hash(id, 5), 10) AS discount",
                        "pmod(hash(id, 6), 365) AS shipped")
                .createOrReplaceTempView("lines");
    }
}
