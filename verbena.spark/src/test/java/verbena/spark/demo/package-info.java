/// The demonstration: the same jobs with our shuffle manager and with Spark's own, in a cluster of processes on this
/// host.
@NullMarked
package verbena.spark.demo;

import org.jspecify.annotations.NullMarked;
