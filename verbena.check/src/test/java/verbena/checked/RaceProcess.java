package verbena.checked;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import verbena.verbs.Access;
import verbena.verbs.CompletionQueue;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Endpoint;
import verbena.verbs.MemoryRegion;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.WorkCompletion;

/// A process that owns memory, or one that writes to it by one queue pair and says so by another. Arguments: `owner`
/// or `writer`, and whether the writer uses `one` queue pair or `two`. The two talk by their standard streams, through
/// the test.
final class RaceProcess {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private RaceProcess() {}

    public static void main(String[] args) throws Exception {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Context device = Device.named("rocev2").open();
                var domain = device.allocateProtectionDomain();
                CompletionQueue queue = device.createCompletionQueue(64);
                MemoryRegion memory = domain.allocate(4_096, Access.remoteAll());
                QueuePair words = domain.createQueuePair(QueuePairOptions.rc(queue));
                QueuePair data = domain.createQueuePair(QueuePairOptions.rc(queue))) {
            say(String.join(
                    " ",
                    words.endpoint().format(),
                    data.endpoint().format(),
                    Long.toString(memory.address()),
                    Integer.toString(memory.rkey())));
            String[] peer = line(in).split(" ", -1);
            words.connect(Endpoint.parse(peer[0]));
            data.connect(Endpoint.parse(peer[1]));
            if (args[0].equals("owner")) {
                own(memory, queue, words);
            } else {
                line(in);
                write(args[1].equals("one") ? words : data, words, memory, queue, peer);
            }
            line(in); // the test says when both are done
        }
    }

    private static void own(MemoryRegion memory, CompletionQueue queue, QueuePair words) throws Exception {
        words.postReceive(1, memory.slice(0, 8));
        say("ready");
        take(queue);
        memory.noteLoad(64, 64);
        say("done");
    }

    private static void write(
            QueuePair data, QueuePair words, MemoryRegion memory, CompletionQueue queue, String[] peer)
            throws Exception {
        long address = Long.parseLong(peer[2]);
        int rkey = Integer.parseInt(peer[3]);
        data.postWrite(1, memory.slice(64, 64), new RemoteMemory(address + 64, rkey, 64));
        words.postSend(2, memory.slice(0, 8));
        take(queue);
        take(queue);
        say("done");
    }

    private static void take(CompletionQueue queue) throws InterruptedException {
        var wc = new WorkCompletion();
        if (!queue.await(wc, LIMIT) || !wc.ok()) {
            throw new IllegalStateException("no completion: " + wc);
        }
    }

    private static void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static String line(BufferedReader in) throws IOException {
        String line = in.readLine();
        if (line == null) {
            throw new IllegalStateException("the test has gone");
        }
        return line;
    }
}
