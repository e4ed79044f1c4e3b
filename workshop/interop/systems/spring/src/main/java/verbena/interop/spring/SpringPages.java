package verbena.interop.spring;

import io.netty.resolver.DefaultAddressResolverGroup;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.http.client.reactive.ReactorClientHttpConnector;
import org.springframework.web.reactive.function.client.WebClient;
import org.springframework.web.reactive.function.server.RouterFunction;
import org.springframework.web.reactive.function.server.RouterFunctions;
import org.springframework.web.reactive.function.server.ServerResponse;
import reactor.netty.http.client.HttpClient;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;

/// A server of Spring Boot with WebFlux, and Spring's `WebClient`: bodies of all sizes, which come back as they were
/// sent.
public final class SpringPages implements SystemUnderTest {
    private static final int BODY_MAX = 200_000;
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private final SpringWay way;

    /// Made by its name.
    public SpringPages() {
        this(SpringWay.NIO);
    }

    /// The same over another transport.
    public SpringPages(SpringWay way) {
        this.way = way;
    }

    /// The application of the server.
    @SpringBootConfiguration
    @EnableAutoConfiguration
    public static class Application {
        /// Answers each POST with its body.
        @Bean
        RouterFunction<ServerResponse> echo() {
            return RouterFunctions.route()
                    .POST("/echo", request -> ServerResponse.ok().body(request.bodyToMono(byte[].class), byte[].class))
                    .build();
        }
    }

    @Override
    public Serving serve(Job job) throws Exception {
        var application = new SpringApplication(Application.class);
        application.setDefaultProperties(
                Map.of("server.address", "127.0.0.1", "server.port", "0", "spring.main.banner-mode", "off"));
        way.on(application);
        var context = application.run();
        var server = Objects.requireNonNull(((WebServerApplicationContext) context).getWebServer());
        return new Serving(server.getPort(), () -> {
            context.close();
            way.end();
        });
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        int requests = job.size(40, 1_000);
        HttpClient http = way.on(HttpClient.create().resolver(DefaultAddressResolverGroup.INSTANCE));
        WebClient client = WebClient.builder()
                .clientConnector(new ReactorClientHttpConnector(http))
                .baseUrl("http://127.0.0.1:" + server.getPort())
                .codecs(codecs -> codecs.defaultCodecs().maxInMemorySize(2 * BODY_MAX))
                .build();
        for (int i = 0; i < requests; i++) {
            if (i == requests / 2) {
                job.halfway();
            }
            byte[] body = Job.pattern(1 + (int) (i * 7_919L % BODY_MAX), i);
            byte[] answer = client.post()
                    .uri("/echo")
                    .bodyValue(body)
                    .retrieve()
                    .bodyToMono(byte[].class)
                    .block(PATIENCE);
            Job.same(body, answer, "body " + i);
        }
        way.end();
        return requests + " POST of up to 200 kB, each body compared";
    }
}
