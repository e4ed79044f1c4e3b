package verbena.bench;

import com.google.common.util.concurrent.ListenableFuture;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.Server;
import io.grpc.ServerServiceDefinition;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// Calls of gRPC for Java over TCP, at its fastest: both ends run the program's code on the thread that reads
/// (`directExecutor`), and messages are bytes.
final class GrpcEnd implements WorkerEnd {
    private static final MethodDescriptor<byte[], byte[]> ECHO = MethodDescriptor.newBuilder(new Bytes(), new Bytes())
            .setFullMethodName("echo/unary")
            .setType(MethodDescriptor.MethodType.UNARY)
            .build();

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

    private @Nullable ManagedChannel channel;

    @Override
    public Object order(String[] words) throws Exception {
        if (words[0].equals("listen")) {
            return Map.of("port", listen());
        }
        ManagedChannel to = channel(Integer.parseInt(words[1]));
        byte[] request = new byte[Integer.parseInt(words[2])];
        int count = Integer.parseInt(words[3]);
        return words[0].equals(MessagesEnd.CALL_LATENCY)
                ? oneByOne(to, request, count)
                : manyAtOnce(to, request, count);
    }

    private static int listen() throws IOException {
        ServerServiceDefinition echo = ServerServiceDefinition.builder("echo")
                .addMethod(ECHO, ServerCalls.asyncUnaryCall((request, answers) -> {
                    answers.onNext(request);
                    answers.onCompleted();
                }))
                .build();
        Server server = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .directExecutor()
                .addService(echo)
                .build()
                .start();
        return server.getPort();
    }

    private ManagedChannel channel(int port) {
        ManagedChannel made = channel;
        if (made == null) {
            channel =
                    made = NettyChannelBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port))
                            .usePlaintext()
                            .directExecutor()
                            .build();
        }
        return made;
    }

    private static Object oneByOne(ManagedChannel to, byte[] request, int count) {
        var nanos = new long[count];
        for (int i = 0; i < count; i++) {
            long start = System.nanoTime();
            byte[] _ = ClientCalls.blockingUnaryCall(to, ECHO, CallOptions.DEFAULT, request);
            nanos[i] = System.nanoTime() - start;
        }
        return Figures.roundTrips(request.length, nanos, count);
    }

    private static Object manyAtOnce(ManagedChannel to, byte[] request, int count) throws Exception {
        var window = new ArrayDeque<ListenableFuture<byte[]>>();
        long start = System.nanoTime();
        for (int i = 0; i < count; i++) {
            if (window.size() == MessagesEnd.CALLS_AT_ONCE) {
                byte[] _ = window.remove().get();
            }
            window.add(ClientCalls.futureUnaryCall(to.newCall(ECHO, CallOptions.DEFAULT), request));
        }
        for (ListenableFuture<byte[]> each : window) {
            byte[] _ = each.get();
        }
        return Figures.stream(request.length, count, (System.nanoTime() - start) / 1e9);
    }
}
