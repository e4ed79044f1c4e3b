package dev.verbena.spark;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.UnaryOperator;
import scala.Product2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/// Puts the records of a partition in the order of their keys. Spark's sorter watches its memory, and for that it
/// measures
/// all of its records again and again. That takes most of the time of a partition with some hundred records. So records
/// that came from at most [#FEW_BYTES] of a stream are sorted here, and all others by Spark's sorter. One thread uses
/// it.
final class RecordOrder<K, C> {
    /// As objects they take some 5 MB at most. Spark's sorter takes as much before it asks for memory
    /// (`spark.shuffle.spill.initialMemoryThreshold`).
    static final long FEW_BYTES = 256 << 10;

    private final Comparator<K> order;
    private final UnaryOperator<Iterator<Product2<K, C>>> sorter;
    private long bytes;

    /// @param sorter for records that are not few
    RecordOrder(Comparator<K> order, UnaryOperator<Iterator<Product2<K, C>>> sorter) {
        this.order = order;
        this.sorter = sorter;
    }

    /// The same stream of records, with its bytes counted.
    InputStream counted(InputStream records) {
        return new Counted(records);
    }

    /// @param records as they come from streams that are counted
    /// @return the records by key, and those with the same key as they came
    Iterator<Product2<K, C>> sorted(Iterator<Product2<K, C>> records) {
        List<Product2<K, C>> few = new ArrayList<>();
        while (bytes <= FEW_BYTES) {
            if (!records.hasNext()) {
                few.sort(Comparator.comparing(Product2::_1, order));
                return CollectionConverters.asScala(few.iterator());
            }
            few.add(records.next());
        }
        return sorter.apply(CollectionConverters.asScala(few.iterator()).concat(() -> records));
    }

    private final class Counted extends FilterInputStream {
        private Counted(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            int value = in.read();
            bytes += value < 0 ? 0 : 1;
            return value;
        }

        @Override
        public int read(byte[] to, int offset, int length) throws IOException {
            int count = in.read(to, offset, length);
            bytes += Math.max(0, count);
            return count;
        }
    }
}
