package verbena.interop.grpc;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;
import verbena.interop.Times;

/// gRPC: calls with one message each way, and a stream of messages each way. Each comes back as it was sent.
public final class GrpcCalls implements SystemUnderTest {
    private static final int CALL = 100;
    private static final int MESSAGE = 20_000;
    private static final long PATIENCE_SECONDS = 30;

    private static final MethodDescriptor<byte[], byte[]> UNARY = method("unary", MethodDescriptor.MethodType.UNARY);
    private static final MethodDescriptor<byte[], byte[]> STREAM =
            method("stream", MethodDescriptor.MethodType.BIDI_STREAMING);

    private final GrpcWay way;

    /// Made by its name.
    public GrpcCalls() {
        this(GrpcWay.NIO);
    }

    /// The same over another transport.
    public GrpcCalls(GrpcWay way) {
        this.way = way;
    }

    private static MethodDescriptor<byte[], byte[]> method(String name, MethodDescriptor.MethodType type) {
        var bytes = new Bytes();
        return MethodDescriptor.newBuilder(bytes, bytes)
                .setFullMethodName("echo/" + name)
                .setType(type)
                .build();
    }

    /// Messages are bytes, so that no compiler of messages is needed.
    private static final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return stream.readAllBytes();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @Override
    public Serving serve(Job job) throws Exception {
        ServerServiceDefinition echo = ServerServiceDefinition.builder("echo")
                .addMethod(UNARY, ServerCalls.asyncUnaryCall((request, answers) -> {
                    answers.onNext(request);
                    answers.onCompleted();
                }))
                .addMethod(STREAM, ServerCalls.asyncBidiStreamingCall(Returning::new))
                .build();
        Server server = way.on(
                        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)))
                .addService(echo)
                .build()
                .start();
        return new Serving(server.getPort(), () -> {
            server.shutdownNow();
            if (!server.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("the server does not end");
            }
            way.end();
        });
    }

    /// @param answers where each message of the client goes
    private record Returning(StreamObserver<byte[]> answers) implements StreamObserver<byte[]> {
        @Override
        public void onNext(byte[] message) {
            answers.onNext(message);
        }

        @Override
        public void onError(Throwable why) {
            answers.onError(why);
        }

        @Override
        public void onCompleted() {
            answers.onCompleted();
        }
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        int calls = job.size(200, 4_000);
        int messages = job.size(200, 2_000);
        ManagedChannel channel = connect(server);
        try {
            for (int i = 0; i < calls; i++) {
                if (i == calls / 2) {
                    job.halfway();
                }
                byte[] sent = Job.pattern(CALL, i);
                CallOptions options = CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_SECONDS, TimeUnit.SECONDS);
                Job.same(sent, ClientCalls.blockingUnaryCall(channel, UNARY, options, sent), "the answer to call " + i);
            }
            stream(channel, messages);
        } finally {
            end(channel);
        }
        return calls + " calls of 100 B, a stream of " + messages + " messages of 20 kB each way, each compared";
    }

    @Override
    public SequencedMap<String, Double> measure(InetSocketAddress server, Job job) throws Exception {
        ManagedChannel channel = connect(server);
        try {
            byte[] sent = Job.pattern(CALL, 0);
            return Times.measure("call with 100 B each way", job, () -> {
                byte[] answer = ClientCalls.blockingUnaryCall(channel, UNARY, CallOptions.DEFAULT, sent);
                Job.same(CALL, answer.length, "the length of the answer");
            });
        } finally {
            end(channel);
        }
    }

    private ManagedChannel connect(InetSocketAddress server) {
        return way.on(NettyChannelBuilder.forAddress(server)).usePlaintext().build();
    }

    private void end(ManagedChannel channel) throws Exception {
        channel.shutdownNow();
        if (!channel.awaitTermination(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
            throw new IOException("the channel does not end");
        }
        way.end();
    }

    private static void stream(ManagedChannel channel, int messages) throws Exception {
        var all = new CompletableFuture<List<byte[]>>();
        StreamObserver<byte[]> requests =
                ClientCalls.asyncBidiStreamingCall(channel.newCall(STREAM, CallOptions.DEFAULT), new Gathering(all));
        for (int i = 0; i < messages; i++) {
            requests.onNext(Job.pattern(MESSAGE, i));
        }
        requests.onCompleted();
        List<byte[]> arrived = all.get(PATIENCE_SECONDS, TimeUnit.SECONDS);
        Job.same(messages, arrived.size(), "the number of messages");
        for (int i = 0; i < messages; i++) {
            Job.same(Job.pattern(MESSAGE, i), arrived.get(i), "message " + i + " of the stream");
        }
    }

    /// Keeps what comes.
    private static final class Gathering implements StreamObserver<byte[]> {
        private final CompletableFuture<List<byte[]>> all;
        private final List<byte[]> arrived = new ArrayList<>();

        Gathering(CompletableFuture<List<byte[]>> all) {
            this.all = all;
        }

        @Override
        public void onNext(byte[] message) {
            arrived.add(message);
        }

        @Override
        public void onError(Throwable why) {
            all.completeExceptionally(why);
        }

        @Override
        public void onCompleted() {
            all.complete(arrived);
        }
    }
}
