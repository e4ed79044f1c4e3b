/// How reducers take blocks of other executors by READ.
@NullMarked
package verbena.spark.read;

import org.jspecify.annotations.NullMarked;
