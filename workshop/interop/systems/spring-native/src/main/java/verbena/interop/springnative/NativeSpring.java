package verbena.interop.springnative;

import io.netty.channel.MultiThreadIoEventLoopGroup;
import java.net.InetSocketAddress;
import org.springframework.boot.SpringApplication;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.http.client.ReactorResourceFactory;
import reactor.netty.http.client.HttpClient;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;
import verbena.interop.nettynative.NativeWay;
import verbena.interop.spring.SpringPages;
import verbena.interop.spring.SpringWay;

/// Spring Boot over Verbena's own transport of Netty.
public final class NativeSpring implements SystemUnderTest {
    private final SpringPages exercise = new SpringPages(new Verbena());

    /// Made by its name.
    public NativeSpring() {}

    private static final class Verbena implements SpringWay {
        private final NativeWay netty = new NativeWay();
        private final MultiThreadIoEventLoopGroup group = new MultiThreadIoEventLoopGroup(2, netty.loops());
        private final VerbenaLoops loops = new VerbenaLoops(group, netty.device());

        @Override
        public void on(SpringApplication server) {
            server.addInitializers(context ->
                    ((GenericApplicationContext) context).registerBean(ReactorResourceFactory.class, this::resources));
        }

        private ReactorResourceFactory resources() {
            var resources = new ReactorResourceFactory();
            resources.setUseGlobalResources(false);
            resources.setLoopResources(loops);
            return resources;
        }

        @Override
        public HttpClient on(HttpClient client) {
            return client.runOn(loops);
        }

        @Override
        public void end() throws Exception {
            netty.end(group);
        }
    }

    @Override
    public Serving serve(Job job) throws Exception {
        return exercise.serve(job);
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        return exercise.use(server, job);
    }
}
