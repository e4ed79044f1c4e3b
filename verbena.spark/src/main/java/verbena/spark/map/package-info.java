/// Map outputs in registered memory.
@NullMarked
package verbena.spark.map;

import org.jspecify.annotations.NullMarked;
