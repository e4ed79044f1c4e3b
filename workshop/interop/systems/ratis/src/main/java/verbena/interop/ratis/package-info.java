/// Ratis: a log that two peers replicate.
@NullMarked
package verbena.interop.ratis;

import org.jspecify.annotations.NullMarked;
