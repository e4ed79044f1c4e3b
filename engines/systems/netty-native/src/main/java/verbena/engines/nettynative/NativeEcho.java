package verbena.engines.nettynative;

import java.net.InetSocketAddress;
import verbena.engines.Engine;
import verbena.engines.Job;
import verbena.engines.netty.NettyEcho;

/// An echo over Verbena's own transport of Netty.
public final class NativeEcho implements Engine {
    private final NettyEcho engine = new NettyEcho(new NativeWay());

    /// Made by its name.
    public NativeEcho() {}

    @Override
    public Serving serve(Job job) throws Exception {
        return engine.serve(job);
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        return engine.use(server, job);
    }
}
