/// Netty's own test suite over Verbena's transport.
@NullMarked
package verbena.engines.nettysuitenative;

import org.jspecify.annotations.NullMarked;
