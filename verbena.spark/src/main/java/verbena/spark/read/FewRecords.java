package verbena.spark.read;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.apache.spark.Aggregator;
import org.apache.spark.util.collection.AppendOnlyMap;
import org.jspecify.annotations.Nullable;
import scala.Function2;
import scala.Product2;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.jdk.javaapi.CollectionConverters;

/// A collection that sorts or combines the records of a partition as long as they fit into memory. Spark's own
/// collections measure their whole contents again and again, which takes most of the time of a small partition; they
/// get the records that do not fit.
final class FewRecords {
    private static final int KEYS = 64;

    private FewRecords() {}

    /// Sorts records by key, and those with the same key as they came.
    ///
    /// @param fits whether all records that were read may stay in memory
    /// @param spark sorts what does not fit
    static <K, C> Iterator<Product2<K, C>> sorted(
            Iterator<Product2<K, C>> records,
            Comparator<K> order,
            BooleanSupplier fits,
            UnaryOperator<Iterator<Product2<K, C>>> spark) {
        List<Product2<K, C>> few = new ArrayList<>();
        while (fits.getAsBoolean()) {
            if (!records.hasNext()) {
                few.sort(Comparator.comparing(Product2::_1, order));
                return CollectionConverters.asScala(few.iterator());
            }
            few.add(records.next());
        }
        return spark.apply(CollectionConverters.asScala(few.iterator()).concat(() -> records));
    }

    /// Combines values to one record for each key, in the order of Spark's own map.
    ///
    /// @param fits whether all records that were read may stay in memory
    /// @param spark merges combinations when they do not fit
    static <K, V, C> Iterator<Product2<K, C>> combined(
            Iterator<Product2<K, V>> records,
            Aggregator<K, V, C> by,
            BooleanSupplier fits,
            UnaryOperator<Iterator<Product2<K, C>>> spark) {
        var few = new AppendOnlyMap<K, C>(KEYS);
        var adding = new Adding<>(by);
        while (fits.getAsBoolean()) {
            if (!records.hasNext()) {
                return pairs(few);
            }
            Product2<K, V> record = records.next();
            adding.value = record._2();
            few.changeValue(record._1(), adding);
        }
        return spark.apply(pairs(few)
                .concat(() -> records.map(
                        record -> new Tuple2<>(record._1(), by.createCombiner().apply(record._2())))));
    }

    private static <K, C> Iterator<Product2<K, C>> pairs(AppendOnlyMap<K, C> of) {
        return of.iterator().map(pair -> pair);
    }

    /// A function that adds a value to the present one of its key.
    private static final class Adding<V, C> implements Function2<Object, C, C> {
        private final Aggregator<?, V, C> by;
        private @Nullable V value;

        private Adding(Aggregator<?, V, C> by) {
            this.by = by;
        }

        @Override
        public C apply(Object isThere, C before) {
            return (boolean) isThere
                    ? by.mergeValue().apply(before, value)
                    : by.createCombiner().apply(value);
        }
    }
}
