package verbena.interop.nettynative;

import java.net.InetSocketAddress;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;
import verbena.interop.netty.NettyHttp2;

/// HTTP/2 over Verbena's own transport of Netty.
public final class NativeHttp2 implements SystemUnderTest {
    private final NettyHttp2 exercise = new NettyHttp2(new NativeWay());

    /// Made by its name.
    public NativeHttp2() {}

    @Override
    public Serving serve(Job job) throws Exception {
        return exercise.serve(job);
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        return exercise.use(server, job);
    }
}
