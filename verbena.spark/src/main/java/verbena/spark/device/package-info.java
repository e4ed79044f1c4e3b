/// The devices of an executor, what it says of them to others, and what it counts.
@NullMarked
package verbena.spark.device;

import org.jspecify.annotations.NullMarked;
