package dev.verbena.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import scala.Product2;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/// The sorter of these tests keeps what it got, and gives it back as it came.
class RecordOrderTest {
    private static final int RECORD_BYTES = 1 << 10;
    private static final int FEW = (int) (RecordOrder.FEW_BYTES / RECORD_BYTES);

    private final List<Product2<Integer, Integer>> unsorted = new ArrayList<>();
    private final RecordOrder<Integer, Integer> order =
            new RecordOrder<>(Comparator.<Integer>naturalOrder(), records -> {
                records.foreach(unsorted::add);
                return CollectionConverters.asScala(unsorted.iterator());
            });

    @Test
    void fewRecordsAreSortedByKeyAndAsTheyCame() {
        List<Product2<Integer, Integer>> sorted = sorted(FEW);
        assertThat(sorted)
                .isSortedAccordingTo(Comparator.<Product2<Integer, Integer>, Integer>comparing(Product2::_1)
                        .thenComparing(Product2::_2));
        assertThat(sorted).hasSize(FEW);
        assertThat(unsorted).isEmpty();
    }

    @Test
    void noRecordsAreNoRecords() {
        assertThat(sorted(0)).isEmpty();
        assertThat(unsorted).isEmpty();
    }

    @Test
    void moreRecordsGoToTheSorterAsTheyCame() {
        List<Product2<Integer, Integer>> sorted = sorted(2 * FEW);
        assertThat(unsorted).extracting(Product2::_2).containsExactlyElementsOf(numbers(2 * FEW));
        assertThat(sorted).isEqualTo(unsorted);
    }

    /// As many records as asked for, a KiB each, with seven keys.
    private List<Product2<Integer, Integer>> sorted(int count) {
        InputStream stream = order.counted(new ByteArrayInputStream(new byte[count * RECORD_BYTES]));
        var records = numbers(count).stream()
                .<Product2<Integer, Integer>>map(number -> {
                    pull(stream, number);
                    return new Tuple2<>(number * 5 % 7, number);
                })
                .iterator();
        Iterator<Product2<Integer, Integer>> sorted = order.sorted(CollectionConverters.asScala(records));
        List<Product2<Integer, Integer>> all = new ArrayList<>();
        sorted.foreach(all::add);
        return all;
    }

    private static List<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed().toList();
    }

    /// Each second record is read byte by byte.
    private static void pull(InputStream stream, int number) {
        try {
            if (number % 2 == 0) {
                assertThat(stream.readNBytes(RECORD_BYTES)).hasSize(RECORD_BYTES);
            } else {
                for (int i = 0; i < RECORD_BYTES; i++) {
                    assertThat(stream.read()).isZero();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
