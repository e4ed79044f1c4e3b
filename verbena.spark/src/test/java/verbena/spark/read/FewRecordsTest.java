package verbena.spark.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.spark.Aggregator;
import org.junit.jupiter.api.Test;
import scala.Product2;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/// In place of Spark, these tests keep what does not fit, and give it back as it came.
class FewRecordsTest {
    private static final int KEYS = 7;

    private final List<Object> left = new ArrayList<>();
    private int read;

    private <T> Iterator<Product2<Integer, T>> spark(Iterator<Product2<Integer, T>> records) {
        List<Product2<Integer, T>> all = list(records);
        left.addAll(all);
        return CollectionConverters.asScala(all.iterator());
    }

    private static <T> List<T> list(Iterator<T> of) {
        var all = new ArrayList<T>();
        of.foreach(all::add);
        return all;
    }

    /// Records 0, 1, 2 ..., with keys in no order.
    private Iterator<Product2<Integer, Integer>> records(int count) {
        var records = IntStream.range(0, count)
                .<Product2<Integer, Integer>>mapToObj(number -> {
                    read++;
                    return new Tuple2<>(number * 5 % KEYS, number);
                })
                .iterator();
        return CollectionConverters.asScala(records);
    }

    private BooleanSupplier fits(int count) {
        return () -> read <= count;
    }

    // ---- sorted

    private List<Product2<Integer, Integer>> sorted(int count, int fitting) {
        return list(FewRecords.sorted(records(count), Comparator.<Integer>naturalOrder(), fits(fitting), this::spark));
    }

    @Test
    void recordsAreSortedByKeyAndAsTheyCame() {
        assertThat(sorted(100, 100))
                .hasSize(100)
                .isSortedAccordingTo(Comparator.<Product2<Integer, Integer>, Integer>comparing(Product2::_1)
                        .thenComparing(Product2::_2));
        assertThat(sorted(0, 0)).isEmpty();
        assertThat(left).isEmpty();
    }

    @Test
    void sparkSortsWhatDoesNotFit() {
        assertThat(sorted(100, 60)).extracting(Product2::_2).containsExactlyElementsOf(numbers(100));
        assertThat(left).hasSize(100);
    }

    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    // ---- combined

    /// A combination is the text of its values.
    private static final Aggregator<Integer, Integer, String> TEXT = new Aggregator<>(
            value -> "" + value, (text, value) -> text + " " + value, (text, more) -> text + " " + more);

    private List<Product2<Integer, String>> combined(int count, int fitting) {
        return list(FewRecords.combined(records(count), TEXT, fits(fitting), this::spark));
    }

    @Test
    void aKeyHasOneCombinationOfItsValuesAsTheyCame() {
        assertThat(combined(20, 20))
                .contains(new Tuple2<>(0, "0 7 14"), new Tuple2<>(5, "1 8 15"))
                .hasSize(KEYS);
        assertThat(combined(0, 0)).isEmpty();
        assertThat(left).isEmpty();
    }

    @Test
    void sparkMergesCombinationsThatDoNotFit() {
        List<Product2<Integer, String>> all = combined(30, 15);
        assertThat(left).hasSize(KEYS + 14); // the 16th record was read before it was seen that it does not fit
        assertThat(all).contains(new Tuple2<>(5, "1 8 15"), new Tuple2<>(5, "22"), new Tuple2<>(5, "29"));
    }
}
