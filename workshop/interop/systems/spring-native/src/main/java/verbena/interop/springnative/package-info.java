/// Spring Boot over Verbena's own transport of Netty, without the agent.
@NullMarked
package verbena.interop.springnative;

import org.jspecify.annotations.NullMarked;
