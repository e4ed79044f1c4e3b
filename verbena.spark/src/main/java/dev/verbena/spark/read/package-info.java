/// How reducers take blocks of other executors by READ.
@NullMarked
package dev.verbena.spark.read;

import org.jspecify.annotations.NullMarked;
