package verbena.tools.files;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import verbena.tools.files.Request.Option;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.ConnectionException;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.ConnectionOptions;

/// One request, from when both ends agree on it until it is done: a window, threads for the disk, and one of the
/// two roles. When it is closed, the window is withdrawn and no thread is left.
final class Session implements AutoCloseable {
    /// The number of threads for the disk: enough to have some there while others compute.
    private static final int DISK_THREADS = 4;

    private final MessageChannel channel;
    private final Terms terms;
    private final boolean isDirect;
    private final Window window;
    private final ExecutorService disk = Executors.newFixedThreadPool(
            DISK_THREADS,
            Thread.ofPlatform().daemon().name("verbena-files-disk-", 0).factory());

    private Runnable closing = () -> {};
    /// Whether requests may still use the window.
    private boolean isUnderWay;

    /// @param isSender whether files leave from here
    Session(MessageChannel channel, Terms terms, boolean isSender, boolean isDirect) {
        this.channel = channel;
        this.terms = terms;
        this.isDirect = isDirect;
        window = new Window(channel.connection(), terms, isSender);
    }

    /// Returns the options that connections for this are made with.
    static ConnectionOptions connectionOptions() {
        return ConnectionOptions.defaults()
                .withSizes(new QueuePairOptions.Sizes(
                        MessageChannel.MESSAGES_MAX + MessageChannel.TRANSFERS_MAX,
                        MessageChannel.MESSAGES_MAX,
                        1,
                        1,
                        0));
    }

    /// Returns the memory that the peer has to know before anything moves.
    RemoteMemory exposed() {
        return window.exposed();
    }

    void send(RemoteMemory theirs, List<Walk.Source> sources, boolean recursive, TransferListener listener)
            throws InterruptedException {
        requireFitting(theirs);
        var sender = new Sender(channel, terms, window, theirs, this::atDisk, isDirect, sources, recursive, listener);
        closing = sender::closeFiles;
        run(sender::run);
    }

    /// @param scope what may come
    void receive(
            RemoteMemory theirs, Landing landing, Announced.Scope scope, Set<Option> options, TransferListener listener)
            throws InterruptedException {
        requireFitting(theirs);
        var receiver =
                new Receiver(channel, terms, window, theirs, this::atDisk, isDirect, landing, scope, options, listener);
        closing = receiver::closeFiles;
        run(receiver::run);
    }

    private interface Role {
        void run() throws InterruptedException;
    }

    private void run(Role role) throws InterruptedException {
        isUnderWay = true;
        try {
            role.run();
            isUnderWay = false;
        } catch (CommandFailed e) {
            channel.abort(String.valueOf(e.getMessage()));
            throw e;
        } catch (ConnectionException e) {
            if (e.reason() == ConnectionException.Reason.TIMEOUT) {
                channel.abort(String.valueOf(e.getMessage()));
            }
            throw e;
        }
    }

    /// Does something with files. As long as it lasts, the peer hears that this end is busy.
    private void atDisk(Runnable task) {
        channel.busy(1);
        boolean begun = false;
        try {
            disk.execute(() -> {
                try {
                    task.run();
                } catch (RuntimeException | OutOfMemoryError e) {
                    channel.fail("it broke here: " + e);
                } finally {
                    channel.busy(-1);
                }
            });
            begun = true;
        } catch (RejectedExecutionException _) {
            // The session is over.
        } finally {
            if (!begun) {
                channel.busy(-1);
            }
        }
    }

    private void requireFitting(RemoteMemory theirs) {
        if (!window.fits(theirs)) {
            throw new CommandFailed(
                    "the peer's window has " + theirs.length() + " bytes, which is not what was agreed");
        }
    }

    @Override
    public void close() {
        if (isUnderWay) {
            channel.disconnect(); // so that no thread waits for the peer
        }
        disk.close();
        closing.run();
        channel.awaitTransfers();
        window.close();
    }
}
