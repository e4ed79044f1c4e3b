/// Netty, as its users use it.
@NullMarked
package verbena.interop.netty;

import org.jspecify.annotations.NullMarked;
