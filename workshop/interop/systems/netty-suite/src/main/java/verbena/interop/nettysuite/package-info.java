/// Netty's own test suite, by which Netty judges its transports.
@NullMarked
package verbena.interop.nettysuite;

import org.jspecify.annotations.NullMarked;
