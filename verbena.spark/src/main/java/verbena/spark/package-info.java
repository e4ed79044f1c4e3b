/// The [shuffle manager][VerbenaShuffleManager] for Apache Spark: map outputs lie in registered memory, and
/// reducers take them by one-sided READ.
@NullMarked
package verbena.spark;

import org.jspecify.annotations.NullMarked;
