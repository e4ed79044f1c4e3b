package verbena.interop.jetty;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.client.BytesRequestContent;
import org.eclipse.jetty.client.ContentResponse;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.Callback;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;

/// Jetty's server and client: pages of all sizes, and bodies that come back as they were sent.
public final class JettyPages implements SystemUnderTest {
    private static final int BODY_MAX = 200_000;
    private static final long PATIENCE_SECONDS = 20;

    /// Made by its name.
    public JettyPages() {}

    @Override
    public Serving serve(Job job) throws Exception {
        var server = new Server();
        var connector = new ServerConnector(server);
        connector.setHost("127.0.0.1");
        server.addConnector(connector);
        server.setHandler(new Echo());
        server.start();
        return new Serving(connector.getLocalPort(), server::stop);
    }

    /// Answers with the body of the request, or with as many bytes as its path asks for.
    private static final class Echo extends Handler.Abstract {
        @Override
        public boolean handle(Request request, Response response, Callback callback) throws Exception {
            if (request.getMethod().equals("POST")) {
                Content.copy(request, response, callback);
            } else {
                int length =
                        Integer.parseInt(request.getHttpURI().getCanonicalPath().substring(1));
                response.write(true, ByteBuffer.wrap(Job.pattern(length, length)), callback);
            }
            return true;
        }
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        int requests = job.size(40, 1_000);
        String root = "http://127.0.0.1:" + server.getPort() + "/";
        var client = new HttpClient();
        client.start();
        try {
            for (int i = 0; i < requests; i++) {
                if (i == requests / 2) {
                    job.halfway();
                }
                int length = (int) (i * 7_919L % BODY_MAX);
                ContentResponse page = client.newRequest(root + length)
                        .timeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
                        .send();
                Job.same(200, page.getStatus(), "status");
                Job.same(Job.pattern(length, length), page.getContent(), "page " + length);
                byte[] body = Job.pattern(length, i);
                ContentResponse echo = client.POST(root)
                        .body(new BytesRequestContent(body))
                        .timeout(PATIENCE_SECONDS, TimeUnit.SECONDS)
                        .send();
                Job.same(body, echo.getContent(), "body " + i);
            }
        } finally {
            client.stop();
        }
        return requests + " GET and as many POST of up to 200 kB, each body compared";
    }
}
