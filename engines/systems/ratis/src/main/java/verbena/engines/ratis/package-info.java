/// Ratis: a log that two peers replicate.
@NullMarked
package verbena.engines.ratis;

import org.jspecify.annotations.NullMarked;
