package verbena.interop.nettynative;

import java.net.InetSocketAddress;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;
import verbena.interop.netty.NettyEcho;

/// An echo over Verbena's own transport of Netty.
public final class NativeEcho implements SystemUnderTest {
    private final NettyEcho exercise = new NettyEcho(new NativeWay());

    /// Made by its name.
    public NativeEcho() {}

    @Override
    public Serving serve(Job job) throws Exception {
        return exercise.serve(job);
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        return exercise.use(server, job);
    }
}
