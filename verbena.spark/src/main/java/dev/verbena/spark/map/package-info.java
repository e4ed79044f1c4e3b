/// Map outputs in registered memory.
@NullMarked
package dev.verbena.spark.map;

import org.jspecify.annotations.NullMarked;
