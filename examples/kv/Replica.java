import module java.base;
import verbena.messages.Call;
import verbena.messages.Worker;
import verbena.verbs.Access;
import verbena.verbs.Device;

/// A replica of the store: `Replica.java NUMBER LOG HOST:PORT,HOST:PORT,HOST:PORT [OPTIONS]`. The numbers begin with
/// 1. Clients come to a replica's port, the other replicas to the next one. OPTIONS are those of a device, as
/// `faults=loss:5%`.
public final class Replica {
    private Replica() {}

    public static void main(String[] args) throws Exception {
        int self = Integer.parseInt(args[0]);
        List<InetSocketAddress> replicas = addresses(args[2]);
        InetSocketAddress mine = replicas.get(self - 1);
        String options = args.length > 3 ? "," + args[3] : "";
        try (var device = Device.named("rocev2@" + mine.getHostString() + options).open();
                var worker = Worker.open(device);
                var shared = worker.share(Arena.global().allocate(Table.BYTES, 64), Set.of(Access.REMOTE_READ));
                var threads = Executors.newCachedThreadPool()) {
            var raft = new Raft(self, replicas.size(), new Log(Path.of(args[1])), new Table(shared.segment()));
            var links = new Links(raft, device);
            worker.answerCalls(call -> answer(call, raft, shared.token()));
            start(threads, raft::watch);
            start(threads, raft::store);
            start(threads, () -> links.listen(next(mine)));
            for (int peer = 1; peer <= replicas.size(); peer++) {
                if (peer != self) {
                    int number = peer;
                    start(threads, () -> links.tell(number, next(replicas.get(number - 1))));
                }
            }
            try (var listener = worker.listen(mine)) {
                System.out.println("replica " + self + " is ready");
                while (true) {
                    listener.accept();
                }
            } finally {
                threads.shutdownNow(); // a replica whose thread is interrupted ends
            }
        }
    }

    static List<InetSocketAddress> addresses(String list) {
        return Arrays.stream(list.split(","))
                .map(each -> each.split(":"))
                .map(each -> new InetSocketAddress(each[0], Integer.parseInt(each[1])))
                .toList();
    }

    private static InetSocketAddress next(InetSocketAddress address) {
        return new InetSocketAddress(address.getAddress(), address.getPort() + 1);
    }

    /// A call without bytes asks where the table is.
    private static MemorySegment answer(Call call, Raft raft, byte[] token) throws InterruptedException {
        if (call.request().byteSize() == 0) {
            return MemorySegment.ofArray(token);
        }
        Raft.Outcome outcome = raft.change(Entry.checked(MemorySegment.ofArray(call.bytes())));
        return MemorySegment.ofArray(new byte[] {(byte) outcome.ordinal()});
    }

    private interface Body {
        void run() throws Exception;
    }

    /// A replica of which a part has failed ends: the others go on without it.
    private static void start(ExecutorService threads, Body body) {
        threads.execute(() -> {
            try {
                body.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (Throwable e) {
                e.printStackTrace();
                Runtime.getRuntime().halt(1);
            }
        });
    }
}
