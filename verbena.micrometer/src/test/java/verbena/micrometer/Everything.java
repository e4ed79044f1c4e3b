package verbena.micrometer;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.Executors;
import verbena.messages.Worker;
import verbena.stream.StreamChannel;
import verbena.stream.StreamListener;
import verbena.stream.StreamOptions;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionListener;
import verbena.verbs.cm.ConnectionOptions;

/// Uses once all that counts, over `rocev2`, and leaves all of it closed.
final class Everything {
    static final byte[] BYTES = new byte[1_000];
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private Everything() {}

    static void use() throws Exception {
        Class.forName("verbena.nio.NioCounters"); // the counters begin when the class does
        Class.forName("verbena.netty.NettyCounters");
        try (Context device = Device.named("rocev2").open();
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            InetAddress own = device.gid(1, 0).gid().address();
            var any = new InetSocketAddress(own, 0);
            var options = ConnectionOptions.defaults().withDevice(device);
            try (var listener = ConnectionListener.bind(any, options)) {
                var accepted = threads.submit(() -> listener.accept());
                try (Connection client = Connection.connect(listener.localAddress(), options);
                        Connection server = accepted.get()) {
                    var came = threads.submit(() -> server.receive(BYTES.length));
                    client.send(BYTES);
                    came.get();
                }
            }
            var streams = StreamOptions.defaults().withDevice(device);
            try (var listener = StreamListener.bind(any, streams)) {
                var accepted = threads.submit(() -> listener.accept(LIMIT).orElseThrow());
                try (StreamChannel client = StreamChannel.connect(listener.localAddress(), streams);
                        StreamChannel server = accepted.get()) {
                    client.write(ByteBuffer.wrap(BYTES));
                    readAll(server, BYTES.length);
                }
            }
            try (var worker = Worker.open(device)) {
                worker.answerCalls(call -> {
                    if (call.bytes().length == 0) {
                        throw new IOException("nothing was asked");
                    }
                    return MemorySegment.ofArray("answer".getBytes(StandardCharsets.UTF_8));
                });
                try (var listener = worker.listen(0);
                        var caller = Worker.open(device)) {
                    var accepted = threads.submit(() -> listener.accept());
                    try (var peer = caller.connect(listener.localAddress());
                            var _ = accepted.get()) {
                        peer.call("question", LIMIT);
                    }
                }
            }
        }
    }

    static void readAll(StreamChannel from, int bytes) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(bytes);
        while (into.hasRemaining()) {
            if (from.read(into) < 0) {
                throw new IOException("the end after " + into.position() + " bytes");
            }
        }
    }
}
