/// Netty over Verbena's own transport, without the agent.
@NullMarked
package verbena.engines.nettynative;

import org.jspecify.annotations.NullMarked;
