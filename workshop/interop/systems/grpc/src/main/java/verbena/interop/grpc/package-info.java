/// gRPC for Java, over its Netty transport.
@NullMarked
package verbena.interop.grpc;

import org.jspecify.annotations.NullMarked;
