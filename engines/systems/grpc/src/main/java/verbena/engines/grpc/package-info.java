/// gRPC for Java, over its Netty transport.
@NullMarked
package verbena.engines.grpc;

import org.jspecify.annotations.NullMarked;
