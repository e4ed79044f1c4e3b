/// Netty's own test suite over Verbena's transport.
@NullMarked
package verbena.interop.nettysuitenative;

import org.jspecify.annotations.NullMarked;
