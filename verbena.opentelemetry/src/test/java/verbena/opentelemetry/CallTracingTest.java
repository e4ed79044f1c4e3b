package verbena.opentelemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.messages.CallException;
import verbena.messages.CallHandler;
import verbena.messages.RemoteWorker;
import verbena.messages.Worker;
import verbena.messages.WorkerListener;
import verbena.messages.WorkerOptions;
import verbena.verbs.Device;

/// Spans of calls between two workers.
@Timeout(60)
class CallTracingTest {
    private static final Duration LONG = Duration.ofSeconds(30);

    /// Finished spans, which a test waits for.
    private static final class Finished implements SpanExporter {
        private final BlockingQueue<SpanData> spans = new LinkedBlockingQueue<>();

        @Override
        public CompletableResultCode export(Collection<SpanData> finished) {
            spans.addAll(finished);
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode flush() {
            return CompletableResultCode.ofSuccess();
        }

        @Override
        public CompletableResultCode shutdown() {
            return CompletableResultCode.ofSuccess();
        }

        /// Returns so many spans by their kind.
        Map<SpanKind, SpanData> take(int count) throws InterruptedException {
            var found = new EnumMap<SpanKind, SpanData>(SpanKind.class);
            for (int i = 0; i < count; i++) {
                SpanData span = spans.take();
                found.put(span.getKind(), span);
            }
            return found;
        }
    }

    private final Finished finished = new Finished();
    private final OpenTelemetrySdk openTelemetry = OpenTelemetrySdk.builder()
            .setTracerProvider(SdkTracerProvider.builder()
                    .addSpanProcessor(SimpleSpanProcessor.create(finished))
                    .build())
            .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
            .build();

    @AfterEach
    void end() {
        openTelemetry.close();
    }

    private void traced(Worker worker) {
        worker.observeCalls(new CallTracing(openTelemetry));
    }

    private static void plain(Worker worker) {}

    /// A program that calls a worker.
    private interface Caller {
        void call(RemoteWorker server) throws Exception;
    }

    private static WorkerListener listening(Worker server, Consumer<Worker> prepare) {
        prepare.accept(server);
        return server.listen(0);
    }

    private static void between(
            Consumer<Worker> ofServer, Consumer<Worker> ofClient, CallHandler handler, Caller caller) throws Exception {
        var options = WorkerOptions.defaults().withMaxPeers(1);
        try (var device = Device.named("rocev2").open();
                var server = Worker.open(device, options);
                var client = Worker.open(device, options);
                var threads = Executors.newVirtualThreadPerTaskExecutor();
                var listener = listening(server, ofServer)) {
            ofClient.accept(client);
            server.answerCalls(handler);
            var accepted = threads.submit(() -> listener.accept());
            RemoteWorker peer = client.connect(listener.localAddress());
            try (var _ = accepted.get()) {
                caller.call(peer);
            }
        }
    }

    @Test
    void theHandlersSpanIsAChildOfTheCallsSpanWhichIsAChildOfTheProgramsSpan() throws Exception {
        Span program = openTelemetry.getTracer("test").spanBuilder("program").startSpan();
        CallHandler handler = _ -> MemorySegment.ofArray(
                Span.current().getSpanContext().getSpanId().getBytes(StandardCharsets.UTF_8));
        between(this::traced, this::traced, handler, server -> {
            String within;
            try (var _ = program.makeCurrent()) {
                within = server.call("hello", LONG);
            }
            Map<SpanKind, SpanData> spans = finished.take(2);
            SpanData client = spans.get(SpanKind.CLIENT);
            SpanData answer = spans.get(SpanKind.SERVER);
            assertThat(client.getParentSpanId())
                    .isEqualTo(program.getSpanContext().getSpanId());
            assertThat(answer.getParentSpanId()).isEqualTo(client.getSpanId());
            assertThat(answer.getParentSpanContext().isRemote()).isTrue();
            assertThat(answer.getTraceId())
                    .isEqualTo(client.getTraceId())
                    .isEqualTo(program.getSpanContext().getTraceId());
            assertThat(within).isEqualTo(answer.getSpanId()); // the handler's own spans have this parent
            assertThat(client.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
            assertThat(client.getAttributes().get(AttributeKey.longKey("server.port")))
                    .isEqualTo(server.peerAddress().getPort());
        });
        program.end();
    }

    @Test
    void aFailureIsInBothSpans() throws Exception {
        CallHandler handler = _ -> {
            throw new IllegalStateException("no");
        };
        between(this::traced, this::traced, handler, server -> {
            assertThatExceptionOfType(CallException.class).isThrownBy(() -> server.call("hello", LONG));
            Map<SpanKind, SpanData> spans = finished.take(2);
            var type = AttributeKey.stringKey("error.type");
            assertThat(spans.get(SpanKind.CLIENT).getAttributes().get(type)).isEqualTo(CallException.class.getName());
            assertThat(spans.get(SpanKind.SERVER).getAttributes().get(type))
                    .isEqualTo(IllegalStateException.class.getName());
            assertThat(spans.values())
                    .allSatisfy(
                            each -> assertThat(each.getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR));
        });
    }

    @Test
    void oneEndWithoutTracingLeavesTheOtherItsSpan() throws Exception {
        CallHandler handler = call -> call.request();
        between(CallTracingTest::plain, this::traced, handler, server -> {
            assertThat(server.call("hello", LONG)).isEqualTo("hello");
            assertThat(finished.take(1)).containsOnlyKeys(SpanKind.CLIENT);
        });
        between(this::traced, CallTracingTest::plain, handler, server -> {
            assertThat(server.call("hello", LONG)).isEqualTo("hello");
            SpanData alone = finished.take(1).get(SpanKind.SERVER);
            assertThat(alone.getParentSpanContext().isValid()).isFalse();
        });
    }
}
