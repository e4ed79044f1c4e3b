/// Netty, as its users use it.
@NullMarked
package verbena.engines.netty;

import org.jspecify.annotations.NullMarked;
