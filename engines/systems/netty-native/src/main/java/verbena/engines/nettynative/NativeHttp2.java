package verbena.engines.nettynative;

import java.net.InetSocketAddress;
import verbena.engines.Engine;
import verbena.engines.Job;
import verbena.engines.netty.NettyHttp2;

/// HTTP/2 over Verbena's own transport of Netty.
public final class NativeHttp2 implements Engine {
    private final NettyHttp2 engine = new NettyHttp2(new NativeWay());

    /// Made by its name.
    public NativeHttp2() {}

    @Override
    public Serving serve(Job job) throws Exception {
        return engine.serve(job);
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        return engine.use(server, job);
    }
}
