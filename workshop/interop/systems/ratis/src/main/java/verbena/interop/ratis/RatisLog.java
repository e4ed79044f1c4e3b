package verbena.interop.ratis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.TimeDuration;
import verbena.interop.Job;
import verbena.interop.SystemUnderTest;

/// A log that Ratis replicates over gRPC: a peer in the server's process, and a second one beside the client, which
/// joins it. Both have to arrive at the same sum of all entries.
public final class RatisLog implements SystemUnderTest {
    private static final RaftGroupId GROUP = RaftGroupId.valueOf(new UUID(0x5eed, 0x1065));
    private static final int ENTRY = 1_000;
    private static final int AT_ONCE = 50;
    private static final long PATIENCE_SECONDS = 30;
    private static final TimeDuration PATIENCE = TimeDuration.valueOf(PATIENCE_SECONDS, TimeUnit.SECONDS);

    /// Made by its name.
    public RatisLog() {}

    /// The state: a sum over all entries in their order.
    private static final class Sum extends BaseStateMachine {
        private final AtomicLong sum = new AtomicLong();

        @Override
        public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
            ByteString entry =
                    transaction.getLogEntry().getStateMachineLogEntry().getLogData();
            long next = sum.updateAndGet(before -> add(before, entry.toByteArray()));
            var _ = updateLastAppliedTermIndex(
                    transaction.getLogEntry().getTerm(),
                    transaction.getLogEntry().getIndex());
            return CompletableFuture.completedFuture(message(next));
        }

        @Override
        public CompletableFuture<Message> query(Message request) {
            return CompletableFuture.completedFuture(message(sum.get()));
        }
    }

    private static long add(long sum, byte[] entry) {
        long next = sum;
        for (byte each : entry) {
            next = next * 31 + each;
        }
        return next;
    }

    private static Message message(long sum) {
        return Message.valueOf(
                ByteString.copyFrom(ByteBuffer.allocate(Long.BYTES).putLong(0, sum)));
    }

    private static long sum(RaftClientReply reply) throws IOException {
        if (!reply.isSuccess()) {
            throw new IOException("no answer: " + reply.getException());
        }
        return reply.getMessage().getContent().asReadOnlyByteBuffer().getLong();
    }

    private static RaftPeer peer(String id, int port) {
        return RaftPeer.newBuilder().setId(id).setAddress("127.0.0.1:" + port).build();
    }

    /// Returns properties that give a new peer long enough to join. When it has not answered after 0.9 seconds,
    /// which happens on a busy machine, Ratis 3.3.0 begins anew, meets the entry that it has already sent, and
    /// answers "Reconfiguration is already in progress" for ever. It does so over TCP, too.
    private static RaftProperties properties() {
        var properties = new RaftProperties();
        RaftServerConfigKeys.setStagingTimeout(properties, PATIENCE);
        return properties;
    }

    /// @param isFirst the others join the group later, and begin without one
    private static RaftServer start(RaftPeer peer, Path folder, boolean isFirst) throws IOException {
        RaftProperties properties = properties();
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.toFile()));
        GrpcConfigKeys.Server.setHost(properties, "127.0.0.1");
        GrpcConfigKeys.Server.setPort(
                properties, Integer.parseInt(peer.getAddress().replaceAll(".*:", "")));
        RaftServer server = RaftServer.newBuilder()
                .setServerId(peer.getId())
                .setGroup(isFirst ? RaftGroup.valueOf(GROUP, peer) : RaftGroup.valueOf(GROUP))
                .setStateMachine(new Sum())
                .setProperties(properties)
                .build();
        server.start();
        return server;
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Override
    public Serving serve(Job job) throws Exception {
        int port = freePort(); // a peer's address is known before it has the port
        RaftServer server = start(peer("first", port), job.folder(), true);
        return new Serving(port, server);
    }

    @Override
    public String use(InetSocketAddress server, Job job) throws Exception {
        int entries = job.size(500, 10_000);
        RaftPeer first = peer("first", server.getPort());
        RaftPeer second = peer("second", freePort());
        RaftGroup both = RaftGroup.valueOf(GROUP, first, second);
        try (RaftServer own = start(second, job.folder(), false);
                RaftClient client = RaftClient.newBuilder()
                        .setRaftGroup(both)
                        .setLeaderId(first.getId())
                        .setProperties(properties())
                        .build()) {
            RaftClientReply joined = client.admin().setConfiguration(List.of(first, second));
            Job.same(true, joined.isSuccess(), "the second peer's joining");
            long sum = write(client, 0, entries / 2, 0);
            job.halfway();
            sum = write(client, entries / 2, entries, sum);
            Job.same(sum, sum(client.io().sendReadOnly(Message.EMPTY)), "the sum of the leader");
            awaitSum(client, second, sum);
            Job.same(true, own.getLifeCycleState().isRunning(), "that the second peer runs");
        }
        return "2 peers, " + entries + " entries of 1 kB, the same sum at both";
    }

    private static long write(RaftClient client, int from, int to, long before) throws Exception {
        long expected = before;
        for (int i = from; i < to; i += AT_ONCE) {
            var answers = new ArrayList<CompletableFuture<RaftClientReply>>();
            for (int k = i; k < Math.min(to, i + AT_ONCE); k++) {
                answers.add(client.async().send(Message.valueOf(ByteString.copyFrom(Job.pattern(ENTRY, k)))));
            }
            for (int k = 0; k < answers.size(); k++) {
                expected = add(expected, Job.pattern(ENTRY, i + k));
                Job.same(expected, sum(answers.get(k).get(PATIENCE_SECONDS, TimeUnit.SECONDS)), "sum " + (i + k));
            }
        }
        return expected;
    }

    /// The second peer applies entries a moment later than the leader.
    private static void awaitSum(RaftClient client, RaftPeer peer, long expected) throws IOException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (sum(client.io().sendStaleRead(Message.EMPTY, 0, peer.getId())) != expected) {
            if (System.nanoTime() > deadline) {
                throw new IOException("the second peer has another sum");
            }
        }
    }
}
