package verbena.nio;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Turns native transports off in each Netty that a system has in packages with a prefix, as gRPC, Ratis and Flink
/// do. The names of its properties have the same prefix. It becomes known when the JVM loads the class that asks for
/// the native transport. No class is changed.
final class RelocatedNetty implements ClassFileTransformer {
    static final String NO_NATIVE = "io.netty.transport.noNative";

    private static final Pattern ASKS =
            Pattern.compile("(.+/)io/netty/channel/(?:epoll/Epoll|uring/IoUring|kqueue/KQueue)");

    @Override
    public byte @Nullable [] transform(
            @Nullable ClassLoader loader,
            @Nullable String name,
            @Nullable Class<?> redefined,
            @Nullable ProtectionDomain domain,
            byte[] bytes) {
        Matcher relocated = ASKS.matcher(name == null ? "" : name);
        if (relocated.matches()) {
            NioAgent.setUnlessSet(relocated.group(1).replace('/', '.') + NO_NATIVE, "true");
        }
        return null;
    }
}
