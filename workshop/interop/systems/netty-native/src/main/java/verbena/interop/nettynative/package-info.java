/// Netty over Verbena's own transport, without the agent.
@NullMarked
package verbena.interop.nettynative;

import org.jspecify.annotations.NullMarked;
