package verbena.abi.rsocket;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import verbena.abi.Errno;
import verbena.abi.Threads;

/// The thread that reads what comes by UDP for the rsockets of datagrams: peers that ask for queue pairs.
final class DatagramService {
    private static final Selector SELECTOR = open();
    private static final ConcurrentLinkedQueue<Runnable> TASKS = new ConcurrentLinkedQueue<>();

    static {
        Threads.start("verbena-abi-datagrams", DatagramService::run);
    }

    private DatagramService() {}

    private static Selector open() {
        try {
            return Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void run() {
        while (true) {
            try {
                SELECTOR.select(DatagramService::tell);
                for (Runnable task = TASKS.poll(); task != null; task = TASKS.poll()) {
                    task.run();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    private static void tell(SelectionKey key) {
        if (key.isValid()) {
            ((Runnable) key.attachment()).run();
        }
    }

    /// Adds a channel; from now on its reader is called when there is something to read.
    static void add(DatagramChannel channel, Runnable reader) {
        TASKS.add(() -> {
            try {
                channel.register(SELECTOR, SelectionKey.OP_READ, reader);
            } catch (ClosedChannelException e) {
                // so soon
            }
        });
        SELECTOR.wakeup();
    }

    /// Closes the channel; its port is free when this returns. Not with a lock that readers need.
    static void close(DatagramChannel channel) {
        var done = new CountDownLatch(1);
        TASKS.add(() -> {
            try {
                channel.close();
                SELECTOR.selectNow(DatagramService::tell); // lets go of the file descriptor
            } catch (IOException e) {
                Errno.of(new UncheckedIOException(e));
            } finally {
                done.countDown();
            }
        });
        SELECTOR.wakeup();
        try {
            done.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
