/// gRPC over Verbena's own transport of Netty, without the agent.
@NullMarked
package verbena.interop.grpcnative;

import org.jspecify.annotations.NullMarked;
