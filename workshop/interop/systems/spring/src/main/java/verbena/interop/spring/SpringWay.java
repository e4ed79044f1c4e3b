package verbena.interop.spring;

import org.springframework.boot.SpringApplication;
import reactor.netty.http.client.HttpClient;

/// A transport of Reactor Netty, as a system under test uses it.
public interface SpringWay {
    /// The unmodified one, to which the agent gives other channels.
    SpringWay NIO = new SpringWay() {
        @Override
        public void on(SpringApplication server) {}

        @Override
        public HttpClient on(HttpClient client) {
            return client;
        }

        @Override
        public void end() {}
    };

    /// Chooses the event loops of a server.
    void on(SpringApplication server);

    /// Chooses the event loops of a client.
    HttpClient on(HttpClient client);

    /// Frees what it has, after its server or its client has ended.
    void end() throws Exception;
}
