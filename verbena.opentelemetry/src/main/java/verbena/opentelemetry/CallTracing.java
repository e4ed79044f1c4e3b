package verbena.opentelemetry;

import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapPropagator;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.messages.Call;
import verbena.messages.CallHandler;
import verbena.messages.CallObserver;
import verbena.messages.RemoteWorker;
import verbena.verbs.Preview;

/// An observer that makes a span for each call, at both ends: `CLIENT` at the caller, and `SERVER` around the
/// handler, as its child. The context of the trace goes along as a header, in the form of the propagators of
/// OpenTelemetry: with W3C's these are `traceparent` and `tracestate`.
///
///     worker.observeCalls(new CallTracing(openTelemetry));
///
/// Both ends need an observer. A call to a peer without one has the caller's span only. Safe for use by any thread.
///
/// @since 0.1
@Preview
public final class CallTracing implements CallObserver {
    private static final String SYSTEM = "verbena";

    /// The fields of a header, by their names in lower case.
    private static final TextMapGetter<Map<String, String>> FIELDS = new TextMapGetter<>() {
        @Override
        @SuppressWarnings("deprecation") // versions before 1.68 have no other way to list them
        public Iterable<String> keys(Map<String, String> fields) {
            return fields.keySet();
        }

        @Override
        public @Nullable String get(@Nullable Map<String, String> fields, String name) {
            return fields == null ? null : fields.get(name.toLowerCase(Locale.ROOT));
        }
    };

    private final Tracer tracer;
    private final TextMapPropagator propagator;

    /// Creates an observer.
    ///
    /// @param openTelemetry which gets the spans, and whose propagators write the headers
    public CallTracing(OpenTelemetry openTelemetry) {
        this.tracer = openTelemetry.getTracer("verbena.messages");
        this.propagator = openTelemetry.getPropagators().getTextMapPropagator();
    }

    private SpanBuilder span(SpanKind kind) {
        return tracer.spanBuilder(SYSTEM).setSpanKind(kind).setAttribute("rpc.system.name", SYSTEM);
    }

    // ---- the caller

    @Override
    public ObservedCall begin(RemoteWorker to) {
        InetSocketAddress peer = to.peerAddress();
        Span span = span(SpanKind.CLIENT)
                .setAttribute("server.address", peer.getAddress().getHostAddress())
                .setAttribute("server.port", (long) peer.getPort())
                .startSpan();
        byte[] header = header(Context.current().with(span));
        return new ObservedCall() {
            @Override
            public byte[] header() {
                return header;
            }

            @Override
            public void end(@Nullable Throwable failure) {
                if (failure != null) {
                    failed(span, failure);
                }
                span.end();
            }
        };
    }

    /// Returns the fields of a context, a line for each: name, colon, value. A field that does not fit is left out.
    private byte[] header(Context context) {
        var lines = new StringBuilder();
        propagator.inject(context, lines, (out, name, value) -> {
            String line = name + ":" + value + "\n";
            if (out != null && out.length() + line.length() <= MAX_HEADER_BYTES && isPlain(line)) {
                out.append(line);
            }
        });
        return lines.toString().getBytes(StandardCharsets.US_ASCII);
    }

    /// Returns whether a line is one, of printable ASCII.
    private static boolean isPlain(String line) {
        return line.chars().limit(line.length() - 1L).allMatch(each -> each >= ' ' && each < 0x7F);
    }

    // ---- the end that answers

    @Override
    public MemorySegment handle(Call call, byte[] header, CallHandler handler) throws Exception {
        Context caller = propagator.extract(Context.root(), fields(header), FIELDS);
        Span span = span(SpanKind.SERVER).setParent(caller).startSpan();
        try (var _ = caller.with(span).makeCurrent()) {
            return handler.handle(call);
        } catch (Throwable e) {
            failed(span, e);
            throw e;
        } finally {
            span.end();
        }
    }

    private static Map<String, String> fields(byte[] header) {
        var fields = new LinkedHashMap<String, String>();
        new String(header, StandardCharsets.US_ASCII).lines().forEach(line -> {
            int colon = line.indexOf(':');
            if (colon > 0) {
                fields.put(line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1));
            }
        });
        return fields;
    }

    private static void failed(Span span, Throwable why) {
        span.setStatus(StatusCode.ERROR)
                .setAttribute("error.type", why.getClass().getName());
    }
}
